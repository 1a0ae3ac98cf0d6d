"""Pushes that go elsewhere than to main: a fix to an older line, and a pull request that releases nothing yet."""

from __future__ import annotations

import json
import shutil

import pytest

from hfenv.errors import ConflictError, NotFoundError, UsageError
from hfenv.hub.client import connect
from hfenv.hub.push import PushOptions, _Push, push
from hfenv.hub.pushing.remote import check_branch
from hfenv.hub.references import parse_reference
from hfenv.hub.resolve import resolve
from tests.hub.test_push import REPO, commits, git
from tests.hub.wire import refused, unanswered, watched
from tests.support import replace_in, run_cli, write_environment

LINE = "fix/1.0"


def pushed_from(root, repo=REPO, **options):
    with connect("local") as hub:
        return push(hub, root, repo, PushOptions(**options))


def raised(root, before, now, words="ASK"):
    """The next version of the code, with a change that it is for."""
    replace_in(root / "README.md", f'code: {{version: "{before}"', f'code: {{version: "{now}"')
    entry = f"## [{now}] - 2026-01-01\n\n### Fixed\n\n- Words.\n"
    replace_in(root / "changelog/code.md", "# Changelog\n", f"# Changelog\n\n{entry}")
    path = root / "env/words.py"
    path.write_text(f"{path.read_text(encoding='utf-8')}# {words} {now}\n", encoding="utf-8")


def tag(home, name):
    return git(home, "rev-parse", name)


def state(root):
    return json.loads((root / ".hfenv/state.json").read_bytes())["base"]


@pytest.fixture
def lines(pushed, tmp_path):
    """Two folders: one at 1.1.0, which is main's head, and an older one at 1.0.0."""
    adding, _ = pushed
    older = tmp_path / "older"
    shutil.copytree(adding, older)
    raised(adding, "1.0.0", "1.1.0")
    pushed_from(adding)
    return adding, older


def test_a_fix_goes_to_a_branch_that_begins_where_the_folder_does(home, lines):
    newer, older = lines
    head, base = commits(home)[:2]
    raised(older, "1.0.0", "1.0.1")
    result = pushed_from(older, branch=LINE)
    assert (result.release, result.tags, result.branch) == ("1.0.1", ("v1.0.1", "code-v1.0.1"), LINE)
    assert git(home, "rev-parse", LINE) == tag(home, "v1.0.1") == tag(home, "code-v1.0.1") == result.revision
    assert git(home, "rev-parse", f"{LINE}^") == base
    assert commits(home)[0] == head
    assert state(older) == result.revision
    assert json.loads((older / "release.json").read_bytes())["release"] == "1.0.1"
    # A fix isn't newer than what is newer.
    with connect("local") as hub:
        assert resolve(hub, parse_reference(REPO)).release == "1.1.0"
        assert resolve(hub, parse_reference(f"{REPO}@~1.0.0")).release == "1.0.1"
    # What is new in 1.1.0 is what it was made with, not what differs from the fix below it.
    rows = {row["release"]: row for row in run_cli("versions", REPO, "--format", "json").json["releases"]}
    assert [moved["component"] for moved in rows["1.1.0"]["moved"]] == ["code"]
    # Neither line stands in the way of the other.
    raised(older, "1.0.1", "1.0.2")
    assert pushed_from(older, branch=LINE).tags == ("v1.0.2", "code-v1.0.2")
    raised(newer, "1.1.0", "1.1.1")
    assert pushed_from(newer).tags == ("v1.1.1", "code-v1.1.1")
    assert not pushed_from(older, branch=LINE).created


def test_a_version_that_any_line_gave_out_is_taken(home, lines):
    _, older = lines
    raised(older, "1.0.0", "1.0.1")
    pushed_from(older, branch=LINE)
    fresh = older.parent / "fresh"
    assert run_cli("pull", f"{REPO}@1.0.0", "--to", fresh).exit_code == 0
    raised(fresh, "1.0.0", "1.0.1", words="other")
    with pytest.raises(ConflictError) as told:
        pushed_from(fresh, branch="fix/other")
    assert "code 1.0.1 was released" in told.value.message
    assert "hfenv bump code 1.0.2" in told.value.hint
    assert "fix/other" not in git(home, "branch", "--format=%(refname:short)").splitlines()


def test_a_folder_of_another_line_is_told_which_one(lines):
    _, older = lines
    raised(older, "1.0.0", "1.0.1")
    pushed_from(older, branch=LINE)
    (older / "notes.md").write_text("x\n")
    told = run_cli("push", REPO, older)
    assert told.exit_code == 5
    assert f"hfenv push --branch {LINE}" in told.stderr


def test_a_line_that_moved_is_not_overwritten(home, lines, tmp_path):
    _, older = lines
    raised(older, "1.0.0", "1.0.1")
    pushed_from(older, branch=LINE)
    other = tmp_path / "other"
    shutil.copytree(older, other)
    (other / "theirs.md").write_text("x\n")
    pushed_from(other, branch=LINE)
    (older / "ours.md").write_text("x\n")
    with pytest.raises(ConflictError, match=r"local/adding \(fix/1\.0\) moved .* theirs\.md added"):
        pushed_from(older, branch=LINE)


@pytest.mark.parametrize("step", ["commit", "compare"])
def test_a_push_to_a_branch_that_was_interrupted_goes_on(home, lines, monkeypatch, step):
    _, older = lines
    raised(older, "1.0.0", "1.0.1")

    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_Push, step, stop)
        with pytest.raises(KeyboardInterrupt):
            pushed_from(older, branch=LINE)
    result = pushed_from(older, branch=LINE)
    assert git(home, "log", "--format=%H", LINE).splitlines()[0] == tag(home, "v1.0.1") == result.revision
    assert len(git(home, "log", "--format=%H", LINE).splitlines()) == 3
    assert state(older) == result.revision


@pytest.mark.parametrize(
    "name", ["", "v1.0.0", "code-v2.0.0", "refs/pr/1", "a..b", "a b", "-x", "x.lock", "HEAD", "a" * 40, "x\n", "../x"]
)
def test_names_that_no_branch_can_have(name):
    with pytest.raises(UsageError):
        check_branch(name)


def test_a_branch_needs_a_beginning(home, pushed, tmp_path):
    with pytest.raises(NotFoundError):
        pushed_from(pushed[0], "local/new", branch=LINE)
    stranger = write_environment(tmp_path / "stranger")
    with pytest.raises(ConflictError, match="--base HASH"):
        pushed_from(stranger, branch=LINE)
    assert git(home, "branch", "--format=%(refname:short)") == "main"


def test_a_dry_run_makes_no_branch(home, lines):
    _, older = lines
    raised(older, "1.0.0", "1.0.1")
    result = pushed_from(older, branch=LINE, dry_run=True)
    assert result.tags == ("v1.0.1", "code-v1.0.1")
    assert git(home, "branch", "--format=%(refname:short)") == "main"


# Pull requests


def test_a_pull_request_releases_nothing_and_leaves_the_folder_as_it_is(home, pushed):
    root, base = pushed
    raised(root, "1.0.0", "1.0.1")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    result = run_cli("push", REPO, root, "--create-pr", "--format", "json").json
    assert result["pull_request"].endswith(f"/datasets/{REPO}/discussions/1")
    assert (result["branch"], result["tags"], result["created"]) == ("refs/pr/1", [], True)
    assert git(home, "rev-parse", "refs/pr/1") == result["revision"]
    assert git(home, "rev-parse", "refs/pr/1^") == base == commits(home)[0]
    assert len(git(home, "tag").splitlines()) == 4
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_the_same_content_is_one_pull_request_however_often_it_is_pushed(home, pushed):
    root, _ = pushed
    raised(root, "1.0.0", "1.0.1")
    first = pushed_from(root, create_pr=True)
    again = pushed_from(root, create_pr=True)
    assert (again.pull_request, again.revision, again.created) == (first.pull_request, first.revision, False)
    replace_in(root / "README.md", "It is tiny.", "It is small.")
    other = pushed_from(root, create_pr=True)
    assert other.pull_request != first.pull_request
    assert len(git(home, "for-each-ref", "refs/pr").splitlines()) == 2


def test_one_whose_answer_got_lost_is_found(home, pushed):
    root, _ = pushed
    raised(root, "1.0.0", "1.0.1")
    with watched() as wire:
        wire.fault("POST", "/commit/", unanswered)
        result = pushed_from(root, create_pr=True)
        assert wire.count("POST", "/commit/") == 1
    assert result.created
    assert result.revision == git(home, "rev-parse", "refs/pr/1")
    with watched() as wire:
        wire.fault("POST", "/commit/", refused(503), times=9)
        replace_in(root / "README.md", "It is tiny.", "It is small.")
        assert run_cli("push", REPO, root, "--create-pr").exit_code == 6
        assert wire.count("POST", "/commit/") == 1


def merge(number):
    with connect("local") as hub:
        hub.api.merge_pull_request(REPO, number, repo_type="dataset")


def test_one_that_was_closed_is_none_any_more(home, pushed):
    root, _ = pushed
    raised(root, "1.0.0", "1.0.1")
    first = pushed_from(root, create_pr=True)
    with connect("local") as hub:
        hub.api.change_discussion_status(REPO, 1, "closed", repo_type="dataset")
    again = pushed_from(root, create_pr=True)
    assert again.created
    assert again.pull_request != first.pull_request


@pytest.mark.parametrize(
    ("way", "edit"),
    [("merge", False), ("fast-forward", True)],
    ids=["the same folder", "somebody's next release"],
)
def test_after_the_merge_the_next_push_makes_the_tags(home, pushed, tmp_path, edit, way):
    root, _ = pushed
    raised(root, "1.0.0", "1.0.1")
    offered = pushed_from(root, create_pr=True)
    if way == "merge":
        merge(1)
    else:
        git(home, "update-ref", "refs/heads/main", "refs/pr/1")
    if edit:
        root = tmp_path / "maintainer"
        assert run_cli("pull", f"{REPO}@main", "--to", root).exit_code == 0
        raised(root, "1.0.1", "1.0.2")
    result = pushed_from(root)
    assert result.tags == (("v1.0.1", "code-v1.0.1", "v1.0.2", "code-v1.0.2") if edit else ("v1.0.1", "code-v1.0.1"))
    # A merge may be a commit of its own: the tags stand at the first one of the branch that has the release.
    merged = commits(home)[1 if edit else 0]
    assert tag(home, "v1.0.1") == tag(home, "code-v1.0.1") == merged
    assert (merged == offered.revision) is (way == "fast-forward")
    assert state(root) == result.revision == commits(home)[0]
    assert result.created is edit
    assert json.loads((root / "release.json").read_bytes())["release"] == result.release


def test_a_pull_request_needs_a_repository_and_something_to_offer(home, pushed, adding):
    root, revision = pushed
    assert pushed_from(root, create_pr=True).pull_request is None
    assert pushed_from(root, create_pr=True).revision == revision
    with pytest.raises(NotFoundError):
        pushed_from(root, "local/new", create_pr=True)


def test_one_against_a_remote_that_moved_is_refused_like_a_push(home, pushed, tmp_path):
    root, _ = pushed
    other = tmp_path / "other"
    shutil.copytree(root, other)
    (other / "theirs.md").write_text("x\n")
    pushed_from(other)
    (root / "ours.md").write_text("x\n")
    with pytest.raises(ConflictError, match=r"theirs\.md added"):
        pushed_from(root, create_pr=True)
