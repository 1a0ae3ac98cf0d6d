"""Pushes that were interrupted at some step, and what the author did next."""

from __future__ import annotations

import json

import pytest

from hfenv.hub.push import _Push
from tests.hub.test_push import REPO, commits, git
from tests.support import replace_in, run_cli, write_environment

STEPS = ("compare", "tag_missing", "keep_record")


def interrupted_push(root, monkeypatch, step):
    """Push until a step begins, as a kill at that moment would leave it."""

    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_Push, step, stop)
        assert run_cli("push", REPO, root).exit_code == 130


def records(home):
    """Release, code's version and exact digest at every commit that has a record, oldest first."""
    found = []
    for sha in reversed(commits(home)):
        if "release.json" in git(home, "ls-tree", "--name-only", sha).splitlines():
            record = json.loads(git(home, "show", f"{sha}:release.json"))
            code = record["components"]["code"]
            found.append((record["release"], code["version"], code["exact"]))
    return found


@pytest.mark.parametrize("step", STEPS)
def test_run_again_it_ends_in_one_commit_and_all_tags(home, adding, monkeypatch, step):
    interrupted_push(adding, monkeypatch, step)
    assert run_cli("push", REPO, adding).exit_code == 0
    assert len(commits(home)) == 2
    assert len(git(home, "tag").splitlines()) == 4


@pytest.mark.parametrize("step", STEPS)
def test_an_edit_before_running_it_again_gets_a_number_of_its_own(home, adding, monkeypatch, step):
    interrupted_push(adding, monkeypatch, step)
    first = commits(home)[0]
    replace_in(adding / "env/words.py", "much", "many")
    refused = run_cli("push", REPO, adding)
    assert refused.exit_code == 1
    assert "hfenv bump code" in refused.stderr
    assert run_cli("bump", "code", "patch", "-m", "Other words", "--path", adding).exit_code == 0
    assert run_cli("push", REPO, adding).exit_code == 0
    assert [(release, version) for release, version, _ in records(home)] == [("1.0.0", "1.0.0"), ("1.0.1", "1.0.1")]
    assert git(home, "rev-parse", "v1.0.0") == git(home, "rev-parse", "code-v1.0.0") == first
    assert git(home, "rev-parse", "code-v1.0.1") == commits(home)[0]


@pytest.mark.parametrize("step", STEPS)
def test_an_edit_of_documentation_leaves_the_tags_where_the_record_appeared(home, adding, monkeypatch, step):
    interrupted_push(adding, monkeypatch, step)
    first = commits(home)[0]
    replace_in(adding / "README.md", "It is tiny.", "It is small.")
    assert run_cli("push", REPO, adding).exit_code == 0
    assert len(commits(home)) == 3
    assert {git(home, "rev-parse", tag) for tag in git(home, "tag").splitlines()} == {first}


def test_killed_before_anything_was_remembered(home, adding, monkeypatch):
    interrupted_push(adding, monkeypatch, "remember")
    replace_in(adding / "env/words.py", "much", "many")
    refused = run_cli("push", REPO, adding)
    assert refused.exit_code == 5
    assert "hfenv bump code 1.0.1" in refused.stderr
    assert run_cli("bump", "code", "1.0.1", "-m", "Other words", "--path", adding).exit_code == 0
    refused = run_cli("push", REPO, adding)
    assert refused.exit_code == 5
    head = commits(home)[0]
    assert f"--base HASH (its head is {head})" in refused.stderr
    assert run_cli("push", REPO, adding, "--base", head).exit_code == 0
    assert [(release, version) for release, version, _ in records(home)] == [("1.0.0", "1.0.0"), ("1.0.1", "1.0.1")]


@pytest.mark.usefixtures("pushed")
def test_a_fork_does_not_replace_a_version_under_its_number(home, tmp_path):
    other = tmp_path / "other"
    write_environment(other, files={"env/words.py": 'ASK = "What is "\n'})
    assert run_cli("push", "me/x", other).exit_code == 0
    head = commits(home, "me/x")[0]
    assert run_cli("pull", REPO, "--to", tmp_path / "up").exit_code == 0
    refused = run_cli("push", "me/x", tmp_path / "up", "--base", head)
    assert refused.exit_code == 1
    assert "bump code" in refused.stderr
    assert commits(home, "me/x")[0] == head


def test_release_candidates_follow_one_another(home, pushed):
    root, _ = pushed
    for number in (1, 2):
        path = root / "env/words.py"
        path.write_text(path.read_text(encoding="utf-8") + f"# {number}\n", encoding="utf-8")
        bumped = run_cli("bump", "code", f"1.1.0-rc.{number}", "-m", f"Candidate {number}", "--path", root)
        assert bumped.exit_code == 0, bumped.stderr
        done = run_cli("push", REPO, root, "--format", "json")
        assert done.exit_code == 0, done.stderr
        assert done.json["release"] == f"1.1.0-rc.{number}"
    assert run_cli("bump", "code", "minor", "-m", "Done", "--path", root).exit_code == 0
    assert run_cli("push", REPO, root, "--format", "json").json["versions"]["code"] == "1.1.0"
