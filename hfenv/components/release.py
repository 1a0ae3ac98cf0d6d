"""The release record (`release.json`): what a release consisted of, in a form that reads the same everywhere."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from hfenv.card.regular import MIB, read_regular
from hfenv.components.digest import ALGORITHM, MEANING, exact_digest, joint_digest
from hfenv.components.history import ReleasedVersions
from hfenv.components.ownership import RECORD_NAME, Component, FileEntry, all_plain, name_problem
from hfenv.components.versions import is_version
from hfenv.errors import UnreadableError

FORMAT = 1
_DESCRIBED = ("shape", "tasks", "probes")
_LARGEST = 64 * MIB  # some hundred thousand files


class RecordedFile(NamedTuple):
    """A file as it was released: POSIX path, bytes, SHA-256 (hex), executable bit. A tuple, as `FileEntry` is."""

    path: str
    size: int
    sha256: str
    executable: bool


@dataclass(frozen=True, slots=True)
class RecordedComponent:
    """A component as it was released: version, exact digest and the files behind it, sorted by path.

    `semantic` is its semantic digest, and `described` what else was recorded of its meaning, as JSON that only
    `describe.recorded_meaning` reads: of a large task set it is megabytes, and few want it. None, and an empty digest,
    where the release recorded no meaning, or one by rules of another hfenv.
    """

    version: str
    exact: str
    files: tuple[RecordedFile, ...]
    semantic: str = ""
    described: Mapping[str, Any] | None = field(default=None, compare=False)

    def with_meaning(self, semantic: str, described: Mapping[str, Any]) -> RecordedComponent:
        """The same content with what it means."""
        return replace(self, semantic=semantic, described=described)

    def to_json(self) -> dict[str, Any]:
        """As the record holds it."""
        files = [{"path": f.path, "size": f.size, "sha256": f.sha256, "executable": f.executable} for f in self.files]
        known = {"version": self.version, "exact": self.exact, "files": files}
        return known if self.described is None else known | {"semantic": self.semantic} | dict(self.described)


@dataclass(frozen=True, slots=True)
class RecordedSplit:
    """A split's number of rows, and since which release numbers measured on it may stand in one table."""

    rows: int
    comparable_since: str


@dataclass(frozen=True, slots=True)
class ReleaseRecord:
    """One release: its own version, its components, its splits and the package versions it was made with.

    `history` are the releases before it, the oldest first.
    """

    release: str
    tool: str
    components: Mapping[Component, RecordedComponent]
    splits: Mapping[str, RecordedSplit] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)
    history: tuple[ReleasedVersions, ...] = ()

    @property
    def versions(self) -> ReleasedVersions:
        """What this release gave out."""
        return ReleasedVersions(self.release, *(self.components[c].version for c in Component))

    @property
    def audited(self) -> str:
        """What an audit of exactly this content says that it looked at (`digests` on the card)."""
        return joint_digest({component: self.components[component].exact for component in Component})

    def to_bytes(self) -> bytes:
        """The record's one spelling: sorted keys, two spaces, LF, a final newline."""
        payload = {
            "format": FORMAT,
            "algorithms": {"exact": ALGORITHM, "semantic": MEANING},
            "hfenv": self.tool,
            "release": self.release,
            "components": {component.value: recorded.to_json() for component, recorded in self.components.items()},
            "splits": {
                name: {"rows": split.rows, "comparable_since": split.comparable_since}
                for name, split in self.splits.items()
            },
            "packages": dict(self.packages),
            "history": [asdict(released) for released in self.history],
        }
        return (json.dumps(payload, sort_keys=True, indent=2, ensure_ascii=False) + "\n").encode()


def release_tag(version: str) -> str:
    """Name of the tag of a release."""
    return f"v{version}"


def component_tag(component: Component, version: str) -> str:
    """Name of the tag of a component's version."""
    return f"{component.value}-v{version}"


def parse_record(raw: bytes, where: str) -> ReleaseRecord:
    """Read a record; raises UnreadableError that names `where` it came from."""
    try:
        data = json.loads(raw.decode("utf-8"))
        if data["format"] != FORMAT or data["algorithms"]["exact"] != ALGORITHM:
            raise UnreadableError(
                f"{where} was written in format {data['format']} with {data['algorithms']['exact']}, "
                f"which this version of hfenv doesn't know.",
                "Upgrade hfenv.",
            )
        known = data["algorithms"].get("semantic") == MEANING
        return ReleaseRecord(
            release=_version(data["release"]),
            tool=_text(data["hfenv"]),
            components={c: _component(data["components"][c.value], known=known) for c in Component},
            splits={
                name: RecordedSplit(_count(split["rows"]), _version(split["comparable_since"]))
                for name, split in data["splits"].items()
            },
            packages={name: _text(version) for name, version in data["packages"].items()},
            history=tuple(map(_released, data.get("history", ()))),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableError(
            f"{where} is no release record ({type(error).__name__}: {error}).",
            "hfenv writes this file; take it back from version control or pull the release again.",
        ) from None


def _version(value: Any) -> str:
    if not is_version(_text(value)):
        raise ValueError(f"{value!r} is no version")
    return str(value)


def _path(value: Any) -> str:
    if problem := name_problem(_text(value)):
        raise ValueError(f"{value!r}: {problem}")
    return str(value)


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(f"{value!r} is no count")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _released(data: Mapping[str, Any]) -> ReleasedVersions:
    return ReleasedVersions(_version(data["release"]), *(_version(data[component.value]) for component in Component))


def _component(data: Mapping[str, Any], *, known: bool) -> RecordedComponent:
    """`known` says that its meaning was recorded by the rules of this hfenv."""
    recorded = RecordedComponent(_version(data["version"]), _text(data["exact"]), _files(data["files"]))
    if not known or "semantic" not in data:
        return recorded
    return recorded.with_meaning(_text(data["semantic"]), {key: data[key] for key in _DESCRIBED if key in data})


def _files(listed: Sequence[Mapping[str, Any]]) -> tuple[RecordedFile, ...]:
    files = [RecordedFile(f["path"], f["size"], f["sha256"], f["executable"] is True) for f in listed]
    # Of ten thousand files, nearly all are fine: one look at all of them, and a second one for what is wrong.
    sound = all(type(f[0]) is str and type(f[1]) is int and f[1] >= 0 and type(f[2]) is str for f in files)
    if not (sound and all_plain([f.path for f in files])):
        for file in files:
            _path(file.path), _count(file.size), _text(file.sha256)
    return tuple(files)


def read_record(root: Path) -> ReleaseRecord | None:
    """The record of the last release in an environment's folder, None before the first."""
    path = root / RECORD_NAME
    try:
        raw = read_regular(path, _LARGEST)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnreadableError(f"{path} can't be read: {error.strerror}.", "Check its permissions.") from error
    return parse_record(raw, str(path))


def record_component(
    component: Component,
    files: Sequence[FileEntry],
    block: Mapping[str, Any],
    version: str,
    *,
    known: RecordedComponent | None = None,
) -> RecordedComponent:
    """A component as it stands now, in the form in which it would be recorded.

    `known` is one that it may be equal to, and whose files then needn't be written down again.
    """
    own = [f for f in files if f.component is component]
    exact = exact_digest(component, own, block)
    if known is not None and known.exact == exact:
        return replace(known, version=version)
    recorded = tuple(RecordedFile(f.path, f.size, f.sha256, f.executable) for f in own)
    return RecordedComponent(version, exact, recorded)


def with_recorded_modes(files: Sequence[FileEntry], record: ReleaseRecord | None) -> tuple[FileEntry, ...]:
    """The files with executable bits that the Hub or a file system lost put back, where the content is unchanged.

    The Hub stores no modes, so that a lost bit is damage to repair and not an author's change; a bit that was
    added is a change.
    """
    if record is None:
        return tuple(files)
    executable = {(f.path, f.sha256) for recorded in record.components.values() for f in recorded.files if f.executable}
    if not executable:
        return tuple(files)
    return tuple(
        f._replace(executable=True) if not f.executable and (f.path, f.sha256) in executable else f for f in files
    )
