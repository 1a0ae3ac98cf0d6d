"""Cards by folder: each bad one gives exactly the findings beside it, each good one none. A new case is a new file."""

import re
from pathlib import Path

import pytest

from hfenv.card.checks import CARD_RULES
from hfenv.card.problem import CardError
from hfenv.card.reader import parse_card
from hfenv.card.schema import load_schema
from hfenv.components.validation import is_unreadable, validate
from hfenv.rules.catalogue import RULES

CARDS = Path(__file__).parent / "cards"
GOOD = sorted((CARDS / "good").glob("*.md"))
BAD = sorted((CARDS / "bad").glob("*.md"))
# As authors for other tools write them: not ours, and still worth more than a traceback.
FOREIGN = sorted((CARDS / "foreign").glob("*.md"))


def _name(path):
    return path.stem


def _outcome(path):
    report = validate(path)
    code = 3 if is_unreadable(report) else 0 if report.ok else 1
    return [f"exit {code}", *(f"{f.rule} {f.severity.value} {f.line}:{f.column}" for f in report.findings)]


@pytest.mark.parametrize("path", GOOD, ids=_name)
def test_a_good_card_has_no_finding(path):
    assert _outcome(path) == ["exit 0"]


@pytest.mark.parametrize("path", [*BAD, *FOREIGN], ids=_name)
def test_a_bad_card_has_exactly_the_findings_beside_it(path):
    assert _outcome(path) == path.with_suffix(".expected").read_text(encoding="utf-8").splitlines()


# PyYAML's parser in Python takes no tab behind a colon.
@pytest.mark.parametrize("path", [p for p in (*GOOD, *BAD, *FOREIGN) if p.stem != "tab-behind-a-key"], ids=_name)
def test_both_parsers_agree(path):
    assert repr(_reading(path, pure=True)) == repr(_reading(path, pure=False))  # not-a-number isn't equal to itself


def _reading(path, *, pure):
    try:
        card = parse_card(path.read_bytes(), pure=pure)
    except CardError as error:
        return error.finding()
    return card.root, card.front_matter, card.notices


def test_the_corpus_is_complete():
    assert len(GOOD) >= 18
    assert len(BAD) >= 100
    assert len(FOREIGN) >= 10
    assert {p.with_suffix(".md") for p in CARDS.rglob("*.expected")} == {*BAD, *FOREIGN}
    found = {line.split()[0] for p in BAD for line in p.with_suffix(".expected").read_text().splitlines()[1:]}
    about_cards = {*CARD_RULES, "HFE016"}
    # A file that isn't there and one of 256 KiB don't lie in a folder of examples; the reader's tests have them.
    assert about_cards - {"HFE001", "HFE015"} == found


@pytest.mark.parametrize("path", [*BAD, *FOREIGN], ids=_name)
def test_every_finding_says_what_and_the_cure_in_plain_words(path):
    for finding in validate(path).findings:
        assert finding.fix, finding
        text = f"{finding.message} {finding.fix}"
        assert not re.search(r"is not of type|is not valid under|does not match|\bNone\b|Unevaluated|\\\\", text), text
        assert RULES[finding.rule].severity is finding.severity or finding.rule == "HFE012"


def test_a_secret_that_stands_where_its_name_belongs_is_not_repeated():
    findings = validate(CARDS / "bad" / "secret-value.md").findings
    assert all("sk-123" not in f"{finding.message}{finding.fix}" for finding in findings)


def _fields(schema, place="$"):
    for name, below in schema.get("properties", {}).items():
        yield f"{place}.{name}", below
        yield from _fields(below, f"{place}.{name}")
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            yield from _fields(schema[keyword], f"{place}[]")
    for name, below in schema.get("$defs", {}).items():
        yield from _fields(below, f"#{name}")


def test_every_field_of_the_schema_is_described():
    import jsonschema

    schema = load_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    fields = dict(_fields(schema))
    assert len(fields) > 90
    for place, field in fields.items():
        target = schema["$defs"][field["$ref"].rsplit("/", 1)[1]] if "$ref" in field else {}
        assert field.get("description") or target.get("description"), place


def test_rules_are_in_their_blocks_and_explained():
    for rule in RULES.values():
        assert re.fullmatch(r"HFE[0-6]\d\d", rule.id)
        assert rule.title.endswith(".")
        assert rule.explanation.endswith(".")
        assert not rule.fatal or rule.id < "HFE100"


@pytest.mark.parametrize(
    ("name", "line", "says"),
    [
        ("headings-by-other-chinese-names", 18, "name it '## 概述'"),
        ("headings-by-other-chinese-names", 21, "name it '## 安装'"),
        ("headings-by-other-chinese-names", 39, "If '局限性' is it, name it '## 限制'"),
        ("headings-by-other-names", 36, "If 'Evaluation results' is it, name it '## Benchmarks'"),
        ("headings-that-are-none", 27, "write '## 四、用法'"),
        ("headings-that-are-none", 21, "write '## 二、安装'"),
    ],
)
def test_what_a_missing_section_may_hide_behind_is_named(name, line, says):
    report = validate(CARDS / "bad" / f"{name}.md")
    assert says in next(finding.fix for finding in report.findings if finding.line == line)
