"""Reviews: discussions in a form that reads back, one per author and release, and hostile ones that are none."""

from __future__ import annotations

import json

import pytest

from hfenv.components.reviews import Review, read_title, title_of
from hfenv.hub.client import connect
from hfenv.hub.registry.reviews import talk, texts
from tests.support import run_cli

REPO = "local/adding"


def test_titles_read_back():
    assert read_title(title_of(4, "1.2.0-rc.1")) == (4, "1.2.0-rc.1")


HOSTILE = ["[hfenv review] 9/5 for 1.0.0", "[hfenv review] 5/5 for x", "[hfenv review] 5/5 for 1.0.0 \x1b[31m", "",
           "x [hfenv review] 5/5 for 1.0.0", "[hfenv review] 5/5 for " + "1" * 5000, "[hfenv review] ５/5 for 1.0.0",
           "[hfenv review] 5/5 for 1.0.0+b", None, 3]  # fmt: skip


@pytest.mark.parametrize("title", HOSTILE)
def test_what_only_looks_like_one_is_none(title):
    assert read_title(title) is None


def opened(title: str, text: str = "x", *, pull: bool = False):
    with connect("local") as hub:
        return hub.api.create_discussion(REPO, title=title, description=text, repo_type="dataset", pull_request=pull)


def test_a_review_is_a_discussion_that_info_counts(pushed):
    _, revision = pushed
    first = run_cli("review", REPO, "--rating", 2, "-m", "Too easy.", "--format", "json")
    assert first.exit_code == 0, first.stderr
    with connect("local") as hub:
        made = hub.api.get_discussion_details(REPO, first.json["number"], repo_type="dataset")
    comment, _, rest = made.events[0].content.partition("-->")
    data = json.loads(comment.removeprefix("<!-- hfenv-review "))
    assert data == {"format": 1, "rating": 2, "release": "1.0.0", "revision": revision,
                    "code": "1.0.0", "tasks": "1.0.0", "reward": "1.0.0"}  # fmt: skip
    assert rest.strip().endswith("Too easy.")
    # Again by the same author: the newest counts.
    assert run_cli("review", f"{REPO}@1.0.0", "--rating", 4, "-m", "Better.").exit_code == 0
    for title in (*[t for t in HOSTILE[:3] if t], "[hfenv review] 1/5 for 7.0.0", "Hello"):
        opened(title[:200])
    found = run_cli("info", REPO, "--format", "json").json
    assert (found["reviews"]["count"], found["reviews"]["mean"]) == (1, 4.0)
    assert found["open_discussions"] == 7
    assert "1, mean 4.0 of 5; newest 4/5 for 1.0.0" in run_cli("info", REPO).stdout
    (one,) = run_cli("review", REPO, "--format", "json").json["reviews"]
    assert (one["rating"], one["release"], one["text"]) == (4, "1.0.0", "Better.")


@pytest.mark.usefixtures("pushed")
def test_reviews_are_printed_with_what_they_say(monkeypatch):
    text = "Clear tasks.\n\n::warning::The last grade \x1b[31mis too easy."
    assert run_cli("review", REPO, "--rating", 4, "-m", text).exit_code == 0
    opened(title_of(1, "1.0.0"), "Written by hand,\n\nwithout data.")
    shown = run_cli("review", REPO).stdout
    assert "1 reviews, mean 1.0 of 5\n\n1/5 for 1.0.0 by local on " in shown  # the same author's newer one
    assert "    Written by hand,\n\n    without data.\n" in shown
    newest = "hfenv.hub.registry.reviews.reviews_among"
    made = [Review(2, "a", 1, "1.0.0", "2026-01-02"), Review(1, "b", 4, "1.0.0", "2026-01-01")]
    monkeypatch.setattr(newest, lambda *_: iter(made))
    with connect("local") as hub:
        assert texts(hub, REPO, made[1:]) == {1: text}
    shown = run_cli("review", REPO).stdout
    assert "Clear tasks.\n\n    \\x3a:warning::The last grade" in shown
    assert "\x1b" not in shown
    one = run_cli("review", REPO, "--limit", 1)
    assert "1 more; --limit shows them." in one.stdout
    assert "Clear tasks" not in one.stdout
    assert run_cli("review", REPO, "--limit", 1, "--format", "json").json["count"] == 2


def test_what_is_no_review_is_refused(pushed):
    with connect("local") as hub:
        for arguments, code in (
            ((REPO, "--rating", 0, "-m", "x"), 2),
            ((REPO, "--rating", 3), 2),
            ((REPO, "--rating", 3, "-m", " "), 2),
            ((f"{REPO}@9.0.0", "--rating", 3, "-m", "x"), 4),
            (("local/none", "--rating", 3, "-m", "x"), 4),
        ):
            assert run_cli("review", *arguments).exit_code == code, arguments
        assert talk(hub, REPO, ["1.0.0"]).reviews == ()
