"""Bytes to text, and where the YAML header stands in it, by the same grammar as the Hub's own library."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hfenv.card.nodes import LineTable
from hfenv.card.problem import CardError

LARGEST = 256 * 1024
# The Hub's library: leading white space, a line of exactly three dashes, then lazily up to the next such line.
_HEADER = re.compile(r"(\s*---(?:\r\n|\r|\n))(|[\s\S]*?(?:\r\n|\r|\n))(---[ \t]*(?:\r\n|\n|\Z))")
_OPENING = re.compile(r"\s*---([^\r\n]*)(?:\r\n|\r|\n|\Z)")
# What YAML calls printable, without the byte-order mark: inside a header it is only ever an accident.
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Header:
    """Offsets into the text: the opening dashes, the YAML between (with its last line break), and the body."""

    opening: int
    start: int
    end: int
    body: int


def decode(raw: bytes, path: str) -> tuple[str, bool]:
    """The text without its byte-order mark, and whether there was one. Raises CardError."""
    marked = raw.startswith(b"\xef\xbb\xbf")
    content = raw[3:] if marked else raw
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        offset = error.start + (3 if marked else 0)
        at = LineTable.of(before := content[: error.start].decode("utf-8")).position(len(before))
        wide = raw[:2] in (b"\xff\xfe", b"\xfe\xff")
        raise CardError(
            "HFE002",
            path,
            f"the file is not UTF-8: byte {offset} is 0x{raw[offset]:02x}",
            f"Save it as UTF-8{'; it looks like UTF-16' if wide else ''}.",
            at.line,
            at.column,
        ) from None
    if (index := text.find("\0")) >= 0:
        at = LineTable.of(text).position(index)
        offset = len(text[:index].encode()) + (3 if marked else 0)
        raise CardError(
            "HFE003",
            path,
            f"the file contains a NUL byte, at byte {offset}",
            "Remove it; if the whole file is full of them, save it as UTF-8.",
            at.line,
            at.column,
        )
    return text, marked


def find_header(text: str, path: str, lines: LineTable) -> Header:
    """Where the header is; CardError if there is none, or it isn't closed, or it is too large."""
    match = _HEADER.match(text)
    opening = re.compile(r"\s*").match(text)
    first = opening.end() if opening else 0
    at = lines.position(min(first, len(text)))
    if match is None:
        raise _no_header(text, path, at.line, at.column)
    size = len(match[2].encode())
    if size > LARGEST:
        raise CardError(
            "HFE015",
            path,
            f"the header has {size // 1024:,} KiB; at most {LARGEST // 1024} KiB are read",
            "Move data out of the header into a file of the environment.",
            at.line,
            at.column,
        )
    if bad := _UNPRINTABLE.search(match[2]):
        at = lines.position(match.start(2) + bad.start())
        raise CardError(
            "HFE003",
            path,
            f"the header contains the invisible character U+{ord(bad.group()):04X}",
            "Remove it; in double quotes it can be written as an escape.",
            at.line,
            at.column,
        )
    return Header(first, match.start(2), match.end(2), match.end())


def _no_header(text: str, path: str, line: int, column: int) -> CardError:
    opening = _OPENING.match(text)
    if opening is None:
        what = "the file is empty" if not text.strip() else "the file doesn't start with a YAML header"
        cure = "Begin it with a line of three dashes, the fields, and another line of three dashes."
        return CardError("HFE004", path, what, f"{cure} `hfenv init` writes a card to start from.", 1, 1)
    if opening[1]:
        return CardError(
            "HFE004",
            path,
            "the first line is not exactly three dashes, so the Hub sees no header",
            "Remove what stands behind the dashes, spaces too.",
            line,
            column + 3,
        )
    return CardError(
        "HFE005",
        path,
        "the header is opened but never closed",
        "Add a line of three dashes behind the last field.",
        line,
        column,
    )
