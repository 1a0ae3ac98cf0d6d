"""What changed since it was trusted: by digests, shown from the revision that was trusted, for stores of any age."""

from __future__ import annotations

import json

import pytest

from tests.support import replace_in, run_cli

REPO = "local/adding"


@pytest.fixture
def moved(pushed, home):
    """Trusts the first release, then pushes others; returns the folder, and the text of the trust store."""
    root, _ = pushed
    assert run_cli("trust", "add", REPO).exit_code == 0
    return root, home / "trust.json"


def push(root, *components: str):
    for component in components:
        assert run_cli("bump", component, "auto", "-m", "Other.", cwd=root).exit_code == 0
    result = run_cli("push", REPO, root, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return result.json["revision"]


def test_nothing_changed_and_nothing_trusted(moved):
    result = run_cli("trust", "diff", REPO)
    assert result.exit_code == 0
    assert "Exactly this" in result.stdout
    root, _ = moved
    replace_in(root / "README.md", "Sums, for tests.", "Sums.")
    push(root)
    assert run_cli("trust", "diff", f"{REPO}@main").exit_code == 0  # documentation alone
    assert run_cli("trust", "remove", REPO).exit_code == 0
    assert run_cli("trust", "diff", REPO).exit_code == 4


def test_what_changed_is_shown_by_part_and_line(moved, pushed):
    root, _ = moved
    replace_in(root / "env" / "words.py", "How much is", "What is \\u202e")
    replace_in(root / "reward" / "reward.py", "-1.0", "-0.5")
    (root / "audit" / "extra.py").write_text("CHEAT = 1\n")
    revision = push(root, "code", "reward")
    result = run_cli("trust", "diff", REPO, "--format", "json")
    assert result.exit_code == 1
    found = result.json
    assert (found["since"], found["revision"], found["parts"]) == (pushed[1], revision, ["code", "reward", "policies"])
    files = {change["path"]: change for change in found["files"]}
    assert {path: change["kind"] for path, change in files.items()} == {
        "audit/extra.py": "added", "env/words.py": "edited", "reward/reward.py": "edited",
    }  # fmt: skip
    assert '-ASK = "How much is "' in files["env/words.py"]["patch"]
    text = run_cli("trust", "diff", REPO).stdout
    assert "this changed: code, reward, policies." in text
    assert "+CHEAT = 1" in text
    assert "+CHEAT" not in run_cli("trust", "diff", REPO, "--no-patch").stdout
    assert run_cli("trust", "add", REPO).exit_code == 0
    assert run_cli("trust", "diff", REPO).exit_code == 0
    assert run_cli("trust", "diff", f"{REPO}@1.0.0").exit_code == 0


@pytest.mark.slow
def test_a_change_of_the_card_alone_is_shown(moved):
    root, _ = moved
    replace_in(root / "README.md", "limits: {max_steps: 1}", "limits: {max_steps: 9}")
    push(root, "code")
    (change,) = run_cli("trust", "diff", REPO, "--format", "json").json["files"]
    assert (change["path"], change["part"]) == ("README.md", "code")
    assert '+  "max_steps": 9' in change["patch"]


@pytest.mark.slow
def test_stores_of_before_are_read_and_say_what_they_dont_know(moved):
    root, store = moved
    values = json.loads(store.read_text())
    del values["seen"]
    store.write_text(json.dumps(values))
    assert run_cli("trust", "diff", REPO).exit_code == 0
    replace_in(root / "env" / "words.py", "How much is", "What is")
    push(root, "code")
    result = run_cli("trust", "diff", REPO)
    assert result.exit_code == 1
    assert "this changed: code." in result.stdout
    assert "wasn't remembered" in result.stdout


JUNK = [1, None, "x", {}, [1, {}, {"entry": 1, "commit": "x", "at": "y"}, {"entry": {"a": 1}}]]


@pytest.mark.slow
def test_what_is_remembered_of_commits_never_decides_about_trust(moved):
    _, store = moved
    entries = json.loads(store.read_text())
    for seen in JUNK:
        store.write_text(json.dumps({**entries, "seen": seen}))
        assert run_cli("trust", "list", "--format", "json").json["trusted"][0]["repo"] == REPO
        assert run_cli("trust", "diff", REPO).exit_code == 0
    assert run_cli("run", REPO, "--policy", "oracle", "--episodes", 1).exit_code == 0
    store.write_text(json.dumps({"format": 1, "trusted": [], "seen": entries["seen"]}))
    assert run_cli("run", REPO, "--policy", "oracle", "--episodes", 1).exit_code == 7


@pytest.mark.slow
def test_a_pulled_folder_is_held_against_what_was_trusted(moved, tmp_path):
    pulled = tmp_path / "pulled"
    assert run_cli("pull", REPO, "--to", pulled).exit_code == 0
    assert run_cli("trust", "diff", pulled).exit_code == 0
    replace_in(pulled / "env" / "words.py", "How much is", "What is")
    result = run_cli("trust", "diff", pulled)
    assert result.exit_code == 1
    assert '+ASK = "What is "' in result.stdout
