"""`hfenv changelog REF --since ...`: what changes for somebody, from a folder and from a hub, and how it fails."""

from __future__ import annotations

import shutil

import pytest

from hfenv.hub.changelogs import hub_changelogs
from hfenv.hub.client import connect
from hfenv.hub.references import parse_reference
from tests.support import replace_in, run_cli

REPO = "local/adding"


@pytest.fixture
def released(pushed):
    """Three releases: 1.0.0; 1.0.1, code alone; 2.0.0, the reward. Returns the folder and the first revision."""
    root, first = pushed
    replace_in(root / "env/words.py", '"\n', '"  # asked\n')
    run_cli("bump", "code", "patch", "-m", "Say what it is", "--path", root)
    assert run_cli("push", REPO, root).exit_code == 0
    replace_in(root / "reward/reward.py", "-1.0", "-0.5")
    run_cli("bump", "reward", "major", "-m", "Halve the penalty", "--path", root)
    assert run_cli("push", REPO, root).exit_code == 0
    return root, first


def changes(*args):
    result = run_cli("changelog", *args, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return {c: [(e["version"], e["breaking"]) for e in es] for c, es in result.json["components"].items()}


def test_what_changes_since_a_release(released):
    _, first = released
    everything = {"code": [("1.0.1", False)], "tasks": [], "reward": [("2.0.0", True)]}
    assert changes(f"{REPO}@2.0.0", "--since", "1.0.0") == everything
    assert changes(REPO, "--since", first) == everything
    assert changes(REPO, "--since", f"{REPO}@1.0.0") == everything
    assert changes(REPO, "--since", "1.0.1") == {**everything, "code": []}
    assert changes(REPO, "--since", "2.0.0") == {"code": [], "tasks": [], "reward": []}
    assert changes(REPO, "--since", "code=1.0.0") == {"code": [("1.0.1", False)]}
    assert changes(REPO, "reward", "--since", "1.0.0") == {"reward": [("2.0.0", True)]}
    mixed = f"{REPO}@code=1.0.1,tasks=1.0.0,reward=1.0.0"
    assert changes(mixed, "--since", "1.0.0") == {**everything, "reward": []}


def test_the_text_names_releases_and_what_breaks(released):
    text = run_cli("changelog", f"{REPO}@2.0.0", "--since", "1.0.0").stdout
    assert text.startswith(f"What changes from 1.0.0 to {REPO}@2.0.0: reward with breaking changes.\n")
    assert "# reward 1.0.0 -> 2.0.0\n" in text
    assert "(release 2.0.0) - BREAKING\n\n### Changed\n\n- Halve the penalty" in text
    assert "tasks" not in text
    assert run_cli("changelog", REPO, "--since", "2.0.0").stdout == f"Nothing changes from 2.0.0 to {REPO}.\n"


def test_a_folder_with_what_it_has_not_released(released):
    root, _ = released
    replace_in(root / "tasks/train.jsonl", '"easy"', '"hard"')
    run_cli("bump", "tasks", "patch", "-m", "Grade anew", "--path", root)
    assert changes(root, "--since", "2.0.0") == {"code": [], "tasks": [("1.0.1", False)], "reward": []}
    assert changes("--path", root, "--since", "2.0.0")["tasks"] == [("1.0.1", False)]
    assert "(not released yet)" in run_cli("changelog", root, "--since", "2.0.0").stdout
    assert changes(root, "--since", f"{REPO}@1.0.0")["code"] == [("1.0.1", False)]


def test_nothing_else_is_fetched(home, released):
    shutil.rmtree(home / "cache", ignore_errors=True)
    with connect("local") as hub:
        found = hub_changelogs(hub, parse_reference(f"{REPO}@2.0.0"))
        # The refs, the tree, the record and three changelogs.
        assert hub.requests == 6
    names = [path for path in found.texts if found.texts[path]]
    assert len(names) == 3
    fetched = {path.name for path in (home / "cache").rglob("files/**/*") if path.is_file()}
    assert fetched == {"release.json", "code.md", "tasks.md", "reward.md"}
    assert run_cli("changelog", f"{REPO}@{found.revision}", "--since", "code=1.0.0", "--offline").exit_code == 0


@pytest.mark.parametrize(
    ("since", "code", "said"),
    [
        ("1.5.0", 4, "Released: 2.0.0, 1.0.1, 1.0.0."),
        ("code=1.5.0", 4, "Known: 1.0.1, 1.0.0."),
        ("code=1", 2, "no semantic version"),
        ("tusks=1.0.0", 2, ""),
        ("f" * 40, 4, ""),
        ("local/other@1.0.0", 4, ""),
        ("./nowhere", 2, "There is no folder"),
        ("", 2, ""),
    ],
)
def test_what_there_is_not_is_said(released, since, code, said):
    result = run_cli("changelog", REPO, "--since", since)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.startswith("error: ")
    assert said in result.stderr


def test_the_wrong_way_round_is_said(released):
    result = run_cli("changelog", f"{REPO}@1.0.0", "--since", "reward=2.0.0")
    assert result.exit_code == 4
    result = run_cli("changelog", f"{REPO}@1.0.0", "--since", "2.0.0")
    assert result.exit_code == 2
    assert "is older than 1.0.1" in result.stderr


def test_old_forms_and_a_component_of_a_reference(released, tmp_path):
    root, _ = released
    everything = run_cli("changelog", "--path", root).stdout
    assert run_cli("changelog", root).stdout == everything
    assert run_cli("changelog", REPO).stdout == everything
    assert run_cli("changelog", cwd=root).stdout == everything
    reward = run_cli("changelog", "reward", "--path", root).stdout
    assert "Halve" in reward
    assert "Say what" not in reward
    assert run_cli("changelog", root, "reward").stdout == reward
    assert run_cli("changelog", root, "--path", root).exit_code == 2
    assert run_cli("changelog", root, "prize").exit_code == 2
    assert run_cli("changelog", tmp_path / "nowhere").exit_code == 2


def test_a_hostile_changelog_moves_no_cursor(released):
    root, _ = released
    (root / "changelog/code.md").write_text("## [1.0.1]\n- \x1b[2J\u202eoops\r\tx\n", encoding="utf-8")
    assert run_cli("push", REPO, root).exit_code == 0
    for args in ((), ("--since", "1.0.0")):
        shown = run_cli("changelog", f"{REPO}@main", *args).stdout
        assert "\\x1b[2J\\u202eoops\\r" in shown
        assert not {"\x1b", "\u202e", "\r", "\t"} & set(shown)
    (root / "changelog/code.md").write_bytes(b"## [1.0.1]\n\xff\n")
    assert run_cli("changelog", root).exit_code == 3


def test_revisions_without_a_record_or_changelogs(home, released):
    root, _ = released
    with connect("local") as hub:
        hub.api.create_repo("local/empty", repo_type="dataset")
        head = hub.api.repo_info("local/empty", repo_type="dataset").sha
    assert run_cli("changelog", "local/empty@main").stdout.count("no changelog yet") == 3
    result = run_cli("changelog", "local/empty@main", "--since", "1.0.0")
    assert (result.exit_code, "Nothing is released yet." in result.stderr) == (4, True)
    result = run_cli("changelog", root, "--since", f"local/empty@{head}")
    assert (result.exit_code, "no release record" in result.stderr) == (4, True)
