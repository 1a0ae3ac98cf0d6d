"""Two thousand cards with accidents: a finding or a CardError, in time, and cures and edits that do what they say."""

import contextlib
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from hfenv.card.checks import check_card
from hfenv.card.edit import set_values
from hfenv.card.problem import CardError
from hfenv.card.reader import manifest, parse_card
from hfenv.card.schema import _quick_check, _validator
from hfenv.errors import UnreadableError
from hfenv.rules.catalogue import RULES
from tests.card.documents import VALUES, places
from tests.card.mutations import mutated_cards

CARDS = Path(__file__).parent / "cards"
# The same cards on every machine and in every run.
FUZZ = settings(
    max_examples=2000, deadline=None, derandomize=True, database=None, phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
ROUNDS = 8


def findings(raw):
    """What is wrong with a card, and the card where it could be read."""
    try:
        card = parse_card(raw)
    except CardError as error:
        return [error.finding()], None
    return check_card(card), card


def cured(raw, found):
    """The bytes with the repairs of findings applied, of those that overlap the first."""
    taken = []
    for finding in found:
        edits = finding.repair.edits if finding.repair else ()
        if not any(_overlap(edit, other) for edit in edits for other in taken):
            taken += edits
    for edit in sorted(taken, key=lambda e: e.start, reverse=True):
        raw = raw[: edit.start] + edit.text + raw[edit.end :]
    return raw


def _overlap(one, other):
    return (one.start < other.end and other.start < one.end) or one.start == other.start


def cured_for_good(raw):
    """The bytes after as many rounds as `--fix` makes; a cure may uncover the next finding."""
    for _ in range(ROUNDS):
        after = cured(raw, findings(raw)[0])
        if after == raw:
            break
        raw = after
    return raw


@pytest.mark.slow
@FUZZ
@given(mutated_cards(), st.data())
def test_a_card_with_accidents_is_read_or_refused_in_time(raw, data):
    started = time.process_time()
    found, card = findings(raw)
    assert time.process_time() - started < 1
    lines = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    for finding in found:
        assert finding.rule in RULES
        assert finding.message
        assert finding.fix
        assert (finding.message + finding.fix).replace("\u200d", "").isprintable()
        assert 1 <= finding.line <= len(lines.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
        assert finding.repair is None or RULES[finding.rule].fixable
    once = cured_for_good(raw)
    assert cured_for_good(once) == once
    if card is not None:
        _stays_sound(card, raw, data)


def _stays_sound(card, raw, data):
    assert card.raw == raw
    assert _validator().is_valid(card.front_matter) or not _quick_check().accepts(card.front_matter)
    with contextlib.suppress(UnreadableError):
        manifest(card)
    pointers = [pointer for pointer, _ in places(card.front_matter)] or ["/new"]
    pointer = data.draw(st.sampled_from(pointers))
    value = data.draw(VALUES)
    try:
        after = parse_card(set_values(card, {pointer: value}))
    except UnreadableError:
        return  # refused, and nothing was written
    assert dict(places(after.front_matter))[pointer] == value


@pytest.mark.parametrize("path", sorted(CARDS.rglob("*.md")), ids=lambda path: path.stem)
def test_the_cures_of_a_card_cure_it_and_change_nothing_twice(path):
    raw = path.read_bytes()
    before = findings(raw)[0]
    curable = {(finding.rule, finding.pointer) for finding in before if finding.repair}
    after = cured(raw, before)
    assert (after != raw) == bool(curable)
    left = {(finding.rule, finding.pointer) for finding in findings(after)[0]}
    assert not curable & {place for place in left if place[1]}
    assert cured_for_good(after) == cured_for_good(cured_for_good(after))
