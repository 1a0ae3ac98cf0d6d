"""Repairs change what they report and nothing else, and leave nothing behind that wants another cure."""

import contextlib
import re
from pathlib import Path

import pytest

from hfenv.card.checks import check_card
from hfenv.card.compose import MOST_VALUES
from hfenv.card.configs import configs_from
from hfenv.card.emit import block
from hfenv.card.manifest import Manifest
from hfenv.card.nodes import EntryNode, find
from hfenv.card.problem import CardError
from hfenv.card.reader import parse_card
from hfenv.card.schema import load_schema
from hfenv.card.vocabulary import LICENCES, licence_of
from hfenv.components.validation import validate
from hfenv.findings import Repair
from hfenv.runtime.chat import extract
from tests.support import CARD, write_environment

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
        "گفت\u200cوگو می\u200cخواهم", "क\u094d\u200dष", "👨\u200d👩\u200d👧 ❤\ufe0f",
        "ภาษา\u200bไทย", "עברית (C++)\u200f",
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


def _texts(schema, place="", depth=0):
    """Pointers of the schema's fields that hold texts, one of each list and of each mapping with names of its own."""
    while "$ref" in schema:
        schema = {
            **load_schema()["$defs"][schema["$ref"].rsplit("/", 1)[1]],
            **{k: v for k, v in schema.items() if k != "$ref"},
        }
    if depth > 6:
        return
    if "string" in schema.get("type", ()) or {"enum", "const"} & schema.keys():
        yield place
    below = [
        *schema.get("properties", {}).items(),
        ("0", schema.get("items")),
        ("x", schema.get("additionalProperties")),
    ]
    for name, field in below:
        if isinstance(field, dict):
            yield from _texts(field, f"{place}/{name}", depth + 1)


def _put(value, keys, leaf):
    if not keys:
        return leaf
    if keys[0] == "0":
        return [_put({}, keys[1:], leaf)]
    value = dict(value) if isinstance(value, dict) else {}
    return {**value, keys[0]: _put(value.get(keys[0]), keys[1:], leaf)}


def test_quotes_around_a_number_leave_no_other_finding_in_its_place(tmp_path):
    # A reward without parts: with some, those of the card have to be the same.
    reward = "def score(task, transcript):\n    return 1.0\n"
    root = write_environment(tmp_path / "adding", files={"reward/reward.py": reward})
    mark = "MARK"
    found = 0
    for pointer in dict.fromkeys(_texts(load_schema())):
        values = _put(parse_card(CARD.encode()).front_matter, pointer[1:].split("/"), mark)
        header = "\n".join(block(values, 0))
        for written in ("3.10", "7", "true"):
            raw = f"---\n{header.replace(mark, written)}\n---\n{CARD.split(chr(10) + '---' + chr(10), 1)[1]}".encode()
            for finding in validate(root, card=raw).findings:
                if finding.pointer == pointer and finding.repair is not None:
                    found += 1
                    left = validate(root, card=repaired(raw, finding.repair)).findings
                    assert [other for other in left if other.pointer == pointer] == [], finding
    assert found > 20


@pytest.mark.parametrize(("written", "cure"), [("3.10", ">=3.10"), ("3", ">=3"), ("10", ">=3.10")])
def test_a_python_version_without_quotes_becomes_a_comparison(written, cure):
    (finding,) = findings(card_with("").replace("  limits:", f"  requires: {{python: {written}}}\n  limits:"), "HFE012")
    assert f'"{cure}"' in finding.fix
    assert finding.repair is None


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ("MIT License", "mit"), ("The MIT License (MIT)", "mit"), ("GPLv3", "gpl-3.0"), ("GPL3", "gpl-3.0"),
        ("GNU GPL v3", "gpl-3.0"), ("GNU General Public License v3.0", "gpl-3.0"), ("GPL-2.0-only", "gpl-2.0"),
        ("CC0", "cc0-1.0"), ("CC0 1.0 Universal", "cc0-1.0"), ("BSD-3", "bsd-3-clause"), ("LGPLv2.1", "lgpl-2.1"),
        ("BSD 2-Clause License", "bsd-2-clause"), ("Creative Commons Attribution 4.0", "cc-by-4.0"),
        ("CC BY-NC-SA 4.0", "cc-by-nc-sa-4.0"), ("Apache License 2.0", "apache-2.0"), ("Apache2", "apache-2.0"),
        ("Apache Licence, Version 2.0", "apache-2.0"), ("Mozilla Public License 2.0", "mpl-2.0"),
        ("Llama 3.1", "llama3.1"), ("MIT-0", None), ("0BSD", None), ("BSD-4-Clause", None), ("Apache 1.1", None),
        ("MIT AND Apache-2.0", None), ("proprietary", None), ("GPL-3.0-or-later", None), ("CC BY", None),
    ],
)  # fmt: skip
def test_a_licence_in_other_words_is_known_and_another_one_is_not_taken_for_it(written, known):
    (finding,) = findings(CARD.replace("apache-2.0", f'"{written}"', 1), "HFE604")
    assert (finding.repair is not None) == (known is not None)
    assert (
        known is None
        or f'license: "{known}"'
        in repaired(CARD.replace("apache-2.0", f'"{written}"', 1).encode(), finding.repair).decode()
    )
    assert known is not None or "'mit'" not in finding.fix


def test_every_licence_of_the_hub_is_known_in_capitals_and_with_spaces():
    for name in LICENCES:
        assert {licence_of(text) for text in (name.upper(), name.replace("-", " "), f"{name} License")} == {name}


@pytest.mark.parametrize(
    ("written", "after"),
    [
        ("zh-CN", "zh"), ("zh-Hans", "zh"), ("en_US", "en"), ("English", "en"), ("ZH", "zh"), ("xx", None),
        ("qqq", None), ("x-klingon", None), ("[en, English]", "[en]"), ("[English, en]", "[en]"),
        ("[English, EN, zh-TW]", "[en, zh]"), ("[en, fil, zho, code]", "[en, fil, zho, code]"),
        ("\n- en\n- English  # both\n- zh", "\n- en\n- zh"),
    ],
)  # fmt: skip
def test_languages_become_codes_and_none_stands_twice(written, after):
    text = card_with(f"language: {written}\n")
    edits = [edit for finding in findings(text, "HFE606") if finding.repair for edit in finding.repair.edits]
    raw = repaired(text.encode(), Repair(tuple(edits))).decode()
    assert raw == card_with(f"language: {written if after is None else after}\n")
    assert (findings(raw) == []) == (after is not None)


@pytest.mark.parametrize(
    ("line", "cure"),
    [
        ('  Spec: "1"', "'spec' is here already: remove 'Spec'."), ("  SUMMARY: x", "'summary' is here already"),
        ('  "步数": 3', "Did you mean one of spec, summary,"), ("  <<: {a: 1}", "Write the fields out"),
    ],
)  # fmt: skip
def test_an_unknown_key_is_told_what_is_true_of_it(line, cure):
    (finding,) = findings(CARD.replace("  limits:", f"{line}\n  limits:"), "HFE104")
    assert finding.fix.startswith(cure)
    assert finding.repair is None


def test_every_mistake_in_a_configuration_is_found_at_once():
    config = "{a: {type: integr}, b: 3, c: {minimum: x, default: 1}, d: {type: integer, default: x}, e: {default: 1}}"
    found = findings(CARD.replace("  limits:", f"  config: {config}\n  limits:"), "HFE117")
    assert [finding.pointer.removeprefix("/environment/config/") for finding in found] == [
        "a/type", "b", "c/minimum", "d/default"
    ]  # fmt: skip


@pytest.mark.parametrize("number", ["9" * 400, "-" + "9" * 400, "9" * 400 + ".5", "1e999", "0x" + "f" * 400])
def test_a_number_beyond_floats_is_found_and_survived(number):
    text = CARD.replace("range: [-1.0, 1.0]", f"range: [0, {number}]")
    (finding,) = findings(text, "HFE109")
    assert finding.pointer == "/environment/reward/range/1"
    read = Manifest.from_block(parse_card(text.encode()).block)
    assert abs(read.reward.high) == float("inf")


@pytest.mark.parametrize("name", ["答案", "answer", "réponse", "_final-1.a"])
def test_a_tag_may_have_a_name_in_any_script(name):
    text = CARD.replace("action: {type: text,", f'action: {{type: text, extract: "tag:{name}",')
    assert findings(text) == []
    card = parse_card(text.encode())
    assert extract(f"so <{name}>4</{name}>", Manifest.from_block(card.block).action) == "4"


@pytest.mark.parametrize(("items", "refused"), [(MOST_VALUES - 3, False), (MOST_VALUES - 2, True)])
def test_lists_and_mappings_are_counted_alike(items, refused):
    listed = f"---\na: [{'1,' * items}]\nb: 1\nc: 2\n---\n"
    mapped = "---\n" + "".join(f"k{i}: 1\n" for i in range(items + 3)) + "---\n"
    for text in (listed, mapped):
        with pytest.raises(CardError, match="more than 10,000 values") if refused else contextlib.nullcontext():
            parse_card(text.encode())
