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


@dataclass(frozen=True, slots=True)
class Sieved:
    """The lines of one side: of each file, and the hashes of those that the other side hasn't in the same split."""

    files: tuple[TaskFile, ...]
    lines: tuple[Lines, ...]
    own: set[int]

    def offsets(self) -> Offsets:
        """Where this side's own lines begin."""
        # A line that stands in another split on the other side is its own on both, and kept on both.
        own = self.own
        return tuple(
            array("Q", (at for at, value in zip(lines.offsets, lines.hashes, strict=True) if value in own))
            for lines in self.lines
        )

    def of_split(self, split: str) -> Iterator[tuple[TaskFile, Lines]]:
        """The files of a split, in their order."""
        return ((file, lines) for file, lines in zip(self.files, self.lines, strict=True) if file.split == split)

    def shared(self, most: int) -> Iterator[tuple[TaskFile, int]]:
        """So many lines, at most, that both sides have, from all over the files: where they begin."""
        step = max(1, sum(len(lines.hashes) for lines in self.lines) // most)
        for file, lines in zip(self.files, self.lines, strict=True):
            for value, offset in zip(lines.hashes[::step], lines.offsets[::step], strict=True):
                if value not in self.own:
                    yield file, offset


def sieve(old: Sequence[TaskFile], new: Sequence[TaskFile], workers: int | None) -> tuple[Sieved, Sieved] | None:
    """The lines of both sides with those that the other one hasn't; None where these aren't less than half of all.

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
    return Sieved(tuple(old), tuple(before), own[0]), Sieved(tuple(new), tuple(after), own[1])


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
