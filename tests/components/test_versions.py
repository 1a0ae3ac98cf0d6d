"""Versions: levels, the next release, ranges, and what is refused with a proposal."""

from __future__ import annotations

import pytest

from hfenv.components.versions import (
    Level,
    is_version,
    level_between,
    matches,
    next_release,
    parse_version,
    raised,
)
from hfenv.errors import UsageError


@pytest.mark.parametrize(
    ("old", "new", "level"),
    [
        ("1.0.0", "1.0.1", Level.PATCH),
        ("1.0.9", "1.1.0", Level.MINOR),
        ("1.9.9", "2.0.0", Level.MAJOR),
        ("1.0.0", "1.0.0", Level.NONE),
        ("1.1.0", "1.0.5", Level.NONE),
        ("1.1.0", "1.2.0-rc.1", Level.MINOR),
        ("1.2.0-rc.1", "1.2.0", Level.PATCH),
    ],
)
def test_level_between(old, new, level):
    assert level_between(old, new) is level


@pytest.mark.parametrize(
    ("version", "level", "result"),
    [
        ("1.2.3", Level.NONE, "1.2.3"),
        ("1.2.3", Level.PATCH, "1.2.4"),
        ("1.2.3", Level.MINOR, "1.3.0"),
        ("1.2.3", Level.MAJOR, "2.0.0"),
        ("2.0.0-rc.2", Level.MAJOR, "2.0.0"),
    ],
)
def test_raised(version, level, result):
    assert raised(version, level) == result


@pytest.mark.parametrize(
    ("previous", "level", "prerelease", "components", "result"),
    [
        (None, Level.NONE, False, ["1.0.0", "0.3.0"], "1.0.0"),
        (None, Level.NONE, False, ["0.1.0", "0.3.0"], "0.1.0"),
        ("1.4.2", Level.MAJOR, False, [], "2.0.0"),
        ("1.4.2", Level.MINOR, True, [], "1.5.0-rc.1"),
        ("1.5.0-rc.1", Level.PATCH, True, [], "1.5.0-rc.2"),
        ("1.5.0-rc.2", Level.PATCH, False, [], "1.5.0"),
    ],
)
def test_next_release(previous, level, prerelease, components, result):
    assert next_release(previous, level, prerelease=prerelease, components=components) == result


@pytest.mark.parametrize(
    ("spec", "inside", "outside"),
    [
        ("^1.2", ["1.2.0", "1.9.9"], ["1.1.9", "2.0.0", "1.3.0-rc.1"]),
        ("^1", ["1.0.0", "1.9.0"], ["0.9.0", "2.0.0"]),
        ("^0.2", ["0.2.0", "0.2.7"], ["0.3.0"]),
        ("^0.0.3", ["0.0.3"], ["0.0.4"]),
        ("~1.2", ["1.2.0", "1.2.9"], ["1.3.0"]),
        ("~1", ["1.7.0"], ["2.0.0"]),
        ("1.2.0", ["1.2.0"], ["1.2.1"]),
    ],
)
def test_ranges(spec, inside, outside):
    assert all(matches(version, spec) for version in inside)
    assert not any(matches(version, spec) for version in outside)


@pytest.mark.parametrize(
    ("text", "proposal"), [("1.0", "1.0.0"), ("banana", "1.0.0"), ("v2", "2.0.0"), ("1.2.3+a", "1.2.3")]
)
def test_what_is_no_version_gets_a_proposal(text, proposal):
    with pytest.raises(UsageError) as caught:
        parse_version(text)
    assert proposal in caught.value.hint


def test_a_malformed_range_is_refused():
    with pytest.raises(UsageError):
        matches("1.0.0", "^x")


@pytest.mark.parametrize("text", ["1" * 5000 + ".0.0", "1.0.0-" + "a" * 5000, "x" * 5000])
def test_what_is_too_long_for_a_tag_is_no_version(text):
    assert not is_version(text)
    with pytest.raises(UsageError, match="characters"):
        parse_version(text)
