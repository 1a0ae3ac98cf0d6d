"""Merge Environment Cards: the front matter by key, so that comments and order stay, the body by lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hfenv.card.edit import REMOVE, alike, set_values
from hfenv.card.nodes import escape
from hfenv.card.reader import Card, parse_card
from hfenv.components.versions import parse_version
from hfenv.errors import UnreadableError
from hfenv.hub.merging.text import Merged, line_end, marked, merge_lines, with_line_end

_COMMENT = re.compile(r"(?m)(?:^|(?<=\s))#.*$")
_ABSENT: Any = object()
# hfenv writes these at each push: what the hub has belongs to its release, and the next push writes them again.
_WRITTEN = ("/environment/release", "/environment/tasks/difficulty", "/configs", "/size_categories")
_VERSIONS = ("/environment/code/version", "/environment/tasks/version", "/environment/reward/version")


@dataclass(frozen=True, slots=True)
class MergedCard:
    """The merged card, and the keys (JSON Pointers) that both sides changed, each its own way."""

    merged: Merged
    keys: tuple[str, ...]


def merge_cards(base: bytes | None, here: bytes, hub: bytes) -> MergedCard:
    """The three-way merge of two cards. Of two versions of a component the higher one counts.

    What the hub changed in the front matter besides values, as comments and order, comes along; where it can't, and a
    comment would be lost, both headers stand between markers. A card that can't be read, or not edited in place, is
    merged by lines as a whole.
    """
    end = line_end(here)
    base, hub = base if base is None else with_line_end(base, end), with_line_end(hub, end)
    try:
        before = parse_card(base) if base is not None else None
        ours, theirs = parse_card(here), parse_card(hub)
        taken: dict[str, Any] = {}
        conflicts: dict[str, Any] = {}
        for pointer, value, conflict in _changes(before.front_matter if before else {}, ours, theirs):
            (conflicts if conflict else taken)[pointer] = value
        ours, lost = _with_writing(before, parse_card(set_values(ours, taken)), theirs)
        other = parse_card(set_values(lost or ours, conflicts))
    except UnreadableError:
        return MergedCard(merge_lines(base, here, hub), ())
    open_ends = bool(conflicts) or lost is not None
    header = marked(_header(ours), _header(other)) if open_ends else _header(ours)
    body = merge_lines(_body(before).encode() if before else None, _body(ours).encode(), _body(theirs).encode())
    mark = b"\xef\xbb\xbf" if ours.marked else b""
    return MergedCard(
        Merged(mark + header.encode() + body.content, body.conflict or open_ends), tuple(sorted(conflicts))
    )


def _with_writing(before: Card | None, merged: Card, hub: Card) -> tuple[Card, Card | None]:
    """The merged card as the hub writes it, too: its comments, its order, its blank lines.

    With the same values on all sides, what is left is how each of them is written, and that merges by lines. Returns
    the card, and the hub's where a comment of it found no place.
    """
    if before is None or _header(before) == _header(hub):
        return merged, None
    try:
        base, theirs = (_levelled(side, merged.front_matter) for side in (before, hub))
        lines = merge_lines(*(_header(side).encode() for side in (base, merged, theirs)))
        if not lines.conflict:
            mark = b"\xef\xbb\xbf" if merged.marked else b""
            written = parse_card(mark + lines.content + _body(merged).encode(), merged.path)
            if alike(written.front_matter, merged.front_matter):
                return written, None
    except UnreadableError:
        theirs = hub
    lost = _comments(hub) - _comments(before) - _comments(merged)
    return merged, theirs if lost else None


def _levelled(card: Card, values: Mapping[str, Any]) -> Card:
    """The card with other values, written as it is where they are the same."""
    wanted: dict[str, Any] = {f"/{escape(str(key))}": value for key, value in values.items()}
    gone = {f"/{escape(str(key))}": REMOVE for key in card.front_matter if key not in values}
    return parse_card(set_values(card, {**gone, **wanted}), card.path)


def _comments(card: Card) -> set[str]:
    return {match.group().strip() for match in _COMMENT.finditer(_header(card))}


def _header(card: Card) -> str:
    return card.text[: card.header.body]


def _body(card: Card) -> str:
    return card.text[card.header.body :]


def _changes(base: Mapping[str, Any], here: Card, hub: Card) -> Iterator[tuple[str, Any, bool]]:
    yield from _below(base, here.front_matter, hub.front_matter, "")


def _below(
    base: Mapping[str, Any], here: Mapping[str, Any], hub: Mapping[str, Any], pointer: str
) -> Iterator[tuple[str, Any, bool]]:
    """Pointer, the hub's value (REMOVE where it has none), and whether this side changed it as well."""
    for key in dict.fromkeys([*here, *hub]):
        place = f"{pointer}/{escape(str(key))}"
        before, ours, theirs = (side.get(key, _ABSENT) for side in (base, here, hub))
        if _same(theirs, ours) or _same(theirs, before):
            continue
        if _same(ours, before) or place in _WRITTEN:
            yield place, REMOVE if theirs is _ABSENT else theirs, False
        elif isinstance(ours, dict) and isinstance(theirs, dict):
            yield from _below(before if isinstance(before, dict) else {}, ours, theirs, place)
        elif place in _VERSIONS and (higher := _higher(ours, theirs)) is not None:
            if higher != ours:
                yield place, higher, False
        else:
            yield place, REMOVE if theirs is _ABSENT else theirs, True


def _same(one: Any, other: Any) -> bool:
    return one is other if _ABSENT in (one, other) else alike(one, other)


def _higher(ours: Any, theirs: Any) -> str | None:
    try:
        return str(max(ours, theirs, key=parse_version))
    except (ValueError, TypeError, UnreadableError):
        return None
