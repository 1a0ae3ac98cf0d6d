"""References: how users name what to load, parsed in one place into data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeGuard

from hfenv.components.ownership import CARD_NAME, Component
from hfenv.components.versions import is_range, is_version, matches, parse_version
from hfenv.errors import UsageError
from hfenv.paths import expanded

_PREFIX = "hf://datasets/"
_REPO = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9_])?/[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9_])?", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{40}")
COMPONENTS = re.compile(r"(?:code|tasks|reward)=")


@dataclass(frozen=True, slots=True)
class Newest:
    """A bare `org/name`: the newest release that isn't yanked."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A full commit hash (40 hex)."""

    sha: str


@dataclass(frozen=True, slots=True)
class Named:
    """A branch or a tag, resolved to a commit once."""

    name: str


@dataclass(frozen=True, slots=True)
class Release:
    """A release by version or by a range such as `^1.2`, which means the newest that fits."""

    spec: str


@dataclass(frozen=True, slots=True)
class Mixed:
    """Component versions from revisions that may differ; a component that isn't named follows the code's revision."""

    versions: Mapping[Component, str]


Selector = Newest | Commit | Named | Release | Mixed


@dataclass(frozen=True, slots=True)
class LocalReference:
    """A folder on this machine."""

    path: Path


@dataclass(frozen=True, slots=True)
class HubReference:
    """A repository on the hub and which revision of it; `text` is what the user wrote."""

    repo: str
    selector: Selector
    text: str


Reference = LocalReference | HubReference


def is_hash(text: str) -> bool:
    """True for a full commit hash."""
    return _HASH.fullmatch(text) is not None


def is_repo_id(text: object) -> TypeGuard[str]:
    """True for a repository name `namespace/name` by the Hub's rules."""
    if not isinstance(text, str) or not _REPO.fullmatch(text) or len(text) > 96:
        return False
    return "--" not in text and ".." not in text and not text.endswith(".git")


def check_repo_id(text: str) -> str:
    """A repository name `namespace/name` by the Hub's rules; raises UsageError."""
    if not is_repo_id(text):
        raise UsageError(f"'{text}' is no repository name.", "Write it as namespace/name, for example org/my-env.")
    return text


def parse_reference(text: str, revision: str | None = None) -> Reference:
    """Read a reference; `revision` is the separate argument of `load` (a hash, tag or branch).

    A path that exists is a local environment; a folder with a card that is also a repository name wins only when
    neither `revision` nor `@` is given.
    """
    name, at, spec = text.removeprefix(_PREFIX).partition("@")
    if at and revision is not None:
        raise UsageError(f"'{text}' names a revision already, and revision='{revision}' a second one.", "Give one.")
    hub_only = text.startswith(_PREFIX) or bool(at) or revision is not None
    if _looks_local(text, hub_only=hub_only):
        if revision is not None:
            raise UsageError(f"'{text}' is a local folder, which has no revisions.", "Leave out the revision.")
        path = expanded(text)
        if path.is_file() and path.name == CARD_NAME:
            path = path.parent
        if not path.is_dir():
            raise UsageError(f"There is no folder '{text}'.", "Name an environment's folder or namespace/name.")
        return LocalReference(path)
    check_repo_id(name)
    if at and not spec:
        raise UsageError(f"'{text}' has nothing after '@'.", "Write a version, a hash, a tag or a branch after it.")
    selector = _selector(spec) if at else _revision(revision) if revision is not None else Newest()
    return HubReference(name, selector, text if revision is None else f"{text}@{revision}")


def hub_reference(text: str, revision: str | None = None) -> HubReference:
    """The same for what can only be on a hub, whatever folders there are here; raises UsageError."""
    found = parse_reference(_PREFIX + text.removeprefix(_PREFIX), revision)
    if not isinstance(found, HubReference):
        raise UsageError(f"'{text}' is no repository.", "Write it as namespace/name, for example org/my-env.")
    return replace(found, text=found.text.removeprefix(_PREFIX))


def _looks_local(text: str, *, hub_only: bool) -> bool:
    if (
        text.startswith(("./", "../", "/", "~", ".\\", "..\\"))
        or text in (".", "..")
        or re.match(r"[A-Za-z]:[\\/]", text)
    ):
        return True
    if hub_only:
        return False
    return (Path(text) / CARD_NAME).is_file() or text.endswith(f"/{CARD_NAME}") or "/" not in text


def _selector(spec: str) -> Selector:
    if COMPONENTS.match(spec):
        return Mixed(mixed_versions(spec))
    if is_range(spec):
        matches("1.0.0", spec)  # refuses a malformed range before anything is asked of the hub
        return Release(spec)
    if is_version(spec):
        return Release(str(parse_version(spec)))
    return _revision(spec)


def _revision(text: str) -> Selector:
    if is_hash(text):
        return Commit(text)
    if is_hash(text.lower()):
        raise UsageError(f"'{text}' is a hash in capitals.", "Write it in lower case.")
    return Named(text)


def mixed_versions(spec: str) -> dict[Component, str]:
    """Versions (or hashes) by component from `code=1.2.0,tasks=2.0.0`; raises UsageError for anything else."""
    versions: dict[Component, str] = {}
    for item in spec.split(","):
        name, equals, version = item.partition("=")
        known = [component.value for component in Component]
        if not equals or name not in known:
            raise UsageError(
                f"'{item}' names no component.", f"Write NAME=VERSION with NAME one of {', '.join(known)}."
            )
        if Component(name) in versions:
            raise UsageError(f"'{name}' is given twice.", "Give each component once.")
        versions[Component(name)] = version if is_hash(version) else str(parse_version(version))
    return versions
