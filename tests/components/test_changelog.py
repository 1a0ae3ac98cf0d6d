"""Changelogs: the release in a heading, and what changed since a version."""

from __future__ import annotations

import pytest

from hfenv.components.changelog import Item, entries, entry_for, with_entry, with_release
from hfenv.components.changessince import all_notes
from hfenv.components.history import ReleasedVersions, at_release, first_release
from hfenv.components.ownership import Component

TEXT = """\
# Changelog: reward

Some words, ## [9.9.9] among them.

```
## [1.1.0] - in a fence
```

## [1.1.0] - 2026-02-01

### Fixed

- A rounding error.

## v1.0.0
- First.
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_release_is_spliced_into_the_one_heading(newline):
    text = TEXT.replace("\n", newline)
    once = with_release(text, "1.1.0", "1.2.0")
    assert once == text.replace(
        f"## [1.1.0] - 2026-02-01{newline}", f"## [1.1.0] - 2026-02-01 (release 1.2.0){newline}"
    )
    assert with_release(once, "1.1.0", "1.2.0") == once
    entry = entry_for(once, "1.1.0")
    assert (entry.date, entry.release) == ("2026-02-01", "1.2.0")
    assert [one.release for one in entries(with_release(once, "1.0.0", "1.0.0"))] == ["1.2.0", "1.0.0"]
    assert entry_for(with_release(once, "1.0.0", "1.0.0"), "1.0.0").date == ""


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("## [1.0.0] - 2026-01-01 (release 0.9.0)", "## [1.0.0] - 2026-01-01 (release 1.0.0)"),
        ("## [1.0.0] - 2026-01-01 (yanked)", "## [1.0.0] - 2026-01-01 (yanked) (release 1.0.0)"),
        ("## [1.0.0]  \t", "## [1.0.0] (release 1.0.0)  \t"),
        ("\ufeff## 1.0.0", "\ufeff## 1.0.0 (release 1.0.0)"),
        ("## [1.0.0](docs/x.md) - 2026", "## [1.0.0](docs/x.md) - 2026 (release 1.0.0)"),
    ],
)
def test_headings_of_every_form(heading, expected):
    assert with_release(heading, "1.0.0", "1.0.0") == expected
    assert with_release(expected, "1.0.0", "1.0.0") == expected
    assert entries(expected)[0].release == "1.0.0"


@pytest.mark.parametrize("text", ["", "# Changelog\n", "## [2.0.0] - 2026\n", "<!--\n## [1.0.0]\n-->\n"])
def test_without_the_heading_nothing_changes(text):
    assert with_release(text, "1.0.0", "1.0.0") == text


def test_a_bump_keeps_the_release_of_the_version_that_it_writes_again():
    text = with_release(TEXT, "1.1.0", "1.2.0")
    again = with_entry(
        text, title="reward", version="1.1.0", date="2026-03-01", items=[Item("Fixed", "More.")], replaces="1.1.0"
    )
    assert "## [1.1.0] - 2026-03-01 (release 1.2.0)" in again
    renamed = with_entry(
        text, title="reward", version="1.2.0", date="2026-03-01", items=[Item("Added", "More.")], replaces="1.1.0"
    )
    assert "## [1.2.0] - 2026-03-01\n" in renamed


HISTORY = (
    ReleasedVersions("1.0.0", "1.0.0", "1.0.0", "1.0.0"),
    ReleasedVersions("1.1.0", "1.0.0", "1.1.0", "1.0.0"),
    ReleasedVersions("2.0.0", "1.0.0", "1.1.0", "2.0.0"),
)


def test_a_history_knows_releases_and_where_versions_went_out():
    assert at_release(HISTORY, "1.1.0") is HISTORY[1]
    assert at_release(HISTORY, "1.1.1") is None
    assert first_release(HISTORY, Component.TASKS, "1.1.0") == "1.1.0"
    assert first_release(HISTORY, Component.REWARD, "2.0.0") == "2.0.0"
    assert first_release(HISTORY, Component.REWARD, "2.0.1") is None


def notes(text, since, history=HISTORY):
    found = all_notes(text, Component.REWARD, history, since=since)
    return [(one.version, one.release, one.pending, one.breaking) for one in found]


def headings(*versions):
    return "".join(f"## [{version}]\n- {version}\n" for version in versions)


def test_notes_above_a_version_with_releases_and_breaks():
    text = headings("2.1.0", "2.0.0", "1.1.0", "1.0.0", "0.9.0")
    assert notes(text, "1.0.0") == [
        ("2.1.0", None, True, False),
        ("2.0.0", "2.0.0", False, True),
        ("1.1.0", None, False, False),
    ]
    assert notes(text, "2.1.0") == []
    assert [one[0] for one in notes(text, "0.9.5")][-1] == "1.0.0"


def test_notes_are_ordered_newest_first_however_the_file_is():
    assert [one[0] for one in notes(headings("1.0.0", "1.2.0", "1.10.0", "1.1.0"), "1.0.0")] == [
        "1.10.0", "1.2.0", "1.1.0",
    ]  # fmt: skip


def test_a_break_of_a_candidate_is_one_of_the_final_version_too():
    text = headings("2.0.0", "2.0.0-rc.2", "2.0.0-rc.1", "1.4.0")
    assert [one[3] for one in notes(text, "1.4.0")] == [True, True, True]
    assert [one[3] for one in notes(text, "2.0.0-rc.1")] == [True, True]


def test_below_one_a_minor_may_break():
    text = headings("0.3.1", "0.3.0", "0.2.0", "0.1.0")
    assert [one[3] for one in notes(text, "0.1.0")] == [False, False, False]
    says = text.replace("## [0.2.0]", "## [0.2.0]\n\n### Changed\n\n- Breaking: less is paid.\n", 1)
    assert [one[3] for one in notes(says, "0.1.0")] == [False, False, True]


def test_a_heading_that_is_no_version_counts_by_its_place():
    assert [one[0] for one in notes(headings("1.2.0", "1.1", "1.0.0", "0.9"), "1.0.0")] == ["1.2.0", "1.1"]


@pytest.mark.parametrize(
    "body",
    [
        "- Answers may hold <!-- now",
        "- Strip `<!--`",
        "```score``` has another name",
        "```\nx\n  ```",
        "```\n```py\n## [9.9.9]\n```",
        "~~~\n## [9.9.9]\n```\n~~~~",
        "````\n```\n## [9.9.9]\n````",
        "<!--\n## [9.9.9]\n-->",
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_headings_are_hidden_by_what_hides_them_in_markdown_alone(body, newline):
    text = f"# C\n\n## [1.1.0] - D\n\n{body}\n\n## [1.0.0] - D\n\n- First.\n".replace("\n", newline)
    assert [entry.version for entry in entries(text)] == ["1.1.0", "1.0.0"]
    written = with_entry(text, title="t", version="1.1.1", date="D", items=[Item("Fixed", "X")], replaces="1.1.0")
    assert [entry.version for entry in entries(written)] == ["1.1.1", "1.0.0"]
    first, second = entries(written)
    assert first.body.startswith(body.replace("\n", newline))
    assert first.body.endswith("- X")
    assert second.body == "- First."


def test_signs_that_only_python_takes_for_line_ends_stay_as_they_are():
    text = "# C\n\n## [1.1.0] - D\n\n- A\u2028## [9.9.9]\n- B\x0c## [8.8.8]\n"
    written = with_entry(text, title="t", version="1.1.0", date="D", items=[Item("Fixed", "X")], replaces="1.1.0")
    assert [entry.version for entry in entries(written)] == ["1.1.0"]
    assert "- A\u2028## [9.9.9]\n- B\x0c## [8.8.8]\n" in written


def test_a_file_that_starts_with_its_heading_still_does():
    written = with_entry(
        "## 1.0.0: first\n", title="t", version="1.0.0", date="D", items=[Item("Fixed", "X")], replaces="1.0.0"
    )
    assert written.startswith("## [1.0.0] - D\n")
