"""Task files in ranges that processes can share: the lines of a range of bytes, and single lines read again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from hfenv.card.regular import open_regular

# `load_dataset` takes the columns from the first 10 MiB of the first file: the first range is just that.
RANGE = 10 << 20
MAX_LINE = 16 << 20
_BLOCK = 1 << 16


Line = tuple[int, int, "bytes | None", int]
"""One line of a file: where it starts (bytes), its number in the range, its bytes with the line's end, their number.

The bytes are None for a line that is too long to be read.
"""


def byte_ranges(size: int) -> list[tuple[int, int]]:
    """How a file of JSON Lines is cut: a line belongs to the range that it starts in."""
    return [(start, min(start + RANGE, size)) for start in range(0, size, RANGE)]


def read_lines(path: Path, start: int, stop: int) -> Iterator[Line]:
    """The lines that start in a range of a file, blank ones included; never more than MAX_LINE bytes are held."""
    with open_regular(path) as stream:
        offset = _first_line(stream, start, stop)
        number = 0
        while offset < stop:
            data = stream.readline(MAX_LINE + 2)
            if not data:
                return
            number += 1
            length = len(data)
            if length > MAX_LINE and data[-1:] != b"\n":
                length += _rest_of_line(stream)
                yield offset, number, None, length
            else:
                yield offset, number, data, length
            offset += length


def read_line(stream: BinaryIO, offset: int) -> bytes:
    """The line that starts at an offset."""
    stream.seek(offset)
    return stream.readline(MAX_LINE + 2)


def line_numbers(path: Path, offsets: Iterable[int]) -> dict[int, int]:
    """The line, counted from 1, of each offset in a file."""
    found: dict[int, int] = {}
    line, position = 1, 0
    with open_regular(path) as stream:
        for offset in sorted(set(offsets)):
            while position < offset:
                block = stream.read(min(1 << 20, offset - position))
                if not block:
                    break
                line += block.count(b"\n")
                position += len(block)
            found[offset] = line
    return found


def _first_line(stream: BinaryIO, start: int, stop: int) -> int:
    """Go to the first line that starts at `start` or later; `stop` or beyond where there is none before it."""
    if start == 0:
        return 0
    stream.seek(start - 1)
    offset = start - 1
    while offset < stop:
        part = stream.readline(_BLOCK)
        offset += len(part)
        if not part or part.endswith(b"\n"):
            return offset if part else stop
    return stop


def _rest_of_line(stream: BinaryIO) -> int:
    length = 0
    while part := stream.readline(_BLOCK):
        length += len(part)
        if part.endswith(b"\n"):
            break
    return length
