"""Two task sets row by row: which tasks were added, removed, edited, moved or renamed, and in which fields."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain, islice
from typing import Any

from hfenv.card.quoting import LONGEST, short
from hfenv.components.tasks.compare import NOWHERE, Comparison, compare
from hfenv.components.tasks.digests import META, canonical
from hfenv.components.tasks.index import ScannedTasks
from hfenv.components.tasks.rows import SplitRows
from hfenv.components.tasks.setchanges import filled_fields
from hfenv.components.tasks.values import TaskValues

_AT_ONCE, _HELD = 2000, 32 << 20  # tasks of each side that are held with all their values, and bytes of them
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


def differences(old: ScannedTasks, new: ScannedTasks) -> Iterator[TaskDifference]:
    """The differences of two sets that were read, the new one with `released`: the roles of the old one.

    Split by split come the new rows in their order, then the removed ones in theirs.
    """
    yield from RowDifferences.of(old, new, compare(old.rows, new.then)).read()


@dataclass(frozen=True, slots=True)
class RowDifferences:
    """Which rows of two sets differ and how, known without their values.

    `added` are the new fields that make a task differ. In splits that are `sampled`, rows that one side alone has
    aren't told.
    """

    old: ScannedTasks
    new: ScannedTasks
    rows: Comparison
    added: tuple[str, ...]
    sampled: frozenset[str] = frozenset()
    _kinds: bytearray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        kinds = _kinds(self.rows, self.new, self.added)
        for name in self.sampled:
            if (split := self.new.rows.split(name)) is not None:
                for row in self.rows.added:
                    if split.start <= row < split.stop:
                        kinds[row] = 0
        object.__setattr__(self, "_kinds", kinds)

    @classmethod
    def of(
        cls, old: ScannedTasks, new: ScannedTasks, rows: Comparison, *, sampled: frozenset[str] = frozenset()
    ) -> RowDifferences:
        """The new set was read with `released`: the roles of the old one.

        A field that is new counts only where its values differ from task to task: with one value for all old tasks,
        it is the set that changed, not its tasks.
        """
        added = (*filled_fields(old.fields, new, rows), *filled_fields(old.fields, new, rows, meta=True))
        return cls(old, new, rows, added, sampled)

    @property
    def counts(self) -> dict[str, dict[TaskDifferenceKind, int]]:
        """How many differ, by split and kind, without those of which none does."""
        found: dict[str, dict[TaskDifferenceKind, int]] = {}
        for split in self.new.rows.splits:
            part = self._kinds[split.start : split.stop]
            found[split.name] = {kind: part.count(code) for code, kind in enumerate(_KINDS, start=1)}
        for split in self.old.rows.splits:
            found.setdefault(split.name, {})[TaskDifferenceKind.REMOVED] = sum(1 for _ in self._removed(split))
        kept = {name: {kind: count for kind, count in kinds.items() if count} for name, kinds in found.items()}
        return {name: kinds for name, kinds in kept.items() if kinds}

    def read(self, most: int | None = None) -> Iterator[TaskDifference]:
        """The differences, at most so many, with the values read now, in the order of `differences`."""
        found = self._read(most)
        return found if most is None else islice(found, most)

    def _read(self, most: int | None) -> Iterator[TaskDifference]:
        pairs = ((row, self.rows.counterparts[row]) for row in islice(self._changed_rows(), most))
        paired = [(row, before) for row, before in pairs if before != NOWHERE]
        with (
            TaskValues(self.old, (before for _, before in paired)) as before,
            TaskValues(self.new, (row for row, _ in paired)) as after,
        ):
            del paired
            yield from self._told(_Fields(self.old, self.new, self.added, (before, after)))

    def _told(self, fields: _Fields) -> Iterator[TaskDifference]:
        old, new = self.old.rows, self.new.rows
        for name in dict.fromkeys(split.name for split in (*new.splits, *old.splits)):
            if (split := new.split(name)) is not None:
                for chunk in fields.chunks(self._changed_rows(split), self.rows):
                    yield from _changed(self.rows, self._kinds, chunk, fields)
            if (split := old.split(name)) is not None:
                for row in self._removed(split):
                    task = old.name(row)
                    yield TaskDifference(TaskDifferenceKind.REMOVED, name, task, name, task)

    def _removed(self, split: SplitRows) -> Iterator[int]:
        rows = () if split.name in self.sampled else self.rows.removed
        return (row for row in rows if split.start <= row < split.stop)

    def _changed_rows(self, split: SplitRows | None = None) -> Iterator[int]:
        rows = range(len(self._kinds)) if split is None else range(split.start, split.stop)
        return (row for row in rows if self._kinds[row])


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
    def __init__(
        self, old: ScannedTasks, new: ScannedTasks, added: Collection[str], values: tuple[TaskValues, TaskValues]
    ) -> None:
        self._old, self._new, self._values = old, new, values
        self._ignored = {"id", *(name for name in new.fields if name not in old.fields and name not in added)}

    def of(self, pairs: Mapping[int, int]) -> dict[int, tuple[FieldDifference, ...]]:
        """The fields that differ, by the new row, of pairs of a new and an old row."""
        before, after = self._values[0].read(pairs.values()), self._values[1].read(pairs)
        return {row: tuple(self._differing(before[old], after[row])) for row, old in pairs.items()}

    def chunks(self, changed: Iterator[int], rows: Comparison) -> Iterator[list[int]]:
        """Rows that can be held together with all their values."""
        chunk, size = list[int](), 0
        for row in changed:
            before = rows.counterparts[row]
            own = 0 if before == NOWHERE else self._values[0].size(before) + self._values[1].size(row)
            if chunk and (size + own > _HELD or len(chunk) == _AT_ONCE):
                yield chunk
                chunk, size = [], 0
            chunk.append(row)
            size += own
        if chunk:
            yield chunk

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
