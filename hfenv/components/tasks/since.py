"""The rows of a release as far as its record knows them: a split recorded as a whole is found again, or isn't."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hfenv.components.tasks.compare import Comparison, compare
from hfenv.components.tasks.index import ScannedTasks, TaskIndex
from hfenv.components.tasks.rows import SplitDigests, SplitRows, TaskRows, joined, split_digests


@dataclass(frozen=True, slots=True)
class Released:
    """Rows to compare with, and what is known of the splits that the record holds no single tasks of.

    `unknown` are those of which nothing can be said. The others hold all released tasks, in front of new ones, with
    some of their contents `edited`, meta fields changed (`meta`) or in another order (`reordered`).
    """

    rows: TaskRows
    unknown: frozenset[str]
    edited: frozenset[str]
    meta: frozenset[str]
    reordered: frozenset[str]


@dataclass(frozen=True, slots=True)
class SinceRelease:
    """A release's index beside today's tasks, and how their rows relate."""

    old: TaskIndex
    new: ScannedTasks
    released: Released
    rows: Comparison

    @property
    def lost_fields(self) -> tuple[str, ...]:
        """Released fields that no row has any more: every task that had one differs by that alone."""
        return tuple(name for name, field in self.old.fields.items() if field.types and name not in self.new.fields)


def since_release(old: TaskIndex, new: ScannedTasks) -> SinceRelease:
    """Compare a release with tasks that were read with `released=old.roles`."""
    released = released_rows(old, new.then)
    rows = compare(released.rows, new.then)
    if old.rows.contents.width < new.then.contents.width:
        released = _with_hidden(old, released, rows)
    return SinceRelease(old, new, released, rows)


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


def released_rows(old: TaskIndex, new: TaskRows) -> Released:
    """The released rows; `new` are today's under the release's roles, with digests of full width."""
    parts: list[tuple[TaskRows, SplitRows]] = []
    found: dict[str, set[str]] = {"unknown": set(), "edited": set(), "meta": set(), "reordered": set()}
    for name, was in old.splits.items():
        recorded = old.rows.split(name)
        if recorded is not None:
            parts.append((old.rows, recorded))
            continue
        now = new.split(name)
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
    if all(rows is old.rows for rows, _ in parts):
        return Released(old.rows, **kept)
    return Released(joined(parts, old.rows), **kept)


def _differences(was: SplitDigests, new: TaskRows, prefix: SplitRows) -> list[str] | None:
    """How the first rows differ from a split as a whole; None where they aren't the same tasks."""
    now = split_digests(new, range(prefix.start, prefix.stop))
    if now.ids != was.ids:
        return None
    compared = {"edited": (was.content, now.content), "meta": (was.meta, now.meta), "reordered": (was.order, now.order)}
    return [what for what, (before, after) in compared.items() if before != after]
