"""Violations of the schema in the words of an author, with the cure, for a machine too where it is certain."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hfenv.card import cures
from hfenv.card.guessing import nearest
from hfenv.card.nodes import EntryNode, Node, ScalarNode, escape, find
from hfenv.card.quoting import dotted, number, short, shown
from hfenv.card.reader import Card
from hfenv.card.repair import rewrite
from hfenv.card.scalars import other_reading
from hfenv.card.stumbles import space_behind_colon
from hfenv.card.unknown import unknown_key
from hfenv.card.violation import Violation
from hfenv.findings import Finding, Repair, Severity
from hfenv.rules.catalogue import severity

__all__ = ["Violation", "describe", "nearest"]

_TYPES = {
    "string": "text",
    "object": "a mapping",
    "array": "a list",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}


def describe(card: Card, violation: Violation) -> Finding:
    """The finding for one violation."""
    if violation.keyword in ("required", "dependentRequired"):
        return _missing(card, violation)
    if violation.keyword == "unknown":
        return unknown_key(card, violation)
    if violation.keyword == "propertyNames":
        return _bad_name(card, violation)
    node = _node(card, violation.pointer)
    where = dotted(violation.pointer)
    if isinstance(node, ScalarNode):
        if _wants_quotes(violation, node):
            return _unquoted(card, violation, node, where)
        if violation.schema.get("x-rule") == "HFE106" and violation.keyword == "pattern":
            return _version(card, violation, node, where)
        if violation.keyword == "type" and (cure := cures.typed(violation, node)) is not None:
            return _other_type(card, violation, node, cure)
    return _plain(card, violation, node, where)


def _missing(card: Card, violation: Violation) -> Finding:
    under = dotted(violation.pointer)
    pointer = f"{violation.pointer}/{violation.key}"
    if violation.keyword == "dependentRequired":
        message = f"'{violation.key}' is missing in {under}: it is needed with {violation.known[0]}"
        return _finding(card, "HFE108", message, pointer=pointer, fix=f"Add '{violation.key}'.", key=True)
    if not violation.pointer:
        others = [key for key in card.front_matter if key not in violation.known]
        meant = nearest(violation.key, others)
        fix = f"Add the block '{violation.key}:'; `hfenv init` writes one to start from."
        fix = f"Did you mean '{violation.key}' where it says '{short(meant)}'?" if meant else fix
        entry = card.root.entry(meant) if meant else None
        message = f"the header has no '{violation.key}' block, so this is no Environment Card yet"
        finding = _finding(card, "HFE101", message, pointer=pointer, fix=fix, key=True)
        return _moved(card, finding, entry) if entry is not None else finding
    message = f"'{violation.key}' is missing in {under}"
    if violation.pointer == "/environment" and (entry := card.root.entry(violation.key)) is not None:
        fix = "It stands at the left margin: indent it under environment."
        return _moved(card, _finding(card, "HFE101", message, pointer=pointer, fix=fix, key=True), entry)
    fix = f"Add '{violation.key}'{_what_it_is(violation.schema, violation.key)}"
    return _finding(card, "HFE101", message, pointer=pointer, fix=fix, key=True)


def _moved(card: Card, finding: Finding, entry: EntryNode) -> Finding:
    at = card.lines.position(entry.key.start)
    return replace(finding, line=at.line, column=at.column)


def _bad_name(card: Card, violation: Violation) -> Finding:
    expected = violation.schema.get("x-expected", "another name")
    message = f"the name '{short(violation.key)}' doesn't fit: expected {expected}"
    pointer = f"{violation.pointer}/{escape(violation.key)}"
    better = re.sub(r"[\s-]+", "_", violation.key.strip())
    fits = better != violation.key and re.search(str(violation.limit), better) is not None
    fix = f"Rename it to '{short(better)}'." if fits else "Rename it."
    return _finding(card, "HFE105", message, pointer=pointer, fix=fix, key=True)


def _wants_quotes(violation: Violation, node: ScalarNode) -> bool:
    """A plain scalar that is a number or a truth value only for the want of quotes."""
    if node.style or isinstance(node.value, str) or node.value is None:
        return False
    if violation.keyword == "const":
        return bool(violation.limit == node.text)
    types = cures.types_of(violation)
    pattern = violation.schema.get("pattern")
    if pattern and not re.search(pattern, cures.version(node.text) or node.text):
        return False
    return violation.keyword == "type" and "string" in types and not {"number", "integer", "boolean"} & types


def _unquoted(card: Card, violation: Violation, node: ScalarNode, where: str) -> Finding:
    kind = "true or false" if isinstance(node.value, bool) else f"the number {short(number(node.value))}"
    text = node.text
    if violation.schema.get("x-rule") == "HFE106":
        text = cures.version(text) or text
    message = f"{where} is read as {kind}, not as text: {short(node.text)} has no quotes"
    fix = f'Write "{short(text)}", with the quotes.'
    repair = rewrite(card, node, text, quoted=True)
    if (other := cures.instead_of_number(violation.pointer, node.text)) is not None:
        fix, repair = other, None
    return _at(card, "HFE012", message, pointer=violation.pointer, node=node, fix=fix, repair=repair)


def _other_type(card: Card, violation: Violation, node: ScalarNode, cure: cures.Typed) -> Finding:
    """A value of the wrong type that is meant as one of the right type for certain."""
    where, wanted = dotted(violation.pointer), _wanted(violation)
    repair = rewrite(card, node, cure.text, quoted=False)
    fix = f"Write {short(cure.text)}{cure.remark}."
    other = None if node.style else other_reading(node.text)
    if other is not None and isinstance(node.value, str):
        message = f"{where}: {short(node.text)} is text here, but {other} to readers of YAML 1.1"
        return _at(card, "HFE012", message, pointer=violation.pointer, node=node, fix=fix, repair=repair)
    message = f"{where} must be {wanted}, not {shown(violation.value)}"
    return _at(card, "HFE102", message, pointer=violation.pointer, node=node, fix=fix, repair=repair)


def _version(card: Card, violation: Violation, node: ScalarNode, where: str) -> Finding:
    text = str(violation.value)
    proposal = cures.version(text)
    if "+" in text and proposal:
        message = f"{where} '{short(text)}' has build metadata, which doesn't count when versions are compared"
    else:
        message = f"{where} '{short(text)}' is no semantic version: three numbers, such as 1.0.0"
    fix = f'Write "{proposal}".' if proposal else 'Write a version such as "1.0.0".'
    repair = rewrite(card, node, proposal, quoted=True) if proposal else None
    return _at(card, "HFE106", message, pointer=violation.pointer, node=node, fix=fix, repair=repair)


def _wanted(violation: Violation) -> str:
    types = violation.limit if isinstance(violation.limit, list) else [violation.limit]
    return str(violation.schema.get("x-expected") or " or ".join(_TYPES[kind] for kind in types))


def _plain(card: Card, violation: Violation, node: Node | None, where: str) -> Finding:
    """A value that breaks one keyword, in general words."""
    expected = violation.schema.get("x-expected")
    private = bool(violation.schema.get("x-private"))
    value = "this value" if private else shown(violation.value)
    limit, repair = violation.limit, None
    rule, message, fix = str(violation.schema.get("x-rule", "HFE102")), "", f"Correct {where}."
    if violation.keyword == "type":
        empty = isinstance(node, ScalarNode) and not node.text and not node.style
        wanted = _wanted(violation)
        message = f"{where} must be {wanted}, not {'empty' if empty else value}"
        rule, fix = "HFE102", "Give it a value, or remove the key." if empty else f"Write {wanted}."
        if isinstance(node, ScalarNode) and not node.style and (space := space_behind_colon(node.text)) is not None:
            fix = f"Write a plain space behind the colon, where {space[0]} stands."
    elif violation.keyword in ("enum", "const"):
        options = [str(item) for item in limit] if isinstance(limit, list) else [json.dumps(limit)]
        message = f"{where} can't be {value}"
        rule = "HFE108" if expected is not None and "since" in expected else "HFE103"
        fix = f"Expected: {expected or ', '.join(options)}."
        fix, repair = _one_of(card, violation, node, options, fix)
    elif violation.keyword == "pattern":
        rule, message, fix = "HFE105", f"{where} can't be {value}", f"Expected {expected or 'another form'}."
        better = None if private else cures.respelt(violation)
        if better is not None:
            fix, repair = f'Write "{short(better)}".', rewrite(card, node, better, quoted=True)
        elif not private and (hint := cures.hint(violation)) is not None:
            fix = hint
    elif violation.keyword in ("oneOf", "anyOf"):
        rule, message = "HFE108", f"{where} needs {expected or 'another set of fields'}"
        fix = f"Give {expected or 'them'}."
    else:
        rule, (message, fix) = "HFE107", _bounds(violation, where, value, expected)
    finding = _finding(card, rule, message, pointer=violation.pointer, fix=fix, repair=repair)
    return replace(finding, private=True) if private else finding


def _one_of(
    card: Card, violation: Violation, node: Node | None, options: list[str], fix: str
) -> tuple[str, Repair | None]:
    """The cure for a text that isn't among those allowed; certain where it differs in style alone."""
    if not isinstance(violation.value, str) or not isinstance(violation.limit, list):
        return fix, None
    certain = cures.one_of(violation.value, options)
    guess = certain or nearest(violation.value, options)
    if guess is None:
        return fix, None
    plain = isinstance(node, ScalarNode) and not node.style
    return f"Did you mean '{guess}'?", rewrite(card, node, certain, quoted=not plain) if certain else None


def _bounds(violation: Violation, where: str, value: str, expected: str | None) -> tuple[str, str]:
    limit = violation.limit
    words = {
        "minimum": f"is {value}, but at least {limit} makes sense",
        "maximum": f"is {value}, but at most {limit} makes sense",
        "exclusiveMinimum": f"is {value}, but must be above {limit}",
        "minLength": "is empty",
        "maxLength": f"has too many characters: at most {limit}",
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


def _what_it_is(schema: Mapping[str, Any], key: str) -> str:
    """The values that a missing field may have, or the first sentence of its description."""
    field = schema.get("properties", {}).get(key, {})
    if options := field.get("enum"):
        return f": {', '.join(map(str, options[:-1]))} or {options[-1]}."
    first = re.split(r"[.:;](?:\s|$)", str(field.get("description", "")), maxsplit=1)[0]
    return f". {first}." if first else "."


def _at(
    card: Card, rule: str, message: str, *, pointer: str, node: ScalarNode, fix: str, repair: Repair | None
) -> Finding:
    at = card.lines.position(node.start)
    # Where a field wants text, a value that only looks like it isn't a matter of other readers.
    level = Severity.ERROR if rule == "HFE012" else severity(rule)
    return Finding(rule, level, card.path, message, pointer, at.line, at.column, fix, repair)


def _finding(
    card: Card, rule: str, message: str, *, pointer: str, fix: str, repair: Repair | None = None, key: bool = False
) -> Finding:
    """At the value, or with `key` at the key; a missing key has the place of the key above it."""
    parent = pointer.rpartition("/")[0]
    at = card.place(pointer) if not key else card.key_position(pointer if _node(card, pointer) else parent)
    return Finding(rule, severity(rule), card.path, message, pointer, at.line, at.column, fix, repair)
