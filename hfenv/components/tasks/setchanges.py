"""Changes since a release of what all tasks share: their fields, their resources and the splits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hfenv.card.quoting import short
from hfenv.components.changes.change import ChangeKind, Difference
from hfenv.components.ownership import CARD_NAME
from hfenv.components.tasks.compare import NOWHERE, Comparison
from hfenv.components.tasks.digests import META
from hfenv.components.tasks.index import ScannedTasks, TaskField, is_training
from hfenv.components.tasks.rowchanges import some_tasks
from hfenv.components.tasks.since import SinceRelease


def schema_differences(since: SinceRelease) -> Iterator[Difference]:
    """One for each field, resource or split concerned."""
    yield from _fields(since)
    yield from _resources(since)
    yield from _splits(since)


def filled_fields(
    old: Mapping[str, TaskField], new: ScannedTasks, rows: Comparison, *, meta: bool = False
) -> tuple[str, ...]:
    """New fields of the content (or `meta` fields), where their values differ among old tasks; else none."""
    kept = (row for row, before in enumerate(rows.counterparts if new.extras.data else ()) if before != NOWHERE)
    half = slice(META, None) if meta else slice(META)
    if len({new.extras[row][half] for row in kept}) < 2:
        return ()
    return tuple(name for name, field in new.fields.items() if name not in old and (field.role == "meta") is meta)


def _fields(since: SinceRelease) -> Iterator[Difference]:
    old, new = since.old.fields, since.new.fields
    for name in sorted(old.keys() - new.keys()):
        differing = len(since.rows.edited if old[name].role != "meta" else since.rows.meta)
        rest = (
            f"; {differing:,} {'task differs' if differing == 1 else 'tasks differ'} by that or otherwise"
            if name in since.lost_fields
            else ""
        )
        yield Difference(
            ChangeKind.FIELD_REMOVED,
            CARD_NAME,
            name,
            f"the field '{short(name)}' was removed{rest}",
            (old[name].role, ""),
        )
    for name in sorted(old.keys() & new.keys()):
        before, after = old[name], new[name]
        if before.role != after.role:
            message = f"the role of the field '{short(name)}' changed from {before.role} to {after.role}"
            yield Difference(ChangeKind.FIELD_ROLE, CARD_NAME, name, message, (before.role, after.role))
        if before.types and after.types and before.types != after.types:
            was, now = " or ".join(before.types), " or ".join(after.types)
            message = f"the field '{short(name)}' was {was} and is {now}"
            yield Difference(ChangeKind.FIELD_RETYPED, CARD_NAME, name, message, (was, now))
    filled = filled_fields(old, since.new, since.rows)
    if filled:
        names = ", ".join(f"'{short(name)}'" for name in filled)
        what = f"the field {names} was" if len(filled) == 1 else f"the fields {names} were"
        message = f"{what} added with values that differ from task to task"
        yield Difference(ChangeKind.FIELD_FILLED, CARD_NAME, ", ".join(filled), message)
    for name in sorted(new.keys() - old.keys() - set(filled)):
        what = "the meta field" if new[name].role == "meta" else "the field"
        value = "" if new[name].role == "meta" else ", with one value for all released tasks"
        message = f"{what} '{short(name)}' was added{value}"
        yield Difference(ChangeKind.FIELD_ADDED, CARD_NAME, name, message, ("", new[name].role))


def _resources(since: SinceRelease) -> Iterator[Difference]:
    old, new = since.old.resources, since.new.source.resources
    for name in sorted(old.keys() - new.keys()):
        yield Difference(ChangeKind.RESOURCE_REMOVED, CARD_NAME, name, f"the resource '{short(name)}' was removed")
    for name in changed_resources(since):
        users = resource_users(since, name)
        if users:
            named = " and ".join(some_tasks(count, split) for split, count in users.items())
            message = f"the resource '{short(name)}' changed, which {named} name"
            yield Difference(
                ChangeKind.RESOURCE_EDITED, CARD_NAME, name, message, (old[name], new[name]), count=sum(users.values())
            )
        else:
            message = f"the resource '{short(name)}' changed; no task names it, so that it counts for all of them"
            yield Difference(
                ChangeKind.RESOURCE_EDITED,
                CARD_NAME,
                name,
                message,
                (old[name], new[name]),
                count=len(since.new.rows) + sum(since.unread.values()),
            )
    for name in sorted(new.keys() - old.keys()):
        yield Difference(ChangeKind.RESOURCE_ADDED, CARD_NAME, name, f"the resource '{short(name)}' was added")


def changed_resources(since: SinceRelease) -> list[str]:
    """Names of resources that are there on both sides with different content."""
    old, new = since.old.resources, since.new.source.resources
    return sorted(name for name in old.keys() & new.keys() if old[name] != new[name])


def resource_users(since: SinceRelease, name: str) -> dict[str, int]:
    """How many tasks of each split name a resource; empty where no task does."""
    return {split: used[name] for split, used in since.new.used.items() if used.get(name)}


def _splits(since: SinceRelease) -> Iterator[Difference]:
    old, new = since.old.splits, since.new.rows.splits
    names = [split.name for split in new]
    for name in sorted(old.keys() - set(names)):
        yield Difference(
            ChangeKind.SPLIT_REMOVED, CARD_NAME, name, f"the split '{short(name)}' was removed", count=since.count(name)
        )
    for split in new:
        if split.name not in old:
            count = sum(split.start <= row < split.stop for row in since.rows.added)
            count = since.new.source.seeds[split.name].count if split.name in since.new.source.seeds else count
            purpose = "training" if is_training(split.name) else "evaluation"
            message = f"the {purpose} split '{short(split.name)}' was added, with {some_tasks(count, 'new')}"
            yield Difference(ChangeKind.SPLIT_ADDED, CARD_NAME, split.name, message, count=count)
    before, after = default_split(old), default_split(names)
    if before is not None and before != after:
        takes = f"takes '{short(after)}'" if after is not None else "asks for one"
        message = f"without a split, loading took '{short(before)}' and now {takes}"
        yield Difference(ChangeKind.SPLIT_DEFAULT, CARD_NAME, before, message, (before, after or ""))


def default_split(splits: Iterable[str]) -> str | None:
    """The split that is loaded where none is asked for: `train` where there is one, else the only one."""
    names = list(splits)
    return "train" if "train" in names else names[0] if len(names) == 1 else None
