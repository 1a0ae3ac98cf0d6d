"""Plain scalars, values and keys, that another YAML reader takes for something else, and numbers that aren't finite."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from hfenv.card.accepts import is_number
from hfenv.card.nodes import MappingNode, Node, ScalarNode, SequenceNode, escape
from hfenv.card.quoting import dotted, number, short
from hfenv.card.reader import Card
from hfenv.card.repair import rewrite
from hfenv.card.scalars import MERGE_KEY, other_reading, plain_value
from hfenv.findings import Finding, Repair
from hfenv.rules.catalogue import severity

# Fields that name something: where one of them looks like a number, a text was meant.
_NAMING = re.compile(r"(?:^|[_-])(?:version|revision|release|commit|hash|digest|sha\d*)s?$", re.IGNORECASE)
_HASH = re.compile(r"[0-9]{7,}|[0-9]+[eE][0-9]+")
_WHOLE_HASH = (40, 64)  # digits of a git commit and of a SHA-256
_LOSES_ZERO = re.compile(r"[0-9]+\.[0-9]*[0-9]0")
_Cure = tuple[str, Repair | None]  # in words, and for a machine


def check_scalars(card: Card) -> Iterator[Finding]:
    """All of a card, in the order of its text."""
    for pointer, key, node in _scalars(card.root, ""):
        if key is not None and not key.style and (finding := _key(card, pointer, key)) is not None:
            yield finding
        if node is not None and (finding := _value(card, pointer, node)) is not None:
            yield finding


def check_finite(card: Card) -> Iterator[Finding]:
    """Numbers of the block that JSON, digests and rollouts couldn't hold; the schema has no word for them."""
    if _all_finite(card.block):
        return
    for pointer, _, node in _scalars(card.root, ""):
        if node is not None and (finding := _infinite(card, pointer, node)) is not None:
            yield finding


def _scalars(node: Node, pointer: str) -> Iterator[tuple[str, ScalarNode | None, ScalarNode | None]]:
    """Pointer, key and value of every entry below a node, None for a value that is no scalar; items have no key."""
    if isinstance(node, SequenceNode):
        for index, item in enumerate(node.items):
            below = f"{pointer}/{index}"
            if isinstance(item, ScalarNode):
                yield below, None, item
            else:
                yield from _scalars(item, below)
    elif isinstance(node, MappingNode):
        for entry in node.entries:
            below = f"{pointer}/{escape(entry.key.text)}"
            if isinstance(entry.value, ScalarNode):
                yield below, entry.key, entry.value
            else:
                yield below, entry.key, None
                yield from _scalars(entry.value, below)


def _infinite(card: Card, pointer: str, node: ScalarNode) -> Finding | None:
    if not is_number(node.value) or not pointer.startswith("/environment/") or _is_finite(node.value):
        return None
    named = isinstance(node.value, float) and not node.text[-1:].isdigit()  # .inf and .nan
    what = "no finite number" if named else "more than a number of double precision holds"
    message = f"{dotted(pointer)} is {short(node.text)}, {what}"
    return _finding(card, "HFE109", (pointer, node), message, ("Write a number.", None))


def _all_finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_all_finite, value.values()))
    if isinstance(value, list):
        return all(map(_all_finite, value))
    return not isinstance(value, (int, float)) or _is_finite(value)


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:  # an integer beyond what JSON readers hold in a double
        return False


def _value(card: Card, pointer: str, node: ScalarNode) -> Finding | None:
    if node.style or not node.text:
        return None
    if (other := other_reading(node.text)) is None:
        return _named(card, pointer, node)
    text = short(node.text)
    if isinstance(node.value, str):
        message = f"{dotted(pointer)}: {text} is text here, but {other} to readers of YAML 1.1"
        return _finding(card, "HFE012", (pointer, node), message, _quotes(card, node))
    message = f"{dotted(pointer)}: {text} is the number {short(number(node.value))} here, but {other} to readers of "
    return _finding(card, "HFE012", (pointer, node), message + "YAML 1.1", _as_number(card, pointer, node))


def _named(card: Card, pointer: str, node: ScalarNode) -> Finding | None:
    """A number, to every reader, in a field without a type that names something: a version 1.10, a hash of digits."""
    if not is_number(node.value):
        return None
    whole = node.text.isdigit() and len(node.text) in _WHOLE_HASH
    if not whole and (_NAMING.search(_field(pointer)) is None or not _looks_like_text(node.text)):
        return None
    if types_at(pointer) & {"number", "integer"}:
        return None
    message = f"{dotted(pointer)}: {short(node.text)} is the number {short(number(node.value))} to every reader"
    return _finding(card, "HFE012", (pointer, node), message, _quotes(card, node))


def _field(pointer: str) -> str:
    """The last key of a pointer that is no index."""
    return next((token for token in reversed(pointer.split("/")) if not token.isdigit()), "")


def _looks_like_text(text: str) -> bool:
    return _HASH.fullmatch(text) is not None or _LOSES_ZERO.fullmatch(text) is not None


def _as_number(card: Card, pointer: str, node: ScalarNode) -> _Cure:
    """Where a number is wanted, or nothing else can be meant, it stays one; else quotes keep what is written."""
    plain = number(node.value)
    plain = plain if "." in plain else re.sub(r"(?=e)", ".0", plain)
    wanted = types_at(pointer) & {"number", "integer"}
    if (
        not (wanted or (_is_clear(node.text) and not _NAMING.search(_field(pointer))))
        or other_reading(plain) is not None
    ):
        return _quotes(card, node)
    if not _is_finite(node.value):
        return "Write a number.", None
    return f"Write {short(plain)}.", rewrite(card, node, plain, quoted=False)


def _is_clear(text: str) -> bool:
    """1e3 and -1.5e3 are numbers to any author; 4225e04 is the beginning of a hash, 017 may be anything."""
    return "." in text or "-" in text or "+" in text or ("e" in text.lower() and len(text) < 7)


def _quotes(card: Card, node: ScalarNode) -> _Cure:
    return f'Write "{short(node.text)}", with the quotes.', rewrite(card, node, node.text, quoted=True)


def _key(card: Card, pointer: str, key: ScalarNode) -> Finding | None:
    other = other_reading(key.text)
    if key.text == MERGE_KEY:
        message = f"the key {MERGE_KEY} is text here, but merges mappings for readers of YAML 1.1"
        return _finding(card, "HFE012", (pointer, key), message, ("Write the fields out, without it.", None))
    if other is None and key.text and not isinstance(value := plain_value(key.text), str):
        # Numbers as keys mean the same to most readers; in our own block they are grades or names.
        if isinstance(value, (int, float)) and not isinstance(value, bool) and not pointer.startswith("/environment/"):
            return None
        other = "nothing" if value is None else "true or false" if isinstance(value, bool) else "a number"
    if other is None or not key.text:
        return None
    where = dotted(pointer.rpartition("/")[0]) or "the header"
    message = f"the key {short(key.text)} in {where} is text here, but {other} to "
    return _finding(card, "HFE012", (pointer, key), f"{message}other readers of YAML", _quotes(card, key))


def types_at(pointer: str) -> set[str]:
    """The types that the schema names for a place; empty where it says nothing."""
    from hfenv.card.nodes import tokens
    from hfenv.card.schema import load_schema

    root = load_schema()
    schemas: list[Any] = [root]
    for token in tokens(pointer):
        below: list[Any] = []
        for schema in _with_references(root, schemas):
            if token in (properties := schema.get("properties", {})):
                below.append(properties[token])
            else:
                below.append(schema.get("items" if token.isdigit() else "additionalProperties"))
        schemas = [schema for schema in below if isinstance(schema, dict)]
    found: set[str] = set()
    for schema in _with_references(root, schemas):
        kinds = schema.get("type", ())
        found |= {kinds} if isinstance(kinds, str) else set(kinds)
    return found


def _with_references(root: Any, schemas: list[Any]) -> Iterator[Any]:
    for schema in schemas:
        yield schema
        if reference := schema.get("$ref"):
            target = root
            for token in str(reference).removeprefix("#/").split("/"):
                target = target[token]
            yield from _with_references(root, [target])


def _finding(card: Card, rule: str, place: tuple[str, ScalarNode], message: str, cure: _Cure) -> Finding:
    pointer, node = place
    at = card.lines.position(node.start)
    return Finding(rule, severity(rule), card.path, message, pointer, at.line, at.column, *cure)
