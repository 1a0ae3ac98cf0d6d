"""Columns of digests, one entry per task: their order by id, their digests as a whole, and which rows are which."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate
from typing import overload

_TOGETHER = 4096


class PackedNames(Sequence[str]):
    """Ids one after the other in one block of UTF-8: a million of them as objects would take 70 MB."""

    def __init__(self, packed: bytes, lengths: Iterable[int]) -> None:
        self._packed = packed
        self._bounds = array("Q", accumulate(lengths, initial=0))

    def __len__(self) -> int:
        return len(self._bounds) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        row = range(len(self))[index]
        return self._packed[self._bounds[row] : self._bounds[row + 1]].decode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class SplitRows:
    """Where the rows of a split stand in the columns: from `start` up to, but without, `stop`."""

    name: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Column:
    """Digests of one width in bytes, one after the other."""

    data: bytes
    width: int

    def __getitem__(self, row: int) -> bytes:
        return self.data[row * self.width : (row + 1) * self.width]

    def part(self, start: int, stop: int) -> bytes:
        """The entries of a run of rows."""
        return self.data[start * self.width : stop * self.width]

    def cut(self, width: int) -> Column:
        """The column with only the first bytes of each entry."""
        if width >= self.width:
            return self
        rows = range(0, len(self.data), self.width)
        return Column(b"".join([self.data[row : row + width] for row in rows]), width)


@dataclass(frozen=True, slots=True)
class TaskRows:
    """Columns in the order of the splits and, in each, of its files.

    `keys` are the digests of the ids; those of `contents` and `metas` are cut short where they come from a record. A
    name is None where a record holds no id, but only its digest.
    """

    splits: tuple[SplitRows, ...]
    keys: Column
    contents: Column
    metas: Column
    names: Sequence[str | None]

    def __len__(self) -> int:
        return len(self.keys.data) // self.keys.width

    def name(self, row: int) -> str:
        """A task's id; where only its digest is known, the beginning of that."""
        name = self.names[row]
        return f"(id with digest {self.keys[row][:6].hex()})" if name is None else name

    def split(self, name: str) -> SplitRows | None:
        return next((split for split in self.splits if split.name == name), None)

    def split_of(self, row: int) -> str:
        """The split that a row belongs to."""
        return self.splits[bisect_right(self.splits, row, key=lambda split: split.stop)].name


@dataclass(frozen=True, slots=True)
class SplitDigests:
    """A split as a whole: its number of rows, and digests (SHA-256, hex) that change when any of its rows does.

    `ids`, `content` and `meta` don't depend on the order of rows: they are taken over the digests of the ids, each
    with that of the content or the meta fields, sorted. `order` is taken over the digests of the ids as they stand.
    """

    rows: int
    ids: str
    content: str
    meta: str
    order: str


def joined(parts: Sequence[tuple[TaskRows, SplitRows]], like: TaskRows) -> TaskRows:
    """Some splits, each from the rows that it comes with, as one; digests are cut to the widths of `like`."""
    splits, names, start = [], list[str | None](), 0
    for rows, split in parts:
        stop = start + split.stop - split.start
        splits.append(SplitRows(split.name, start, stop))
        names += rows.names[split.start : split.stop]
        start = stop

    def column(of: Callable[[TaskRows], Column]) -> Column:
        width = of(like).width
        return Column(b"".join([of(rows).cut(width).part(split.start, split.stop) for rows, split in parts]), width)

    return TaskRows(
        tuple(splits), column(lambda r: r.keys), column(lambda r: r.contents), column(lambda r: r.metas), names
    )


def split_digests(rows: TaskRows, which: Sequence[int]) -> SplitDigests:
    """The digests of some rows, for which the columns need their full widths."""
    ids, content, meta = sha256(), sha256(), sha256()
    keys, contents, metas = rows.keys, rows.contents, rows.metas
    key, end = keys.width, keys.width + contents.width
    for bucket in buckets(keys, which):
        ordered = sorted([keys[row] + contents[row] + metas[row] for row in bucket])
        ids.update(b"".join([entry[:key] for entry in ordered]))
        content.update(b"".join([entry[:end] for entry in ordered]))
        meta.update(b"".join([entry[:key] + entry[end:] for entry in ordered]))
    in_order = keys.part(which.start, which.stop) if isinstance(which, range) else b"".join([keys[r] for r in which])
    order = sha256(in_order).hexdigest()
    return SplitDigests(len(which), ids.hexdigest(), content.hexdigest(), meta.hexdigest(), order)


def buckets(column: Column, rows: Sequence[int], *, most: int | None = None) -> list[Sequence[int]]:
    """Row numbers by the first byte of their entry, so that a look-up never needs all of a column as objects.

    Few rows (`most`, by default their number, is small) stay together.
    """
    if (len(rows) if most is None else most) <= _TOGETHER:
        return [rows]
    found = [array("L") for _ in range(256)]
    puts = [bucket.append for bucket in found]
    data, width = column.data, column.width
    for row in rows:
        puts[data[row * width]](row)
    return [*found]


def repeated(rows: TaskRows) -> int | None:
    """A row whose id an earlier one has already; None where all ids differ."""
    keys = rows.keys
    for bucket in buckets(keys, range(len(rows))):
        if len({keys[row] for row in bucket}) < len(bucket):
            seen: set[bytes] = set()
            return next(row for row in bucket if keys[row] in seen or seen.add(keys[row]))  # type: ignore[func-returns-value]
    return None


def matched(old: Column, olds: Sequence[int], new: Column, news: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs of an old and a new row with equal entries, each row at most once and equal ones in their order.

    Entries that were cut to different widths are compared as far as both go.
    """
    width, most = min(old.width, new.width), max(len(olds), len(news))
    for before, after in zip(buckets(old, olds, most=most), buckets(new, news, most=most), strict=True):
        entries = _entries(new, after, width)
        waiting = dict(zip(_entries(old, before, width), before, strict=True))
        if len(waiting) == len(before):
            for entry, row in zip(entries, after, strict=True):
                if (found := waiting.pop(entry, None)) is not None:
                    yield found, row
            continue
        queues: dict[bytes, deque[int]] = {entry: deque() for entry in waiting}
        for entry, row in zip(_entries(old, before, width), before, strict=True):
            queues[entry].append(row)
        for entry, row in zip(entries, after, strict=True):
            if queue := queues.get(entry):
                yield queue.popleft(), row


def _entries(column: Column, rows: Sequence[int], width: int) -> list[bytes]:
    """The first bytes of the entries of some rows."""
    data, step = column.data, column.width
    return [data[row * step : row * step + width] for row in rows]
