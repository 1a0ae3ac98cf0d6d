"""Which lines of two task sets are worth reading: those that don't stand, byte for byte, in the same split of both."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hfenv.components.tasks.lines import byte_ranges, read_lines
from hfenv.components.tasks.pool import run_all
from hfenv.components.tasks.range import TaskFile

_PARTS = 64  # of the lines of a split, one of which is held as objects at a time


@dataclass(frozen=True, slots=True)
class LinesJob:
    """A range of bytes of a file of JSON Lines."""

    path: Path
    start: int
    stop: int


@dataclass(slots=True)
class Lines:
    """For each line that isn't blank its hash, which only one run can compare, and where it begins."""

    hashes: array[int] = field(default_factory=lambda: array("q"))
    offsets: array[int] = field(default_factory=lambda: array("Q"))


Offsets = tuple["array[int]", ...]
"""For each file the offsets of some lines."""


def sieve(old: Sequence[TaskFile], new: Sequence[TaskFile], workers: int | None) -> tuple[Offsets, Offsets] | None:
    """The lines of both sides that the other one hasn't; None where that isn't for less than half of all lines.

    Python's own hash of 64 bits is taken, which is seeded anew in each run, so that nobody can prepare two lines with
    one hash. Raises OSError for a file that can't be read, and is of use for JSON Lines only.
    """
    files = [*old, *new]
    jobs, owners, size = [], [], 0
    for number, file in enumerate(files):
        length = file.path.stat().st_size
        size += length
        ranges = byte_ranges(length)
        jobs += [LinesJob(file.path, *both) for both in ranges]
        owners += [number] * len(ranges)
    found = [Lines() for _ in files]
    # Both sides in one run: its processes hash alike.
    for owner, lines in zip(owners, run_all(read, jobs, size=size, workers=workers), strict=True):
        found[owner].hashes.extend(lines.hashes)
        found[owner].offsets.extend(lines.offsets)
    before, after = found[: len(old)], found[len(old) :]
    rows = sum(len(lines.hashes) for lines in found)
    own: tuple[set[int], set[int]] = (set(), set())
    for split in dict.fromkeys(file.split for file in files):
        sides = zip(_parts(before, old, split), _parts(after, new, split), strict=True)
        for one, other in sides:
            here, there = set(one), set(other)
            own[0].update(here - there)
            own[1].update(there - here)
            if 2 * (len(own[0]) + len(own[1])) > rows:
                return None
    return _offsets(before, own[0]), _offsets(after, own[1])


def read(job: LinesJob) -> Lines:
    """The lines of a range."""
    found = Lines()
    for offset, _, line, length in read_lines(job.path, job.start, job.stop):
        # One that is too long to be held is told from every other, so that it is met again, as an error.
        text = f"{job.path}:{offset}:{length}" if line is None else line.rstrip(b" \t\r\n")
        if text:
            found.hashes.append(hash(text))
            found.offsets.append(offset)
    return found


def _parts(found: Sequence[Lines], files: Sequence[TaskFile], split: str) -> Iterator[array[int]]:
    parts = [array("q") for _ in range(_PARTS)]
    puts = [part.append for part in parts]
    for lines, file in zip(found, files, strict=True):
        if file.split == split:
            for value in lines.hashes:
                puts[value % _PARTS](value)
    yield from parts


def _offsets(found: Sequence[Lines], own: set[int]) -> Offsets:
    # A line that stands in another split on the other side has a hash that isn't its own there, and is kept on both.
    return tuple(
        array("Q", (at for at, value in zip(lines.offsets, lines.hashes, strict=True) if value in own))
        for lines in found
    )
