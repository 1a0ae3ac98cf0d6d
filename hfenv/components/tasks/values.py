"""Single tasks read again with all their values, by where they stand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from hfenv.card.regular import open_regular
from hfenv.components.taskfiles import parse_line
from hfenv.components.tasks.index import ScannedTasks
from hfenv.components.tasks.lines import read_line
from hfenv.components.tasks.range import TaskFile
from hfenv.errors import UnreadableError


def read_values(tasks: ScannedTasks, rows: Iterable[int]) -> dict[int, dict[str, Any]]:
    """The values of some rows. Raises UnreadableError where a file isn't what it was when it was read first."""
    by_file: dict[TaskFile, list[int]] = defaultdict(list)
    for row in sorted(rows):
        by_file[tasks.file_of(row)].append(row)
    found: dict[int, dict[str, Any]] = {}
    for file, own in by_file.items():
        try:
            values = _read(file, [tasks.offsets[row] for row in own])
        except OSError as error:
            raise UnreadableError(f"{file.name} can't be read: {error.strerror}.", "Check the file.") from None
        if [value.get("id") for value in values] != [tasks.rows.names[row] for row in own]:
            raise UnreadableError(f"{file.name} changed while it was read.", "Run the command again.")
        found.update(zip(own, values, strict=True))
    return found


def _read(file: TaskFile, offsets: Sequence[int]) -> list[dict[str, Any]]:
    if file.path.suffix == ".parquet":
        from hfenv.components.tasks.parquet import read_rows

        rows = read_rows(file.path, offsets)
        return [rows[offset] for offset in offsets if offset in rows]
    with open_regular(file.path) as stream:
        return [parse_line(read_line(stream, offset), file.name) for offset in offsets]
