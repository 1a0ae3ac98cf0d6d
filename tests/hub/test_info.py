"""What is known of one environment, and of its releases: from the hub's own answers, in few requests."""

from __future__ import annotations

import json

import pytest

from hfenv.components.digest import joint_digest
from hfenv.components.ownership import Component
from hfenv.components.release import read_record
from hfenv.hub.client import connect
from hfenv.hub.references import parse_reference
from hfenv.hub.registry.info import info
from hfenv.hub.registry.releases import releases
from hfenv.localhub.names import RepoId, RepoType
from hfenv.localhub.storage import RepoRecord, Storage
from tests.support import replace_in, run_cli

REPO = "local/adding"


@pytest.fixture
def two(pushed):
    """Releases 1.0.0 and 1.0.1 of one environment; returns its folder and both commits."""
    root, first = pushed
    replace_in(root / "env" / "words.py", "How much is", "What is")
    assert run_cli("bump", "code", "patch", "-m", "Other words.", cwd=root).exit_code == 0
    result = run_cli("push", REPO, root, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return root, first, result.json["revision"]


def edited(root, text: str) -> None:
    """Push an edit of the card: lines in its block."""
    replace_in(root / "README.md", '  spec: "1"\n', f'  spec: "1"\n{text}\n')
    result = run_cli("push", REPO, root)
    assert result.exit_code == 0, result.stderr


def known(ref: str = REPO) -> dict:
    result = run_cli("info", ref, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return result.json


def test_what_is_known_of_a_release(two):
    root, first, second = two
    found = known()
    assert (found["release"], found["revision"], found["releases"]) == ("1.0.1", second, 2)
    assert found["versions"] == {"code": "1.0.1", "tasks": "1.0.0", "reward": "1.0.0"}
    assert found["rows"] == {"train": 12, "test": 4}
    assert found["licence"] == "apache-2.0"
    assert found["rating"] is None
    assert found["sizes"]["code"] == sum(path.stat().st_size for path in (root / "env").glob("*.py"))
    assert f'revision="{second}"' in found["load"]
    assert known(f"{REPO}@1.0.0")["revision"] == first


@pytest.mark.slow
def test_a_rating_is_fresh_until_the_release_holds_something_else(two):
    root, _, _ = two
    record = read_record(root)
    digest = joint_digest({c: record.components[c].exact for c in Component})
    edited(root, f'  audit: {{rating: A, score: 96, digests: "{digest}"}}')
    fresh = {"fresh": True, "known": True}
    assert known()["rating"] == {"grade": "A", "score": 96.0, "ruleset": None, "sandbox": None, **fresh}
    assert known(f"{REPO}@1.0.0")["rating"]["fresh"] is False
    assert "STALE" in run_cli("info", f"{REPO}@1.0.0").stdout
    assert "A (96 of 100), self-reported, fresh" in run_cli("info", REPO).stdout
    text = (root / "README.md").read_text(encoding="utf-8").replace(f', digests: "{digest}"', "")
    with connect("local") as hub:  # a card that hfenv would refuse, as other tools may push it
        hub.api.upload_file(path_or_fileobj=text.encode(), path_in_repo="README.md", repo_id=REPO, repo_type="dataset")
    assert "A (96 of 100), self-reported, and what was audited isn't known" in run_cli("info", REPO).stdout


@pytest.mark.slow
def test_marks_and_benchmarks_of_the_head_are_shown(two):
    root, _, _ = two
    edited(
        root,
        '  yanked: [{release: "1.0.0", reason: Wrong sign.}]\n'
        '  advisories: [{id: A-1, component: code, versions: "<2", summary: Slow.}]\n'
        '  aliases: {stable: "1.0.1"}\n'
        "  lifecycle: {status: deprecated, successor: o/next}\n"
        '  benchmarks: [{policy: oracle, split: test, metric: mean_return, value: 0.5, release: "1.0.0"}]',
    )
    result = run_cli("info", REPO)
    assert result.exit_code == 0
    assert "warning: local/adding is deprecated. Its successor is o/next." in result.stderr
    assert "advisory A-1 on code <2: Slow." in result.stderr
    assert "oracle on test: mean_return 0.5 (release 1.0.0)" in result.stdout
    assert "stable = 1.0.1" in result.stdout
    rows = {row["release"]: row for row in run_cli("versions", REPO, "--format", "json").json["releases"]}
    assert rows["1.0.0"]["yanked"]["reason"] == "Wrong sign."
    assert rows["1.0.1"]["aliases"] == ["stable"]
    assert [advisory["id"] for advisory in rows["1.0.0"]["advisories"]] == ["A-1"]


def test_releases_with_dates_versions_and_what_they_changed(two):
    _, first, second = two
    result = run_cli("versions", REPO, "--format", "json")
    newest, oldest = result.json["releases"]
    assert (newest["release"], newest["revision"]) == ("1.0.1", second)
    assert newest["versions"] == {"code": "1.0.1", "tasks": "1.0.0", "reward": "1.0.0"}
    assert newest["moved"] == [{"component": "code", "version": "1.0.1", "line": "Other words."}]
    assert (oldest["release"], oldest["revision"]) == ("1.0.0", first)
    assert [moved["line"] for moved in oldest["moved"]] == ["First version."] * 3
    assert newest["date"] >= oldest["date"] >= "2026-01-01"
    text = run_cli("versions", REPO).stdout
    assert f"1.0.1  {newest['date']}  {second[:12]}  code 1.0.1, tasks 1.0.0, reward 1.0.0" in text
    assert "code: Other words." in text


def test_both_ask_little_and_less_the_second_time(two, home):
    import shutil

    reference = parse_reference(f"hf://datasets/{REPO}")
    counts = []
    for cold in (True, False):
        if cold:
            shutil.rmtree(home / "cache", ignore_errors=True)
        with connect("local") as hub:
            info(hub, reference)
            counts.append(hub.requests)
    with connect("local") as hub:
        releases(hub, REPO)
        counts.append(hub.requests)
        releases(hub, REPO)
        counts.append(hub.requests - counts[-1])
    assert counts[0] <= 9
    assert counts[1] <= 4
    assert counts[2] <= 8
    assert counts[3] <= 2


@pytest.mark.slow
def test_releases_that_the_newest_record_doesnt_know_are_asked_for(pushed):
    _, first = pushed
    with connect("local") as hub:
        hub.api.create_tag(REPO, tag="v0.9.0", revision=first, repo_type="dataset")
        rows = {row.release: row for row in releases(hub, REPO).rows}
    assert rows["1.0.0"].versions is not None
    assert rows["0.9.0"].versions is None


def test_a_head_without_a_release_is_shown_as_that(home):
    card = {"tags": ["hfenv"], "environment": {"summary": "Not yet."}}
    repo = RepoId(RepoType.DATASET, "ann", "draft")
    Storage(home / "hub").create(repo, RepoRecord(), {"README.md": f"---\n{json.dumps(card)}\n---\n".encode()}, "x")
    found = known("ann/draft")
    assert (found["release"], found["summary"], found["releases"]) == (None, "Not yet.", 0)
    assert run_cli("versions", "ann/draft").exit_code == 4
    assert run_cli("info", "ann/none").exit_code == 4


@pytest.mark.parametrize("junk", [None, True, -1, "\x1b[31m\u202e", "x" * 5000, [], {}, [[[]]], {"a": {"b": [1]}}])
def test_cards_of_any_form_break_nothing(home, junk):
    names = ("summary", "action", "observation", "tasks", "audit", "benchmarks", "requires", "frameworks", "sandbox")
    names += ("yanked", "advisories", "aliases", "lifecycle", "name", "release")
    for number, block in enumerate((dict.fromkeys(names, junk), junk)):
        card = {"tags": junk, "license": junk, "environment": block, "self": junk, "ignore_metadata_errors": junk}
        repo = RepoId(RepoType.DATASET, "ann", f"odd-{number}")
        content = f"---\n{json.dumps(card)}\n---\n".encode()
        Storage(home / "hub").create(repo, RepoRecord(), {"README.md": content}, "x")
        result = run_cli("info", f"ann/odd-{number}")
        assert result.exit_code == 0, result.stderr
        assert "\x1b" not in result.stdout + result.stderr
        assert "\u202e" not in result.stdout + result.stderr


@pytest.mark.slow
def test_a_folder_is_no_repository(pushed):
    root, _ = pushed
    assert run_cli("info", root).exit_code == 2
