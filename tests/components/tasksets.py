"""Task sets for tests: rows by split, written to files in one form or another, read, recorded and compared."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hfenv.components.tasks.changes import classify_tasks
from hfenv.components.tasks.index import RECORDED_TASKS, ScannedTasks, TaskIndex, TaskSource, index_tasks
from hfenv.components.tasks.range import TaskFile
from hfenv.components.tasks.record import from_json, to_json
from hfenv.components.tasks.since import SinceRelease, since_release

ROLES = {"question": "input", "gold": "target", "check": "grading", "database": "resource", "difficulty": "meta"}
_NUMBERS = itertools.count()


@dataclass
class Tasks:
    """A task set that a test edits freely; `resources` are digests by name."""

    splits: dict[str, list[dict[str, Any]]]
    roles: dict[str, str] = field(default_factory=lambda: dict(ROLES))
    resources: dict[str, str] = field(default_factory=lambda: {"flights": "a" * 64, "unnamed": "b" * 64})

    def copy(self) -> Tasks:
        return copy.deepcopy(self)


def task(number: int, **values: Any) -> dict[str, Any]:
    row = {
        "id": f"task-{number:03}",
        "question": f"What is {number} + {number}?",
        "gold": 2 * number,
        "check": {"twice": 2.0 * number, "terms": [number, number]},
        "database": "flights",
        "difficulty": "easy",
    }
    return row | values


def tasks(train: int = 6, test: int = 4) -> Tasks:
    first = 100 if train <= 100 else 10_000
    return Tasks({"train": [task(n) for n in range(train)], "test": [task(first + n) for n in range(test)]})


@dataclass(frozen=True)
class Form:
    """How rows are written: format, number of files for each split, keys reversed, spaces, row groups."""

    suffix: str = ".jsonl"
    files: int = 1
    reverse: bool = False
    spaces: bool = False
    prefix: str = ""
    group: int | None = None


def write(folder: Path, model: Tasks, form: Form = Form()) -> TaskSource:
    """Write all splits below a new folder and say where they are."""
    root = folder / f"set-{next(_NUMBERS)}"
    (root / "tasks").mkdir(parents=True)
    files = []
    for split, rows in model.splits.items():
        step = max(1, -(-len(rows) // form.files))
        for number, start in enumerate(range(0, max(1, len(rows)), step)):
            name = f"tasks/{form.prefix}{split}-{number}{form.suffix}"
            write_file(root / name, rows[start : start + step], form)
            files.append(TaskFile(root / name, name, split, not split.startswith("train")))
    return TaskSource(tuple(model.splits), tuple(files), model.roles, model.resources)


def write_file(path: Path, rows: list[dict[str, Any]], form: Form) -> None:
    if form.reverse:
        rows = [dict(reversed(row.items())) for row in rows]
    if form.suffix == ".parquet":
        import pyarrow
        import pyarrow.parquet

        columns = list(dict.fromkeys(name for row in rows for name in row))
        table = pyarrow.table({name: [row.get(name) for row in rows] for name in columns})
        pyarrow.parquet.write_table(table, path, row_group_size=form.group)
        return
    gap = (" , ", " : ") if form.spaces else (", ", ": ")
    end = "  \r\n\n" if form.spaces else "\n"
    lines = (json.dumps(row, separators=gap, ensure_ascii=form.spaces) + end for row in rows)
    path.write_bytes("".join(lines).encode())


def scan(folder: Path, model: Tasks, form: Form = Form(), *, old: Mapping[str, str] | None = None) -> ScannedTasks:
    return index_tasks(write(folder, model, form), released=old)


def recorded(index: TaskIndex) -> TaskIndex:
    """An index after its way through a record."""
    return from_json(json.loads(json.dumps(to_json(index))), "release.json")


def since(folder: Path, old: Tasks, new: Tasks, *, most: int = RECORDED_TASKS, form: Form = Form()) -> SinceRelease:
    """What a release's record says of newer tasks."""
    index = recorded(scan(folder, old).index(most))
    return since_release(index, scan(folder, new, form, old=index.roles))


def changes(folder: Path, old: Tasks, new: Tasks, *, most: int = RECORDED_TASKS, form: Form = Form()):
    return classify_tasks(since(folder, old, new, most=most, form=form))
