"""Push: one commit with its tags, nothing lost, nothing overwritten, every step repeatable."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from huggingface_hub import constants

import hfenv.hub.push as push_module
from hfenv.hub.client import connect
from hfenv.hub.push import PushOptions, push
from tests.support import replace_in, run_cli, write_environment

REPO = "local/adding"


def git(home, *args, repo=REPO):
    folder = home / "hub" / "datasets" / f"{repo}.git"
    done = subprocess.run(["git", "-C", str(folder), *args], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commits(home, repo=REPO):
    return git(home, "log", "--format=%H", "main", repo=repo).splitlines()


def test_a_first_push_is_one_commit_with_four_tags(home, adding):
    result = run_cli("push", REPO, adding, "--format", "json")
    assert result.exit_code == 0, result.stderr
    assert result.json["tags"] == ["v1.0.0", "code-v1.0.0", "tasks-v1.0.0", "reward-v1.0.0"]
    assert result.json["revision"] == commits(home)[0]
    assert len(commits(home)) == 2  # the hub's own first commit, and the push
    assert set(git(home, "tag").splitlines()) == set(result.json["tags"])
    files = set(git(home, "ls-tree", "-r", "--name-only", "main").splitlines())
    assert {"README.md", "release.json", "env/environment.py", "tasks/train.jsonl"} <= files
    assert not [path for path in files if path.startswith(".hfenv/")]
    git(home, "fsck", "--strict")


def test_the_card_gets_what_hfenv_writes_and_keeps_the_rest(pushed):
    root, _ = pushed
    text = (root / "README.md").read_text(encoding="utf-8")
    assert "summary: Add two small numbers.  # what it is about" in text
    assert 'release: "1.0.0"' in text
    assert "config_name: tasks" in text
    assert "difficulty: {easy: 6, medium: 5, hard: 5}" in text
    record = json.loads((root / "release.json").read_text(encoding="utf-8"))
    assert record["splits"]["test"] == {"comparable_since": "1.0.0", "rows": 4}


def test_a_push_with_nothing_new_makes_no_commit_and_at_most_three_requests(home, pushed):
    root, revision = pushed
    with connect("local") as hub:
        result = push(hub, root, REPO, PushOptions())
        assert (result.created, result.revision, result.tags) == (False, revision, ())
        assert hub.requests <= 3
    assert len(commits(home)) == 2


def test_documentation_moves_no_version(home, pushed):
    root, _ = pushed
    record = (root / "release.json").read_bytes()
    replace_in(root / "README.md", "It is tiny.", "It is small.")
    result = run_cli("push", REPO, root, "--format", "json").json
    assert result["created"]
    assert result["tags"] == []
    assert result["release"] == "1.0.0"
    assert (root / "release.json").read_bytes() == record
    assert len(commits(home)) == 3


def test_a_changed_component_needs_a_bump_and_raises_the_release(home, pushed):
    root, _ = pushed
    replace_in(root / "reward/reward.py", "-1.0", "-0.5")
    refused = run_cli("push", REPO, root)
    assert refused.exit_code == 1
    assert "hfenv bump reward" in refused.stderr
    assert len(commits(home)) == 2
    run_cli("bump", "reward", "major", "-m", "Halve the penalty", "--path", root)
    result = run_cli("push", REPO, root, "--format", "json").json
    assert result["release"] == "2.0.0"
    assert result["tags"] == ["v2.0.0", "reward-v2.0.0"]
    assert result["uploaded"][0]["path"] == "README.md"
    record = json.loads((root / "release.json").read_text(encoding="utf-8"))
    assert record["splits"]["test"]["comparable_since"] == "2.0.0"
    assert git(home, "rev-parse", "code-v1.0.0") != git(home, "rev-parse", "reward-v2.0.0")


def test_a_looser_policy_lowers_the_version_but_not_what_readers_of_numbers_are_told(home, pushed):
    root, _ = pushed
    replace_in(root / "README.md", '  spec: "1"\n', '  spec: "1"\n  change_policy: {reward: {reward-number: patch}}\n')
    replace_in(root / "reward/reward.py", "-1.0", "-0.5")
    run_cli("bump", "--path", root)
    result = run_cli("push", REPO, root, "--format", "json")
    assert result.json["versions"]["reward"] == "1.0.1"
    assert "warning: the card loosens what a change of reward needs" in result.stderr
    record = json.loads((root / "release.json").read_text(encoding="utf-8"))
    assert record["splits"]["test"]["comparable_since"] == "1.0.1"


def test_deletions_are_mirrored_and_listed(home, pushed):
    root, _ = pushed
    (root / "LICENSE").unlink()
    result = run_cli("push", REPO, root, "--format", "json").json
    assert result["deleted"] == ["LICENSE"]
    assert "LICENSE" not in git(home, "ls-tree", "-r", "--name-only", "main").splitlines()
    assert ".gitattributes" in git(home, "ls-tree", "-r", "--name-only", "main").splitlines()


def test_a_dry_run_sends_nothing(home, adding):
    before = sorted(p.name for p in adding.rglob("*"))
    result = run_cli("push", REPO, adding, "--dry-run", "--format", "json").json
    assert {"README.md", "release.json"} <= {file["path"] for file in result["uploaded"]}
    assert all(file["bytes"] > 0 for file in result["uploaded"])
    assert not (home / "hub" / "datasets").exists() or not list((home / "hub" / "datasets").glob("*/*"))
    assert sorted(p.name for p in adding.rglob("*")) == before


@pytest.mark.parametrize("xet_off", [True, False])
def test_600_files_are_exactly_one_commit(home, tmp_path, monkeypatch, xet_off):
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", xet_off)
    files = {f"env/data/{n:03}.txt": f"{n}\n" for n in range(600)}
    root = write_environment(tmp_path / "many", files={**files, "tasks/resources/big.bin": b"\0" * 11_000_000})
    assert run_cli("push", REPO, root).exit_code == 0
    assert len(commits(home)) == 2
    assert len(git(home, "ls-tree", "-r", "--name-only", "main").splitlines()) > 600
    assert constants.HF_HUB_DISABLE_XET is xet_off


def test_eight_racing_pushes_with_one_parent(home, pushed, tmp_path):
    root, _ = pushed
    folders = []
    for n in range(8):
        folder = tmp_path / f"racer{n}"
        shutil.copytree(root, folder)
        replace_in(folder / "README.md", "It is tiny.", f"It is tiny, says {n}.")
        folders.append(folder)

    def race(folder):
        # Separate processes that start together; who looks too late is refused as well, with the same exit code.
        command = [sys.executable, "-m", "hfenv.cli", "push", REPO, str(folder), "--hub", "local"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(race, folders))
    assert sorted(d.returncode for d in done) == [0, 5, 5, 5, 5, 5, 5, 5], [d.stderr for d in done]
    assert len(commits(home)) == 3
    git(home, "fsck", "--strict")


def test_a_remote_that_moves_between_look_and_commit_is_not_overwritten(home, pushed, monkeypatch):
    from hfenv.hub.push import _Push

    root, _ = pushed
    replace_in(root / "README.md", "It is tiny.", "It is small.")
    commit = _Push.commit

    def late(self, *arguments):
        self.hub.api.upload_file(path_or_fileobj=b"x\n", path_in_repo="docs/x.md", repo_id=REPO, repo_type="dataset")
        return commit(self, *arguments)

    monkeypatch.setattr(_Push, "commit", late)
    refused = run_cli("push", REPO, root)
    assert refused.exit_code == 5
    assert "while this push was under way" in refused.stderr
    assert "It is tiny." in git(home, "show", "main:README.md")


def test_an_interrupted_push_run_again_ends_in_one_commit_and_all_tags(home, adding, tmp_path):
    untouched = tmp_path / "untouched"
    shutil.copytree(adding, untouched)
    first = run_cli("push", REPO, adding, "--format", "json").json
    for tag in ("v1.0.0", "reward-v1.0.0"):
        git(home, "tag", "-d", tag)
    again = run_cli("push", REPO, untouched, "--format", "json").json
    assert again["revision"] == first["revision"]
    assert not again["created"]
    assert sorted(again["tags"]) == ["reward-v1.0.0", "v1.0.0"]
    assert len(commits(home)) == 2
    assert (untouched / "release.json").read_bytes() == (adding / "release.json").read_bytes()


def test_missing_tags_go_to_the_earliest_commit_that_carries_the_record(home, pushed):
    root, revision = pushed
    replace_in(root / "README.md", "It is tiny.", "It is small.")
    run_cli("push", REPO, root)
    git(home, "tag", "-d", "v1.0.0")
    git(home, "tag", "-d", "code-v1.0.0")
    assert run_cli("push", REPO, root, "--format", "json").json["tags"] == ["v1.0.0", "code-v1.0.0"]
    assert git(home, "rev-parse", "v1.0.0") == revision
    assert git(home, "rev-parse", "code-v1.0.0") == revision


def test_a_remote_that_moved_is_not_overwritten(home, pushed, tmp_path):
    root, _ = pushed
    other = tmp_path / "other"
    shutil.copytree(root, other)
    replace_in(other / "README.md", "It is tiny.", "Somebody else's edit.")
    assert run_cli("push", REPO, other).exit_code == 0
    replace_in(root / "LICENSE", "Apache", "apache")
    refused = run_cli("push", REPO, root)
    assert refused.exit_code == 5
    assert "README.md" in refused.stderr
    assert len(commits(home)) == 3
    head = commits(home)[0]
    assert run_cli("push", REPO, root, "--base", head).exit_code == 0


def test_the_base_is_found_through_the_record_when_the_state_is_gone(pushed):
    root, _ = pushed
    shutil.rmtree(root / ".hfenv")
    replace_in(root / "README.md", "It is tiny.", "It is small.")
    assert run_cli("push", REPO, root).exit_code == 0


def test_a_version_is_never_given_to_other_content(home, pushed, tmp_path):
    root, _ = pushed
    other = tmp_path / "other"
    shutil.copytree(root, other)
    for folder, penalty in ((root, "-0.5"), (other, "-0.25")):
        replace_in(folder / "reward/reward.py", "-1.0", penalty)
        run_cli("bump", "reward", "major", "-m", f"Penalty {penalty}", "--path", folder)
    assert run_cli("push", REPO, root).exit_code == 0
    before = {p: p.read_bytes() for p in other.rglob("*") if p.is_file()}
    refused = run_cli("push", REPO, other)
    assert refused.exit_code == 5
    assert "reward 2.0.0 was released" in refused.stderr
    assert {p: p.read_bytes() for p in other.rglob("*") if p.is_file()} == before
    assert len(commits(home)) == 3


def test_a_folder_that_knows_no_release_does_not_replace_one(pushed, tmp_path):
    stranger = write_environment(tmp_path / "stranger", files={"LICENSE": "MIT\n"})
    refused = run_cli("push", REPO, stranger)
    assert refused.exit_code == 5
    assert "--base" in refused.stderr


def test_a_repository_with_content_of_its_own_needs_adopt(home, adding):
    with connect("local") as hub:
        hub.api.create_repo(REPO, repo_type="dataset")
        hub.api.upload_file(path_or_fileobj=b"a,b\n", path_in_repo="data.csv", repo_id=REPO, repo_type="dataset")
    refused = run_cli("push", REPO, adding)
    assert refused.exit_code == 5
    assert "--adopt" in refused.stderr
    assert "data.csv" in refused.stderr
    assert run_cli("push", REPO, adding, "--adopt", "--format", "json").json["deleted"] == ["data.csv"]


def test_private_counts_at_creation(home, adding, tmp_path):
    assert run_cli("push", REPO, adding, "--private", "--format", "json").json["private"] is True
    public = write_environment(tmp_path / "public")
    run_cli("push", "local/public", public)
    assert run_cli("push", "local/public", public, "--private").exit_code == 5


@pytest.mark.parametrize("repo", ["noslash", "a/b/c", "a/..", "a--b/c"])
def test_bad_repository_names(adding, repo):
    assert run_cli("push", repo, adding).exit_code == 2


def test_what_cannot_be_pushed_is_said_before_anything_is_sent(home, tmp_path, adding):
    assert run_cli("push", REPO, tmp_path).exit_code == 2
    (adding / "env" / "link.py").symlink_to("words.py")
    refused = run_cli("push", REPO, adding)
    assert refused.exit_code in (1, 3)
    assert "link.py" in refused.stderr
    assert not list((home / "hub").glob("datasets/*/*"))


def test_edits_made_on_the_hub_survive_a_push_from_a_folder_without_state(home, pushed, tmp_path):
    root, _ = pushed
    other = tmp_path / "other"
    shutil.copytree(root, other)
    replace_in(other / "README.md", "It is tiny.", "Somebody else's edit.")
    assert run_cli("push", REPO, other).exit_code == 0
    shutil.rmtree(root / ".hfenv")
    replace_in(root / "LICENSE", "Apache", "apache")
    refused = run_cli("push", REPO, root)
    assert refused.exit_code == 5
    assert "README.md" in refused.stderr
    # A clone of the newer content has those edits, so that pushing from it undoes nothing.
    shutil.rmtree(other / ".hfenv")
    replace_in(other / "LICENSE", "Apache", "apache")
    assert run_cli("push", REPO, other).exit_code == 0
    assert "Somebody else's edit." in git(home, "show", "main:README.md")


def test_the_same_folder_in_a_second_repository_is_a_release_there(home, pushed):
    root, _ = pushed
    second = run_cli("push", "local/second", root, "--format", "json").json
    assert sorted(second["tags"]) == ["code-v1.0.0", "reward-v1.0.0", "tasks-v1.0.0", "v1.0.0"]
    assert git(home, "log", "-1", "--format=%s", "main", repo="local/second").startswith("Release 1.0.0")
    assert run_cli("push", REPO, root, "--format", "json").json["created"] is False


@pytest.mark.parametrize("base", ["main", "v1.0.0", "abc", "../../x", ""])
def test_a_base_is_a_whole_hash(home, pushed, base):
    root, _ = pushed
    replace_in(root / "LICENSE", "Apache", "apache")
    before = commits(home)
    assert run_cli("push", REPO, root, "--base", base).exit_code == 2
    assert commits(home) == before


@pytest.mark.parametrize("size", [100, 3 << 20])
def test_a_file_that_changes_during_the_push_stops_it_before_the_commit(home, pushed, monkeypatch, size):
    root, revision = pushed
    (root / "docs").mkdir()
    (root / "docs" / "log.txt").write_bytes(b"a" * size)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    planned = push_module.make_plan

    def plan_then_edit(*given):
        plan = planned(*given)
        (root / "docs" / "log.txt").write_bytes(b"b" * size)
        return plan

    monkeypatch.setattr(push_module, "make_plan", plan_then_edit)
    refused = run_cli("push", REPO, root)
    assert refused.exit_code == 7
    assert "docs/log.txt changed" in refused.stderr
    assert commits(home)[0] == revision
    changed = {path for path in before if path.read_bytes() != before[path]}
    assert changed == {root / "docs" / "log.txt"}


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_sent(home, adding):
    (adding / ".hfenv").write_text("a file in the place of a folder")
    refused = run_cli("push", REPO, adding)
    assert refused.exit_code == 2
    assert "can't be written" in refused.stderr
    assert not list(home.rglob("adding.git"))


_FULL_DISK = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
from hfenv.cli.app import main
main()
"""


def test_a_hub_whose_disk_is_full_during_a_large_file(home, pushed):
    root, revision = pushed
    (root / "tasks" / "resources").mkdir()
    (root / "tasks" / "resources" / "big.bin").write_bytes(bytes(range(256)) * (1 << 14))
    assert run_cli("bump", "tasks", "minor", "-m", "A database", "--path", root).exit_code == 0
    command = [sys.executable, "-c", _FULL_DISK, "push", REPO, str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (2, 6), done.stderr
    assert "error: " in done.stderr
    assert "Traceback" not in done.stderr
    assert commits(home)[0] == revision
    assert run_cli("push", REPO, root).exit_code == 0


def test_a_refused_push_leaves_the_record_as_it_was(home, pushed, tmp_path):
    root, _ = pushed
    behind = tmp_path / "behind"
    shutil.copytree(root, behind)
    replace_in(root / "reward/reward.py", "-1.0, {", "-0.5, {")
    assert run_cli("push", REPO, root, "--bump", "auto").exit_code == 0
    replace_in(behind / "env/words.py", "much", "many")
    run_cli("bump", "code", "1.0.1", "-m", "Words", "--path", behind)
    before = {path: path.read_bytes() for path in behind.rglob("*") if path.is_file()}
    refused = run_cli("push", REPO, behind, "--base", commits(home)[0])
    assert refused.exit_code in (1, 5), refused.stderr
    assert {path: path.read_bytes() for path in behind.rglob("*") if path.is_file()} == before


def test_a_repository_that_is_gone_is_not_made_anew_in_public(adding):
    assert run_cli("push", "local/adding", adding, "--private").exit_code == 0
    with connect("local") as hub:
        hub.api.delete_repo("local/adding", repo_type="dataset")
        for arguments in ([], ["--dry-run"]):
            result = run_cli("push", "local/adding", adding, *arguments)
            assert result.exit_code == 5
            assert "isn't there any more, or this user may not see it" in result.stderr
        assert not hub.api.repo_exists("local/adding", repo_type="dataset")
    assert run_cli("push", "local/adding", adding, "--private").exit_code == 0
    with connect("local") as hub:
        assert hub.api.repo_info("local/adding", repo_type="dataset").private


def test_a_second_push_needs_no_name(pushed):
    root, revision = pushed
    replace_in(root / "README.md", "## Limitations", "Text.\n\n## Limitations")
    again = run_cli("push", root, "--format", "json").json
    assert (again["repo"], again["created"]) == ("local/adding", True)
    assert again["revision"] != revision
    elsewhere = run_cli("push", root, "--hub", "http://127.0.0.1:9")
    assert elsewhere.exit_code == 2
    assert "local/adding" in elsewhere.stderr
