"""Merge Environment Cards: the front matter by key, so that comments and order stay, the body by lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hfenv.card.edit import REMOVE, set_values
from hfenv.card.nodes import escape
from hfenv.card.reader import Card, parse_card
from hfenv.components.versions import parse_version
from hfenv.errors import UnreadableError
from hfenv.hub.merging.text import Merged, marked, merge_lines

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

    A card that can't be read, or not edited in place, is merged by lines as a whole.
    """
    try:
        before = parse_card(base) if base is not None else None
        ours, theirs = parse_card(here), parse_card(hub)
        taken: dict[str, Any] = {}
        conflicts: dict[str, Any] = {}
        for pointer, value, conflict in _changes(before.front_matter if before else {}, ours, theirs):
            (conflicts if conflict else taken)[pointer] = value
        ours = parse_card(set_values(ours, taken))
        other = parse_card(set_values(ours, conflicts))
    except UnreadableError:
        return MergedCard(merge_lines(base, here, hub), ())
    header = _header(ours) if not conflicts else marked(_header(ours), _header(other))
    body = merge_lines(_body(before).encode() if before else None, _body(ours).encode(), _body(theirs).encode())
    mark = b"\xef\xbb\xbf" if ours.marked else b""
    return MergedCard(
        Merged(mark + header.encode() + body.content, body.conflict or bool(conflicts)), tuple(sorted(conflicts))
    )


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
        if theirs in (ours, before):
            continue
        if ours == before or place in _WRITTEN:
            yield place, REMOVE if theirs is _ABSENT else theirs, False
        elif isinstance(ours, dict) and isinstance(theirs, dict):
            yield from _below(before if isinstance(before, dict) else {}, ours, theirs, place)
        elif place in _VERSIONS and (higher := _higher(ours, theirs)) is not None:
            if higher != ours:
                yield place, higher, False
        else:
            yield place, REMOVE if theirs is _ABSENT else theirs, True


def _higher(ours: Any, theirs: Any) -> str | None:
    try:
        return str(max(ours, theirs, key=parse_version))
    except (ValueError, TypeError, UnreadableError):
        return None
