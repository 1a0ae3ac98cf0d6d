"""Decide, path by path, what a folder becomes: base, here and the hub, as in every three-way merge."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hfenv.card.regular import is_inside
from hfenv.components.ignoring import excluded_by
from hfenv.components.journal import REMOTE_SUFFIX, Change
from hfenv.components.ownership import CARD_NAME, RECORD_NAME, collisions
from hfenv.errors import ConflictError
from hfenv.hub.cache import ContentId, RemoteFile, content_id
from hfenv.hub.merging.cards import merge_cards
from hfenv.hub.merging.text import is_text, merge_lines

Read = Callable[[str], Path]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A path that both sides changed: what stands there now, as one sentence."""

    path: str
    reason: str


@dataclass(slots=True)
class Decision:
    """What becomes of the folder: changes by path, and how they came about."""

    changes: dict[str, Change] = field(default_factory=dict)
    updated: list[str] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Sides:
    """The three sides of a merge: what was common, what lies here, what the hub has, each by path.

    `read_base` and `read_hub` give files of which only those that `needed` named have been fetched.
    """

    root: Path
    base: Mapping[str, RemoteFile]
    here: Mapping[str, ContentId]
    hub: Mapping[str, RemoteFile]

    def needed(self) -> tuple[frozenset[str], frozenset[str]]:
        """Paths whose content is needed of the base, and of the hub's commit."""
        moved = {path for path in self.base.keys() | self.hub.keys() if self._moved(path)}
        both = {path for path in moved & self.here.keys() & self.hub.keys() & self.base.keys() if self._edited(path)}
        wanted = {path for path in moved & self.hub.keys() if not self._has(path, self.hub)}
        return frozenset(both & wanted), frozenset(wanted)

    def _moved(self, path: str) -> bool:
        before, now = self.base.get(path), self.hub.get(path)
        return before is None or now is None or before.blob != now.blob

    def _has(self, path: str, side: Mapping[str, RemoteFile]) -> bool:
        return path in self.here and path in side and self.here[path].is_content_of(side[path])

    def _edited(self, path: str) -> bool:
        return (path in self.here) != (path in self.base) or (path in self.here and not self._has(path, self.base))

    def decide(self, read_base: Read, read_hub: Read, executable: frozenset[str]) -> Decision:
        """What becomes of each path; raises ConflictError where the two can't lie in one folder."""
        decision = Decision()
        for path in sorted(self.base.keys() | self.hub.keys()):
            if not self._moved(path) or self._has(path, self.hub) or excluded_by(path.rpartition("/")[2]):
                continue
            self._decide(path, decision, read_base, read_hub, path in executable)
        self._refuse_impossible(decision)
        return decision

    def _decide(self, path: str, decision: Decision, read_base: Read, read_hub: Read, executable: bool) -> None:
        if path not in self.hub:
            if path in self.here and self._edited(path):
                decision.conflicts.append(Conflict(path, "was deleted on the hub and changed here; it is kept"))
            elif path in self.here:
                decision.changes[path] = Change(None)
                decision.deleted.append(path)
            return
        theirs = Change(read_hub(path), executable or None)
        if path not in self.here and (self.root / path).exists():
            decision.conflicts.append(Conflict(path, "is left out here by an ignore rule; the hub's isn't taken"))
        elif path == RECORD_NAME or not self._edited(path):
            decision.changes[path] = theirs
            decision.updated.append(path)
        elif path not in self.here:
            decision.changes[path] = theirs
            decision.conflicts.append(Conflict(path, "was deleted here and changed on the hub; it is back"))
        else:
            self._merge(path, decision, read_base, theirs)

    def _merge(self, path: str, decision: Decision, read_base: Read, theirs: Change) -> None:
        here, hub = (self.root / path).read_bytes(), Path(str(theirs.content)).read_bytes()
        base = read_base(path).read_bytes() if path in self.base else None
        if not all(is_text(content) for content in (base, here, hub)):
            beside = path + REMOTE_SUFFIX
            decision.changes[beside] = theirs
            decision.conflicts.append(Conflict(path, f"changed on both sides and is no text; the hub's is {beside}"))
            return
        keys: tuple[str, ...] = ()
        if path == CARD_NAME:
            card = merge_cards(base, here, hub)
            merged, keys = card.merged, card.keys
        else:
            merged = merge_lines(base, here, hub)
        decision.changes[path] = Change(merged.content)
        if merged.conflict:
            named = f" ({', '.join(keys)})" if keys else ""
            decision.conflicts.append(Conflict(path, f"has conflict markers{named}"))
        else:
            decision.merged.append(path)

    def _refuse_impossible(self, decision: Decision) -> None:
        """Names that meet: a file here where the hub has a folder, two that differ in case, a link on the way."""
        removed = {path for path, change in decision.changes.items() if change.content is None}
        kept = sorted((self.here.keys() | decision.changes.keys()) - removed)
        cure = "Rename yours, then run hfenv pull --update again; nothing was changed."
        for problem in collisions(kept):
            raise ConflictError(problem.message, cure)
        for path, change in decision.changes.items():
            if change.content is None:
                continue
            above = [path.rsplit("/", n)[0] for n in range(1, path.count("/") + 1)]
            in_way = next((p for p in above if (self.root / p).is_file() and p not in removed), None)
            if in_way is not None or (self.root / path).is_dir() or not is_inside(self.root, path):
                raise ConflictError(f"{path} of the hub has no place here: {in_way or path} is in its way.", cure)


def local_contents(root: Path, paths: Iterable[str]) -> dict[str, ContentId]:
    """Digests of a folder's files by path."""
    found = {}
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            found[path] = content_id(root / path)
    return found
