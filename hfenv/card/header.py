"""Bytes to text, and where the YAML header stands in it, by the same grammar as the Hub's own library."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from hfenv.card.nodes import LineTable
from hfenv.card.problem import CardError
from hfenv.card.splice import splice

LARGEST = 256 * 1024
# The Hub's library: leading white space, a line of exactly three dashes, then lazily up to the next such line.
_HEADER = re.compile(r"(\s*---(?:\r\n|\r|\n))(|[\s\S]*?(?:\r\n|\r|\n))(---[ \t]*(?:\r\n|\n|\Z))")
_OPENING = re.compile(r"\s*---([^\r\n]*)(?:\r\n|\r|\n|\Z)")
# What YAML calls unprintable, and two signs that are only ever accidents in a header: the byte-order mark, and NEL,
# which ends a line for some readers. Named are the few bad ones: a large set of good ones takes long to compile.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufeff\ufffe\uffff]")
_SEPARATORS = re.compile("[\u2028\u2029]")
_MOST = 1000  # accidents that are mended at once
_LATER = re.compile(r"^---[ \t]*(?:\r\n|\n)(?=[A-Za-z_-]+:)", re.MULTILINE)


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
            f"Save it as UTF-8{'; it looks like UTF-16' if wide else looks_like(content)}.",
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
            "Save the file as UTF-8; it looks like UTF-16." if text.count("\0") > len(text) // 4 else "Remove it.",
            at.line,
            at.column,
        )
    return text, marked


def looks_like(content: bytes) -> str:
    """A clause that names the encoding of Chinese editors, where the bytes fit it and mean Chinese; else nothing."""
    try:
        text = content.decode("gb18030")
    except UnicodeDecodeError:
        return ""
    return "; it looks like GBK" if re.search("[\u4e00-\u9fff]{2}", text) else ""


def find_header(text: str, path: str, lines: LineTable, *, marked: bool = False) -> Header:
    """Where the header is; CardError if there is none, or it isn't closed, or it is too large.

    `marked` says that the file has a byte-order mark in front of the text.
    """
    match = _HEADER.match(text)
    opening = re.compile(r"\s*").match(text)
    first = opening.end() if opening else 0
    if match is None:
        raise _no_header(text, path, lines, marked)
    at = lines.position(first)
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
    bad = [found.start() for found in islice(_UNPRINTABLE.finditer(text, match.start(2), match.end(2)), _MOST)]
    if bad:
        raise invisible(text, path, lines, bad, marked=marked)
    return Header(first, match.start(2), match.end(2), match.end())


def separators(text: str, header: Header) -> list[int]:
    """Offsets of signs in the header that end a line for readers of YAML 1.1 and don't for those of 1.2."""
    return [found.start() for found in islice(_SEPARATORS.finditer(text, header.start, header.end), _MOST)]


def invisible(text: str, path: str, lines: LineTable, found: Sequence[int], *, marked: bool) -> CardError:
    """The error for invisible characters at these offsets; its repair takes them away, for spaces if they end lines."""
    at = lines.position(found[0])
    spans = [(index, index + 1, " " if text[index] in "\x85\u2028\u2029" else "") for index in found]
    return CardError(
        "HFE003",
        path,
        f"the header contains the invisible character U+{ord(text[found[0]]):04X}",
        "Remove it; in double quotes it can be written as an escape.",
        at.line,
        at.column,
        repair=splice(text, marked, *spans),
    )


def _no_header(text: str, path: str, lines: LineTable, marked: bool) -> CardError:
    opening = _OPENING.match(text)
    if opening is None:
        if (later := _LATER.search(text)) is not None and text.strip():
            line = lines.position(later.start()).line
            problem = "the header isn't the first thing in the file, so the Hub sees none"
            return CardError("HFE004", path, problem, f"Move the header, which opens on line {line}, to the top.", 1, 1)
        what = "the file is empty" if not text.strip() else "the file doesn't start with a YAML header"
        cure = "Begin it with a line of three dashes, the fields, and another line of three dashes."
        return CardError("HFE004", path, what, f"{cure} `hfenv init` writes a card to start from.", 1, 1)
    dashes = opening.start(1)
    at = lines.position(dashes - 3)
    if opening[1]:
        only_space = not opening[1].strip(" \t")
        return CardError(
            "HFE004",
            path,
            "the first line is not exactly three dashes, so the Hub sees no header",
            "Remove what stands behind the dashes, spaces too.",
            at.line,
            at.column + 3,
            repair=splice(text, marked, (dashes, opening.end(1), "")) if only_space else None,
        )
    old = "\n" not in text
    return CardError(
        "HFE005",
        path,
        "the header is opened but never closed",
        "Save the file with line ends of LF; the Hub doesn't see a header that ends in CR."
        if old and "---" in text[dashes:]
        else "Add a line of three dashes behind the last field.",
        at.line,
        at.column,
    )
