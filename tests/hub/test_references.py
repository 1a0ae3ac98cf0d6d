"""References: every form that a user may write, and what is refused before anything is asked of a hub."""

from __future__ import annotations

import pytest

from hfenv.components.ownership import Component
from hfenv.errors import UsageError
from hfenv.hub.references import (
    Commit,
    HubReference,
    LocalReference,
    Mixed,
    Named,
    Newest,
    Release,
    parse_reference,
)
from tests.support import write_environment

SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("text", "selector"),
    [
        ("org/name", Newest()),
        ("hf://datasets/org/name", Newest()),
        ("org/name@1.4.0", Release("1.4.0")),
        ("org/name@^1.2", Release("^1.2")),
        ("org/name@~1", Release("~1")),
        (f"org/name@{SHA}", Commit(SHA)),
        (f"hf://datasets/org/name@{SHA}", Commit(SHA)),
        ("org/name@main", Named("main")),
        ("org/name@v1.4.0", Named("v1.4.0")),
        ("org/name@feature/x", Named("feature/x")),
        ("org/name@refs/pr/1", Named("refs/pr/1")),
        ("org/name@reward=1.0.1", Mixed({Component.REWARD: "1.0.1"})),
        (f"org/name@code=1.2.0,tasks={SHA}", Mixed({Component.CODE: "1.2.0", Component.TASKS: SHA})),
    ],
)
def test_forms(text, selector):
    assert parse_reference(text) == HubReference("org/name", selector, text)


def test_revision_is_a_separate_argument():
    assert parse_reference("org/name", SHA).selector == Commit(SHA)
    assert parse_reference("org/name", "main").selector == Named("main")
    assert parse_reference("org/name", "1.4.0").selector == Named("1.4.0")


@pytest.mark.parametrize(
    "text",
    [
        "org/name@", "org/na--me", "org/name.git", "org/../x@main", "a/b/c@main", "org/name@^x", "org/name@code=1",
        "org/name@code=1.0.0,code=1.0.0", "org/name@code=1.0.0,banana=1.0.0", f"org/name@{SHA.upper()}",
        "./nowhere", "nowhere", "org/" + "n" * 96, "org\\name",
    ],
)  # fmt: skip
def test_what_is_refused(text):
    with pytest.raises(UsageError):
        parse_reference(text)


def test_two_revisions_are_refused():
    with pytest.raises(UsageError):
        parse_reference("org/name@main", SHA)


def test_a_local_folder_wins_only_without_a_revision(tmp_path, monkeypatch):
    write_environment(tmp_path / "org" / "name")
    monkeypatch.chdir(tmp_path)
    assert isinstance(parse_reference("org/name"), LocalReference)
    assert isinstance(parse_reference("./org/name"), LocalReference)
    assert isinstance(parse_reference("org/name/README.md"), LocalReference)
    assert isinstance(parse_reference("org/name@main"), HubReference)
    assert isinstance(parse_reference("org/name", "main"), HubReference)
    with pytest.raises(UsageError):
        parse_reference("./org/name", "main")
