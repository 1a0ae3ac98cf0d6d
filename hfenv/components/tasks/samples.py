"""Samples of generated splits: which ids their tasks have, and a check that a sample holds the first of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hfenv.card.manifest import SeedRange
from hfenv.card.quoting import short
from hfenv.components.taskfiles import iter_rows
from hfenv.components.tasks.range import TaskFile
from hfenv.errors import UnreadableError
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

_DIGITS = 19  # of the largest seed


def task_id(split: str, seed: int) -> str:
    """The id of a generated task."""
    return f"{split}-{seed}"


def seed_of(split: str, seeds: SeedRange, identifier: str) -> int | None:
    """The seed behind an id; None for one that no task of the split has."""
    text = identifier.removeprefix(f"{split}-")
    if len(text) > _DIGITS or not (text.isascii() and text.isdigit()):
        return None
    seed = int(text)
    return seed if seeds.first <= seed < seeds.stop and identifier == task_id(split, seed) else None


def check_samples(files: Sequence[TaskFile], seeds: Mapping[str, SeedRange]) -> Iterator[Finding]:
    """HFE323: the rows of a generated split's file are its first tasks, in the order of the seeds.

    One finding for each file, at the first row that is amiss; what can't be read has findings of its own.
    """
    for file in files:
        if file.split in seeds and seeds[file.split].count:  # seeds that end before they begin have their own finding
            yield from _check(file, seeds[file.split])


def _check(file: TaskFile, seeds: SeedRange) -> Iterator[Finding]:
    fix = "Write the sample anew: hfenv tasks sample"
    count, line = 0, 0
    try:
        for row in iter_rows(file.path):
            count, line = count + 1, row.line
            wanted, found = task_id(file.split, seeds.first + count - 1), row.values.get("id")
            if count > seeds.count:
                message = f"the sample goes on after the last seed of '{short(file.split)}', {seeds.stop - 1}"
            elif found != wanted:
                message = f"task {count} of the sample has the id {short(repr(found))}, not '{short(wanted)}'"
            else:
                continue
            yield Finding("HFE323", severity("HFE323"), file.name, message, line=line, column=1, fix=fix)
            return
    except (UnreadableError, OSError):
        return
