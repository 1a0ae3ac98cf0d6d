"""Tasks that stand twice: the same id, the same question under two ids, a question of the evaluation in training."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from hfenv.card.regular import open_regular
from hfenv.components.tasks.json import LineReader
from hfenv.components.tasks.lines import line_numbers, read_line
from hfenv.components.tasks.range import Found, TaskFile
from hfenv.components.tasks.scan import question
from hfenv.components.tasks.tally import SHOWN, Tally
from hfenv.errors import UnreadableError

_VERIFIED = 4 * SHOWN  # subjects of one rule in one file that are read again
_PART = 1 << 16


@dataclass(slots=True)
class Rows:
    """The hashes of all rows in order (see Found), and the first row of each file."""

    ids: array[int] = field(default_factory=lambda: array("q"))
    texts: array[int] = field(default_factory=lambda: array("q"))
    wholes: array[int] = field(default_factory=lambda: array("q"))
    offsets: array[int] = field(default_factory=lambda: array("Q"))
    starts: list[int] = field(default_factory=list)

    def extend(self, found: Found) -> None:
        self.ids.extend(found.ids)
        self.texts.extend(found.texts)
        self.wholes.extend(found.wholes)
        self.offsets.extend(found.offsets)

    def file_of(self, row: int) -> int:
        return bisect_right(self.starts, row) - 1


@dataclass(slots=True)
class _Twin:
    """A row and an earlier one that is equal, going by their hashes, and how many rows of the file are like it."""

    row: int
    other: int
    rows: int = 1


@dataclass(slots=True)
class _Twins:
    """Those of one rule in one file; beyond a few they are only counted."""

    by_hash: dict[int, _Twin] = field(default_factory=dict)
    more: int = 0

    def add(self, value: int, row: int, other: int) -> None:
        if value in self.by_hash:
            self.by_hash[value].rows += 1
        elif len(self.by_hash) < _VERIFIED:
            self.by_hash[value] = _Twin(row, other)
        else:
            self.more += 1


@dataclass(frozen=True, slots=True)
class _Read:
    """A row read again: its line, its id, and digests of its id and of its question."""

    line: int
    id: str
    id_digest: bytes
    text_digest: bytes


def check_twins(rows: Rows, files: Sequence[TaskFile], roles: Mapping[str, str], tallies: Sequence[Tally]) -> None:
    """Add HFE303, HFE309 and HFE310 to the tally of the file in which the later one of two rows stands."""
    found: dict[tuple[str, int], _Twins] = {}
    for rule, value, row, other in (*_same_ids(rows), *_same_texts(rows, files)):
        found.setdefault((rule, rows.file_of(row)), _Twins()).add(value, row, other)
    read = _read_again(
        rows, files, roles, {row for t in found.values() for w in t.by_hash.values() for row in (w.row, w.other)}
    )
    for (rule, file), twins in found.items():
        for value, twin in twins.by_hash.items():
            this, earlier = read.get(twin.row), read.get(twin.other)
            if this is None or earlier is None:
                continue
            same = this.id_digest == earlier.id_digest if rule == "HFE303" else this.text_digest == earlier.text_digest
            if same:
                place = f"{files[rows.file_of(twin.other)].name}:{earlier.line}"
                message, fix = _words(rule, this, earlier, place, rows.wholes[twin.row] != rows.wholes[twin.other])
                tallies[file].add(rule, str(value), this.line, message, fix, rows=twin.rows)
        if twins.more:
            more = tallies[file].more
            more[rule, ""] = more.get((rule, ""), 0) + twins.more


def repeated(values: array[int]) -> set[int]:
    """Values other than 0 that occur more than once; a part of them at a time, so that memory stays small."""
    parts = 1 << max(0, (len(values) // _PART).bit_length())
    if parts == 1:
        sorted_out: list[array[int]] = [values]
    else:
        sorted_out = [array("q") for _ in range(parts)]
        puts = [part.append for part in sorted_out]
        mask = parts - 1
        for value in values:
            puts[value & mask](value)
    found: set[int] = set()
    for part in sorted_out:
        once = set(part)
        if len(once) < len(part):
            for value in part:
                # Out with the first of each; what is missing then has been there before.
                if value in once:
                    once.remove(value)
                else:
                    found.add(value)
    found.discard(0)
    return found


def _same_ids(rows: Rows) -> Iterator[tuple[str, int, int, int]]:
    twice = repeated(rows.ids)
    first: dict[int, int] = {}
    if twice:
        for row, value in enumerate(rows.ids):
            if value in twice and (other := first.setdefault(value, row)) != row:
                yield "HFE303", value, row, other


def _same_texts(rows: Rows, files: Sequence[TaskFile]) -> Iterator[tuple[str, int, int, int]]:
    twice = repeated(rows.texts)
    if not twice:
        return
    values = rows.texts
    if 2 * sum(value in twice for value in values) > sum(map(bool, values)):
        # One instruction for many tasks is a design, with the difference in what isn't shown. Equal in all is not.
        values = rows.wholes
        twice = repeated(values)
    first: dict[bool, dict[int, int]] = {True: {}, False: {}}
    for row, value in enumerate(values):
        if value not in twice:
            continue
        evaluation = files[rows.file_of(row)].evaluation
        across, beside = first[not evaluation].get(value), first[evaluation].setdefault(value, row)
        other = beside if across is None else across
        # Under one id it is the same task twice, which the id says already; and one without an id needs that first.
        if other != row and rows.ids[row] != rows.ids[other] and rows.ids[row] and rows.ids[other]:
            yield "HFE309" if across is None else "HFE310", value, row, other


def _words(rule: str, this: _Read, other: _Read, place: str, differs: bool) -> tuple[str, str]:
    if rule == "HFE303":
        return f"the id '{this.id}' stands already at {place}", "Give every task an id of its own."
    where = f"{place} (task '{other.id}')"
    answer = ", with another target" if differs else ""
    if rule == "HFE309":
        fix = "Make one task of the two, or say in an input what sets them apart."
        return f"the text of this task stands already at {where}{answer}", fix
    fix = "Take it out of one of them: a model that trained on it has seen the question."
    return f"training and evaluation share this task's text: it stands at {where}{answer}", fix


def _read_again(rows: Rows, files: Sequence[TaskFile], roles: Mapping[str, str], wanted: set[int]) -> dict[int, _Read]:
    by_file: dict[int, list[int]] = {}
    for row in sorted(wanted):
        by_file.setdefault(rows.file_of(row), []).append(row)
    found: dict[int, _Read] = {}
    for file, own in by_file.items():
        path = files[file].path
        offsets = {row: rows.offsets[row] for row in own}
        try:
            for row, line, values in _values(path, offsets):
                asked = repr(question(values, roles)).encode("utf-8", "surrogatepass")
                task_id = str(values.get("id"))
                id_digest = sha256(task_id.encode("utf-8", "surrogatepass")).digest()
                shown = task_id[:60].encode("utf-8", "replace").decode()
                found[row] = _Read(line, shown, id_digest, sha256(asked).digest())
        except (OSError, UnreadableError):  # it was there a moment ago
            continue
    return found


def _values(path: Path, offsets: Mapping[int, int]) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Rows of one file with their lines, by where they stand in it."""
    if path.suffix == ".parquet":
        from hfenv.components.tasks.parquet import read_rows

        content = dict(read_rows(path, sorted(offsets.values())))
        yield from ((row, at + 1, content[at]) for row, at in offsets.items() if at in content)
        return
    lines = line_numbers(path, offsets.values())
    reader = LineReader()
    with open_regular(path) as stream:
        for row, at in offsets.items():
            data = read_line(stream, at).rstrip(b" \t\r\n")
            values = reader.read(data.removeprefix(b"\xef\xbb\xbf") if at == 0 else data, at)
            if values is not None:
                yield row, lines[at], values
