"""Rows of Parquet files by ranges, without turning anything into what JSON has."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from hfenv.components.tasks.batches import batches, plain_rows
from hfenv.components.tasks.lines import RANGE
from hfenv.errors import UnreadableError

# Most libraries write all rows as one group. A piece of it is turned into rows by itself, for which all of the group
# before it has to be unpacked again.
_PIECE = 64 << 20
_MOST_PIECES = 8


def row_ranges(path: Path) -> list[tuple[int, int]]:
    """How a file is cut by rows: small groups together, large ones in pieces; one range if it can't be read."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as table:
            groups = [table.metadata.row_group(i) for i in range(table.num_row_groups)]
            sizes = [(group.num_rows, group.total_byte_size) for group in groups]
    except (pyarrow.ArrowException, OSError):
        return [(0, 0)]
    found, start, end, held = [], 0, 0, 0
    for rows, size in sizes:
        pieces = min(max(1, size // _PIECE), max(1, rows), _MOST_PIECES)
        for piece in range(1, pieces):
            found.append((start, end + rows * piece // pieces))
            start, held = found[-1][1], 0
        end, held = end + rows, held + size // pieces
        if held >= RANGE:
            found.append((start, end))
            start, held = end, 0
    return [*found, (start, end)] if start < end or not found else found


def read_range(path: Path, start: int, stop: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a range with the number of rows before each in the file. Raises UnreadableError."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as table:
            sizes = [table.metadata.row_group(group).num_rows for group in range(table.num_row_groups)]
    except (pyarrow.ArrowException, OSError) as error:
        raise UnreadableError(f"not readable as Parquet: {error}.", "Write the file again.") from None
    ends = list(accumulate(sizes))
    groups = range(bisect_right(ends, start), bisect_left(ends, stop) + 1)
    for group in groups if start < stop else ():
        for before, batch in batches(path, group, group + 1):
            if before >= stop:
                return
            first = max(start - before, 0)
            if first < batch.num_rows:
                yield from enumerate(plain_rows(batch.slice(first, stop - before - first)), before + first)


def read_rows(path: Path, wanted: Sequence[int]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Single rows with the number of rows before each in the file, sorted by that; only their row groups are read.

    `wanted` is sorted.
    """
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path) as table:
        sizes = [table.metadata.row_group(group).num_rows for group in range(table.num_row_groups)]
    first = 0
    for group, size in enumerate(sizes):
        low, high = bisect_left(wanted, first), bisect_left(wanted, first + size)
        for before, batch in batches(path, group, group + 1) if low < high else ():
            inside = [
                row - before
                for row in wanted[bisect_left(wanted, before) : bisect_left(wanted, before + batch.num_rows)]
            ]
            if inside:
                yield from zip((row + before for row in inside), plain_rows(batch.take(inside)), strict=True)
            if before + batch.num_rows > wanted[high - 1]:
                break
        first += size
