"""What tests share: a small but complete environment on disk, and the command line run in this process."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from hfenv.components.releasing import new_record
from hfenv.components.snapshot import Snapshot
from hfenv.components.status import status

CARD = """\
---
license: apache-2.0
tags: [rl-environment, hfenv]
environment:
  spec: "1"
  summary: Add two small numbers.  # what it is about
  code: {version: "1.0.0", entry: "env/environment.py:Adding"}
  tasks:
    version: "1.0.0"
    splits: {train: tasks/train.jsonl, test: tasks/test.jsonl}
    fields: {question: input, answer: target, difficulty: meta}
  reward: {version: "1.0.0", entry: "reward/reward.py:score", range: [-1.0, 1.0]}
  action: {type: text, description: the sum}
  observation: {type: text, description: the question}
  limits: {max_steps: 1}
  policies: {oracle: "audit/policies.py:oracle"}
---
# Adding

## Overview
Sums, for tests.

## Installation
Nothing to install.

## Interface
Text in, text out.

## Usage
Load it.

## Tasks
Sums of two numbers.

## Reward
1 for the sum, -1 for no number, else 0.

## Benchmarks
None.

## Limitations
It is tiny.
"""

CODE = """\
import hfenv

from .words import ASK


class Adding(hfenv.TaskEnvironment):
    def start(self, task, rng):
        return ASK + task["question"]

    def execute(self, action):
        return hfenv.Outcome(data={"said": str(action).strip()}, output=str(action), terminated=True)
"""

REWARD = """\
import hfenv


def score(task, transcript):
    said = transcript[-1].outcome.data["said"]
    if not said.isdigit():
        return hfenv.Score(-1.0, {"form": -1.0}, status="agent_fault")
    return hfenv.Score(float(said == task["answer"]), {"right": float(said == task["answer"])})
"""

CHANGELOG = "# Changelog\n\n## [1.0.0] - 2026-01-01\n\n### Added\n\n- First version.\n"


def write_environment(root: Path, *, rows: int = 12, files: dict[str, str | bytes] | None = None) -> Path:
    """Write a small environment that validates, runs and can be pushed; `files` adds to or replaces its files."""
    content: dict[str, str | bytes] = {
        "README.md": CARD,
        "env/environment.py": CODE,
        "env/words.py": 'ASK = "How much is "\n',
        "reward/reward.py": REWARD,
        "audit/policies.py": 'def oracle(task, observation, info, rng):\n    return task["answer"]\n',
        "tasks/train.jsonl": _rows("train", range(rows)),
        "tasks/test.jsonl": _rows("test", range(rows, rows + 4)),
        "LICENSE": "Apache-2.0\n",
        **{f"changelog/{name}.md": CHANGELOG for name in ("code", "tasks", "reward")},
        **(files or {}),
    }
    for path, text in content.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def release(root: Path) -> Path:
    """Record a folder as released under the versions on its card, as a push does."""
    folder = Snapshot.of(root)
    record = new_record(folder, status(folder), {"train": 12, "test": 4})
    (root / "release.json").write_bytes(record.to_bytes())
    return root


def _rows(split: str, numbers: range) -> str:
    grades = ("easy", "medium", "hard")
    rows = (
        {"id": f"{split}-{n}", "question": f"{n} + 7?", "answer": str(n + 7), "difficulty": grades[n % 3]}
        for n in numbers
    )
    return "".join(json.dumps(row) + "\n" for row in rows)


@dataclass(frozen=True)
class CliResult:
    """How a command ended and what it printed."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> dict:
        return json.loads(self.stdout)


def run_cli(*args: object, cwd: Path | None = None) -> CliResult:
    """Run `hfenv ARGS` in this process, from `cwd`; any traceback fails the test."""
    from hfenv.cli.app import main

    out, err = io.StringIO(), io.StringIO()
    before = Path.cwd()
    code: object = 0
    try:
        os.chdir(cwd or before)
        with (
            mock.patch.object(sys, "argv", ["hfenv", *map(str, args)]),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                main()
            except SystemExit as stop:
                code = stop.code
    finally:
        os.chdir(before)
    return CliResult(int(code or 0), out.getvalue(), err.getvalue())


def replace_in(path: Path, old: str, new: str) -> None:
    """Replace text that must occur in a file."""
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new, 1).encode())
