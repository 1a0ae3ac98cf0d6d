"""What `hfenv.lock` says, as data, and the one way in which it is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from hfenv.components.files import write_all
from hfenv.components.ownership import Component
from hfenv.hub.client import DEFAULT_ENDPOINT, Hub, hub_key, hub_name
from hfenv.hub.references import HubReference, hub_reference
from hfenv.hub.resolve import Resolved

LOCK_NAME = "hfenv.lock"
FORMAT = 1
LOCAL = "local"
_HEAD = """\
# Which commits, versions and digests the environments of this project are.
# Written by `hfenv lock`; keep it under version control.
"""


@dataclass(frozen=True, slots=True)
class LockedComponent:
    """A component as it was locked: its commit, version, digests, and licence where the card names one.

    `semantic` is empty where the release recorded none.
    """

    commit: str
    version: str
    exact: str
    semantic: str = ""
    license: str = ""


@dataclass(frozen=True, slots=True)
class LockedResource:
    """A file that tasks refer to: its name, its address where it lies in another repository, its licence if known."""

    name: str
    uri: str = ""
    license: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One environment: what was asked for (`ref`), and what it is.

    `hub` is the URL of its hub, or `local`. `release` is empty where components of several releases are mixed.
    `python` and `packages` are what the card of the code requires, `resolved` the versions that it was released with.
    `line` is where the entry stands in the file it was read from, 0 for a new one.
    """

    ref: str
    hub: str
    release: str
    components: Mapping[Component, LockedComponent]
    python: str = ""
    packages: tuple[str, ...] = ()
    resolved: Mapping[str, str] = field(default_factory=dict)
    resources: tuple[LockedResource, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def reference(self) -> HubReference:
        """What was asked for, parsed."""
        return hub_reference(self.ref)

    @property
    def repo(self) -> str:
        return self.reference.repo

    @property
    def commits(self) -> dict[Component, str]:
        return {component: locked.commit for component, locked in self.components.items()}

    @property
    def pinned(self) -> HubReference:
        """What it is, as a reference by hash: what messages name, so that nobody gets another by copying it."""
        commits = self.commits
        if len(set(commits.values())) == 1:
            return hub_reference(f"{self.repo}@{commits[Component.CODE]}")
        named = ",".join(f"{component.value}={commit}" for component, commit in commits.items())
        return hub_reference(f"{self.repo}@{named}")

    @property
    def hub_argument(self) -> str:
        """The hub as `connect` takes it: `hf` where that leads there, so that its stored login counts."""
        if self.hub == LOCAL:
            return LOCAL
        # Behind a mirror (HF_ENDPOINT), what was locked at the Hub comes from the mirror: digests hold all the same.
        return "hf" if self.hub == DEFAULT_ENDPOINT or hub_key(self.hub) == hub_key("hf") else self.hub

    @property
    def key(self) -> str:
        """Name of the hub's part of the cache."""
        return hub_key(self.hub_argument)

    def resolved_commits(self) -> Resolved:
        """The entry in the place of what asking the hub would give."""
        return Resolved(self.repo, self.commits, explicit=frozenset(self.commits.values()))


@dataclass(frozen=True, slots=True)
class LockFile:
    """A lock file's entries, in the order of the file."""

    path: Path
    entries: tuple[Entry, ...] = ()

    def with_entries(self, entries: Iterable[Entry]) -> LockFile:
        """The same file with other entries, sorted."""
        return replace(self, entries=tuple(sorted(entries, key=lambda one: (one.repo, one.ref, one.hub))))

    def of(self, repo: str) -> tuple[Entry, ...]:
        """The entries of a repository."""
        return tuple(entry for entry in self.entries if entry.repo == repo)


def hub_address(hub: Hub) -> str:
    """How a lock file names a hub: its URL, or `local` for an embedded one, whose storage may move."""
    return LOCAL if hub.name == LOCAL else hub.endpoint


def same_hub(entry: Entry, hub: str | None) -> bool:
    """Whether an entry is of the hub that a caller named (`hf`, `local`, a URL, None for the default)."""
    return entry.key == hub_key(hub_name(hub))


def to_bytes(lock: LockFile) -> bytes:
    """TOML in one spelling: entries sorted, one value per line, LF, a final newline."""
    blocks = [f"{_HEAD}version = {FORMAT}\n"]
    for entry in lock.with_entries(lock.entries).entries:
        lines = ["[[environment]]", *_pairs(ref=entry.ref, hub=entry.hub, release=entry.release)]
        for component in Component:
            locked = entry.components[component]
            lines += ["", f"[environment.{component.value}]"]
            lines += _pairs(
                commit=locked.commit,
                version=locked.version,
                exact=locked.exact,
                semantic=locked.semantic,
                license=locked.license,
            )
        resolved = [f"{name}=={version}" for name, version in entry.resolved.items()]
        needs = [*_pairs(python=entry.python), *_list("packages", entry.packages), *_list("resolved", sorted(resolved))]
        lines += ["", "[environment.requires]", *needs] if needs else []
        for resource in sorted(entry.resources, key=lambda one: one.name):
            lines += ["", "[[environment.resource]]"]
            lines += _pairs(name=resource.name, uri=resource.uri, license=resource.license)
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks).encode()


def write_lock(lock: LockFile) -> bool:
    """Write the file, whole or not at all; False where it was the same already. Raises StorageError."""
    content = to_bytes(lock)
    try:
        if lock.path.is_file() and lock.path.read_bytes() == content:
            return False
    except OSError:
        pass  # writing says what is wrong
    write_all({lock.path: content})
    return True


def _pairs(**values: str) -> list[str]:
    return [f"{name} = {_text(value)}" for name, value in values.items() if value]


def _list(name: str, values: Iterable[str]) -> list[str]:
    items = [f"    {_text(value)}," for value in values]
    return [f"{name} = [", *items, "]"] if items else []


def _text(value: str) -> str:
    """A basic string of TOML. What isn't printable (controls, signs that turn the direction of text) is an escape."""
    return '"' + "".join(sign if sign.isprintable() and sign not in '"\\' else _escape(sign) for sign in value) + '"'


def _escape(sign: str) -> str:
    if sign in '"\\':
        return f"\\{sign}"
    number = ord(sign)
    return f"\\U{0xFFFD if 0xD800 <= number < 0xE000 else number:08X}"  # half a pair is no character
