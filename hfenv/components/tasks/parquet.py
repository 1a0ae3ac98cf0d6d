"""Rows of Parquet files by row groups, without turning anything into what JSON has."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hfenv.components.tasks.batches import batches, plain_rows, rows
from hfenv.components.tasks.lines import RANGE


def group_ranges(path: Path) -> list[tuple[int, int]]:
    """How a file is cut: runs of row groups of about the size of a range; one run for a file that can't be read."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as table:
            sizes = [table.metadata.row_group(i).total_byte_size for i in range(table.num_row_groups)]
    except (pyarrow.ArrowException, OSError):
        return [(0, 0)]
    found, start, held = [], 0, 0
    for group, size in enumerate(sizes):
        held += size
        if held >= RANGE:
            found.append((start, group + 1))
            start, held = group + 1, 0
    if start < len(sizes) or not sizes:
        found.append((start, len(sizes)))
    return found


def read_groups(path: Path, start: int, stop: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of some row groups with the number of rows before each in the file. Raises UnreadableError."""
    return rows(path, start, stop)


def read_rows(path: Path, wanted: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Single rows by the number of rows before each in the file; only their row groups are read."""
    import pyarrow.parquet

    found: dict[int, dict[str, Any]] = {}
    with pyarrow.parquet.ParquetFile(path) as table:
        sizes = [table.metadata.row_group(group).num_rows for group in range(table.num_row_groups)]
    first, pending = 0, sorted(set(wanted))
    for group, size in enumerate(sizes):
        here = [row for row in pending if first <= row < first + size]
        for before, batch in batches(path, group, group + 1) if here else ():
            inside = here[bisect_left(here, before) : bisect_left(here, before + batch.num_rows)]
            found.update((row, plain_rows(batch.slice(row - before, 1))[0]) for row in inside)
            if before + batch.num_rows > here[-1]:
                break
        first += size
    return found
