"""What differs since a release in generated splits: their seeds, the generator, and how much the samples can tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hfenv.card.manifest import SeedRange
from hfenv.components.changes.change import ChangeKind, Difference
from hfenv.components.ownership import CARD_NAME
from hfenv.components.tasks.index import is_training
from hfenv.components.tasks.rowchanges import some_tasks
from hfenv.components.tasks.since import SinceRelease


@dataclass(frozen=True, slots=True)
class SeedChange:
    """How a split that is generated on both sides differs, in tasks.

    `sampled` are in both samples, so that they were compared; of the `unsampled` ones, the release had them in its
    sample and today's has not.
    """

    before: SeedRange
    after: SeedRange
    removed: int
    added: int
    sampled: int
    unsampled: int


def seed_change(since: SinceRelease, split: str) -> SeedChange | None:
    """None for a split that isn't generated on both sides."""
    if not since.kept_generated(split):
        return None
    before, after = since.old.seeds[split], since.new.source.seeds[split]
    now, then = since.rows.new.split(split), since.rows.old.split(split)
    common = before.common(after)
    released = SeedRange(before.first, before.first + since.old.splits[split].rows)
    here = SeedRange(after.first, after.first + (0 if now is None else now.stop - now.start))
    wanted, sampled = released.common(after), released.common(here)
    if split in since.released.unknown or then is None:
        sampled = 0
    return SeedChange(before, after, before.count - common, after.count - common, sampled, wanted - sampled)


def seed_differences(since: SinceRelease) -> Iterator[Difference]:
    """One for each kind and split: seeds removed and added, tasks of which nothing is known; one for the generator."""
    changes = {split: change for split in since.old.splits if (change := seed_change(since, split)) is not None}
    for split, change in changes.items():
        texts = _written(change.before), _written(change.after)
        if change.removed:
            what = f"{some_tasks(change.removed, split)} removed with their seeds"
            yield Difference(ChangeKind.TASK_REMOVED, CARD_NAME, split, what, texts, count=change.removed)
        if change.added:
            kind = ChangeKind.TASK_ADDED_TRAINING if is_training(split) else ChangeKind.TASK_ADDED_EVALUATION
            what = f"{some_tasks(change.added, split)} added with their seeds"
            yield Difference(kind, CARD_NAME, split, what, texts, count=change.added)
        if change.unsampled and split not in since.released.unknown:
            what = (
                f"{some_tasks(change.unsampled, split)} of the release's sample aren't in today's, so that nobody can "
                "tell whether they are the same"
            )
            path = next((file.name for file in since.new.source.files if file.split == split), CARD_NAME)
            yield Difference(ChangeKind.TASK_UNKNOWN, path, split, what, count=change.unsampled)
    if changes and since.old.generator != since.new.source.generator:
        path = since.new.source.entry or CARD_NAME
        yield Difference(ChangeKind.GENERATOR, path, "generator", _generator(since, changes))


def _generator(since: SinceRelease, changes: dict[str, SeedChange]) -> str:
    sampled = {split: change.sampled for split, change in changes.items()}
    total = f"{sum(sampled.values()):,} sampled task{'' if sum(sampled.values()) == 1 else 's'}"
    new = since.rows.new
    edited = sum(new.split_of(row) in sampled for row in since.rows.edited)
    if edited or since.released.edited & sampled.keys():
        return f"the generator changed, and {f'{edited:,}' if edited else 'some'} of {total} with it"
    named = " and ".join(some_tasks(count, f"sampled {split}") for split, count in sampled.items())
    check = "hfenv tasks sample --check"
    return f"the generator changed, and {named} in the folder didn't; {check} tells whether it still makes them"


def _written(seeds: SeedRange) -> str:
    return f"[{seeds.first}, {seeds.stop}]"
