"""Violations of the schema in the words of an author, with the cure where it is certain."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hfenv.card.nodes import EntryNode, Node, Position, ScalarNode, find
from hfenv.card.reader import Card
from hfenv.findings import Finding, Severity
from hfenv.rules.catalogue import severity

_TYPES = {
    "string": "text",
    "object": "a mapping",
    "array": "a list",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}
_VERSION = re.compile(r"[vV=]?\s*(\d+)(?:\.(\d+))?(?:\.(\d+))?((?:-[0-9A-Za-z.-]+)?)(?:\+[0-9A-Za-z.-]*)?")
_LONGEST = 60  # of an author's text that a message repeats


@dataclass(frozen=True, slots=True)
class Violation:
    """One keyword of the schema that a value breaks; `key` is a missing or unknown key, `known` are those allowed."""

    pointer: str
    keyword: str
    value: Any
    schema: Mapping[str, Any]
    key: str = ""
    known: tuple[str, ...] = ()
    limit: Any = None

    @property
    def guess(self) -> str | None:
        """For an unknown key, the known one that was probably meant."""
        return nearest(self.key, [key for key in self.known if key not in self.value])


def nearest(word: str, known: list[str]) -> str | None:
    """The known word that was probably meant; letter case, dashes and underscores don't count."""
    folded = {key.lower().replace("-", "_"): key for key in known}
    close = difflib.get_close_matches(word.lower().replace("-", "_"), list(folded), n=1, cutoff=0.7)
    return folded[close[0]] if close else None


def describe(card: Card, violation: Violation) -> Finding:
    """The finding for one violation."""
    if violation.keyword in ("required", "dependentRequired"):
        return _missing(card, violation)
    if violation.keyword in ("unknown", "propertyNames"):
        return _bad_key(card, violation)
    node = _node(card, violation.pointer)
    name = violation.pointer.rsplit("/", 1)[-1]
    where = violation.pointer.removeprefix("/environment/").removeprefix("/").replace("/", ".")
    if isinstance(node, ScalarNode) and _wants_quotes(violation, node):
        return _unquoted(card, violation, node, where)
    at = card.place(violation.pointer)
    if violation.schema.get("x-rule") == "HFE106" and violation.keyword == "pattern":
        return _version(card, violation, where, at)
    rule, message, fix = _plain(violation, where, node)
    if violation.keyword == "enum" and isinstance(violation.value, str):
        guess = nearest(violation.value, [str(item) for item in violation.limit])
        fix = f"Did you mean '{guess}'?" if guess else fix
    return _finding(card, rule, message, pointer=violation.pointer, at=at, fix=fix or f"Correct {name}.")


def _missing(card: Card, violation: Violation) -> Finding:
    under = violation.pointer.removeprefix("/environment").removeprefix("/").replace("/", ".")
    at = card.key_position(violation.pointer)
    pointer = f"{violation.pointer}/{violation.key}"
    text = card.lines.position  # the place of a missing key is the key above it
    description = _first_sentence(violation.schema, violation.key)
    if violation.keyword == "dependentRequired":
        message = f"'{violation.key}' is missing in {under}: it is needed with {violation.known[0]}"
        return _finding(card, "HFE108", message, pointer=pointer, at=at, fix=f"Add '{violation.key}'.")
    if not violation.pointer:
        others = [key for key in card.front_matter if key not in violation.known]
        meant = nearest(violation.key, others)
        if meant is not None:
            entry = card.root.entry(meant)
            at = text(entry.key.start) if entry else at
            fix = f"Did you mean '{violation.key}' where it says '{meant}'?"
        else:
            fix = f"Add the block '{violation.key}:'; `hfenv init` writes one to start from."
        message = f"the header has no '{violation.key}' block, so this is no Environment Card yet"
        return _finding(card, "HFE101", message, pointer=pointer, at=at, fix=fix)
    where = under or "environment"
    message = f"'{violation.key}' is missing in {where}"
    return _finding(
        card, "HFE101", message, pointer=pointer, at=at, fix=f"Add '{violation.key}'. {description}".strip()
    )


def _bad_key(card: Card, violation: Violation) -> Finding:
    if violation.keyword == "propertyNames":
        pointer = f"{violation.pointer}/{violation.key}"
        expected = violation.schema.get("x-expected", "another name")
        message = f"the name '{_short(violation.key)}' doesn't fit: expected {expected}"
        return _finding(card, "HFE105", message, pointer=pointer, at=card.key_position(pointer), fix="Rename it.")
    pointer = f"{violation.pointer}/{violation.key.replace('~', '~0').replace('/', '~1')}"
    under = violation.pointer.removeprefix("/environment").removeprefix("/").replace("/", ".") or "environment"
    if (guess := violation.guess) is not None:
        fix = f"Did you mean '{guess}'?"
    else:
        fix = f"Remove it; known here: {', '.join(violation.known)}."
    message = f"unknown key '{_short(violation.key)}' in {under}"
    return _finding(card, "HFE104", message, pointer=pointer, at=card.key_position(pointer), fix=fix)


def _wants_quotes(violation: Violation, node: ScalarNode) -> bool:
    """A plain scalar that is a number or a truth value only for the want of quotes."""
    if node.style or isinstance(node.value, str) or node.value is None:
        return False
    if violation.keyword == "const":
        return bool(violation.limit == node.text)
    types = violation.limit if isinstance(violation.limit, list) else [violation.limit]
    return violation.keyword == "type" and "string" in types and not {"number", "integer", "boolean"} & set(types)


def _unquoted(card: Card, violation: Violation, node: ScalarNode, where: str) -> Finding:
    kind = "true or false" if isinstance(node.value, bool) else f"the number {node.value}"
    text = node.text
    if violation.schema.get("x-rule") == "HFE106":
        text = _proposal(text) or text
    message = f"{where} is read as {kind}, not as text: {_short(node.text)} has no quotes"
    at = card.place(violation.pointer)
    return Finding(
        "HFE012",
        Severity.ERROR,
        card.path,
        message,
        violation.pointer,
        at.line,
        at.column,
        f'Write "{text}", with the quotes.',
    )


def _version(card: Card, violation: Violation, where: str, at: Position) -> Finding:
    text = str(violation.value)
    proposal = _proposal(text)
    if "+" in text and proposal:
        message = f"{where} '{_short(text)}' has build metadata, which doesn't count when versions are compared"
    else:
        message = f"{where} '{_short(text)}' is no semantic version: three numbers, such as 1.0.0"
    fix = f'Write "{proposal}".' if proposal else 'Write a version such as "1.0.0".'
    return _finding(card, "HFE106", message, pointer=violation.pointer, at=at, fix=fix)


def _proposal(text: str) -> str | None:
    """The semantic version that was probably meant: 1.0 is 1.0.0, v1.2 is 1.2.0, a `+build` goes."""
    match = _VERSION.fullmatch(text.strip())
    if match is None or any(len(part or "") > 9 for part in match.group(1, 2, 3)):
        return None
    numbers = ".".join(str(int(part or 0)) for part in match.group(1, 2, 3))
    return numbers + match[4]


def _plain(violation: Violation, where: str, node: Node | None) -> tuple[str, str, str | None]:
    """Rule, message and cure for a value that breaks one keyword."""
    expected = violation.schema.get("x-expected")
    shown = "this value" if violation.schema.get("x-private") else _shown(violation.value)
    limit = violation.limit
    rule, message, fix = str(violation.schema.get("x-rule", "HFE102")), "", None
    if violation.keyword == "type":
        types = limit if isinstance(limit, list) else [limit]
        wanted = " or ".join(_TYPES[kind] for kind in types)
        empty = isinstance(node, ScalarNode) and not node.text and not node.style
        message = f"{where} must be {expected or wanted}, not {'empty' if empty else shown}"
        return "HFE102", message, "Give it a value, or remove the key." if empty else f"Write {expected or wanted}."
    if violation.keyword in ("enum", "const"):
        options = ", ".join(str(item) for item in limit) if isinstance(limit, list) else json.dumps(limit)
        message = f"{where} can't be {shown}"
        rule, fix = "HFE103", f"Expected: {expected or options}."
        if expected is not None and "since" in expected:
            rule = "HFE108"
    elif violation.keyword == "pattern":
        rule, message, fix = "HFE105", f"{where} can't be {shown}", f"Expected {expected or 'another form'}."
    elif violation.keyword in ("oneOf", "anyOf"):
        rule, message = "HFE108", f"{where} needs {expected or 'another set of fields'}"
        fix = f"Give {expected or 'them'}."
    else:
        rule, (message, fix) = "HFE107", _bounds(violation, where, shown, expected)
    return rule, message, fix


def _bounds(violation: Violation, where: str, shown: str, expected: str | None) -> tuple[str, str]:
    limit = violation.limit
    words = {
        "minimum": f"is {shown}, but at least {limit} makes sense",
        "maximum": f"is {shown}, but at most {limit} makes sense",
        "exclusiveMinimum": f"is {shown}, but must be above {limit}",
        "minLength": "is empty",
        "minItems": f"has too few entries: at least {limit}",
        "maxItems": f"has too many entries: at most {limit}",
        "minProperties": "is empty",
    }
    message = f"{where} {words.get(violation.keyword, 'does not fit the schema')}"
    return message, f"Expected {expected}." if expected else "Correct the value."


def _node(card: Card, pointer: str) -> Node | None:
    chain, exists = find(card.root, pointer)
    last = chain[-1]
    return (last.value if isinstance(last, EntryNode) else last) if exists else None


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f"'{_short(value)}'"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    try:
        return json.dumps(value)
    except ValueError:  # an integer of more digits than Python prints
        return "a very long number"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _first_sentence(schema: Mapping[str, Any], key: str) -> str:
    description = str(schema.get("properties", {}).get(key, {}).get("description", ""))
    return f"{re.split(r'[.:;]', description)[0]}." if description else ""


def _finding(card: Card, rule: str, message: str, *, pointer: str, at: Position, fix: str) -> Finding:
    return Finding(rule, severity(rule), card.path, message, pointer, at.line, at.column, fix)
