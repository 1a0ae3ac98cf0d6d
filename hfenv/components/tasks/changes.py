"""What changed in a task set since a release, and whether numbers measured on both may stand in one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hfenv.card.quoting import short
from hfenv.components.changes.change import Change, Difference
from hfenv.components.changes.policy import Policy, load_policy
from hfenv.components.ownership import Component
from hfenv.components.tasks.rowchanges import row_differences, some_tasks
from hfenv.components.tasks.seedchanges import seed_change, seed_differences
from hfenv.components.tasks.setchanges import changed_resources, filled_fields, resource_users, schema_differences
from hfenv.components.tasks.since import SinceRelease

_SHOWN = ("input", "meta")


def classify_tasks(since: SinceRelease, policy: Policy | None = None) -> tuple[Change, ...]:
    """All changes of a task set since a release; none exactly where both have the same meaning.

    Another file, format, row group or key order is no change here, though it changes the component's exact digest.
    """
    return (policy or load_policy()).judge(Component.TASKS, _differences(since))


def _differences(since: SinceRelease) -> Iterator[Difference]:
    yield from row_differences(since)
    yield from seed_differences(since)
    yield from schema_differences(since)


def comparable(since: SinceRelease, split: str) -> tuple[bool, str]:
    """Whether numbers measured on a split of both may stand in one table, and why.

    They may where the ids and their content are the same; meta fields and order don't matter. Of a generated split, the
    seeds are the same, and the content of the tasks that are in both samples.
    """
    now = since.rows.new.split(split)
    if now is None or split not in since.old.splits:
        return False, f"there is no split '{short(split)}' {'any more' if now is None else 'in the release'}"
    reasons = [*_rows(since, split), *_fields(since), *_resources(since, split)]
    if reasons:
        return False, ", ".join(reasons)
    if (change := seed_change(since, split)) is not None:
        return True, f"the same {some_tasks(change.after.count, split)}, as far as {change.sampled:,} sampled ones tell"
    return True, f"the same {some_tasks(now.stop - now.start + since.unread.get(split, 0), split)}"


def _rows(since: SinceRelease, split: str) -> Iterator[str]:
    rows = since.rows
    before, now = rows.old.split(split), rows.new.split(split)
    if split in since.released.unknown and since.turned(split):
        yield f"the {short(split)} tasks are generated on one side and rows of files on the other"
    elif split in since.released.unknown:
        yield f"the tasks of {short(split)} changed, and the release records them as a whole only"
    if before is None or now is None:
        return
    total, seeds = since.count(split), seed_change(since, split)
    arrived = {row for row in rows.moved if now.start <= row < now.stop}

    def stayed(found: Iterable[int]) -> int:
        return sum(now.start <= row < now.stop and row not in arrived for row in found)

    counts = {
        "edited": 0 if _lost_content(since) else stayed(rows.edited),
        "removed": sum(before.start <= row < before.stop for row in rows.removed) + (seeds.removed if seeds else 0),
        "renamed": stayed(rows.renamed),
        "moved to another split": sum(before.start <= rows.counterparts[row] < before.stop for row in rows.moved),
    }
    for what, count in counts.items():
        if count:
            yield f"{count:,} of {some_tasks(total, split)} {what}"
    if split in since.released.edited and not counts["edited"]:
        yield f"some of {some_tasks(total, split)} edited"
    if seeds is not None and seeds.unsampled:
        yield f"{some_tasks(seeds.unsampled, split)} of the release's sample not in today's"
    added = seeds.added if seeds else sum(now.start <= row < now.stop for row in rows.added)
    if count := len(arrived) + added:
        yield f"{some_tasks(count, split)} added"


def _fields(since: SinceRelease) -> Iterator[str]:
    for name in _lost_content(since):
        yield f"the field '{short(name)}' removed"
    for name in filled_fields(since.old.fields, since.new, since.rows):
        yield f"the field '{short(name)}' added with values that differ from task to task"
    for name, field in since.old.fields.items():
        if name in since.new.fields:
            before, now = field.role, since.new.fields[name].role
            if before != now and ("resource" in (before, now) or (before in _SHOWN) is not (now in _SHOWN)):
                yield f"the field '{short(name)}' {before} before and {now} now"


def _lost_content(since: SinceRelease) -> list[str]:
    return [name for name in since.lost_fields if since.old.fields[name].role != "meta"]


def _resources(since: SinceRelease, split: str) -> Iterator[str]:
    for name in changed_resources(since):
        users = resource_users(since, name)
        if split in users or not users:
            yield f"the resource '{short(name)}' changed"
    for name in sorted(since.old.resources.keys() - since.new.source.resources.keys()):
        yield f"the resource '{short(name)}' removed"
