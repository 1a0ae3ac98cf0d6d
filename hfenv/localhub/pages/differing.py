"""Two commits held against each other: which files differ, and how, within bounds that a page can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pygit2

from hfenv.components.describe import recorded_meaning
from hfenv.components.ownership import Component
from hfenv.components.release import ReleaseRecord
from hfenv.components.tasks.compare import compare
from hfenv.errors import HfenvError
from hfenv.localhub.gitstore import Entry, GitRepo
from hfenv.localhub.lfs import MAX_POINTER, Pointer
from hfenv.localhub.pages import shown

MOST_FILES = 100  # whose changes are shown
MOST_LISTED = 1000
LARGEST = 256 * 1024
MOST_LINES, LONGEST_LINE = 400, 1000  # of one file's changes
_MOST_TOGETHER = 4000


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file's changes: `+`, `-`, a space, or `@` for where a piece begins; numbers where it has them."""

    sign: str
    before: int | None
    after: int | None
    text: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that differs. `kind` is added, removed, edited or renamed (from `source`).

    `note` says why no lines are shown: `file_too_large`, `file_binary`, or empty. `cut` says that some are left out.
    """

    path: str
    kind: str
    source: str = ""
    lines: tuple[Line, ...] = ()
    note: str = ""
    cut: bool = False

    @property
    def link(self) -> str | None:
        return self.path if shown.is_unicode(self.path) else None


@dataclass(frozen=True, slots=True)
class SplitChange:
    """A split's tasks before and after (None where the split isn't there), and how they changed, where it is known."""

    name: str
    before: int | None
    after: int | None
    counts: Mapping[str, int] | None


def file_changes(git: GitRepo, before: str | None, after: str) -> tuple[list[FileChange], int]:
    """The files that differ in the order of paths, and how many more do; `before` None means an empty commit."""
    old, new = _files(git, before) if before else {}, _files(git, after)
    changed = sorted(path for path in old.keys() | new.keys() if not _same(old.get(path), new.get(path)))
    sources = _renames(old, new, changed)
    shown_paths = [path for path in changed if path not in sources.values()]
    found: list[FileChange] = []
    left = _MOST_TOGETHER
    for index, path in enumerate(shown_paths[:MOST_LISTED]):
        if path in sources:
            found.append(FileChange(path, "renamed", sources[path]))
            continue
        kind = "edited" if path in old and path in new else "added" if path in new else "removed"
        if index >= MOST_FILES or left <= 0:
            found.append(FileChange(path, kind, cut=True))
            continue
        change = _change(git, path, kind, old.get(path), new.get(path))
        left -= len(change.lines)
        found.append(change)
    return found, max(0, len(shown_paths) - MOST_LISTED)


def _files(git: GitRepo, commit: str) -> dict[str, Entry]:
    return {entry.path: entry for entry in git.entries(commit, recursive=True) or [] if not entry.is_folder}


def _same(old: Entry | None, new: Entry | None) -> bool:
    return old is not None and new is not None and old.oid == new.oid


def _renames(old: Mapping[str, Entry], new: Mapping[str, Entry], changed: Sequence[str]) -> dict[str, str]:
    """New paths whose content, byte for byte, had another path that is gone."""
    gone = {old[path].oid: path for path in changed if path not in new and old[path].size}
    found: dict[str, str] = {}
    for path in changed:
        if path not in old and (source := gone.pop(new[path].oid, None)) is not None:
            found[path] = source
    return found


def _change(git: GitRepo, path: str, kind: str, old: Entry | None, new: Entry | None) -> FileChange:
    if any(entry is not None and entry.size > LARGEST for entry in (old, new)):
        return FileChange(path, kind, note="file_too_large")
    before, after = (git.read(entry.oid) if entry else b"" for entry in (old, new))
    if any(len(data) <= MAX_POINTER and Pointer.parse(data) for data in (before, after)):
        return FileChange(path, kind, note="file_too_large")
    if b"\0" in before or b"\0" in after:
        return FileChange(path, kind, note="file_binary")
    # git's own comparison, which gives up looking for the shortest one where that would take too long.
    patch = pygit2.Patch.create_from(before, after, context_lines=3)
    lines: list[Line] = []
    for hunk in patch.hunks:
        lines.append(Line("@", None, None, shown.name(hunk.header.rstrip())))
        for line in hunk.lines:
            if line.origin in "+- ":
                lines.append(_line(line))
            if len(lines) > MOST_LINES:
                return FileChange(path, kind, lines=tuple(lines[:MOST_LINES]), cut=True)
    return FileChange(path, kind, lines=tuple(lines))


def _line(line: pygit2.DiffLine) -> Line:
    content = line.raw_content.decode("utf-8", "replace").rstrip("\n")
    shortened = content if len(content) <= LONGEST_LINE else f"{content[:LONGEST_LINE]}…"
    before, after = (number if number > 0 else None for number in (line.old_lineno, line.new_lineno))
    return Line(line.origin, before, after, shown.plain_text(shortened))


def task_changes(old: ReleaseRecord | None, new: ReleaseRecord | None) -> list[SplitChange]:
    """The splits of both records; tasks are counted one by one where both records hold them."""
    before, after = old.splits if old else {}, new.splits if new else {}
    counted = _counted(old, new) if old and new else {}
    found = []
    for name in dict.fromkeys([*after, *before]):
        was, now = before.get(name), after.get(name)
        found.append(SplitChange(name, was.rows if was else None, now.rows if now else None, counted.get(name)))
    return found


def _counted(old: ReleaseRecord, new: ReleaseRecord) -> dict[str, dict[str, int]]:
    try:
        sets = [recorded_meaning(Component.TASKS, record.components[Component.TASKS]) for record in (old, new)]
        first, second = (each.tasks if each else None for each in sets)
        if first is None or second is None:
            return {}
        rows = compare(first.rows, second.rows)
    except HfenvError:
        return {}
    found = {}
    for split in second.rows.splits:
        inside = range(split.start, split.stop)
        found[split.name] = {
            "added": sum(row in inside for row in rows.added),
            "edited": sum(row in inside for row in rows.edited) + sum(row in inside for row in rows.meta),
            "moved": sum(row in inside for row in rows.moved),
            "renamed": sum(row in inside for row in rows.renamed),
        }
    for split in first.rows.splits:
        inside = range(split.start, split.stop)
        counts = found.setdefault(split.name, {"added": 0, "edited": 0, "moved": 0, "renamed": 0})
        counts["removed"] = sum(row in inside for row in rows.removed)
    return found
