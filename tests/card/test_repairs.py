"""Repairs change what they report and nothing else, and leave nothing behind that wants another cure."""

import re
from pathlib import Path

import pytest

from hfenv.card.checks import check_card
from hfenv.card.configs import configs_from
from hfenv.card.nodes import EntryNode, find
from hfenv.card.problem import CardError
from hfenv.card.reader import parse_card
from tests.support import CARD

CARDS = sorted((Path(__file__).parents[1] / "cards").rglob("*.md"))


def card_with(lines):
    """The small card with lines more at the top of its header."""
    return CARD.replace("environment:\n", f"{lines}environment:\n", 1)


def findings(text, rule=None):
    found = check_card(parse_card(text.encode()))
    return [finding for finding in found if rule in (None, finding.rule)]


def repaired(raw, repair):
    for edit in sorted(repair.edits, key=lambda edit: edit.start, reverse=True):
        raw = raw[: edit.start] + edit.text + raw[edit.end :]
    return raw


def mended(text, rule):
    """The text with the one repair of the one finding of a rule."""
    (finding,) = findings(text, rule)
    return repaired(text.encode(), finding.repair).decode()


def _lines_of(card, finding):
    """Byte offsets of the lines on which the entry or item of a finding stands, or a heading with its underline."""
    start = end = card.lines.starts[finding.line - 1]
    if finding.pointer:
        last = find(card.root, finding.pointer)[0][-1]
        start, end = (last.key.start if isinstance(last, EntryNode) else last.start), last.end
    elif finding.line < len(card.lines.starts):
        end = card.lines.starts[finding.line]
    low = max(card.text.rfind("\n", 0, start), card.text.rfind("\r", 0, start)) + 1
    high = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?").match(card.text, end).end()
    mark = 3 * card.marked
    return mark + len(card.text[:low].encode()), mark + len(card.text[:high].encode())


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.stem)
def test_a_repair_changes_no_byte_outside_of_the_lines_of_its_finding(path):
    raw = path.read_bytes()
    try:
        card = parse_card(raw)
    except CardError as error:
        gone = "".join(raw[edit.start : edit.end].decode() for edit in (error.repair.edits if error.repair else ()))
        assert all(sign == " " or not sign.isprintable() for sign in gone)
        return
    for finding in check_card(card):
        if finding.repair is None or finding.rule == "HFE008":  # the mark stands in front of all lines
            continue
        low, high = _lines_of(card, finding)
        for edit in finding.repair.edits:
            added = edit.start == edit.end  # what is missing stands nowhere yet
            assert added or low <= edit.start <= edit.end <= high, finding


EXTRA = "configs:\n- config_name: extra # mine\n  data_files: extra.jsonl\n"
TASKS = "- config_name: tasks\n  data_files: tasks/old.jsonl # old\n"


def test_other_configs_keep_place_and_comments_when_the_tasks_config_is_mended():
    after = mended(card_with(EXTRA + TASKS), "HFE603")
    assert EXTRA + "- config_name: tasks\n  data_files: # old\n" in after
    assert findings(after) == []


def test_a_tasks_config_goes_behind_those_that_are_there():
    after = mended(card_with(EXTRA), "HFE603")
    assert EXTRA + "- config_name: tasks\n  default: true\n  data_files:\n" in after
    assert findings(after) == []


def test_configs_keep_their_order_and_what_else_they_say():
    other = {"config_name": "raw", "data_files": "raw.jsonl", "default": True}
    ours = {"config_name": "tasks", "description": "sums", "data_files": {"train": "a.jsonl"}}
    splits = {"train": ("a.jsonl",)}
    assert configs_from([other, ours], splits) == [other, ours]
    assert configs_from([other, ours], {"train": ("a.jsonl", "b.jsonl")}) == [
        other,
        {**ours, "data_files": [{"split": "train", "path": ["a.jsonl", "b.jsonl"]}]},
    ]
    assert configs_from("odd", splits) == [
        {"config_name": "tasks", "default": True, "data_files": [{"split": "train", "path": "a.jsonl"}]}
    ]


@pytest.mark.parametrize(
    "text",
    [
        "گفت\u200cوگو می\u200cخواهم", "क\u094d\u200dष", "👨\u200d👩\u200d👧 ❤\ufe0f", "ภาษา\u200bไทย", "עברית (C++)\u200f",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "Auf\u200clage", '"an escape\\u200b"',
    ],
)  # fmt: skip
def test_what_a_script_needs_is_no_invisible_character(text):
    assert findings(CARD.replace("Add two small numbers.", text)) == []


@pytest.mark.parametrize("sign", "\u00ad\u200b\u200d\u200e\u200f\u202a\u202e\u2060\u2066\u2069\U000e0041")
@pytest.mark.parametrize("old", ["Add two small numbers.", "rl-environment", "# what it is about", "question"])
def test_an_invisible_character_is_found_where_it_stands_and_goes(old, sign):
    text = CARD.replace(old, old + sign, 1)
    line, column = text[: text.index(sign)].count("\n") + 1, len(text[: text.index(sign)].rpartition("\n")[2]) + 1
    (finding,) = findings(text, "HFE017")
    assert (finding.line, finding.column) == (line, column)
    assert repaired(text.encode(), finding.repair).decode() == CARD
    assert all(other.repair is None for other in findings(text) if other is not finding and other.rule == "HFE602")
