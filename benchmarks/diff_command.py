"""`hfenv diff` of two environments with a million tasks each: seconds, and the peak memory of all its processes."""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from diff_tasks import MOST_MEMORY, MOST_SECONDS, ROLES, ROOT, ROWS, new_tasks, old_tasks, write
from measuring import run

Rows = Iterator[tuple[str, dict[str, Any]]]

CARD = """\
---
license: apache-2.0
tags: [rl-environment, hfenv]
environment:
  spec: "1"
  summary: Many tasks.
  code: {{version: "1.0.0", entry: "env/environment.py:Many"}}
  tasks:
    version: "{version}"
    splits: {{train: "tasks/train.*", test: "tasks/test.*"}}
    fields: {roles}
  reward: {{version: "1.0.0", entry: "reward/reward.py:score", range: [0.0, 1.0]}}
  action: {{type: text, description: an answer}}
  observation: {{type: text, description: a question}}
---
# Many
"""


def environment(folder: Path, rows: Rows, *, version: str, form: str = "lines") -> Path:
    """A folder with a card and the tasks; code and reward are the same in all of them."""
    for path, text in (("env/environment.py", "class Many: ...\n"), ("reward/reward.py", "def score(a, b): ...\n")):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text(text, encoding="utf-8")
    (folder / "README.md").write_text(CARD.format(version=version, roles=json.dumps(ROLES)), encoding="utf-8")
    write(folder / "tasks", rows, form=form)
    return folder


def edited(rows: int, every: int) -> Rows:
    """The old tasks, one in so many with another answer."""
    for number, (split, task) in enumerate(old_tasks(rows)):
        yield split, dict(task, answer=f"{task['answer']} No.") if number % every == 0 else task


def reordered(rows: int) -> Rows:
    """The old tasks in another order."""
    tasks = list(old_tasks(rows))
    random.Random(1).shuffle(tasks)  # noqa: S311 - the same order each time
    yield from tasks


def measure(old: Path, new: Path, *options: str) -> tuple[float, float, int, dict[str, Any]]:
    """The figures of one diff, and what the command printed."""
    command = [sys.executable, "-m", "hfenv.cli", "diff", str(old), str(new), "--format", "json", *options]
    environment = {"PYTHONPATH": str(ROOT), "HFENV_CACHE": str(old.parent / "cache")}
    done = run(command, folder=old.parent, environment=environment)
    return done.taken, done.used, done.peak, json.loads(done.output or "{}")


def main() -> int:
    """Print the figures for each case; exit 1 where a limit is missed or the counts are wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--case", action="append", help="only this case, several times for several")
    parser.add_argument("--option", action="append", default=[], help="an option of the command, as --option=--code")
    arguments = parser.parse_args()
    rows, some = arguments.rows, Counter[str]()
    few = max(1, rows // 20)
    cases: dict[str, tuple[Callable[[], Rows], str, str, dict[str, int]]] = {
        "nothing differs": (lambda: old_tasks(rows), "lines", "lines", {}),
        "few edits": (lambda: edited(rows, few), "lines", "lines", {"edited": -(-rows // few)}),
        "every kind, one row in 50": (lambda: new_tasks(rows, 50, some), "lines", "lines", some),
        "all edited": (lambda: edited(rows, 1), "lines", "lines", {"edited": rows}),
        "all reordered": (lambda: reordered(rows), "lines", "lines", {}),
        "Parquet and lines, few edits": (lambda: edited(rows, few), "parquet", "lines", {"edited": -(-rows // few)}),
        "Parquet, few edits": (lambda: edited(rows, few), "parquet", "parquet", {"edited": -(-rows // few)}),
    }
    missed = 0
    with tempfile.TemporaryDirectory() as place:
        olds: dict[str, Path] = {}
        for name, (tasks, before, after, expected) in cases.items():
            if arguments.case and name not in arguments.case:
                continue
            if before not in olds:
                olds[before] = environment(Path(place) / before, old_tasks(rows), version="1.0.0", form=before)
            new = environment(Path(place) / f"new-{len(name)}", tasks(), version="2.0.0", form=after)
            missed += not shown(name, measure(olds[before], new, *arguments.option), expected)
            shutil.rmtree(new)
    return int(missed > 0)


def shown(name: str, measured: tuple[float, float, int, dict[str, Any]], expected: Mapping[str, int]) -> bool:
    """Print one case; whether it is within the limits, and right."""
    taken, used, peak, printed = measured
    found: Counter[str] = Counter()
    for kinds in printed.get("rows", {}).get("counts", {}).values():
        found.update(kinds)
    right = printed.get("command") == "diff" and found == {kind: count for kind, count in expected.items() if kind}
    limits = f"at most {MOST_SECONDS} s and {MOST_MEMORY} MB"
    times = f"{taken:.1f} s, {used:.1f} s of processor time"
    print(f"{name}: {times}, {peak / 1e6:.0f} MB ({limits}){'' if right else ': wrong'}")
    print(f"  {printed.get('comparable', {}).get('line')}", flush=True)
    return right and taken <= MOST_SECONDS and peak <= MOST_MEMORY * 1e6


if __name__ == "__main__":
    sys.exit(main())
