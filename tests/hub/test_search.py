"""Searching the hub's own list: what is filtered where, in which order it comes, and cards that hold anything."""

from __future__ import annotations

import json

import pytest

from hfenv.errors import UsageError
from hfenv.hub.client import connect
from hfenv.hub.registry.search import Query, Sort, search
from hfenv.localhub.names import RepoId, RepoType
from hfenv.localhub.storage import RepoRecord, Storage
from tests.support import run_cli

BLOCK = {"spec": "1", "summary": "Adds numbers.", "action": {"type": "text"}}


@pytest.fixture
def shelf(home):
    """Puts an environment with a card of one's own on the embedded hub."""
    storage = Storage(home / "hub")

    def put(name: str, block: object, *, private: bool = False, **front: object) -> None:
        card = {"tags": ["hfenv"], "license": "mit", "environment": block, **front}
        text = f"---\n{json.dumps(card)}\n---\n"
        namespace, _, short = name.partition("/")
        repo = RepoId(RepoType.DATASET, namespace, short)
        storage.create(repo, RepoRecord(private=private), {"README.md": text.encode()}, "x")

    return put


@pytest.fixture
def stocked(shelf):
    audit = {"rating": "A", "score": 96}
    shelf("ann/sums", {**BLOCK, "audit": audit, "tasks": {"difficulty": {"easy": 4, "hard": 2}}})
    shelf("ann/sql", {**BLOCK, "action": {"type": "sql"}, "summary": "Queries.", "audit": {"rating": "C", "score": 99}})
    shelf("bob/tools", {**BLOCK, "action": {"type": "tool_calls"}, "frameworks": ["verifiers"]}, license="apache-2.0")
    shelf("bob/other", {**BLOCK, "audit": {"rating": "A", "score": 91}}, tags=["hfenv", "maths"])
    shelf("bob/untagged", BLOCK, tags=["maths"])
    shelf("bob/data", None)


def names(**wanted: object) -> list[str]:
    with connect("local") as hub:
        return [entry.repo for entry in search(hub, Query(**wanted)).entries]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, {"ann/sums", "ann/sql", "bob/tools", "bob/other"}),
        ({"text": "QUERIES"}, {"ann/sql"}),
        ({"text": "adds ann"}, {"ann/sums"}),
        ({"tags": ("maths",)}, {"bob/other"}),
        ({"framework": "Verifiers"}, {"bob/tools"}),
        ({"action": "tool-calls"}, {"bob/tools"}),
        ({"licence": "Apache-2.0"}, {"bob/tools"}),
        ({"min_rating": "B"}, {"ann/sums", "bob/other"}),
        ({"grade": "hard"}, {"ann/sums"}),
        ({"author": "ann", "action": "sql"}, {"ann/sql"}),
        ({"author": "nobody"}, set()),
    ],
)
def test_every_filter(stocked, wanted, found):
    assert set(names(**wanted)) == found


def test_the_best_rating_comes_first_and_none_last(stocked):
    assert names(sort=Sort.RATING) == ["ann/sums", "bob/other", "ann/sql", "bob/tools"]
    assert names(sort=Sort.RATING, limit=1) == ["ann/sums"]


def test_a_search_is_one_request(stocked):
    with connect("local") as hub:
        search(hub, Query("adds", grade="easy", sort=Sort.RATING))
        assert hub.requests == 1


def test_lists_of_several_pages_are_read_to_their_end(stocked, monkeypatch):
    monkeypatch.setattr("hfenv.hub.registry.search.PAGE", 2)
    with connect("local") as hub:
        assert search(hub, Query(sort=Sort.RATING)).looked_at == 4
        assert hub.requests == 3


def test_pages_end_with_the_last_result_that_is_wanted(stocked, monkeypatch):
    monkeypatch.setattr("hfenv.hub.registry.search.PAGE", 1)
    with connect("local") as hub:
        found = search(hub, Query(sort=Sort.DATE, limit=1))
        assert (len(found.entries), found.complete, hub.requests) == (1, False, 2)


JUNK = [
    None,
    True,
    -1,
    1e308,
    "",
    "\x1b[31m\u202e\nx",
    "x" * 5000,
    [],
    {},
    [[[]]],
    {"a": {"b": [1]}},
    [{"release": {}}],
]


def test_cards_of_any_form_break_nothing(shelf):
    for number, junk in enumerate(JUNK):
        keys = ("name", "summary", "action", "tasks", "audit", "frameworks", "lifecycle", "release")
        shelf(f"x/all-{number}", dict.fromkeys(keys, junk))
        nested = {"action": {"type": junk}, "tasks": {"difficulty": {"easy": junk}}, "audit": {"rating": junk}}
        shelf(f"x/in-{number}", {**nested, "lifecycle": {"status": junk}}, license=junk, self=1, pretty_name=junk)
        shelf(f"x/block-{number}", junk, ignore_metadata_errors=junk)
    for sort in Sort:
        result = run_cli("search", "--sort", sort.value, "--limit", 100)
        assert result.exit_code == 0, result.stderr
        assert "\x1b" not in result.stdout
        assert "\u202e" not in result.stdout
        assert max(map(len, result.stdout.splitlines())) < 400
    listed = run_cli("search", "--limit", 100, "--format", "json").json
    assert listed["looked_at"] >= 2 * len(JUNK)


def test_the_table_and_its_json(stocked):
    result = run_cli("search", "sums")
    assert result.exit_code == 0
    row = result.stdout.splitlines()[2]
    assert row.startswith("ann/sums")
    assert "easy 4, hard 2" in row
    assert "self-reported" in result.stdout
    listed = run_cli("search", "sums", "--format", "json").json
    (entry,) = listed["environments"]
    assert (entry["repo"], entry["rating"], entry["rating_is"]) == ("ann/sums", "A", "self-reported")
    assert run_cli("search", "sums", "--format", "quiet").stdout == "ann/sums\n"


def test_no_result_says_what_was_looked_for_and_how_to_find_more(stocked):
    result = run_cli("search", "adds", "--action", "sql", "--license", "mit")
    assert result.exit_code == 0
    assert "adds --license mit --action sql; 3 environments" in result.stdout
    assert "Without --action there would be 2." in result.stdout
    assert "Without TEXT there would be 1." in result.stdout


def test_private_environments_are_shown_to_who_may_read_them(shelf):
    shelf("ann/secret", BLOCK, private=True)
    assert names() == ["ann/secret"]


def test_what_is_no_rating_is_refused():
    with pytest.raises(UsageError, match="no rating"):
        Query(min_rating="Z")


@pytest.mark.slow
def test_a_moved_head_is_listed_as_it_is_now(pushed):
    root, _ = pushed
    assert run_cli("search", "--format", "json").json["environments"][0]["summary"] == "Add two small numbers."
    card = root / "README.md"
    card.write_text(card.read_text().replace("Add two small numbers.", "Add anything."))
    assert run_cli("push", "local/adding", root).exit_code == 0
    assert run_cli("search", "--format", "json").json["environments"][0]["summary"] == "Add anything."
