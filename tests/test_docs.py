"""The page for authors: what it shows is put together into an environment, and that works."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.support import CARD, run_cli, write_environment

ROOT = Path(__file__).resolve().parent.parent


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_the_page_for_authors_makes_an_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("HFENV_HOME", str(tmp_path / "home"))
    _, code, reward, policies = blocks("docs/writing-an-environment.md", "python")
    card = card_with(blocks("docs/writing-an-environment.md", "yaml")[0])
    card = card.replace(":Adding", ":Guessing").replace("max_steps: 1", "max_steps: 6")
    one = 'oracle: "audit/policies.py:oracle"'
    card = card.replace(one, f"{one}, {one.replace('oracle', 'heuristic')}")
    rows = [{"id": f"t{n}", "low": n, "high": n + 9, "secret": n + n % 10, "difficulty": "easy"} for n in range(20)]
    lines = [json.dumps(row) + "\n" for row in rows]
    files = {
        "README.md": card,
        "env/environment.py": code,
        "reward/reward.py": reward,
        "audit/policies.py": policies,
        "tasks/train.jsonl": "".join(lines[:15]),
        "tasks/test.jsonl": "".join(lines[15:]),
    }
    root = write_environment(tmp_path / "guessing", files=files)
    validated = run_cli("validate", root)
    assert validated.exit_code == 0, validated.stdout
    means = {}
    for policy in ("oracle", "heuristic", "random"):
        out = tmp_path / f"{policy}.jsonl"
        result = run_cli(
            "run", root, "--policy", policy, "--episodes", 12, "--backend", "inline", "--format", "json", "--out", out
        )
        assert result.exit_code == 0, result.stderr
        means[policy] = result.json["mean_u"]
        episodes = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        assert len(episodes) == 12
        assert all(turn["evidence"]["tries"] == n for e in episodes for n, turn in enumerate(e["turns"], start=1))
    assert means["oracle"] == 1.0
    assert 0.1 < means["heuristic"] < 1.0
    assert means["random"] <= 0.1


def card_with(tasks: str) -> str:
    indented = re.sub("^", "  ", tasks, flags=re.MULTILINE).rstrip() + "\n"
    return re.sub(r"  tasks:\n.*?(?=  reward:)", indented, CARD, flags=re.DOTALL)


def test_the_page_for_authors_makes_one_with_a_generator(tmp_path):
    card = card_with(blocks("docs/writing-an-environment.md", "yaml")[1])
    generator = blocks("docs/writing-an-environment.md", "python")[0]
    root = write_environment(tmp_path / "sums", files={"README.md": card, "tasks/generate.py": generator})
    for split in ("train", "test"):
        (root / f"tasks/{split}.jsonl").unlink()
    assert run_cli("tasks", "sample", root).exit_code == 0
    assert len((root / "tasks/sample/train.jsonl").read_text().splitlines()) == 100
    validated = run_cli("validate", root)
    assert validated.exit_code == 0, validated.stdout
    result = run_cli("run", root, "--policy", "oracle", "--split", "test", "--episodes", 3, "--format", "json")
    assert result.json["mean_u"] == 1.0


def test_the_readme_names_commands_that_exist():
    from hfenv.cli.app import ENTRIES

    names = {entry.name for entry in ENTRIES}
    used = {
        match for block in blocks("README.md", "bash") for match in re.findall(r"^hfenv (\w+)", block, re.MULTILINE)
    }
    assert used
    assert used <= names


def test_what_is_never_pushed_stands_on_the_page_about_validation():
    from hfenv.components.ignoring import EXCLUDED_ENDS, EXCLUDED_NAMES, EXCLUDED_STARTS, IGNORE_FILES

    page = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`([^`\s]+)`", page.split("## What is left out")[1].split("Reports and")[0]))
    patterns = {*(f"*{end}" for end in EXCLUDED_ENDS), *(f"{start}*" for start in EXCLUDED_STARTS), "#*#"}
    assert {name.lower() for name in listed} == {*EXCLUDED_NAMES, *patterns, *IGNORE_FILES}
