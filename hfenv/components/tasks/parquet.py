"""Rows of Parquet files by row groups, without turning anything into what JSON has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hfenv.components.tasks.lines import RANGE
from hfenv.errors import UnreadableError

_BATCH = 256


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
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as table:
            row = sum(table.metadata.row_group(i).num_rows for i in range(start))
            for group in range(start, stop):
                for batch in table.iter_batches(batch_size=_BATCH, row_groups=[group]):
                    for values in batch.to_pylist():
                        yield row, values
                        row += 1
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError, ValueError, OverflowError) as error:
        raise UnreadableError(f"not readable as Parquet: {error}.", "Write the file again.") from None


def read_rows(path: Path, wanted: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Single rows by the number of rows before each in the file; only their row groups are read."""
    import pyarrow.parquet

    found: dict[int, dict[str, Any]] = {}
    with pyarrow.parquet.ParquetFile(path) as table:
        before, pending = 0, sorted(set(wanted))
        for group in range(table.num_row_groups):
            after = before + table.metadata.row_group(group).num_rows
            here = [row for row in pending if before <= row < after]
            if here:
                content = table.read_row_group(group)
                found.update((row, content.slice(row - before, 1).to_pylist()[0]) for row in here)
            before = after
    return found
