"""What the tool makes of seven edits of the SQL example: the verdicts that a trainer would ask for."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from hfenv.paths import data_folder
from tests.support import release, replace_in, run_cli

LEFT_OUT = shutil.ignore_patterns("*.sqlite", "__pycache__", "tests")
COMPONENTS = ("code", "tasks", "reward")


@pytest.fixture
def example(tmp_path):
    root = tmp_path / "sql-analytics"
    shutil.copytree(data_folder("examples") / "sql-analytics", root, ignore=LEFT_OUT)
    return release(root)


def comment(root: Path) -> None:
    replace_in(root / "reward/reward.py", "# constants: nothing was looked up", "# no table was read")


def weight(root: Path) -> None:
    replace_in(root / "reward/reward.py", "OVERLAP = 0.38", "OVERLAP = 0.28")


def helper(root: Path) -> None:
    """The same answers in another way: one loop in the place of two calls of a function."""
    old = "    return len(left) == len(right) and all(map(same_value, left, right))\n"
    new = """\
    if len(left) != len(right):
        return False
    for one, other in zip(left, right):
        if not same_value(one, other):
            return False
    return True
"""
    replace_in(root / "reward/compare.py", old, new)


def rewording(root: Path) -> None:
    path = root / "tasks/test.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[3] = lines[3].replace('"question":"', '"question":"Please answer: ', 1)
    path.write_text("".join(lines), encoding="utf-8")


def more_training(root: Path) -> None:
    path = root / "tasks/train.jsonl"
    row = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    with path.open("a", encoding="utf-8") as stream:
        for number in range(10):
            question = f"{row['question']} ({number})"
            stream.write(json.dumps({**row, "id": f"more-{number}", "question": question}) + "\n")


def move(root: Path) -> None:
    train, test = root / "tasks/train.jsonl", root / "tasks/test.jsonl"
    lines = train.read_text(encoding="utf-8").splitlines(keepends=True)
    train.write_text("".join(lines[1:]), encoding="utf-8")
    with test.open("a", encoding="utf-8") as stream:
        stream.write(lines[0])


def readme(root: Path) -> None:
    with (root / "README.md").open("a", encoding="utf-8") as stream:
        stream.write("\nOne more limitation.\n")


# The component, the level, the version after 1.0.0, and a kind of change among the evidence.
EDITS = [
    (comment, ("reward", "patch", "1.0.1", "text")),
    (weight, ("reward", "major", "2.0.0", "reward-constant")),
    (helper, ("reward", "patch", "1.0.1", "reward-body")),
    (rewording, ("tasks", "major", "2.0.0", "task-edited")),
    (more_training, ("tasks", "minor", "1.1.0", "task-added-training")),
    (move, ("tasks", "major", "2.0.0", "task-moved")),
]


def states(root: Path):
    result = run_cli("status", root, "--probe", "--format", "json")
    assert result.exit_code == 0, result.stderr
    return result.json["components"]


@pytest.mark.parametrize(("edit", "verdict"), EDITS, ids=[edit.__name__ for edit, _ in EDITS])
def test_an_edit_of_a_component(example, edit, verdict):
    component, level, required, kind = verdict
    edit(example)
    found = states(example)
    assert {name: found[name]["level"] for name in COMPONENTS} == {
        **dict.fromkeys(COMPONENTS, "none"),
        component: level,
    }
    assert found[component]["required"] == required
    assert kind in {change["kind"] for change in found[component]["changes"]}
    (raised,) = run_cli("bump", "--path", example, "--format", "json").json["bumps"]
    assert (raised["version"], raised["drafted"]) == (required, True)
    assert states(example)[component]["satisfied"] is True


def test_an_edit_of_the_readme(example):
    readme(example)
    assert {state["level"] for state in states(example).values()} == {"none"}
    assert run_cli("bump", "--path", example, "--format", "json").json["bumps"] == []


def test_probes_say_of_a_helper_that_scores_are_unchanged(example):
    probes = len((example / "reward/probes.jsonl").read_text(encoding="utf-8").splitlines())
    helper(example)
    assert states(example)["reward"]["probed"] == f"unchanged on {probes} probes"
    assert run_cli("status", example, "--format", "json").json["components"]["reward"]["level"] == "major"


def test_evidence_names_the_task_the_place_and_the_reason(example):
    rewording(example)
    (change,) = states(example)["tasks"]["changes"]
    assert (change["path"], change["line"], change["count"]) == ("tasks/test.jsonl", 4, 1)
    assert change["why"] == "Scores on the old and the new task aren't comparable."
