"""What a card says about releases: read leniently, applied to versions, and heeded where a reference is resolved."""

from __future__ import annotations

import pytest

from hfenv.card.manifest import LifecycleStatus
from hfenv.components.history import ReleasedVersions
from hfenv.components.marks import Marks, Yanked, marks_of
from hfenv.components.ownership import Component
from hfenv.components.ranges import within
from hfenv.errors import NotFoundError, UsageError
from hfenv.hub.client import connect
from hfenv.hub.references import parse_reference
from hfenv.hub.resolve import resolve
from tests.support import replace_in, run_cli

VERSIONS = ReleasedVersions("1.1.0", code="1.0.0", tasks="2.0.0", reward="1.1.0-rc.1")


@pytest.mark.parametrize(
    ("version", "spec", "inside"),
    [
        ("1.1.9", "<1.2.0", True),
        ("1.2.0", "<1.2.0", False),
        ("1.2.0-rc.1", "<1.2.0", True),
        ("1.2.0", "<= 1.2", True),
        ("1.1.0", ">=1.0.0,<1.2.0", True),
        ("0.9.0", ">=1.0.0 <1.2.0", False),
        ("2.0.0", "<1 || =2.0.0", True),
        ("1.2.5-rc.2", "^1.2", True),
        ("2.0.0", "~1.2", False),
        ("0.0.1-rc.1", "*", True),
        ("1.0.0", "!=1.0.0", False),
    ],
)
def test_ranges_hold_what_their_order_puts_into_them(version, spec, inside):
    assert within(version, spec) is inside


@pytest.mark.parametrize("spec", ["", "||", "<", "<x", "1.0.0 ||", "^1.x", "<1.0.0+b", "< 1." + "0" * 2000])
def test_what_is_no_range_is_refused(spec):
    with pytest.raises(UsageError):
        within("1.0.0", spec)


def test_marks_of_a_block():
    marks = marks_of(
        {
            "yanked": ["1.0.0", {"release": "1.1.0", "reason": "wrong\nsign", "since": "2026-01-31"}],
            "advisories": [
                {
                    "id": "X",
                    "component": "reward",
                    "fixed_in": "1.1.0",
                    "summary": "Ties are paid.",
                    "severity": "high",
                },
                {"component": "code", "versions": ">1.0.0", "summary": "Leaks."},
                {"versions": "^1", "summary": "All of these releases."},
            ],
            "aliases": {"stable": "1.1.0"},
            "lifecycle": {"status": "deprecated", "successor": "o/next"},
        }
    )
    assert marks.yank_of("1.0.0") == Yanked("1.0.0")
    assert marks.yank_of("1.1.0") == Yanked("1.1.0", "wrong sign", "2026-01-31")
    assert [advisory.id for advisory in marks.advisories_on(VERSIONS, "1.1.0")] == ["X", "A-3"]
    assert [advisory.id for advisory in marks.advisories_on({Component.CODE: "1.2.0"})] == ["A-2"]
    assert marks.aliases_of("1.1.0") == ("stable",)
    assert marks.notices("o/n", "1.1.0", VERSIONS) == (
        "o/n is deprecated. Its successor is o/next.",
        "o/n@1.1.0 is yanked: wrong sign",
        "o/n: advisory X on reward: Ties are paid. (fixed in reward 1.1.0)",
        "o/n: advisory A-3 on release ^1: All of these releases.",
    )


@pytest.mark.parametrize("junk", [None, 1, True, "x", [[]], {}, [None, 3, {"release": []}, {"summary": 1}], {"a": []}])
def test_broken_marks_are_left_out(junk):
    marks = marks_of({"yanked": junk, "advisories": junk, "aliases": junk, "lifecycle": junk})
    assert marks == Marks()
    assert marks.lifecycle.status is LifecycleStatus.ACTIVE


def test_a_broken_mark_hides_no_other():
    advisory = {"summary": "x", "versions": "<1"}
    marks = marks_of(
        {
            "yanked": [{"release": 3}, {"release": "1.0.0", "reason": ["x"]}],
            "advisories": [{**advisory, "component": "card"}, {**advisory, "versions": "soon"}, advisory],
            "aliases": {"1.0": "1.0.0", "a b": "1.0.0", "ok": "1.0.0", "no": "1.x", 3: "1.0.0"},
        }
    )
    assert marks.yanked == (Yanked("1.0.0"),)
    assert [one.id for one in marks.advisories] == ["A-3"]
    assert marks.aliases == {"ok": "1.0.0"}


@pytest.fixture
def resolved(pushed):
    """Resolves what stands behind `local/adding@`, after an edit of the card."""
    root, revision = pushed

    def after(marks: str, spec: str) -> str | None:
        replace_in(root / "README.md", '  spec: "1"\n', f'  spec: "1"\n  {marks}\n')
        assert run_cli("push", "local/adding", root).exit_code == 0
        with connect("local") as hub:
            found = resolve(hub, parse_reference(f"local/adding@{spec}"))
        assert found.revision == revision
        return found.release

    return after


def test_an_alias_is_resolved_to_its_release(resolved):
    assert resolved('aliases: {stable: "1.0.0"}', "stable") == "1.0.0"


def test_latest_needs_no_mark(resolved):
    assert resolved("canary: 123e4567-e89b-12d3-a456-426614174000", "latest") == "1.0.0"


@pytest.mark.parametrize("mark", ['aliases: {stable: "7.0.0"}', 'aliases: {stable: "1.0.0"}\n  yanked: ["1.0.0"]'])
def test_an_alias_of_what_nobody_should_use_is_refused(resolved, mark):
    with pytest.raises(NotFoundError, match="@stable is release"):
        resolved(mark, "stable")


def test_a_branch_wins_over_an_alias(resolved):
    with pytest.raises(AssertionError):  # the head's commit, not the release's
        resolved('aliases: {main: "1.0.0"}', "main")
