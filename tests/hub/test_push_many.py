"""`push --dry-run` and `push --all`: what would be sent and what was left out; many environments in one call."""

from __future__ import annotations

import hashlib
import shutil

import pytest

from hfenv.hub import client
from tests.support import replace_in, run_cli, write_environment


def tree_of(root):
    return {
        path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in root.rglob("*") if path.is_file()
    }  # fmt: skip


@pytest.fixture
def envs(tmp_path):
    """Three environments in one folder, and a folder that is none."""
    for name in ("b", "a", "c"):
        write_environment(tmp_path / "work" / "envs" / name)
    (tmp_path / "work" / "envs" / "notes").mkdir()
    return tmp_path / "work"


def push_all(envs, *arguments):
    return run_cli("push", "--all", "envs/*", *arguments, "--format", "json", cwd=envs)


def outcomes(result):
    return [(each["folder"], each["outcome"], each["exit_code"]) for each in result.json["environments"]]


@pytest.fixture
def requests(monkeypatch):
    """The number of requests that each connection made, in order."""
    counts = []
    counting = client._counting

    def counted(hub):
        counts.append(hub)
        return counting(hub)

    monkeypatch.setattr(client, "_counting", counted)
    return lambda: [hub.requests for hub in counts]


def test_a_dry_run_tells_all_and_changes_nothing(home, pushed):
    root, revision = pushed
    (root / ".hfenvignore").write_text("drafts/\n")
    for path in ("drafts/a", "drafts/b", "env/__pycache__/x.pyc", "reward/id_rsa"):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text("x")
    replace_in(root / "env" / "words.py", "How much", "How many")
    assert run_cli("bump", "code", "patch", "-m", "More exact words", cwd=root).exit_code == 0
    (root / "audit" / "policies.py").rename(root / "audit" / "all.py")
    replace_in(root / "README.md", "audit/policies.py", "audit/all.py")
    before, hub = tree_of(root), tree_of(home / "hub")
    result = run_cli("push", "local/adding", root, "--dry-run", "--format", "json")
    assert result.exit_code == 0, result.stderr
    now = tree_of(home / "hub")
    assert tree_of(root) == before
    changed = {path for path in now.keys() | hub.keys() if now.get(path) != hub.get(path)}
    assert changed <= {"datasets/local/adding.git/hub-head.json"}  # what the hub remembers of its own last answer
    told = result.json
    sent = {file["path"]: file for file in told["uploaded"]}
    words = (root / "env" / "words.py").read_bytes()
    assert sent["env/words.py"] == {
        "path": "env/words.py", "bytes": len(words), "sha256": hashlib.sha256(words).hexdigest(),
    }  # fmt: skip
    assert told["bytes"] == sum(file["bytes"] for file in sent.values())
    assert told["deleted"] == ["audit/policies.py"]
    assert sorted(told["tags"]) == ["code-v1.0.1", "v1.0.1"]
    assert {name: (c["version"], c["new"]) for name, c in told["components"].items()} == {
        "code": ("1.0.1", True), "tasks": ("1.0.0", False), "reward": ("1.0.0", False),
    }  # fmt: skip
    assert {(out["path"], out["files"], out["pattern"], out["source"], out["line"]) for out in told["ignored"]} == {
        (".hfenv/", 3, ".hfenv", "built-in", 0),
        ("drafts/", 2, "drafts/", ".hfenvignore", 1),
        ("env/__pycache__/", 1, "__pycache__", "built-in", 0),
        ("reward/id_rsa", 1, "id_rsa", "built-in", 0),
    }
    human = run_cli("push", "local/adding", root, "--dry-run").stdout
    assert "env/words.py" in human
    assert ".hfenvignore: drafts/ (2)" in human
    done = run_cli("push", "local/adding", root, "--format", "json").json
    assert {file["path"] for file in done["uploaded"]} == set(sent)
    assert done["deleted"] == told["deleted"]
    assert set(done["tags"]) == set(told["tags"])
    assert done["revision"] != revision


def test_all_are_pushed_in_order_whatever_becomes_of_one(home, envs):
    replace_in(envs / "envs" / "b" / "README.md", "license: apache-2.0\n", "")
    result = push_all(envs)
    assert outcomes(result) == [("envs/a", "pushed", 0), ("envs/b", "failed", 1), ("envs/c", "pushed", 0)]
    assert result.exit_code == 1
    assert "HFE601" in result.json["environments"][1]["error"]["hint"]
    (envs / "envs" / "a" / "README.md").write_text("---\nenvironment: [\n---\n")
    assert push_all(envs).exit_code == 3  # the worst
    human = run_cli("push", "--all", "envs/*", cwd=envs)
    assert human.exit_code == 3
    assert "3 environments: 1 unchanged, 2 failed." in human.stdout


def test_changed_skips_what_was_pushed_without_asking(home, envs, requests):
    assert push_all(envs).exit_code == 0
    result = push_all(envs, "--changed")
    assert {each["outcome"] for each in result.json["environments"]} == {"skipped"}
    assert all(len(each["revision"]) == 40 for each in result.json["environments"])
    assert requests()[-1] == 0
    replace_in(envs / "envs" / "b" / "README.md", "It is tiny.", "It is small.")
    assert [each[1] for each in outcomes(push_all(envs, "--changed"))] == ["skipped", "pushed", "skipped"]
    replace_in(envs / "envs" / "b" / "README.md", "It is small.", "It is tiny.")  # not what was pushed last
    assert outcomes(push_all(envs, "--changed"))[1][1] == "pushed"


def test_changed_asks_the_hub_little_where_nothing_is_remembered(home, envs, requests):
    assert push_all(envs).exit_code == 0
    for folder in (envs / "envs").iterdir():
        shutil.rmtree(folder / ".hfenv", ignore_errors=True)
    result = push_all(envs, "--changed")
    assert [each[1] for each in outcomes(result)] == ["unchanged"] * 3
    assert requests()[-1] <= 3 * 3
    assert [each[1] for each in outcomes(push_all(envs, "--changed"))] == ["skipped"] * 3


def test_a_dry_run_of_all_plans(home, envs):
    result = push_all(envs, "--dry-run", "--changed")
    assert [each[1] for each in outcomes(result)] == ["planned"] * 3
    assert result.json["environments"][0]["push"]["components"]["code"]["new"]
    assert push_all(envs, "--changed").exit_code == 0


def test_what_all_does_not_go_with(home, envs):
    assert run_cli("push", "--all", "none/*", cwd=envs).exit_code == 4
    assert run_cli("push", "--all", "envs/a", "envs/b", cwd=envs).exit_code == 2
    assert run_cli("push", "--changed", cwd=envs / "envs" / "a").exit_code == 2
    assert run_cli("push", "--all", "envs/*", "--base", "0" * 40, cwd=envs).exit_code == 2
