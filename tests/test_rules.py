"""The catalogue: examples that hold, the command that prints them, and the page that is made of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hfenv.components.validation import validate
from hfenv.findings import Severity
from hfenv.rules.catalogue import RULES
from tests.support import CARD, run_cli, write_environment

# What no example can show as text: a header of 256 KiB, modes, a folder of ten thousand files, a release before.
UNSHOWN = {"HFE015", "HFE206", "HFE207", "HFE610", "HFE501", "HFE502", "HFE505", "HFE506", "HFE509"}
# What is about one file beside what the card says: the example shows the file, and its own tests put both together.
IN_TWO_FILES = {"HFE427", "HFE430", "HFE321", "HFE322", "HFE323"}


def into_card(piece: str) -> str:
    """The card of the small environment with a piece of another in it, in the place of what it is about."""
    if piece.lstrip("\ufeff \n").startswith("---") or "\0" in piece:
        return piece
    if piece.startswith(("#", "=")) or "\n---\n" in piece:
        heading = piece.splitlines()[0].lstrip("# ").strip()
        found = re.search(rf"^#+ {re.escape(heading)}\n.*?(?=^## |\Z)", CARD, re.MULTILINE | re.DOTALL)
        return CARD.replace(found.group(), piece + "\n") if found else CARD + piece
    header, body = CARD.removeprefix("---\n").split("\n---\n", 1)
    for key, entry in entries(piece, ""):
        if key != "environment":
            header = with_entry(header, "", key, entry)
            continue
        for name, below in entries(entry.split("\n", 1)[1], "  "):
            header = with_entry(header, "  ", name, below)
    return f"---\n{header}\n---\n{body}"


def entries(text: str, indent: str) -> list[tuple[str, str]]:
    starts = list(re.finditer(rf"^{indent}([^\s#:\-][^:\n]*):", text, re.MULTILINE))
    ends = [m.start() for m in starts[1:]] + [len(text)]
    return [(m[1].strip("\"'"), text[m.start() : end].rstrip("\n")) for m, end in zip(starts, ends, strict=True)]


def with_entry(header: str, indent: str, key: str, entry: str) -> str:
    near = {"licence": "license"}.get(key, key)
    found = dict(entries(header, indent)).get(near)
    if found is None:
        return header + "\n" + entry if indent else entry + "\n" + header
    return header.replace(found, entry, 1)


def put(root: Path, example) -> Path:
    """The small environment with an example in it."""
    text = example.text
    if example.path == "README.md" and text is not None:
        return write_environment(root, files={"README.md": into_card(text).encode("utf-8", "surrogateescape")})
    write_environment(root, files=None if text is None else {example.path: text.encode("utf-8", "surrogateescape")})
    if text is None:
        (root / example.path).unlink(missing_ok=True)
    return root


SHOWN = [rule for rule in RULES.values() if rule.id not in UNSHOWN | IN_TWO_FILES]


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.id)
def test_the_bad_example_of_a_rule_breaks_it(rule, tmp_path):
    report = validate(put(tmp_path / "adding", rule.bad))
    assert rule.id in {finding.rule for finding in report.findings}, report.findings


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.id)
def test_the_good_example_of_a_rule_breaks_none(rule, tmp_path):
    report = validate(put(tmp_path / "adding", rule.good))
    assert [f for f in report.findings if f.severity is not Severity.INFO or f.rule == rule.id] == []


def test_rules_are_in_their_blocks_and_explained():
    groups = {"HFE0": 1, "HFE1": 2, "HFE2": 2, "HFE3": 1, "HFE4": 1, "HFE5": 1, "HFE6": 2}
    assert {rule.id for rule in RULES.values() if rule.bad is None or rule.good is None} == UNSHOWN
    for rule in RULES.values():
        assert re.fullmatch(r"HFE[0-6]\d\d", rule.id)
        for text in (rule.title, rule.explanation):
            assert text.endswith(".")
            assert len(text) > 10
        assert "\n" not in rule.title
        assert not rule.fatal or rule.id < "HFE100"
    for start, most in groups.items():
        assert 1 <= len({rule.group for rule in RULES.values() if rule.id.startswith(start)}) <= most


def test_a_rule_is_printed_with_its_examples():
    shown = run_cli("rule", "HFE012")
    assert shown.exit_code == 0
    for part in (RULES["HFE012"].title, RULES["HFE012"].explanation, "Bad:", "Good:", "fixable"):
        assert part in " ".join(shown.stdout.split())
    assert run_cli("rule", "12").stdout == run_cli("rule", "hfe012").stdout == shown.stdout
    several = run_cli("rule", "HFE012", "HFE401", "--format", "json").json["rules"]
    assert [rule["id"] for rule in several] == ["HFE012", "HFE401"]
    assert several[0]["bad"]["text"]


def test_all_rules_are_listed():
    assert run_cli("rule", "--format", "quiet").stdout.split() == list(RULES)
    assert all(rule.title in run_cli("rule").stdout for rule in RULES.values())


def test_an_unknown_rule_is_refused_with_a_guess():
    refused = run_cli("rule", "HFE0012")
    assert refused.exit_code == 2
    assert "HFE012" in refused.stderr


def test_the_page_in_the_documentation_is_the_catalogue_of_today():
    page = (Path(__file__).parents[1] / "docs" / "rules.md").read_text(encoding="utf-8")
    assert page == run_cli("rule", "--format", "markdown").stdout, "make docs writes it again"


@pytest.mark.parametrize(
    ("name", "meant"),
    [("HFE0012", "HFE012"), ("HFE021", "HFE012"), ("HFE6099", "HFE609"), ("E501", "HFE501"), ("HFE999", None),
     ("HFE123456", None), ("banana", None)],
)  # fmt: skip
def test_a_slip_in_a_number_is_told_and_another_number_is_not(name, meant):
    result = run_cli("rule", name)
    assert result.exit_code == 2
    assert (f"Did you mean {meant}?" in result.stderr) == (meant is not None)
    assert ("Did you mean" in result.stderr) == (meant is not None)
