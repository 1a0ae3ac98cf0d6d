"""The policy table: complete, with reasons, and what an environment makes of it."""

from __future__ import annotations

import re

import pytest

from hfenv.components.changes.change import ChangeKind, required
from hfenv.components.changes.policy import TABLE_NAME, load_policy, parse_table
from hfenv.components.ownership import Component
from hfenv.components.versions import Level
from hfenv.errors import UnreadableError
from hfenv.paths import data_folder
from tests.components.editing import changes

TEXT = (data_folder("schemas") / TABLE_NAME).read_text(encoding="utf-8")
PROMPT = {"env/prompt.md": ("Answer:", "Reply:")}
HELPER = {"reward/compare.py": ("text.strip().lower()", "text.lower().strip()")}


def test_every_kind_has_a_level_and_a_sentence_that_says_why():
    rules = load_policy().rules
    assert {kind for _, kind in rules} == set(ChangeKind)
    for rule in rules.values():
        assert rule.level in (Level.PATCH, Level.MINOR, Level.MAJOR)
        assert re.fullmatch(r"(?:[A-Z]|hfenv ).{10,}\.", rule.why)


def test_nothing_of_a_reward_is_lowered_but_what_probes_can_tell():
    lowered = {kind for (_, kind), rule in load_policy().rules.items() if rule.unless_probes is not None}
    assert lowered == {ChangeKind.REWARD_BODY, ChangeKind.REWARD_TOP, ChangeKind.REWARD_ENTRY}


def test_the_table_itself_neither_tightens_nor_loosens():
    assert load_policy().adjustments == load_policy({}).adjustments == ()
    same = load_policy({"code": {"prompt": "major"}})
    assert (same.tightened, same.loosened) == ((), ())


def test_an_environment_tightens(tmp_path):
    policy = load_policy({"code": {"body": "minor"}})
    (adjustment,) = policy.tightened
    assert (adjustment.kind, adjustment.table.level, adjustment.own.level) == (
        ChangeKind.BODY,
        Level.PATCH,
        Level.MINOR,
    )
    assert policy.loosened == ()
    found = changes(tmp_path, Component.CODE, {"env/environment.py": ("output=action", "output=1")}, policy=policy)
    assert required(found) is Level.MINOR


def test_an_environment_loosens_and_that_is_told_apart(tmp_path):
    policy = load_policy({"code": {"prompt": "minor", "body": "minor"}})
    assert [a.kind for a in policy.loosened] == [ChangeKind.PROMPT]
    assert [a.kind for a in policy.tightened] == [ChangeKind.BODY]
    assert required(changes(tmp_path, Component.CODE, PROMPT, policy=policy)) is Level.MINOR


def test_probes_may_be_forbidden_to_lower_a_level(tmp_path):
    policy = load_policy({"reward": {"reward-body": {"unless_probes": "major"}}})
    assert [a.kind for a in policy.tightened] == [ChangeKind.REWARD_BODY]
    found = changes(tmp_path, Component.REWARD, HELPER, policy=policy)
    assert required(change.settled() for change in found) is Level.MAJOR


@pytest.mark.parametrize(
    ("own", "loosens"),
    [
        ({"level": "minor"}, True),
        ("minor", True),
        ("patch", True),
        ({"level": "major", "unless_probes": "minor"}, False),
        ({"level": "minor", "unless_probes": "minor"}, True),
    ],
)
def test_a_level_or_what_probes_make_of_it_may_be_looser(own, loosens):
    policy = load_policy({"reward": {"reward-body": own}})
    assert bool(policy.loosened) is loosens
    assert bool(policy.tightened) is not loosens


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"code": {"bodies": "minor"}}, "names no change"),
        ({"code": {"reward-body": "major"}}, "names no change of code"),
        ({"card": {"body": "minor"}}, "'card'"),
        ({"code": {"body": "none"}}, "'none'"),
        ({"code": {"body": 3}}, "3"),
        ({"code": {"body": {"levels": "minor"}}}, "'levels'"),
        ({"code": {"body": {"unless_probes": "patch"}}}, "probes can't tell"),
        ({"reward": {"reward-body": {"level": "minor", "unless_probes": "major"}}}, "above the level"),
        ({"code": ["body"]}, "no mapping"),
        (["code"], "no mapping"),
    ],
)
def test_what_is_no_policy_is_an_error_that_says_where(own, said):
    with pytest.raises(UnreadableError, match=re.escape(said)) as caught:
        load_policy(own)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("format: 1", "format: 2", "format 1"),
        ("  body: {level: patch,", "  bodies: {level: patch,", "code.bodies"),
        ("  body: {level: patch,", "  body: {level: none,", "'none'"),
        ("  body: {level: patch,", "  body: {", "None"),
        ("  reward-range: {level: major,", "  # reward-range: {level: major,", "reward-range"),
        ("unless_probes: patch", "unless_probes: major", "only lower"),
        ("  body: {level: patch,", "  body: {level: patch, more: 1,", "code.body"),
        ('is run or shown to an agent."', 'is"', "code.document"),
    ],
)
def test_a_table_that_lacks_something_is_refused(old, new, said):
    text = TEXT.replace("isn't run or shown to an agent.", "is run or shown to an agent.")
    assert old in text
    with pytest.raises(UnreadableError, match=re.escape(said)):
        parse_table(text.replace(old, new, 1), "the table")
