"""The rows of a release as far as its record knows them: a split recorded as a whole is found again, or isn't."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from hfenv.card.manifest import SeedRange
from hfenv.components.tasks.compare import Comparison, compare
from hfenv.components.tasks.index import ScannedTasks, TaskIndex
from hfenv.components.tasks.rows import SplitDigests, SplitRows, TaskRows, joined, split_digests


@dataclass(frozen=True, slots=True)
class Released:
    """Rows to compare with, and what is known of the splits that the record holds no single tasks of.

    `unknown` are those of which nothing can be said. Of generated splits, only the tasks that are in both samples are
    compared. The others hold all released tasks, in front of new ones, with
    some of their contents `edited`, meta fields changed (`meta`) or in another order (`reordered`).
    """

    rows: TaskRows
    unknown: frozenset[str]
    edited: frozenset[str]
    meta: frozenset[str]
    reordered: frozenset[str]


@dataclass(frozen=True, slots=True)
class Disorder:
    """Tasks of a split that stand behind one which they stood before: how many, the first one's place, some ids."""

    count: int
    path: str
    line: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SinceRelease:
    """A release's index beside today's tasks, and how their rows relate.

    `unread` counts by split the rows that stand on both sides and aren't among these, because their lines are equal;
    where there are any, `order` says for each split whether tasks stand in another order, which the rows can't.
    """

    old: TaskIndex
    new: ScannedTasks
    released: Released
    rows: Comparison
    unread: Mapping[str, int] = field(default_factory=dict)
    order: Mapping[str, Disorder] | None = None

    def kept_generated(self, split: str) -> bool:
        """Whether a split is generated on both sides, so that its seeds say which tasks it has, and not its rows."""
        return split in self.old.seeds and split in self.new.source.seeds

    def turned(self, split: str) -> bool:
        """Whether a split of both sides is generated on one of them, and made of rows on the other."""
        return (split in self.old.seeds) is not (split in self.new.source.seeds)

    def count(self, split: str, rows: int | None = None) -> int:
        """The number of tasks that a split had; of one that isn't generated `rows`, where that is given."""
        seeds = self.old.seeds.get(split)
        if seeds is not None:
            return seeds.count
        return self.old.splits[split].rows if rows is None else rows

    @property
    def lost_fields(self) -> tuple[str, ...]:
        """Released fields that no row has any more: every task that had one differs by that alone."""
        return tuple(name for name, field in self.old.fields.items() if field.types and name not in self.new.fields)


def since_release(old: TaskIndex, new: ScannedTasks) -> SinceRelease:
    """Compare a release with tasks that were read with `released=old.roles`."""
    released = released_rows(old, new.then, new.source.seeds)
    rows = compare(released.rows, new.then)
    if old.rows.contents.width < new.then.contents.width:
        released = _with_hidden(old, released, rows)
    return SinceRelease(old, new, released, rows)


def since_tasks(old: ScannedTasks, new: ScannedTasks, unread: Mapping[str, int] | None = None) -> SinceRelease:
    """The same for two sets that were both read, the new one with `released=old.roles`: nothing of them is unknown.

    `unread` as in `SinceRelease`.
    """
    if old.source.seeds or new.source.seeds:
        return since_release(old.index(None), new)
    more = unread or {}
    # The digests of whole splits are for rows that a record leaves out.
    splits = {
        one.name: SplitDigests(one.stop - one.start + more.get(one.name, 0), "", "", "", "") for one in old.rows.splits
    }
    known = TaskIndex(old.fields, old.source.resources, splits, old.rows)
    nothing = frozenset[str]()
    released = Released(old.rows, nothing, nothing, nothing, nothing)
    return SinceRelease(known, new, released, compare(old.rows, new.then), more)


def _with_hidden(old: TaskIndex, released: Released, rows: Comparison) -> Released:
    """With the splits in which an edit hides behind a digest that was cut short: their own digests aren't.

    Somebody who looks for it finds two contents with the same eight bytes.
    """
    edited, meta = set(released.edited), set(released.meta)
    seen, seen_meta = {*rows.edited, *rows.renamed}, set(rows.meta)
    for split in old.rows.splits:
        was, now = old.splits[split.name], rows.new.split(split.name)
        before = rows.old.split(split.name)
        if now is None or before is None:
            continue
        kept = [
            row
            for row in range(now.start, now.stop)
            if before.start <= rows.counterparts[row] < before.stop and row not in seen
        ]
        if len(kept) == was.rows:
            found = split_digests(rows.new, kept)
            edited |= {split.name} if found.content != was.content else set()
            meta |= {split.name} if found.meta != was.meta and seen_meta.isdisjoint(kept) else set()
    return replace(released, edited=frozenset(edited), meta=frozenset(meta))


def released_rows(old: TaskIndex, new: TaskRows, seeds: Mapping[str, SeedRange] = MappingProxyType({})) -> Released:
    """The released rows; `new` are today's under the release's roles, with digests of full width.

    `seeds` are those of today's generated splits.
    """
    parts: list[tuple[TaskRows, SplitRows]] = []
    found: dict[str, set[str]] = {"unknown": set(), "edited": set(), "meta": set(), "reordered": set()}
    for name, was in old.splits.items():
        recorded, now = old.rows.split(name), new.split(name)
        before, after = old.seeds.get(name), seeds.get(name)
        if now is not None and (before is None) is not (after is None):
            found["unknown"].add(name)
            continue
        if recorded is not None:
            if before is not None and after is not None and now is not None:
                recorded = _sampled_in_both(recorded, before, now, after)
            parts.append((old.rows, recorded))
            continue
        if now is None:
            continue
        prefix = SplitRows(name, now.start, now.start + was.rows)
        if prefix.stop > now.stop or (differences := _differences(was, new, prefix)) is None:
            found["unknown"].add(name)
            continue
        parts.append((new, prefix))
        for difference in differences:
            found[difference].add(name)
    kept = {what: frozenset(names) for what, names in found.items()}
    if all(rows is old.rows for rows, _ in parts) and tuple(split for _, split in parts) == old.rows.splits:
        return Released(old.rows, **kept)
    return Released(joined(parts, old.rows), **kept)


def _sampled_in_both(old: SplitRows, before: SeedRange, new: SplitRows, after: SeedRange) -> SplitRows:
    """The rows of a released sample whose seeds are in today's too: each holds the first seeds of its range."""
    start = max(before.first, after.first)
    stop = min(before.first + old.stop - old.start, after.first + new.stop - new.start)
    at = min(old.stop, old.start + start - before.first)
    return SplitRows(old.name, at, at + max(0, stop - start))


def _differences(was: SplitDigests, new: TaskRows, prefix: SplitRows) -> list[str] | None:
    """How the first rows differ from a split as a whole; None where they aren't the same tasks."""
    now = split_digests(new, range(prefix.start, prefix.stop))
    if now.ids != was.ids:
        return None
    compared = {"edited": (was.content, now.content), "meta": (was.meta, now.meta), "reordered": (was.order, now.order)}
    return [what for what, (before, after) in compared.items() if before != after]
