"""Batches of a Parquet file that fit into memory, whatever the file claims: a few bytes can stand for gigabytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hfenv.errors import UnreadableError

_BATCH, _LEAST = 1024, 32  # rows; with fewer at a time reading gets slow
_SEEN = 4096  # rows of which only the size is asked
_WORST = 1 << 30  # bytes of a batch, should all its rows have the largest value that they can share
_MOST_ROWS = 50_000_000
_FEW_ROWS = 100_000  # which are read whatever they are
_ROWS_PER_BYTE = 32  # numbered tasks and nothing else, packed as tightly as can be, are 20
_HELD = 64 << 20  # bytes of one batch as Python objects, and so of one row
_DECODED = 256 << 20  # bytes in all that any file may decode to
_RATIO = 4000  # and for each byte of it: a long text that all tasks share gives some hundreds
_DICTIONARY = 2 << 20  # bytes that a column's dictionary may have; writers stop at 1 MiB
_TOO_MUCH = "it unpacks to far more than its size makes plausible."
_BYTES = ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
# Else all of a row group would be read at once, and that is often all of the file.
_STREAMED: dict[str, Any] = {"buffer_size": 1 << 16, "pre_buffer": False}
_CURE = "Write the file again; what many tasks share belongs into tasks/resources/."


def rows(path: Path, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of some row groups, each with the number of rows before it in the file. Raises UnreadableError."""
    for before, batch in batches(path, start, stop):
        yield from enumerate(plain_rows(batch), before)


def plain_rows(batch: Any) -> list[dict[str, Any]]:
    """The rows of a batch; UnreadableError for values that Python doesn't have, such as a year beyond 9999."""
    try:
        found: list[dict[str, Any]] = batch.to_pylist()
    except (OSError, ValueError, OverflowError) as error:
        raise UnreadableError(f"not readable as Parquet: {error}.", "Write the file again.") from None
    return found


def batches(path: Path, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, Any]]:
    """Record batches of some row groups, each with the number of rows before it in the file; none is very large.

    Raises UnreadableError for what is no Parquet, and for a file that holds more than its size makes plausible.
    """
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path, **_STREAMED) as table:
            metadata = table.metadata
            _check(metadata, path.stat().st_size)
            row = sum(metadata.row_group(i).num_rows for i in range(start))
            for group in range(start, metadata.num_row_groups if stop is None else stop):
                before = row
                for batch in _group(path, table, group):
                    yield row, batch
                    row += batch.num_rows
                row = before + metadata.row_group(group).num_rows
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError, IndexError) as error:
        raise UnreadableError(f"not readable as Parquet: {error}.", "Write the file again.") from None


def _check(metadata: Any, size: int) -> None:
    """Every task has an id of its own, so that a file can't have many more rows than bytes."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    rows = sum(group.num_rows for group in groups)
    stated = sum(group.total_byte_size for group in groups)
    stored = sum(column.total_compressed_size for group in groups for column in _columns(group))
    if rows > _MOST_ROWS or (rows > _FEW_ROWS and (rows > stated or rows > size * _ROWS_PER_BYTE)):
        raise UnreadableError(f"it claims {rows:,} rows in {size:,} bytes, too many to be tasks.", _CURE)
    if stored > size:
        raise UnreadableError(f"its columns claim {stored:,} bytes, more than the file has.", "Write the file again.")


def _group(path: Path, table: Any, group: int) -> Iterator[Any]:
    """The batches of one row group, as large as is safe."""
    import pyarrow.parquet

    about = table.metadata.row_group(group)
    columns = _columns(about)
    stored = sum(column.total_compressed_size for column in columns)
    left = _DECODED // table.metadata.num_row_groups + stored * _RATIO
    if sum(column.num_values for column in columns) * 4 > left:
        raise UnreadableError(f"row group {group + 1} claims far more values than it has bytes for.", _CURE)
    schema = table.metadata.schema
    shared = {column.path_in_schema: _largest_shared(path, column) for column in columns}
    listed = {
        column.path_in_schema: shared[column.path_in_schema] * column.num_values
        for index, column in enumerate(columns)
        if schema.column(index).max_repetition_level
    }
    prefixed = [column for column in columns if "DELTA_BYTE_ARRAY" in column.encodings]
    if any(listed.get(column.path_in_schema, 0) > left for column in prefixed):
        raise UnreadableError(f"row group {group + 1} claims far more text than it has bytes for.", _CURE)
    rows = min(_BATCH, _WORST // max(sum(size for name, size in shared.items() if name not in listed), 1))
    many = [name for name, size in listed.items() if size > _DECODED]
    usual = max((size for name, size in shared.items() if name not in listed), default=0) <= _DICTIONARY
    if usual and rows >= _LEAST and (not many or _is_small(path, group, many, left)):
        yield from _fitting(table.iter_batches(batch_size=rows, row_groups=[group], use_threads=False), left)
        return
    # A value that many rows share is held once, until it is known how much all of them make.
    names = [column.path_in_schema for column in columns if column.physical_type == "BYTE_ARRAY"]
    rows = max(1, min(_BATCH, _HELD // max(sum(column.total_uncompressed_size for column in prefixed), 1)))
    with pyarrow.parquet.ParquetFile(path, read_dictionary=names) as again:
        found = again.iter_batches(batch_size=rows, row_groups=[group])
        if sum(_decoded(column) for batch in found for column in batch.columns) > left:
            raise UnreadableError(_TOO_MUCH, _CURE)
        yield from _fitting(again.iter_batches(batch_size=rows, row_groups=[group]), left)


def _is_small(path: Path, group: int, names: Sequence[str], left: int) -> bool:
    """Whether lists of shared values stay small when each value stands where it is used; no value is copied to see."""
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path, read_dictionary=names) as table:
        for batch in table.iter_batches(batch_size=_SEEN, row_groups=[group], columns=names):
            size = sum(_decoded(column) for column in batch.columns)
            left -= size
            if size > _DECODED or left < 0:
                return False
    return True


def _fitting(found: Iterator[Any], left: int) -> Iterator[Any]:
    """Batches cut until each fits; `left` are the bytes that all of them together may have."""
    shared: bool | None = None  # whether values are held once; then what they take has to be counted
    for whole in found:
        shared = any("dictionary<" in str(kind) for kind in whole.schema.types) if shared is None else shared
        pending = [whole]
        while pending:
            batch = pending.pop()
            size = sum(map(_decoded, batch.columns)) if shared else batch.nbytes
            if size > _HELD and batch.num_rows > 1:
                half = batch.num_rows // 2
                pending += [batch.slice(half), batch.slice(0, half)]
                continue
            left -= size
            if size > _HELD:
                raise UnreadableError(f"one row has more than {_HELD >> 20} MiB.", _CURE)
            if left < 0:
                raise UnreadableError(_TOO_MUCH, _CURE)
            yield batch


def _decoded(array: Any) -> int:
    """Bytes of an array as Python objects, roughly: a value counts as often as it is used."""
    import pyarrow.compute
    from pyarrow import types

    kind = array.type
    if types.is_dictionary(kind):
        value = kind.value_type
        if not (types.is_string(value) or types.is_binary(value) or types.is_large_string(value)):
            return 16 * len(array)
        lengths = pyarrow.compute.take(pyarrow.compute.binary_length(array.dictionary), array.indices)
        return 8 * len(array) + (pyarrow.compute.sum(lengths).as_py() or 0)
    if types.is_struct(kind):
        return sum(_decoded(field) for field in array.flatten())
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return 8 * len(array) + _decoded(array.flatten())
    if types.is_map(kind) and len(array):
        first, last = array.offsets[0].as_py(), array.offsets[len(array)].as_py()
        return 8 * len(array) + sum(_decoded(part.slice(first, last - first)) for part in (array.keys, array.items))
    size: int = array.nbytes
    return 8 * len(array) + size


def _largest_shared(path: Path, column: Any) -> int:
    """The most bytes that a value of a column chunk can have without standing in the file each time it is used."""
    if column.physical_type not in _BYTES:
        return 0
    if "DELTA_BYTE_ARRAY" in column.encodings:  # beginnings are shared
        return int(column.total_uncompressed_size)
    if not column.has_dictionary_page:
        return 0
    with path.open("rb") as stream:
        stream.seek(column.dictionary_page_offset)
        header = stream.read(16)
    # A page's header begins with its kind and its size unpacked, both Thrift's compact signed numbers behind a mark.
    _, end = _number(header, 1)
    size, _ = _number(header, end + 1)
    return max(size >> 1, 0)


def _number(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned number of seven bits a byte, and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def _columns(group: Any) -> list[Any]:
    return [group.column(i) for i in range(group.num_columns)]
