"""Versions on their way to the hub: bumps that come with a push, changelogs that name releases, pulled folders."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from hfenv.components.changelog import entries, read_changelog
from hfenv.components.ownership import Component
from hfenv.components.release import parse_record, read_record
from hfenv.hub.client import connect
from hfenv.hub.resolve import read_refs, read_remote_record
from tests.support import release, replace_in, run_cli, write_environment

REPO = "local/adding"
TURN = {"action": "7", "data": {"said": "7"}, "evidence": None, "terminated": True, "truncated": False}
TASK = {"id": "train-7", "question": "?", "answer": "7", "difficulty": "easy"}
EXPECTED = {"total": 1.0, "parts": {"right": 1.0}, "status": "ok"}
PROBE = json.dumps({"format": 1, "expected": EXPECTED, "turns": [TURN], "task": TASK}) + "\n"


def test_a_push_writes_into_changelogs_in_which_release_a_version_went_out(pushed):
    root, _ = pushed
    replace_in(root / "reward/reward.py", "-1.0, {", "-0.5, {")
    assert run_cli("push", REPO, root, "--bump", "auto", "-m", "Milder").exit_code == 0
    log = entries(read_changelog(root, Component.REWARD))
    assert [(entry.version, entry.release) for entry in log] == [("2.0.0", "2.0.0"), ("1.0.0", "1.0.0")]
    assert "- Milder" in log[0].body
    replace_in(root / "env/words.py", "much", "many")
    result = run_cli("push", REPO, root, "--bump", "auto")
    assert "code: 1.0.0 -> 1.0.1, drafted in changelog/code.md" in result.stderr
    log = entries(read_changelog(root, Component.CODE))
    assert [(entry.version, entry.release) for entry in log] == [("1.0.1", "2.0.1"), ("1.0.0", "1.0.0")]
    assert [each.release for each in read_record(root).history] == ["1.0.0", "2.0.0"]
    assert run_cli("push", REPO, root, "--bump", "auto", "--format", "json").json["created"] is False


@pytest.mark.parametrize(
    ("words", "says"), [(["--bump", "major"], "takes 'auto'"), (["--bump", "auto", "--dry-run"], "writes")]
)
def test_what_bump_does_not_go_with(pushed, words, says):
    result = run_cli("push", REPO, pushed[0], *words)
    assert (result.exit_code, says in result.stderr) == (2, True)


def test_numbers_stay_comparable_as_long_as_nothing_breaks_them(pushed):
    root, _ = pushed

    def since():
        return {name: split.comparable_since for name, split in read_record(root).splits.items()}

    def push():
        assert run_cli("push", REPO, root, "--bump", "auto").exit_code == 0
        return since()

    assert since() == {"train": "1.0.0", "test": "1.0.0"}
    with (root / "tasks/train.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(
            json.dumps({"id": "train-new", "question": "50 + 51?", "answer": "101", "difficulty": "hard"}) + "\n"
        )
    assert push() == {"train": "1.1.0", "test": "1.0.0"}
    replace_in(root / "env/words.py", "much", "many")
    assert push() == {"train": "1.1.0", "test": "1.0.0"}
    replace_in(root / "tasks/test.jsonl", '"difficulty": "easy"', '"difficulty": "medium"')
    assert push() == {"train": "1.1.0", "test": "1.0.0"}
    replace_in(root / "reward/reward.py", "-1.0, {", "-0.5, {")
    assert push() == {"train": "2.0.0", "test": "2.0.0"}


def test_the_record_on_the_hub_is_what_the_next_gate_reads(pushed):
    root, _ = pushed
    with connect("local") as hub:
        remote = read_remote_record(hub, REPO, read_refs(hub, REPO).branches["main"])
    local = parse_record((root / "release.json").read_bytes(), "release.json")
    assert remote == local
    for component, recorded in local.components.items():
        assert len(recorded.semantic) == 64
        assert set(recorded.described) == ({"tasks"} if component is Component.TASKS else {"shape"})


def test_a_failed_bump_leaves_everything_as_it_was(tmp_path):
    root = release(write_environment(tmp_path / "adding", files={"reward/probes.jsonl": PROBE}))
    replace_in(root / "reward/reward.py", "-1.0, {", "-0.5, {")
    replace_in(root / "reward/reward.py", "float(said", "0.5 * float(said")
    replace_in(root / "tasks/test.jsonl", "19", "20")
    (root / "changelog/tasks.md").unlink()
    (root / "changelog/tasks.md").mkdir()
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    result = run_cli("bump", "-m", "All of it", "--path", root)
    assert (result.exit_code, "changelog/tasks.md" in result.stderr) == (3, True)
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("written", range(4))
def test_a_disk_that_fills_up_during_a_bump_leaves_everything_as_it_was(tmp_path, monkeypatch, written):
    """Two changelogs, the probes and the card: the write fails after so many of the four are in their places."""
    root = release(write_environment(tmp_path / "adding", files={"reward/probes.jsonl": PROBE}))
    replace_in(root / "reward/reward.py", "float(said", "0.5 * float(said")
    replace_in(root / "tasks/test.jsonl", "19", "20")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    replace, done = Path.replace, []

    def fails(path, target):
        if Path(target).is_relative_to(root):
            done.append(target)
            if len(done) > written:
                raise OSError(errno.ENOSPC, "No space left on device")
        return replace(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", fails)
        result = run_cli("bump", "-m", "All of it", "--path", root)
    assert (result.exit_code, len(done)) == (2, written + 1), result.stderr
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    assert run_cli("bump", "-m", "All of it", "--path", root).exit_code == 0
    assert {path.name for path, content in before.items() if path.read_bytes() != content} == {
        "README.md", "tasks.md", "reward.md", "probes.jsonl",
    }  # fmt: skip


class TestPulled:
    """A folder that somebody else made: nothing of it runs without trust."""

    @pytest.fixture
    def pulled(self, home, adding, tmp_path):
        (adding / "reward/probes.jsonl").write_text(PROBE, encoding="utf-8")
        mark = tmp_path / "ran"
        assert run_cli("push", REPO, adding).exit_code == 0
        root = tmp_path / "pulled"
        assert run_cli("pull", REPO, "--to", root).exit_code == 0
        replace_in(root / "reward/reward.py", "import hfenv\n", f"import hfenv\nopen({str(mark)!r}, 'w').close()\n")
        return root, mark

    def test_probes_are_not_replayed(self, pulled):
        root, mark = pulled
        refused = run_cli("status", root, "--probe")
        assert (refused.exit_code, mark.exists()) == (7, False)
        bumped = run_cli("bump", "reward", "auto", "-m", "x", "--path", root)
        assert (bumped.exit_code, mark.exists()) == (0, False)
        assert "brings code that was not trusted" in bumped.stderr
        assert run_cli("push", REPO, root).exit_code == 7
        assert not mark.exists()

    def test_with_trust_they_are(self, pulled):
        root, mark = pulled
        result = run_cli("status", root, "--probe", "--trust-remote-code", "--format", "json")
        assert result.json["components"]["reward"]["probed"] == "unchanged on 1 probe"
        assert mark.exists()


def test_a_diff_of_releases_knows_that_their_probes_scored_alike(adding):
    (adding / "reward/probes.jsonl").write_text(PROBE, encoding="utf-8")
    assert run_cli("push", REPO, adding).exit_code == 0
    replace_in(adding / "reward/reward.py", "if not said.isdigit():", "if said.isdigit() is False:")
    assert run_cli("push", REPO, adding, "--bump", "auto").exit_code == 0
    line = run_cli("diff", f"{REPO}@1.0.0", f"{REPO}@1.0.1").stdout.splitlines()[0]
    assert line.startswith("comparable: yes, ")
    replace_in(adding / "reward/reward.py", "float(said", "0.5 * float(said")
    assert run_cli("push", REPO, adding, "--bump", "auto").exit_code == 0
    line = run_cli("diff", f"{REPO}@1.0.0", f"{REPO}@2.0.0").stdout.splitlines()[0]
    assert line == "comparable: no, reward 1.0.0 -> 2.0.0"
