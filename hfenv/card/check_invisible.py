"""Characters in the header that nobody sees: zero-width spaces, soft hyphens, and signs that turn the direction."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from hfenv.card.nodes import EntryNode, MappingNode, Node, ScalarNode, SequenceNode, escape
from hfenv.card.reader import Card
from hfenv.card.repair import replace_span
from hfenv.card.unseen import unseen
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

RULE = "HFE017"
_NAMES = {"\u00ad": "a soft hyphen", "\u200b": "a zero-width space", "\u3164": "a Hangul filler"}


def check_invisible(card: Card) -> Iterator[Finding]:
    """Invisible characters in the header, comments included, that the script around them has no use for."""
    text = card.text
    for start, end in unseen(text, card.header.start, card.header.end):
        at = card.lines.position(start)
        more = f" and {end - start - 1} more like it" if end - start > 1 else ""
        yield Finding(
            RULE,
            severity(RULE),
            card.path,
            f"the header contains {_name(text[start])} here, which nobody sees{more}",
            _pointer(card.root, start),
            at.line,
            at.column,
            "Remove it; where it is meant, write it as an escape in double quotes.",
            replace_span(card, start, end, ""),
        )


def _name(sign: str) -> str:
    name = _NAMES.get(sign) or f"the character {unicodedata.name(sign, '').lower()}".rstrip()
    return f"{name} (U+{ord(sign):04X})"


def _pointer(node: Node, index: int, pointer: str = "") -> str:
    """The place of the scalar, key or value, in which an offset lies; empty where it is none."""
    below: list[tuple[str, Node]] = []
    if isinstance(node, ScalarNode):
        return pointer
    if isinstance(node, SequenceNode):
        below = [(f"{pointer}/{i}", item) for i, item in enumerate(node.items)]
    elif isinstance(node, MappingNode):
        for entry in node.entries:
            if _holds(entry, index):
                here = f"{pointer}/{escape(entry.key.text)}"
                return here if entry.key.start <= index < entry.key.end else _pointer(entry.value, index, here)
    return next((_pointer(item, index, place) for place, item in below if item.start <= index < item.end), "")


def _holds(entry: EntryNode, index: int) -> bool:
    return any(node.start <= index < node.end for node in (entry.key, entry.value))
