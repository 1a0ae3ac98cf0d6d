"""What is to be loaded, as plain data that can be sent to another process: parts, specification, provenance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from hfenv.card.manifest import Manifest
from hfenv.components.hashing import hash_file
from hfenv.errors import IntegrityError


def check_file(path: Path, sha256: str | None) -> None:
    """Raises IntegrityError unless a file still has the digest that it was loaded with."""
    try:
        same = hash_file(path) == sha256
    except OSError:
        same = False
    if not same:
        raise IntegrityError(
            f"{path} changed or went since it was loaded.",
            "Load it again; a damaged cache is repaired by: hfenv cache verify --repair",
        )


@dataclass(frozen=True)
class Part:
    """One component as it will be loaded: its folder, and the card of the revision that it comes from.

    `root` is the folder of the whole environment; `exact` the component's digest; `revision` a commit hash, or None
    for a local folder. `files` maps the paths that belong to it (the code's policies among them) to their SHA-256:
    nothing else is read or imported, and nothing that changed since. None stands for whatever lies there.
    """

    root: Path
    manifest: Manifest
    version: str
    exact: str
    revision: str | None = None
    files: Mapping[str, str] | None = None

    def has(self, path: str) -> bool:
        """Whether a file belongs to this part."""
        return path in self.files if self.files is not None else (self.root / path).is_file()

    def check(self, path: str) -> Path:
        """Where a file of this part lies; IntegrityError when its bytes aren't what they were."""
        if self.files is not None:
            check_file(self.root / path, self.files.get(path))
        return self.root / path

    def __post_init__(self) -> None:
        # Workers have a working folder of their own, and callers may change theirs.
        object.__setattr__(self, "root", self.root.absolute())


@dataclass(frozen=True)
class EnvironmentSpec:
    """Everything that `load_environment` and a pool's workers need.

    `resources` maps names to local files, `resource_digests` to the SHA-256 that they must have when they are used.
    """

    name: str
    repo: str | None
    release: str | None
    split: str | None
    code: Part
    tasks: Part
    reward: Part
    config: Mapping[str, Any] = field(default_factory=dict)
    resources: Mapping[str, Path] = field(default_factory=dict)
    resource_digests: Mapping[str, str] = field(default_factory=dict)
    unreleased: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "resources", {name: path.absolute() for name, path in self.resources.items()})


class PartProvenance(TypedDict):
    """Where one component comes from."""

    revision: str | None
    version: str
    exact: str


class Provenance(TypedDict):
    """What a number depends on, as JSON data: in `env.provenance`, in `info` and in rollouts."""

    name: str
    repo: str | None
    release: str | None
    unreleased: bool
    split: str | None
    config: dict[str, Any]
    code: PartProvenance
    tasks: PartProvenance
    reward: PartProvenance


def provenance(spec: EnvironmentSpec, split: str | None, config: Mapping[str, Any]) -> Provenance:
    """Provenance of an environment loaded from `spec` with this split and this complete configuration."""
    return Provenance(
        name=spec.name,
        repo=spec.repo,
        release=spec.release,
        unreleased=spec.unreleased,
        split=split,
        config=dict(config),
        code=_part(spec.code),
        tasks=_part(spec.tasks),
        reward=_part(spec.reward),
    )


def _part(part: Part) -> PartProvenance:
    return PartProvenance(revision=part.revision, version=part.version, exact=part.exact)
