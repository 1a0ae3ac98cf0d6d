"""Checks of the Hub's own fields, as its list of licences and its form of language codes have them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from hfenv.card.guessing import nearest
from hfenv.card.nodes import EntryNode, ScalarNode, find
from hfenv.card.quoting import short
from hfenv.card.reader import Card
from hfenv.card.repair import replace_span, without_item
from hfenv.card.vocabulary import LICENCES, has_variant, is_language, language_code, licence_of, relatives
from hfenv.findings import Finding, Repair
from hfenv.rules.catalogue import severity

RULES = ("HFE604", "HFE605", "HFE606")
_OR_LATER = re.compile(r"(?:[- ]or[- ]later|\+)$", re.IGNORECASE)


def check_publishing(card: Card) -> Iterator[Finding]:
    """Licences that the Hub doesn't know, `other` without a name, and languages that aren't codes."""
    licences = list(_texts(card.front_matter, "license"))
    taken = {licence for _, licence in licences if licence in LICENCES}
    for pointer, licence in licences:
        if licence not in LICENCES:
            yield _unknown_licence(card, pointer, licence, taken)
    other = [pointer for pointer, licence in licences if licence == "other"]
    if other and not {"license_name", "license_link"} & card.front_matter.keys():
        message = "the licence is 'other', and nothing says which one that is"
        fix = "Add 'license_name: NAME' and 'license_link: LICENSE', the file or an address."
        yield _finding(card, "HFE605", other[0], message, fix)
    languages = list(_texts(card.front_matter, "language"))
    taken = {language for _, language in languages if is_language(language)}
    for pointer, language in languages:
        if not is_language(language):
            yield _no_language(card, pointer, language, taken)


def _no_language(card: Card, pointer: str, language: str, taken: set[str]) -> Finding:
    code = language_code(language)
    message = f"the language '{short(language)}' is no language code"
    variants = " Regions and scripts go to language_bcp47." if has_variant(language) else ""
    if code is None:
        return _finding(card, "HFE606", pointer, message, f"Write ISO 639 codes such as en or zh.{variants}")
    return _cured(_finding(card, "HFE606", pointer, message, f"Write {code}.{variants}"), card, code, taken)


def _texts(front_matter: Mapping[str, Any], key: str) -> Iterator[tuple[str, str]]:
    """The texts of a field that holds one or a list of them, with their pointers; others break the schema."""
    value = front_matter.get(key)
    if isinstance(value, str) and value:
        yield f"/{key}", value
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, str) and item:
            yield f"/{key}/{index}", item


def _unknown_licence(card: Card, pointer: str, licence: str, taken: set[str]) -> Finding:
    message = f"the Hub knows no licence '{short(licence)}'"
    if (certain := licence_of(licence)) is not None:
        finding = _finding(card, "HFE604", pointer, message, f"Did you mean '{certain}'?")
        return _cured(finding, card, certain, taken)
    earlier = licence_of(_OR_LATER.sub("", licence))
    # Licences of one name and another number are other licences.
    alike = [name for name in sorted(LICENCES) if re.findall(r"\d+", name) == re.findall(r"\d+", licence)]
    if (meant := earlier or nearest(licence, alike, 0.75)) is not None:
        fix = f"Did you mean '{meant}'?"
    elif known := relatives(licence):
        fix = f"Write one of {', '.join(known[:6])}, or other with license_name and license_link."
    else:
        fix = "Write an identifier of the Hub's list, or other with license_name and license_link."
    return _finding(card, "HFE604", pointer, message, fix)


def _cured(finding: Finding, card: Card, word: str, taken: set[str]) -> Finding:
    """With the certain word in the place of the text, or without the text where its list has the word already."""
    if word in taken:
        repair = without_item(card, finding.pointer)
        rest = (finding.fix or "").partition(". ")[2]
        fix = f"Remove it: '{word}' is there already. {rest}".rstrip()
        return replace(finding, fix=fix, repair=repair)
    taken.add(word)
    return replace(finding, repair=_plain_text(card, finding.pointer, word))


def _finding(card: Card, rule: str, pointer: str, message: str, fix: str) -> Finding:
    at = card.place(pointer)
    return Finding(rule, severity(rule), card.path, message, pointer, at.line, at.column, fix)


def _plain_text(card: Card, pointer: str, text: str) -> Repair | None:
    """Another text in the place of a scalar, in the quotes that it has."""
    chain, exists = find(card.root, pointer)
    node = chain[-1].value if isinstance(chain[-1], EntryNode) else chain[-1]
    if not exists or not isinstance(node, ScalarNode) or node.style not in ("", "'", '"'):
        return None
    return replace_span(card, node.start, node.end, f"{node.style}{text}{node.style}")
