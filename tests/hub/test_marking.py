"""Yanks, advisories and aliases: edits of the remote card that move no version, and what loads make of them."""

from __future__ import annotations

from pathlib import Path

import pytest

import hfenv
from hfenv.errors import ConflictError, NotFoundError
from hfenv.hub.client import connect
from hfenv.hub.registry import edits
from hfenv.hub.registry.marking import yank
from tests.support import replace_in, run_cli

REPO = "local/adding"


@pytest.fixture
def two(pushed):
    """Releases 1.0.0 and 1.0.1 of one environment; returns its folder and the first release's commit."""
    root, first = pushed
    replace_in(root / "env" / "words.py", "How much is", "What is")
    assert run_cli("bump", "code", "patch", "-m", "Other words.", cwd=root).exit_code == 0
    assert run_cli("push", REPO, root).exit_code == 0
    return root, first


def ok(*arguments: object, **options: object):
    result = run_cli(*arguments, **options)
    assert result.exit_code == 0, result.stderr
    return result


def head_card() -> str:
    from huggingface_hub import hf_hub_download

    with connect("local") as hub:
        path = hf_hub_download(REPO, "README.md", repo_type="dataset", endpoint=hub.endpoint, force_download=True)
    return Path(path).read_text(encoding="utf-8")


def released(spec: str = "") -> str | None:
    env = hfenv.load(f"{REPO}{spec}", hub="local", trust_remote_code=True)
    env.close()
    return env.provenance["release"]


def test_a_yank_is_a_small_commit_that_ranges_heed_and_pins_are_told_of(two, caplog):
    before = head_card()
    result = ok("yank", f"{REPO}@1.0.1", "-m", "Wrong sign.", "--format", "json").json
    assert (result["changed"], result["newest"]) == (True, "1.0.0")
    after = head_card()
    added = [line for line in after.splitlines() if line not in before.splitlines()]
    assert 1 <= len(added) <= 2
    assert all(line in after.splitlines() for line in before.splitlines())
    with connect("local") as hub:
        files = {change.path for change in hub.api.list_repo_tree(REPO, repo_type="dataset", recursive=True)}
        refs = hub.api.list_repo_refs(REPO, repo_type="dataset")
    assert "release.json" in files
    assert len(refs.tags) == 6  # two releases, four component versions
    assert (released(), released("@^1")) == ("1.0.0", "1.0.0")
    assert not caplog.records
    assert released("@1.0.1") == "1.0.1"
    assert "local/adding@1.0.1 is yanked: Wrong sign." in caplog.text


def test_a_yank_is_taken_back_to_the_byte(two):
    before = head_card()
    ok("yank", f"{REPO}@1.0.0", "-m", "Oops.")
    again = ok("yank", f"{REPO}@1.0.0", "-m", "Oops.", "--format", "json").json
    assert again["changed"] is False
    ok("yank", f"{REPO}@1.0.1", "-m", "Oops.")
    refused = run_cli("pull", REPO)
    assert (refused.exit_code, "(yanked: 1.0.0, 1.0.1)" in refused.stderr) == (4, True)
    for version in ("1.0.1", "1.0.0"):
        ok("yank", f"{REPO}@{version}", "--undo")
    assert head_card() == before
    assert run_cli("yank", f"{REPO}@1.0.0", "--undo").exit_code == 4


REFUSED = [
    (("yank", f"{REPO}@9.0.0", "-m", "x"), 4),
    (("yank", f"{REPO}@^1", "-m", "x"), 2),
    (("yank", REPO, "-m", "x"), 2),
    (("yank", f"{REPO}@1.0.0"), 2),
    (("yank", f"{REPO}@1.0.0", "-m", "  "), 2),
    (("yank", "local/none@1.0.0", "-m", "x"), 4),
    (("advise", REPO, "-m", "x"), 2),
    (("advise", REPO, "-m", "x", "--versions", "soon"), 2),
    (("advise", REPO, "-m", "x", "--versions", "<2", "--fixed-in", "1.5.0"), 2),
    (("advise", REPO, "-m", "x", "--fixed-in", "1.0.0", "--severity", "bad"), 2),
    (("advise", REPO, "--withdraw", "A-1"), 4),
    (("alias", REPO, "stable", "9.0.0"), 4),
    (("alias", REPO, "main", "1.0.0"), 2),
    (("alias", REPO, "v1.0.0", "1.0.0"), 2),
    (("alias", REPO, "1.0.0", "1.0.0"), 2),
    (("alias", REPO, "deadbeef", "1.0.0"), 2),
    (("alias", REPO, "stable"), 2),
    (("alias", REPO, "--remove", "stable"), 4),
    (("alias", f"{REPO}@1.0.0", "stable", "1.0.0"), 2),
]


def test_what_is_wrong_is_refused_and_changes_nothing(pushed):
    _, revision = pushed
    for arguments, code in REFUSED:
        result = run_cli(*arguments)
        assert result.exit_code == code, (arguments, result.stderr)
        assert "error:" in result.stderr
    with connect("local") as hub:
        assert hub.api.repo_info(REPO, repo_type="dataset").sha == revision


@pytest.mark.slow
def test_an_advisory_reaches_who_loads_and_is_withdrawn(two, caplog):
    before = head_card()
    given = ("--component", "code", "--fixed-in", "1.0.1", "-m", "Leaks the answer.", "--severity", "high")
    first = ok("advise", REPO, *given, "--format", "json").json
    assert (first["id"], first["affected"]) == ("A-1", ["1.0.0"])
    assert ok("advise", REPO, *given, "--format", "json").json["changed"] is False
    assert released("@1.0.0") == "1.0.0"
    assert "advisory A-1 on code <1.0.1: Leaks the answer. (fixed in code 1.0.1)" in caplog.text
    caplog.clear()
    assert released() == "1.0.1"
    assert not caplog.records
    ok("advise", REPO, "--versions", "*", "-m", "Slow.", "--id", "SLOW")
    ok("advise", REPO, "--versions", "*", "-m", "Very slow.", "--id", "SLOW")
    assert head_card().count("SLOW") == 1
    ok("advise", REPO, "--withdraw", "SLOW")
    ok("advise", REPO, "--withdraw", "A-1")
    assert head_card() == before


def test_an_advisory_about_nothing_released_says_so(pushed):
    assert "No released version" in ok("advise", REPO, "--versions", ">7", "-m", "x").stderr


@pytest.mark.slow
def test_an_alias_moves_and_goes(two):
    before = head_card()
    ok("alias", REPO, "stable", "1.0.0")
    assert released("@stable") == "1.0.0"
    ok("alias", REPO, "latest", "1.0.1")
    ok("alias", REPO, "stable", "1.0.1")
    assert released("@stable") == "1.0.1"
    assert ok("alias", REPO, "--format", "json").json["aliases"] == {"stable": "1.0.1", "latest": "1.0.1"}
    assert "local/adding@stable is this release" in ok("yank", f"{REPO}@1.0.1", "-m", "x").stderr
    with pytest.raises(NotFoundError, match="yanked"):
        released("@stable")
    assert run_cli("alias", REPO, "old", "1.0.1").exit_code == 2
    ok("yank", f"{REPO}@1.0.1", "--undo")
    ok("alias", REPO, "--remove", "stable")
    ok("alias", REPO, "--remove", "latest")
    assert head_card() == before


@pytest.mark.slow
def test_the_environments_own_folder_is_told_how_to_follow(pushed, tmp_path):
    root, _ = pushed
    assert "hfenv pull --update" in ok("yank", f"{REPO}@1.0.0", "-m", "x", cwd=root).stderr
    assert "pull --update" not in ok("yank", f"{REPO}@1.0.0", "--undo", cwd=tmp_path).stderr


def test_loads_are_told_without_a_request(two, caplog):
    ok("yank", f"{REPO}@1.0.0", "-m", "Wrong sign.")
    _, first = two
    released()  # the head's card is here now
    with connect("local") as hub:
        from hfenv.specify import Origin, specify

        specify(f"{REPO}@{first}", origin=Origin(opened=hub, trust_remote_code=True))
        before = hub.requests
        specify(f"{REPO}@{first}", origin=Origin(opened=hub, trust_remote_code=True))
        assert hub.requests == before
        specify(f"{REPO}@1.0.0", origin=Origin(opened=hub, trust_remote_code=True))
        assert hub.requests == before + 1
    assert [record.message for record in caplog.records] == ["local/adding@1.0.0 is yanked: Wrong sign."] * 3


@pytest.mark.slow
def test_a_pull_is_told_too(two, tmp_path):
    ok("yank", f"{REPO}@1.0.0", "-m", "Wrong sign.")
    pulled = ok("pull", f"{REPO}@^1.0", "--to", tmp_path / "new", "--format", "json")
    assert pulled.json["notices"] == []
    pulled = ok("pull", f"{REPO}@1.0.0", "--to", tmp_path / "old")
    assert "warning: local/adding@1.0.0 is yanked: Wrong sign." in pulled.stderr


def moving(monkeypatch, other):
    """Lets `other` edit the repository between the look at the head and the commit, each time it gives one."""
    commit = edits._commit

    def late(hub, repo, content, message, parent):
        if (change := next(other, None)) is not None:
            change(hub)
        return commit(hub, repo, content, message, parent)

    monkeypatch.setattr(edits, "_commit", late)


def touch(hub):
    hub.api.upload_file(path_or_fileobj=b"x", path_in_repo="NOTES.md", repo_id=REPO, repo_type="dataset")


def test_an_edit_that_still_applies_is_made_on_the_new_head(pushed, monkeypatch):
    moving(monkeypatch, iter([touch]))
    with connect("local") as hub:
        edited = yank(hub, REPO, "1.0.0", "Wrong.", "2026-01-31")
        assert edited.changed
        assert "NOTES.md" in {file.path for file in hub.api.list_repo_tree(REPO, repo_type="dataset")}
    assert "Wrong." in head_card()


@pytest.mark.slow
def test_a_head_that_keeps_moving_ends_in_a_conflict(pushed, monkeypatch):
    count = iter(range(100))

    def other(hub):
        hub.api.upload_file(
            path_or_fileobj=str(next(count)).encode(), path_in_repo="N.md", repo_id=REPO, repo_type="dataset"
        )

    moving(monkeypatch, iter([other] * 50))
    result = run_cli("yank", f"{REPO}@1.0.0", "-m", "Wrong.")
    assert result.exit_code == 5
    assert next(count) == edits.ATTEMPTS
    assert "yanked" not in head_card()


def test_the_same_mark_set_by_somebody_else_is_left_alone(pushed, monkeypatch):
    def other(hub):
        card = head_card().replace('spec: "1"\n', 'spec: "1"\n  yanked: [{release: "1.0.0", reason: Theirs.}]\n')
        hub.api.upload_file(path_or_fileobj=card.encode(), path_in_repo="README.md", repo_id=REPO, repo_type="dataset")

    moving(monkeypatch, iter([other]))
    with connect("local") as hub, pytest.raises(ConflictError, match="Somebody else"):
        yank(hub, REPO, "1.0.0", "Ours.", "2026-01-31")
    assert "Theirs." in head_card()


@pytest.mark.slow
def test_an_author_can_push_again_after_bringing_the_mark_over(pushed):
    root, _ = pushed
    ok("yank", f"{REPO}@1.0.0", "-m", "x")
    replace_in(root / "README.md", "Sums, for tests.", "Sums.")
    assert run_cli("push", REPO, root).exit_code == 5
