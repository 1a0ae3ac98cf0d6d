"""Cures of a card as byte edits: a value set by splicing, a scalar put in quotes, a span replaced."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hfenv.card.nodes import EntryNode, Node, ScalarNode, SequenceNode, find
from hfenv.card.reader import Card
from hfenv.card.splice import splice
from hfenv.errors import UnreadableError
from hfenv.findings import Edit, Repair

_MOST_COMPARED = 40_000  # pairs of lines


def replace_span(card: Card, start: int, end: int, text: str) -> Repair:
    """The cure that puts `text` in the place of code points `start` to `end` of the card's text."""
    return splice(card.text, card.marked, (start, end, text))


def rewrite(card: Card, node: Node | None, text: str, *, quoted: bool) -> Repair | None:
    """Another text for a scalar: as it is, or in the quotes that it has (double ones otherwise).

    None for what is no scalar on a line, and where `text` would need escapes in its quotes.
    """
    if not isinstance(node, ScalarNode) or node.style not in ("", "'", '"'):
        return None
    if not quoted:
        return replace_span(card, node.start, node.end, text)
    sign = node.style or '"'
    if sign in text or "\\" in text or not text.isprintable():
        return None
    return replace_span(card, node.start, node.end, f"{sign}{text}{sign}")


def rename_key(card: Card, entry: EntryNode, name: str) -> Repair | None:
    """Another name for a key; `name` needs no quotes, and gets those that the key has."""
    key = entry.key
    if key.style not in ("", "'", '"'):
        return None
    return replace_span(card, key.start, key.end, f"{key.style}{name}{key.style}")


def without_item(card: Card, pointer: str) -> Repair | None:
    """The cure that takes an item out of a list; None where it isn't one of several, or shares its line with others.

    In brackets it goes with a comma; in lines of its own the whole line goes, with a comment on it.
    """
    chain, exists = find(card.root, pointer)
    holder = chain[-2] if exists and len(chain) > 1 else card.root
    parent = holder.value if isinstance(holder, EntryNode) else holder
    if not isinstance(parent, SequenceNode) or len(parent.items) < 2:
        return None
    index = int(pointer.rpartition("/")[2])
    item = parent.items[index]
    if parent.flow:
        if index:
            return replace_span(card, parent.items[index - 1].end, item.end, "")
        return replace_span(card, item.start, parent.items[1].start, "")
    start = max(card.text.rfind("\n", 0, item.start), card.text.rfind("\r", 0, item.start)) + 1
    line = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)?").match(card.text, item.end)
    if line is None or card.text[start : item.start].strip() != "-":
        return None
    return replace_span(card, start, line.end(), "")


def set_in_place(card: Card, changes: Mapping[str, Any]) -> Repair | None:
    """The cure that sets values by JSON Pointer, as `set_values` does; None where that can't be done in place."""
    from hfenv.card.edit import set_values

    try:
        after = set_values(card, changes)
    except UnreadableError:
        return None
    return between(card.raw, after)


def between(before: bytes, after: bytes) -> Repair | None:
    """The edits that lead from one content to another, by line; None where they are equal."""
    if before == after:
        return None
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    head, tail = _alike(old, new)
    # What is alike at both ends needs no comparison, which takes long where many lines are the same.
    middle, changed = old[head : len(old) - tail], new[head : len(new) - tail]
    starts = [sum(map(len, old[:head]))]
    for line in middle:
        starts.append(starts[-1] + len(line))
    if len(middle) * len(changed) > _MOST_COMPARED:
        return Repair((_trimmed(Edit(starts[0], starts[-1], b"".join(changed)), before),))
    from difflib import SequenceMatcher

    edits = []
    for tag, i, j, k, m in SequenceMatcher(None, middle, changed, autojunk=False).get_opcodes():
        if tag != "equal":
            edits.append(_trimmed(Edit(starts[i], starts[j], b"".join(changed[k:m])), before))
    return Repair(tuple(edits))


def _alike(old: Sequence[bytes], new: Sequence[bytes]) -> tuple[int, int]:
    """How many items at the beginning and at the end are the same, without counting any twice."""
    shortest = min(len(old), len(new))
    head = next((i for i in range(shortest) if old[i] != new[i]), shortest)
    tail = next((i for i in range(shortest - head) if old[-1 - i] != new[-1 - i]), shortest - head)
    return head, tail


def _trimmed(edit: Edit, before: bytes) -> Edit:
    """The edit without what old and new text share at both ends, never splitting a character."""
    old, new = before[edit.start : edit.end], edit.text
    shortest = min(len(old), len(new))
    head = next((i for i in range(shortest) if old[i] != new[i]), shortest)
    while head and head < len(old) and old[head] & 0xC0 == 0x80:
        head -= 1
    tail = next((i for i in range(shortest - head) if old[-1 - i] != new[-1 - i]), shortest - head)
    while tail and old[len(old) - tail] & 0xC0 == 0x80:
        tail -= 1
    return Edit(edit.start + head, edit.end - tail, new[head : len(new) - tail])
