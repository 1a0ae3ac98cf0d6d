"""Spans of a text as byte edits of its file."""

from __future__ import annotations

from hfenv.findings import Edit, Repair


def splice(text: str, marked: bool, *spans: tuple[int, int, str]) -> Repair:
    """The cure that replaces spans of a card's text: start and end in code points, ascending, and the new text.

    `marked` says that the file has a byte-order mark in front of the text.
    """
    edits, index, offset = [], 0, 3 * marked
    for start, end, new in spans:
        offset += len(text[index:start].encode())
        length = len(text[start:end].encode())
        edits.append(Edit(offset, offset + length, new.encode()))
        index, offset = end, offset + length
    return Repair(tuple(edits))
