"""Two task sets row by row: which tasks were added, removed, edited, moved or renamed, and in which fields."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain, islice
from typing import Any

from hfenv.card.quoting import LONGEST, short
from hfenv.components.tasks.compare import NOWHERE, Comparison, compare
from hfenv.components.tasks.digests import META, canonical
from hfenv.components.tasks.index import ScannedTasks, TaskSource, index_tasks
from hfenv.components.tasks.setchanges import filled_fields
from hfenv.components.tasks.sieve import Offsets, sieve
from hfenv.components.tasks.values import read_values

_AT_ONCE = 2000  # tasks of each side that are held with all their values
_LEAD = 20  # code points that are shown of what is equal before the first difference
_FAR = 1 << 20  # code points of a value that are looked at for it


class TaskDifferenceKind(str, Enum):
    """How a task differs; one that moved, or got another id, may be edited too."""

    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"
    RENAMED = "renamed"
    EDITED = "edited"
    META = "meta"


_KINDS = tuple(TaskDifferenceKind)


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A field's value before and after as JSON text, cut around the first difference; None where it is absent or null.

    `role` is that of the new card, or of the old one for a field that is gone.
    """

    name: str
    role: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class TaskDifference:
    """A task that differs: its split and id now (a removed one's: before), what they were before, and its fields.

    `before_split` and `before_id` are empty for an added task. Fields are sorted by name; added and removed tasks have
    none.
    """

    kind: TaskDifferenceKind
    split: str
    id: str
    before_split: str
    before_id: str
    fields: tuple[FieldDifference, ...] = ()


def diff_tasks(old: TaskSource, new: TaskSource, *, workers: int | None = None) -> Iterator[TaskDifference]:
    """The differences of two task sets: split by split, the new rows in their order, then the removed ones in theirs.

    At most 60 bytes and the id are held for each task, whatever differs; lines that stand in both are not even read as
    JSON, where most do. Raises UnreadableError as `index_tasks` does.
    """
    if kept := _sieved(old, new, workers):
        before = index_tasks(old, only=kept[0], workers=workers)
        after = index_tasks(new, only=kept[1], workers=workers)
        # Tasks that are the same in both have none of the new fields, whose values differ from task to task then.
        yield from _differences(before, after, compare(before.rows, after.rows), added=after.fields)
    else:
        before = index_tasks(old, workers=workers)
        yield from differences(before, index_tasks(new, released=before.roles, workers=workers))


def _sieved(old: TaskSource, new: TaskSource, workers: int | None) -> tuple[Offsets, Offsets] | None:
    """The lines of both sides that have to be read, where most are the same."""
    files = (*old.files, *new.files)
    if old.roles != new.roles or not files or any(file.path.suffix != ".jsonl" for file in files):
        return None
    try:
        return sieve(old.files, new.files, workers)
    except OSError:
        return None  # which is met again where it can be said of which file


def differences(old: ScannedTasks, new: ScannedTasks) -> Iterator[TaskDifference]:
    """As `diff_tasks`, for sets that were read already, the new one with `released`: the roles of the old one.

    A field that is new counts only where its values differ from task to task: with one value for all old tasks, it is
    the set that changed, not its tasks.
    """
    rows = compare(old.rows, new.then)
    added = [*filled_fields(old.fields, new, rows), *filled_fields(old.fields, new, rows, meta=True)]
    yield from _differences(old, new, rows, added=added)


def _differences(
    old: ScannedTasks, new: ScannedTasks, rows: Comparison, *, added: Collection[str]
) -> Iterator[TaskDifference]:
    kinds = _kinds(rows, new, added)
    fields = _Fields(old, new, added)
    for name in dict.fromkeys(split.name for split in (*new.rows.splits, *old.rows.splits)):
        if (split := new.rows.split(name)) is not None:
            changed = (row for row in range(split.start, split.stop) if kinds[row])
            while chunk := list(islice(changed, _AT_ONCE)):
                yield from _changed(rows, kinds, chunk, fields)
        if (split := old.rows.split(name)) is not None:
            for row in rows.removed:
                if split.start <= row < split.stop:
                    task = old.rows.name(row)
                    yield TaskDifference(TaskDifferenceKind.REMOVED, name, task, name, task)


def _kinds(rows: Comparison, new: ScannedTasks, added: Collection[str]) -> bytearray:
    """For each new row 0, or 1 and the place of its kind; of several, the one that comes first there."""
    found = bytearray(len(rows.new))
    roles = {new.fields[name].role == "meta" for name in added}
    extras, nothing, count = new.extras, bytes(META), len(rows.new) if new.extras.data else 0
    filled = (row for row in range(count) if extras[row][:META] != nothing) if False in roles else ()
    filled_meta = (row for row in range(count) if extras[row][META:] != nothing) if True in roles else ()
    for kind, which in (
        (TaskDifferenceKind.META, chain(rows.meta, filled_meta)),
        (TaskDifferenceKind.EDITED, chain(rows.edited, filled)),
        (TaskDifferenceKind.RENAMED, rows.renamed),
        (TaskDifferenceKind.MOVED, rows.moved),
        (TaskDifferenceKind.ADDED, rows.added),
    ):
        code = _KINDS.index(kind) + 1
        for row in which:
            found[row] = code
    return found


def _changed(rows: Comparison, kinds: bytearray, chunk: Sequence[int], fields: _Fields) -> Iterator[TaskDifference]:
    pairs = {row: rows.counterparts[row] for row in chunk if rows.counterparts[row] != NOWHERE}
    found = fields.of(pairs)
    for row in chunk:
        kind, split, name = _KINDS[kinds[row] - 1], rows.new.split_of(row), rows.new.name(row)
        if row in pairs:
            before = pairs[row]
            yield TaskDifference(kind, split, name, rows.old.split_of(before), rows.old.name(before), found[row])
        else:
            yield TaskDifference(kind, split, name, "", "")


class _Fields:
    def __init__(self, old: ScannedTasks, new: ScannedTasks, added: Collection[str]) -> None:
        self._old, self._new = old, new
        self._ignored = {"id", *(name for name in new.fields if name not in old.fields and name not in added)}

    def of(self, pairs: Mapping[int, int]) -> dict[int, tuple[FieldDifference, ...]]:
        """The fields that differ, by the new row, of pairs of a new and an old row."""
        before, after = read_values(self._old, pairs.values()), read_values(self._new, pairs)
        return {row: tuple(self._differing(before[old], after[row])) for row, old in pairs.items()}

    def _differing(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[FieldDifference]:
        for name in sorted((before.keys() | after.keys()) - self._ignored):
            was, now = before.get(name), after.get(name)
            if canonical([was]) != canonical([now]):
                field = self._new.fields.get(name) or self._old.fields[name]
                yield FieldDifference(name, field.role, *_excerpts(was, now))


def _excerpts(was: Any, now: Any) -> tuple[str | None, str | None]:
    """Both values as short texts. What fits is shown whole; else the equal beginning gives way to what differs."""
    before, after = (None if value is None else json.dumps(value, ensure_ascii=False) for value in (was, now))
    if before is None or after is None or max(len(before), len(after)) <= LONGEST:
        start = 0
    else:
        pairs = zip(before[:_FAR], after[:_FAR], strict=False)
        start = max(0, next((at for at, (one, other) in enumerate(pairs) if one != other), _FAR) - _LEAD)
    return _from(before, start), _from(after, start)


def _from(text: str | None, start: int) -> str | None:
    if text is None:
        return None
    start = min(start, max(0, len(text) - _LEAD))
    return ("..." if start else "") + short(text[start:])
