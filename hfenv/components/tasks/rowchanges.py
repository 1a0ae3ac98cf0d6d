"""What differs since a release in single tasks: added, removed, edited, renamed and moved ones, meta fields, order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from hfenv.card.quoting import short
from hfenv.components.changes.change import ChangeKind, Difference
from hfenv.components.ownership import CARD_NAME
from hfenv.components.tasks.compare import NOWHERE, disordered
from hfenv.components.tasks.index import is_training
from hfenv.components.tasks.rows import SplitRows
from hfenv.components.tasks.since import SinceRelease

_EXAMPLES = 3
_WHOLE = "the release records the split as a whole only"


def row_differences(since: SinceRelease) -> Iterator[Difference]:
    """One for each kind and split (for moves: each pair of splits), in the order of kinds, then splits."""
    told = _Teller(since)
    yield from told.removed()
    yield from told.moved()
    yield from told.edited()
    yield from told.renamed()
    yield from told.unknown()
    yield from told.added()
    yield from told.order()
    yield from told.meta()


def some_tasks(count: int, split: str) -> str:
    """Such as "1 test task" or "3 train tasks"."""
    return f"{count:,} {short(split)} task{'' if count == 1 else 's'}"


class _Teller:
    def __init__(self, since: SinceRelease) -> None:
        self._since = since
        self._old, self._new = since.rows.old, since.rows.new

    def removed(self) -> Iterator[Difference]:
        for split in self._old.splits:
            rows = _within(self._since.rows.removed, split)
            if rows:
                ids = tuple(short(self._old.name(row)) for row in rows[:_EXAMPLES])
                count = (
                    len(rows) if self._since.kept_generated(split.name) else self._since.count(split.name, len(rows))
                )
                what = f"{some_tasks(count, split.name)} removed"
                yield self._unseen(ChangeKind.TASK_REMOVED, split.name, what, count=count, ids=ids)

    def moved(self) -> Iterator[Difference]:
        groups: dict[tuple[str, str], list[int]] = defaultdict(list)
        for row in self._since.rows.moved:
            before = self._old.split_of(self._since.rows.counterparts[row])
            groups[before, self._new.split_of(row)].append(row)
        for (before, after), rows in groups.items():
            what = f"{some_tasks(len(rows), before)} moved to {short(after)}"
            yield self._seen(ChangeKind.TASK_MOVED, after, what, rows, (before, after))

    def edited(self) -> Iterator[Difference]:
        if any(self._since.old.fields[name].role != "meta" for name in self._since.lost_fields):
            return  # every task that had the field differs, and nobody can tell whether that is all
        yield from self._by_split(
            ChangeKind.TASK_EDITED, self._since.rows.edited, "{tasks} edited", self._since.released.edited
        )

    def renamed(self) -> Iterator[Difference]:
        moved = set(self._since.rows.moved)
        for split in self._new.splits:
            rows = [row for row in _within(self._since.rows.renamed, split) if row not in moved]
            if rows:
                what = f"{some_tasks(len(rows), split.name)} renamed"
                before = short(self._old.name(self._since.rows.counterparts[rows[0]]))
                after = short(self._new.name(rows[0]))
                yield self._seen(ChangeKind.TASK_RENAMED, split.name, what, rows, (before, after))

    def unknown(self) -> Iterator[Difference]:
        for name in sorted(self._since.released.unknown):
            if self._since.turned(name):
                before, after = "rows of files", "generated"
                if name in self._since.old.seeds:
                    before, after = after, before
                what = f"the {short(name)} tasks were {before} and are {after} now, which is another set of tasks"
                yield self._unseen(ChangeKind.TASK_UNKNOWN, name, what)
                continue
            rows = self._since.old.splits[name].rows
            what = (
                f"{some_tasks(rows, name)} were released, and they aren't the first {rows:,} any more; {_WHOLE}, "
                f"so that only a comparison with the release itself says what changed"
            )
            yield self._unseen(ChangeKind.TASK_UNKNOWN, name, what)

    def added(self) -> Iterator[Difference]:
        for split in self._new.splits:
            rows = _within(self._since.rows.added, split)
            known = split.name in self._since.old.splits and split.name not in self._since.released.unknown
            if rows and known and not self._since.kept_generated(split.name):
                training = is_training(split.name)
                kind = ChangeKind.TASK_ADDED_TRAINING if training else ChangeKind.TASK_ADDED_EVALUATION
                yield self._seen(kind, split.name, f"{some_tasks(len(rows), split.name)} added", rows)

    def order(self) -> Iterator[Difference]:
        for name, found in (self._since.order or {}).items():
            ids = tuple(short(one) for one in found.examples)
            message = f"{some_tasks(found.count, name)} in another order: {_listed(ids, found.count)}"
            yield Difference(ChangeKind.TASK_ORDER, found.path, name, message, ("", ""), found.line, found.count, ids)
        if self._since.order is not None:
            return
        rows = [row for split in self._new.splits for row in disordered(self._since.rows, split)]
        reordered = self._since.released.reordered
        yield from self._by_split(ChangeKind.TASK_ORDER, rows, "{tasks} in another order", reordered)

    def meta(self) -> Iterator[Difference]:
        if any(self._since.old.fields[name].role == "meta" for name in self._since.lost_fields):
            return
        yield from self._by_split(
            ChangeKind.TASK_META, self._since.rows.meta, "meta fields of {tasks} changed", self._since.released.meta
        )

    def _by_split(
        self, kind: ChangeKind, rows: Sequence[int], what: str, as_a_whole: frozenset[str]
    ) -> Iterator[Difference]:
        for split in self._new.splits:
            if own := _within(rows, split):
                yield self._seen(kind, split.name, what.format(tasks=some_tasks(len(own), split.name)), own)
            elif split.name in as_a_whole:
                tasks = f"some {short(split.name)} tasks"
                yield self._unseen(
                    kind, split.name, f"{what.format(tasks=tasks)}; the release's record can't tell which"
                )

    def _seen(
        self, kind: ChangeKind, name: str, what: str, rows: Sequence[int], texts: tuple[str, str] = ("", "")
    ) -> Difference:
        path, line = self._since.new.place(rows[0])
        ids = tuple(self._name(row) for row in rows[:_EXAMPLES])
        return Difference(kind, path, name, f"{what}: {_listed(ids, len(rows))}", texts, line, len(rows), ids)

    def _unseen(
        self, kind: ChangeKind, name: str, what: str, *, count: int | None = None, ids: tuple[str, ...] = ()
    ) -> Difference:
        """A difference that no row shows: it stands at the first file of its split."""
        path = next((file.name for file in self._since.new.source.files if file.split == name), CARD_NAME)
        message = f"{what}: {_listed(ids, count or 0)}" if ids else what
        return Difference(kind, path, name, message, count=count, examples=ids)

    def _name(self, row: int) -> str:
        """A task's id; with the one that it had, where that was another."""
        before, now = self._since.rows.counterparts[row], short(self._new.name(row))
        if before == NOWHERE or self._old.keys[before] == self._new.keys[row]:
            return now
        return f"{short(self._old.name(before))} -> {now}"


def _within(rows: Sequence[int], split: SplitRows) -> list[int]:
    return [row for row in rows if split.start <= row < split.stop]


def _listed(examples: Sequence[str], count: int) -> str:
    more = f" and {count - len(examples):,} more" if count > len(examples) else ""
    return ", ".join(examples) + more
