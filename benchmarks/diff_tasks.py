"""Two task sets of a million rows row by row: seconds, and the peak memory of all processes together, by format."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measuring import run

ROWS = 1_000_000
MOST_SECONDS = 60
MOST_MEMORY = 500  # MB
ROOT = Path(__file__).resolve().parent.parent
ROLES = {"question": "input", "schema": "input", "answer": "target", "cost": "grading", "difficulty": "meta"}
KINDS = ("edited", "meta", "renamed", "removed", "moved", "added")

DIFF = """\
import collections, json, pathlib, sys

from hfenv.components.tasks.pair import diff_tasks
from hfenv.components.tasks.index import TaskSource
from hfenv.components.tasks.range import TaskFile


def source(folder):
    files = [(split, next(pathlib.Path(folder).glob(split + ".*"))) for split in ("train", "test")]
    roles = json.loads(sys.argv[3])
    return TaskSource(("train", "test"), tuple(TaskFile(p, p.name, s, s == "test") for s, p in files), roles, {})


kinds = collections.Counter(one.kind.value for one in diff_tasks(source(sys.argv[1]), source(sys.argv[2])))
print(json.dumps(kinds))
"""


def old_tasks(rows: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of about 400 bytes, each with its split; one in a hundred is for testing."""
    draw = random.Random(0)  # noqa: S311 - the same tasks each time
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))) for _ in range(3000)]
    for number in range(rows):
        some = draw.choices(words, k=44)
        yield (
            "test" if number % 100 == 99 else "train",
            {
                "id": f"task-{number:07}",
                "question": f"How many {' '.join(some[:15])}?",
                "schema": f"{some[22]}({' TEXT, '.join(some[16:30])} TEXT)",
                "answer": f"{some[22]}: how many is {some[14]} = '{some[23]}' where {' > '.join(some[30:])}? {number}",
                "cost": draw.random(),
                "difficulty": ("easy", "medium", "hard")[number % 3],
            },
        )


def new_tasks(rows: int, every: int, counts: Counter[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The same tasks with every kind of difference, one in so many rows."""
    for number, (split, task) in enumerate(old_tasks(rows)):
        kind = KINDS[number // every % len(KINDS)] if number % every == 0 else ""
        counts[kind] += 1
        if kind == "edited":
            task["answer"] += " No."
        elif kind == "meta":
            task["difficulty"] = "harder"
        elif kind == "renamed":
            task["id"] += "-again"
        elif kind == "removed":
            continue
        elif kind == "added":
            yield split, dict(task, id=f"more-{number}", answer=f"{number} more")
        yield "test" if kind == "moved" else split, task


def write(folder: Path, tasks: Iterator[tuple[str, dict[str, Any]]], *, form: str = "lines") -> None:
    """A file for each split: JSON Lines, those with sorted keys, or Parquet with its rows in one group, as most
    libraries write it."""
    folder.mkdir()
    with (folder / "train.jsonl").open("w") as train, (folder / "test.jsonl").open("w") as test:
        for split, task in tasks:
            (test if split == "test" else train).write(json.dumps(task, sort_keys=form == "sorted") + "\n")
    if form == "parquet":
        import pyarrow.json
        import pyarrow.parquet

        for path in list(folder.iterdir()):
            table = pyarrow.json.read_json(path)
            pyarrow.parquet.write_table(table, path.with_suffix(".parquet"), row_group_size=len(table))
            path.unlink()


def main() -> int:
    """Print the figures for each pair of formats; exit 1 where a limit is missed or a difference isn't found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--every", type=int, default=50, help="one row in so many differs")
    arguments = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        folder, expected = Path(name), Counter[str]()
        write(folder / "old", old_tasks(arguments.rows))
        write(folder / "lines", new_tasks(arguments.rows, arguments.every, expected))
        for form in ("sorted", "parquet"):
            write(folder / form, new_tasks(arguments.rows, arguments.every, Counter()), form=form)
        del expected[""]
        for old, new in (("old", "lines"), ("old", "sorted"), ("old", "parquet"), ("parquet", "parquet")):
            command = [sys.executable, "-c", DIFF, str(folder / old), str(folder / new), json.dumps(ROLES)]
            done = run(command, environment={"PYTHONPATH": str(ROOT)})  # helpers don't look into the current folder
            taken, used, peak, found = done.taken, done.used, done.peak, Counter(json.loads(done.output or "{}"))
            right = found == (expected if old != new else Counter())
            times = f"{taken:.1f} s (at most {MOST_SECONDS}; {used:.1f} s of processor time)"
            figures = f"{times}, {peak / 1e6:.0f} MB (at most {MOST_MEMORY})"
            print(f"{old} against {new}: {figures}")
            print("  " + (", ".join(f"{count:,} {kind}" for kind, count in sorted(found.items())) or "nothing differs"))
            missed += not right or taken > MOST_SECONDS or peak > MOST_MEMORY * 1e6
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
