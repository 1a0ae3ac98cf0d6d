"""Single tasks read again with all their values, by where they stand."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

from hfenv.card.regular import open_regular
from hfenv.components.taskfiles import parse_line
from hfenv.components.tasks.index import ScannedTasks
from hfenv.components.tasks.lines import read_line
from hfenv.components.tasks.range import TaskFile
from hfenv.errors import UnreadableError


class TaskValues:
    """The values of some rows of a set, any number of them at a time and in any order; a context that is left again.

    Rows of Parquet can't be found without reading all before them, so that those that are wanted are written to a
    temporary file of JSON Lines once.
    """

    def __init__(self, tasks: ScannedTasks, wanted: Iterable[int]) -> None:
        """`wanted` are all rows that will be asked for. Raises UnreadableError where a file can't be read any more."""
        self._tasks = tasks
        self._folder: TemporaryDirectory[str] | None = None
        self._spilled: dict[TaskFile, tuple[Path, array[int], array[int]]] = {}
        self._ends: dict[TaskFile, int] = {}
        try:
            self._spill(wanted)
        except BaseException:
            self._clean()
            raise

    def __enter__(self) -> TaskValues:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._clean()

    def size(self, row: int) -> int:
        """Bytes that a row takes as JSON, or more: where lines between were left out, they count."""
        file, offset = self._tasks.file_of(row), self._tasks.offsets[row]
        if file in self._spilled:
            _, rows, offsets = self._spilled[file]
            at = bisect_left(rows, offset)
            return offsets[at + 1] - offsets[at]
        after = row + 1
        if after < len(self._tasks.offsets) and self._tasks.file_of(after) == file:
            return self._tasks.offsets[after] - offset
        if file not in self._ends:
            try:
                self._ends[file] = file.path.stat().st_size
            except OSError as error:
                raise _unreadable(file, error) from None
        return max(0, self._ends[file] - offset)

    def read(self, rows: Iterable[int]) -> dict[int, dict[str, Any]]:
        """The values of some rows. Raises UnreadableError where a file isn't what it was when it was read first."""
        found: dict[int, dict[str, Any]] = {}
        for file, own in self._by_file(rows).items():
            try:
                values = self._read(file, [self._tasks.offsets[row] for row in own])
            except OSError as error:
                raise _unreadable(file, error) from None
            if [value.get("id") for value in values] != [self._tasks.rows.names[row] for row in own]:
                raise UnreadableError(f"{file.name} changed while it was read.", "Run the command again.")
            found.update(zip(own, values, strict=True))
        return found

    def _by_file(self, rows: Iterable[int]) -> Mapping[TaskFile, Sequence[int]]:
        found: dict[TaskFile, array[int]] = defaultdict(lambda: array("q"))
        for row in sorted(rows):
            found[self._tasks.file_of(row)].append(row)
        return found

    def _read(self, file: TaskFile, offsets: Sequence[int]) -> list[dict[str, Any]]:
        path = file.path
        if file in self._spilled:
            path, rows, starts = self._spilled[file]
            offsets = [starts[bisect_left(rows, offset)] for offset in offsets]
        with open_regular(path) as stream:
            return [parse_line(read_line(stream, offset), file.name) for offset in offsets]

    def _spill(self, wanted: Iterable[int]) -> None:
        if not any(file.path.suffix == ".parquet" for file in self._tasks.source.files):
            return
        for number, (file, own) in enumerate(self._by_file(wanted).items()):
            if file.path.suffix == ".parquet":
                self._folder = self._folder or TemporaryDirectory(prefix="hfenv-rows-")
                offsets = array("q", (self._tasks.offsets[row] for row in own))
                place = Path(self._folder.name) / f"{number}.jsonl"
                self._spilled[file] = place, offsets, _written(file, offsets, place)

    def _clean(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()


def _written(file: TaskFile, rows: Sequence[int], place: Path) -> array[int]:
    """Write rows of a Parquet file as JSON Lines; where each begins, and at last where the file ends."""
    from hfenv.components.tasks.parquet import read_rows

    starts, end = array("q", [0]), 0
    with place.open("wb") as stream:
        try:
            for _, values in read_rows(file.path, rows):
                end += stream.write(json.dumps(values).encode() + b"\n")
                starts.append(end)
        except (TypeError, ValueError, UnreadableError):  # what was read before holds nothing of the kind
            starts = array("q")
    if len(starts) != len(rows) + 1:
        raise UnreadableError(f"{file.name} changed while it was read.", "Run the command again.")
    return starts


def _unreadable(file: TaskFile, error: OSError) -> UnreadableError:
    return UnreadableError(f"{file.name} can't be read: {error.strerror}.", "Check the file.")
