"""Edit a card by splicing: only the spans that change are replaced, every other byte of the file stays."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from hfenv.card import emit
from hfenv.card.nodes import (
    EntryNode,
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    escape,
    find,
    is_index,
    tokens,
    value_of,
)
from hfenv.card.problem import CardError
from hfenv.card.reader import Card, parse_card
from hfenv.errors import UnreadableError

_LINE_END = re.compile(r"[^\r\n]*")


class _Remove(Enum):
    REMOVE = "remove"


REMOVE: Final = _Remove.REMOVE
"""Given as the value of a change: take the key away."""


def set_values(card: Card, changes: Mapping[str, Any]) -> bytes:
    """The card's bytes with each JSON Pointer of `changes` set to its value, or removed where that is `REMOVE`.

    Missing keys are added, with the mappings between; of a list, items are replaced or appended (index "-"). Where old
    and new value are both mappings or both lists, only what differs between them is touched. Raises UnreadableError
    when a place can't be edited without changing something else, and leaves the card as it is.
    """
    edited = card
    for pointer, value in changes.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(
                f"{value} is no JSON value"
            )  # one that stands in a card already may be moved with the rest
        try:
            wanted = _expected(edited.front_matter, pointer, value)
        except _NoPlaceError:
            raise _refused(edited, pointer) from None
        edited = _reach(edited, pointer, value)
        if not _same(edited.front_matter, wanted) or edited.text[edited.header.body :] != card.text[card.header.body :]:
            raise _refused(card, pointer)
    return edited.raw


class _NoPlaceError(Exception):
    """A pointer leads through a value that is no mapping or list, or names an item that a list doesn't have."""


def _refused(card: Card, pointer: str) -> UnreadableError:
    at = card.place(pointer)
    return UnreadableError(
        f"{card.path}:{at.line}:{at.column}: {pointer} can't be changed in place.",
        "Write that part of the header in plain block style, or change it by hand.",
    )


def _expected(front_matter: Mapping[str, Any], pointer: str, value: Any) -> Any:
    """The front matter as it must read after the edit, worked out without the text."""
    keys = tokens(pointer)
    if not keys:
        raise ValueError("the whole header can't be set; name a key")
    result = copy.deepcopy(front_matter)
    parent: Any = result
    for key in keys[:-1]:
        if isinstance(parent, list):
            parent = parent[_index(parent, key)]
            continue
        if not isinstance(parent, dict):
            raise _NoPlaceError
        if parent.get(key) is None:
            if value is REMOVE:
                return result
            parent[key] = {}
        parent = parent[key]
    if isinstance(parent, list):
        _set_item(parent, keys[-1], value)
    elif isinstance(parent, dict):
        if value is REMOVE:
            parent.pop(keys[-1], None)
        else:
            parent[keys[-1]] = copy.deepcopy(value)
    else:
        raise _NoPlaceError
    return result


def _index(items: list[Any], key: str) -> int:
    if not is_index(key, len(items)):
        raise _NoPlaceError
    return int(key)


def _set_item(items: list[Any], index: str, value: Any) -> None:
    if value is REMOVE:
        raise ValueError("an item of a list can't be removed; set the list")
    if index == "-":
        items.append(copy.deepcopy(value))
    else:
        items[_index(items, index)] = copy.deepcopy(value)


def _reach(card: Card, pointer: str, value: Any) -> Card:
    """One change: descend to where the pointer leaves what exists, and add, replace or remove there."""
    chain, exists = find(card.root, pointer)
    if exists:
        if value is REMOVE:
            return _spliced(card, *span_without(card.text, _node(chain[-2]), _entry(chain[-1])))
        return _change(card, pointer, _node(chain[-1]), value)
    if value is REMOVE:
        return card
    keys = tokens(pointer)
    missing = keys[len(chain) - 1 :]
    for key in reversed(missing[1:]):
        value = {key: value}
    parent = _node(chain[-1])
    return _add(card, "".join(f"/{escape(key)}" for key in keys[: len(chain) - 1]), parent, missing[0], value)


def _change(card: Card, pointer: str, node: Node, value: Any) -> Card:
    """Make a node read as `value`, touching no more of it than differs."""
    if alike(value_of(node), value):
        return card
    if isinstance(node, MappingNode) and isinstance(value, Mapping) and node.entries and value:
        for key in [entry.key.text for entry in node.entries if entry.key.text not in value]:
            card = _reach(card, f"{pointer}/{escape(key)}", REMOVE)
        for key, item in value.items():
            card = _reach(card, f"{pointer}/{escape(key)}", item)
        return card
    if isinstance(node, SequenceNode) and emit.is_list(value) and 0 < len(node.items) <= len(value):
        for index in range(len(node.items)):
            card = _reach(card, f"{pointer}/{index}", value[index])
        for item in value[len(node.items) :]:
            card = _reach(card, f"{pointer}/-", item)
        return card
    return _spliced(card, *_replacement(card, pointer, node, value))


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal, not-a-number being equal to itself."""
    return bool(one == other) or alike(one, other)


def alike(one: Any, other: Any) -> bool:
    """Whether two values are written alike: 1, 1.0 and true are not."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _node(step: EntryNode | Node) -> Node:
    return step.value if isinstance(step, EntryNode) else step


def _entry(step: EntryNode | Node) -> EntryNode:
    if not isinstance(step, EntryNode):
        raise ValueError("an item of a list can't be removed; set the list")
    return step


def _spliced(card: Card, start: int, end: int, text: str) -> Card:
    changed = card.text[:start] + text + card.text[end:]
    raw = (b"\xef\xbb\xbf" if card.marked else b"") + changed.encode()
    try:
        return parse_card(raw, card.path)
    except CardError as error:
        at = card.lines.position(start)
        raise UnreadableError(
            f"{card.path}:{at.line}:{at.column}: this place can't be edited without breaking the header "
            f"({error.problem}).",
            "Write that part of the header in plain block style, or change it by hand.",
        ) from error


def _line_end(text: str, index: int) -> int:
    match = _LINE_END.match(text, index)
    return match.end() if match else index


def _line_start(text: str, index: int) -> int:
    return max(text.rfind("\n", 0, index), text.rfind("\r", 0, index)) + 1


def _break(card: Card) -> str:
    """The line ending of the header's first line, for the lines that are added."""
    match = re.compile(r"\r\n|\n|\r").search(card.text)
    return match.group() if match else "\n"


def _in_flow(card: Card, pointer: str) -> bool:
    """Whether a place lies inside braces or brackets, where only flow style is possible."""
    chain = find(card.root, pointer)[0]
    return any(getattr(_node(step), "flow", False) for step in chain[:-1])


def _replacement(card: Card, pointer: str, node: Node, value: Any) -> tuple[int, int, str]:
    text = card.text
    start = _line_start(text, node.start)
    step = find(card.root, pointer)[0][-1]
    inline = _inline(card, pointer, node, value)
    if isinstance(node, ScalarNode) or node.flow:
        if inline is not None:
            return node.start, node.end, _spaced(text, node.start, inline)
        return _to_block(card, step, node, value)
    if not isinstance(step, EntryNode) or text[start : node.start].strip():
        lines = emit.block(value, node.start - start) if inline is None else [inline]
        return node.start, node.end, _break(card).join(lines).lstrip(" ")
    if inline is None:
        column = node.start - start
        key_column = step.key.start - _line_start(text, step.key.start)
        if column <= key_column and isinstance(value, Mapping):
            # Only a list may start in its key's own column.
            column = key_column + _step(card)
        return start, node.end, _break(card).join(emit.block(value, column))
    # The comment behind the key stays: the value goes right behind the colon, the old lines go.
    colon = text.index(":", step.key.end) + 1
    return colon, node.end, f" {inline}{text[colon:start].rstrip()}"


def _inline(card: Card, pointer: str, node: Node, value: Any) -> str | None:
    """The new value on one line; None where it is to stand in lines of its own."""
    if isinstance(value, str):
        return emit.scalar(value, node.style if isinstance(node, ScalarNode) else "")
    keeps_flow = not isinstance(node, ScalarNode) and node.flow and node.end - node.start > len("{}")
    if keeps_flow or emit.fits_flow(value) or _in_flow(card, pointer):
        return emit.flow(value)
    return None


def _to_block(card: Card, step: EntryNode | Node, node: Node, value: Any) -> tuple[int, int, str]:
    """A value on its key's line gives way to lines below the key, behind a comment that stands there."""
    text = card.text
    start = _line_start(text, node.start)
    if not isinstance(step, EntryNode):
        spaced = _spaced(text, node.start, "")
        lines = emit.block(value, node.start - start + len(spaced))
        return node.start, node.end, spaced + _break(card).join(lines).lstrip(" ")
    indent = step.key.start - _line_start(text, step.key.start) + _step(card)
    end = _line_end(text, node.end)
    comment = text[node.end : end].rstrip()
    colon = text.index(":", step.key.end) + 1
    return colon, end, _break(card).join([comment, *emit.block(value, indent)])


def _spaced(text: str, start: int, value: str) -> str:
    """A value right behind a colon or a dash needs a space before it."""
    return f" {value}" if text[start - 1 : start] in (":", "-") else value


def _step(card: Card) -> int:
    """By how much this header indents, from its first nested block mapping; 2 where there is none."""
    for entry in card.root.entries:
        value = entry.value
        if isinstance(value, MappingNode) and not value.flow and value.entries:
            return value.start - _line_start(card.text, value.start) or 2
    return 2


def _add(card: Card, pointer: str, parent: Node, key: str, value: Any) -> Card:
    """Add a key to a mapping, an item to a list, or the first key where there is nothing yet."""
    if isinstance(parent, ScalarNode) and parent.value is None and not parent.style:
        return _spliced(card, *_replacement(card, pointer, parent, {key: value}))
    if isinstance(parent, ScalarNode) or (isinstance(parent, SequenceNode) and key != "-"):
        raise ValueError(f"{pointer} has no place for {key!r}")
    children: tuple[EntryNode | Node, ...] = parent.entries if isinstance(parent, MappingNode) else parent.items
    if parent.flow:
        item = emit.flow(value)
        new = f"{emit.key_text(key)}: {item}" if isinstance(parent, MappingNode) else item
        at = children[-1].end if children else parent.start + 1
        bare = isinstance(last := children[-1] if children else None, EntryNode) and last.value.end == last.value.start
        return _spliced(card, at, at, f"{' ' * bare}, {new}" if children else new)
    lines = emit.block({key: value} if isinstance(parent, MappingNode) else [value], _column(card, parent))
    newline = _break(card)
    if not children:
        return _spliced(card, card.header.start, card.header.start, newline.join(lines) + newline)
    at = _behind_comments(card.text, _line_end(card.text, parent.end), _column(card, parent))
    return _spliced(card, at, at, newline + newline.join(lines))


def _behind_comments(text: str, index: int, column: int) -> int:
    """Comments that are indented deeper than the new key belong to what stands before it: the key goes behind them."""
    # One way only to match a line break: with two, blank lines of a file with CRLF would be tried in all combinations.
    blank = re.compile(r"(?:(?:\r?\n|\r(?!\n))[ \t]*(?=[\r\n]))*")
    deeper = re.compile(rf"(?:\r?\n|\r(?!\n)) {{{column + 1},}}#[^\r\n]*")
    while (gap := blank.match(text, index)) and (match := deeper.match(text, gap.end())):
        index = match.end()
    return index


def _column(card: Card, parent: MappingNode | SequenceNode) -> int:
    return parent.start - _line_start(card.text, parent.start) if parent is not card.root or parent.entries else 0


def span_without(text: str, parent: Node, entry: EntryNode) -> tuple[int, int, str]:
    """The span that goes when a key goes: its lines in a block mapping, its part of the braces in a flow mapping."""
    if not isinstance(parent, MappingNode):
        raise ValueError("an item of a list can't be removed; set the list")
    index = next(i for i, other in enumerate(parent.entries) if other is entry)
    after = parent.entries[index + 1] if index + 1 < len(parent.entries) else None
    if len(parent.entries) == 1:
        return parent.start, parent.end, "{}"
    if parent.flow:
        if after is not None:
            return entry.key.start, after.key.start, ""
        return (parent.entries[index - 1].end if index else entry.key.start), entry.end, ""
    start = _line_start(text, entry.key.start)
    if text[start : entry.key.start].strip():
        # The first key of a mapping that is an item of a list: the dash stays.
        return entry.key.start, after.key.start if after else entry.end, ""
    end = _line_end(text, entry.end)
    return start, end + len(_line_break(text, end)), ""


def _line_break(text: str, index: int) -> str:
    match = re.compile(r"\r\n|\n|\r|").match(text, index)
    return match.group() if match else ""
