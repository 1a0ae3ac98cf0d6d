"""Two task sets held against each other row by row, by their digests alone."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hfenv.components.tasks.rows import Column, SplitRows, TaskRows, matched

NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the rows of two sets relate, as sorted row numbers: of the new set, but for `removed`.

    `counterparts` has for each new row the old one that is the same task, or -1: the one with its id, else one with
    its content whose id is gone (`renamed`). `added` and `removed` have no counterpart. `edited` have another content,
    `meta` the same content with other meta fields, `moved` stand in another split.
    """

    old: TaskRows
    new: TaskRows
    counterparts: array[int]
    added: array[int]
    removed: array[int]
    renamed: array[int]
    edited: array[int]
    meta: array[int]
    moved: array[int]


def compare(old: TaskRows, new: TaskRows) -> Comparison:
    """Hold all rows against each other: by id, then the ones left over by content. Ids are unique on both sides."""
    counterparts = array("q", [NOWHERE]) * len(new)
    gone = bytearray(b"\1") * len(old)
    for before, after in matched(old.keys, range(len(old)), new.keys, range(len(new))):
        counterparts[after] = before
        gone[before] = 0
    renamed = array("q")
    if 1 in gone and NOWHERE in counterparts:
        for before, after in _renamed(old, gone, new, counterparts):
            counterparts[after] = before
            gone[before] = 0
            renamed.append(after)
    edited, meta, moved = _differing(old, new, counterparts)
    return Comparison(
        old, new, counterparts,
        added=array("q", (row for row, before in enumerate(counterparts) if before == NOWHERE)),
        removed=array("q", (row for row, is_gone in enumerate(gone) if is_gone)),
        renamed=array("q", sorted(renamed)), edited=edited, meta=meta, moved=moved,
    )  # fmt: skip


def _renamed(old: TaskRows, gone: bytearray, new: TaskRows, counterparts: array[int]) -> Iterator[tuple[int, int]]:
    """Pairs of equal content; those within a split come first, so that a move is seen where there is no other way."""
    for split in new.splits:
        same = old.split(split.name) or SplitRows(split.name, 0, 0)
        there = [row for row in range(same.start, same.stop) if gone[row]]
        here = [row for row in range(split.start, split.stop) if counterparts[row] == NOWHERE]
        yield from matched(old.contents, there, new.contents, here)
    everywhere = [row for row in range(len(old)) if gone[row]]
    anywhere = [row for row in range(len(new)) if counterparts[row] == NOWHERE]
    yield from matched(old.contents, everywhere, new.contents, anywhere)


def _differing(old: TaskRows, new: TaskRows, counterparts: array[int]) -> tuple[array[int], array[int], array[int]]:
    edited, meta, moved = array("q"), array("q"), array("q")
    content_differs, meta_differs = _differ(old.contents, new.contents), _differ(old.metas, new.metas)
    for split in new.splits:
        same = old.split(split.name) or SplitRows(split.name, 0, 0)
        for row, before in enumerate(counterparts[split.start : split.stop], start=split.start):
            if before == NOWHERE:
                continue
            if content_differs(before, row):
                edited.append(row)
            elif meta_differs(before, row):
                meta.append(row)
            if not same.start <= before < same.stop:
                moved.append(row)
    return edited, meta, moved


def _differ(old: Column, new: Column) -> Callable[[int, int], bool]:
    """Tells of an old and a new row whether their digests differ; where a record cut them short, as far as they go."""
    width = min(old.width, new.width)
    one, other, step, other_step = old.data, new.data, old.width, new.width

    def differs(before: int, after: int) -> bool:
        start, other_start = before * step, after * other_step
        return one[start : start + width] != other[other_start : other_start + width]

    return differs


def disordered(comparison: Comparison, split: SplitRows) -> Iterator[int]:
    """New rows of a split that stand behind a task which they stood before; none where the order is the same.

    Only tasks that are in the split on both sides count: added and removed ones are changes of their own.
    """
    same = comparison.old.split(split.name) or SplitRows(split.name, 0, 0)
    last = NOWHERE
    for row in range(split.start, split.stop):
        before = comparison.counterparts[row]
        if same.start <= before < same.stop:
            if before < last:
                yield row
            else:
                last = before
