"""`--against`: a revision on a hub or a folder in the place of the last release, for status, validate and bump."""

from __future__ import annotations

import shutil

import pytest

from hfenv.components.changelog import entries
from hfenv.hub.client import connect
from tests.support import release, replace_in, run_cli, write_environment

REPO = "local/adding"


@pytest.fixture
def two_releases(pushed):
    """A folder whose second release, on the hub, has another reward."""
    root, _ = pushed
    replace_in(root / "reward/reward.py", "-1.0, {", "-0.5, {")
    run_cli("bump", "reward", "-m", "Milder", "--path", root)
    assert run_cli("push", REPO, root).exit_code == 0
    return root


def reward(root, *options):
    result = run_cli("status", root, "--format", "json", *options)
    return result.json["components"]["reward"] if result.exit_code == 0 else result


def test_status_without_it_sees_the_last_release_alone(two_releases):
    assert reward(two_releases)["level"] == "none"


MIXED = f"{REPO}@code=1.0.0,tasks=1.0.0,reward=1.0.0"


@pytest.mark.parametrize("ref", ["1.0.0", f"{REPO}@1.0.0", MIXED])
def test_an_older_release(two_releases, ref):
    found = reward(two_releases, "--against", ref)
    assert (found["released"], found["declared"], found["level"]) == ("1.0.0", "2.0.0", "major")
    assert found["satisfied"] is True
    assert [change["kind"] for change in found["changes"]] == ["reward-number"]


def test_of_a_release_card_and_record_are_enough(two_releases, home):
    shutil.rmtree(home / "cache")
    assert reward(two_releases, "--against", "1.0.0")["level"] == "major"
    fetched = {path.name for path in (home / "cache").rglob("*") if path.is_file()}
    assert {"README.md", "release.json"} <= fetched
    assert not fetched & {"reward.py", "environment.py", "train.jsonl"}


def test_a_commit_that_was_edited_on_the_hub_is_compared_as_it_stands(two_releases):
    with connect("local") as hub:
        text = (two_releases / "reward/reward.py").read_text(encoding="utf-8").replace("-0.5, {", "-0.7, {")
        hub.api.upload_file(
            path_or_fileobj=text.encode(), path_in_repo="reward/reward.py", repo_id=REPO, repo_type="dataset"
        )
    assert reward(two_releases)["level"] == "none"
    assert [change["kind"] for change in reward(two_releases, "--against", f"{REPO}@main")["changes"]] == [
        "reward-number"
    ]


def test_validate_and_bump_hold_versions_to_it(two_releases, tmp_path):
    replace_in(two_releases / "README.md", 'reward: {version: "2.0.0"', 'reward: {version: "1.1.0"')
    replace_in(two_releases / "changelog/reward.md", "[2.0.0]", "[1.1.0]")
    result = run_cli("validate", two_releases, "--against", "1.0.0", "--format", "json")
    assert [f["rule"] for f in result.json["findings"]] == ["HFE505"]
    done = run_cli(
        "bump", "reward", "auto", "-m", "x", "--path", two_releases, "--against", "1.0.0", "--format", "json"
    )
    assert done.json["bumps"][0]["version"] == "2.0.0"


def test_a_bump_against_an_older_release_leaves_the_entry_of_a_newer_one(two_releases):
    words = ("reward", "3.0.0", "-m", "More", "--path", two_releases, "--against", "1.0.0")
    assert run_cli("bump", *words).exit_code == 0
    found = entries((two_releases / "changelog/reward.md").read_text(encoding="utf-8"))
    assert [(entry.version, entry.release) for entry in found] == [
        ("3.0.0", None),
        ("2.0.0", "2.0.0"),
        ("1.0.0", "1.0.0"),
    ]
    assert ("Milder" in found[0].body, "Milder" in found[1].body) == (False, True)


def test_a_folder_whether_released_or_not(tmp_path):
    root = release(write_environment(tmp_path / "now"))
    other = write_environment(tmp_path / "other")
    assert reward(root, "--against", other)["level"] == "none"
    replace_in(other / "reward/reward.py", "-1.0, {", "-0.25, {")
    assert reward(root, "--against", other)["level"] == "major"
    assert reward(other, "--against", root)["level"] == "major"


@pytest.mark.parametrize(
    ("ref", "code", "says"),
    [
        ("9.9.9", 4, "has no release 9.9.9"),
        ("0" * 40, 4, ""),
        ("local/nothing@1.0.0", 4, "local/nothing"),
        ("not a reference", 4, "has no revision 'not a reference'"),
        ("no/such/folder", 2, ""),
    ],
)
def test_what_is_not_there(two_releases, ref, code, says):
    for command in (("status", two_releases), ("validate", two_releases), ("bump", "--path", two_releases)):
        result = run_cli(*command, "--against", ref)
        assert (result.exit_code, says in result.stderr) == (code, True), result.stderr


def test_a_version_alone_needs_a_repository(tmp_path):
    result = run_cli("status", release(write_environment(tmp_path / "now")), "--against", "1.0.0")
    assert (result.exit_code, "names no repository" in result.stderr) == (2, True)
