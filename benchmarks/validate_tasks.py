"""`hfenv validate` on a million tasks: rows per second, and the peak memory of all its processes together."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path

from measuring import run

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


def main() -> int:
    """Print the figures of one run; exit 1 where a limit is missed, or where the run found something."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_environment(root, rows)
        size = sum(path.stat().st_size for path in root.glob("tasks/*.jsonl"))
        done = run([sys.executable, "-m", "hfenv.cli", "validate", str(root)], folder=ROOT)
        taken, used, peak, output = done.taken, done.used, done.peak, done.output
    print(f"{rows:,} tasks of {size / rows:.0f} bytes in {taken:.1f} s ({used:.1f} s of processor time)")
    print(f"{rows / taken:,.0f} rows/s (at least {LEAST_RATE:,}), peak {peak / 1e6:.0f} MB (at most {MOST_MEMORY})")
    print(output.splitlines()[-1])
    clean = "nothing found" in output
    return int(not clean or rows / taken < LEAST_RATE or peak > MOST_MEMORY * 1e6)


if __name__ == "__main__":
    sys.exit(main())
