"""`hfenv validate` on a million tasks: rows per second, and the peak memory of all its processes together."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROWS = 1_000_000
LEAST_RATE = 60_000  # rows a second
MOST_MEMORY = 300  # MB
ROOT = Path(__file__).resolve().parent.parent

CARD = """\
---
license: apache-2.0
tags: [rl-environment, hfenv]
environment:
  spec: "1"
  summary: Answer questions with one SQL query.
  code: {version: "1.0.0", entry: "env/environment.py:Asking"}
  tasks:
    version: "1.0.0"
    splits: {train: tasks/train.jsonl, test: tasks/test.jsonl}
    fields: {question: input, schema: input, answer: target, rows: grading, cost: grading, difficulty: meta}
  reward: {version: "1.0.0", entry: "reward/reward.py:score", range: [0.0, 1.0]}
  action: {type: text, description: a query}
  observation: {type: text, description: a question}
---
# Asking

"""
SECTIONS = ("Overview", "Installation", "Interface", "Usage", "Tasks", "Reward", "Benchmarks", "Limitations")
CODE = """\
import hfenv


class Asking(hfenv.TaskEnvironment):
    def start(self, task, rng):
        return task["question"] + task["schema"]

    def execute(self, action):
        return hfenv.Outcome(data={"said": str(action)}, output=str(action), terminated=True)
"""
REWARD = """\
import hfenv


def score(task, transcript):
    return hfenv.Score(float(transcript[-1].outcome.data["said"] == task["answer"]))
"""
CHANGELOG = "# Changelog\n\n## [1.0.0] - 2026-01-01\n\n### Added\n\n- First version.\n"


def write_environment(root: Path, rows: int) -> None:
    """An environment in which there is nothing to find; one task in a hundred is for testing."""
    files = {
        "README.md": CARD + "".join(f"## {name}\nFor measuring.\n\n" for name in SECTIONS),
        "env/environment.py": CODE,
        "reward/reward.py": REWARD,
        "LICENSE": "Apache-2.0\n",
        **{f"changelog/{name}.md": CHANGELOG for name in ("code", "tasks", "reward")},
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "tasks").mkdir()
    draw = random.Random(0)  # noqa: S311 - the same tasks each time
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))) for _ in range(3000)]
    with (
        (root / "tasks/train.jsonl").open("w", encoding="utf-8") as train,
        (root / "tasks/test.jsonl").open("w", encoding="utf-8") as test,
    ):
        for number in range(rows):
            (test if number % 100 == 99 else train).write(_task(draw, words, number))


def _task(draw: random.Random, words: list[str], number: int) -> str:
    some = draw.choices(words, k=29)
    columns = ", ".join(f"{word} TEXT" for word in some[14:22])
    task = {
        "id": f"task-{number:07}",
        "question": f"How many {' '.join(some[:14])}?",
        "schema": f"{some[22]}({columns})\nDelays are in minutes.",
        "answer": f"{some[22]}: how often is {some[14]} = '{some[23]}' where {some[15]} > '{some[24]}', {number}?",
        "rows": number % 97,
        "cost": draw.random(),
        "difficulty": ("easy", "medium", "hard")[number % 3],
    }
    return json.dumps(task) + "\n"


def tree_memory(pid: int) -> int:
    """Resident bytes of a process and all its descendants, shared pages counted each time."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    total, pending = 0, [pid]
    while pending:
        process = pending.pop()
        pending += parents.get(process, [])
        try:
            total += int(Path(f"/proc/{process}/statm").read_text(encoding="utf-8").split()[1])
        except OSError:
            continue
    return total * os.sysconf("SC_PAGE_SIZE")


def measure(root: Path) -> tuple[float, float, int, str]:
    """Seconds on the clock, processor seconds, peak bytes and the output of one validation."""
    before = os.times()
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "hfenv.cli", "validate", str(root)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    peak, done = 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.05):
            peak = max(peak, tree_memory(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    output = process.communicate()[0]
    taken = time.perf_counter() - start
    done.set()
    watcher.join()
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return taken, used, peak, output


def main() -> int:
    """Print the figures of one run; exit 1 where a limit is missed, or where the run found something."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_environment(root, rows)
        size = sum(path.stat().st_size for path in root.glob("tasks/*.jsonl"))
        taken, used, peak, output = measure(root)
    print(f"{rows:,} tasks of {size / rows:.0f} bytes in {taken:.1f} s ({used:.1f} s of processor time)")
    print(f"{rows / taken:,.0f} rows/s (at least {LEAST_RATE:,}), peak {peak / 1e6:.0f} MB (at most {MOST_MEMORY})")
    print(output.splitlines()[-1])
    clean = "nothing found" in output
    return int(not clean or rows / taken < LEAST_RATE or peak > MOST_MEMORY * 1e6)


if __name__ == "__main__":
    sys.exit(main())
