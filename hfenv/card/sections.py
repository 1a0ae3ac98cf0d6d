"""The Markdown body's headings; lines in code fences, HTML comments and raw HTML blocks are not headings."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|\Z)")
_SPECIAL = frozenset("#`~<=-")  # signs that begin a line which is more than text
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_RAW = re.compile(r" {0,3}<(?:(!--)|(pre|script|style|textarea)(?=[\s>]|$))", re.IGNORECASE)
# What a setext underline can't turn into a heading: lists, quotes, other headings, tables, indented code.
_NO_TITLE = re.compile(r"(?: {4}|\t| {0,3}(?:[-*+>|]|\d+[.)][ \t]|#{1,6}(?:[ \t]|$)))")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, its line (from 1) and the text up to the next heading of its own or a higher level.

    `start` and `end` are the heading's own offsets in the card's text, underline and line break included.
    """

    level: int
    title: str
    line: int
    body: str
    start: int
    end: int


_Heading = tuple[int, str, int, int, int]  # level, title, line, start and end


def find_sections(text: str, start: int, first_line: int) -> tuple[Section, ...]:
    """Sections of the Markdown that begins at offset `start`, whose first line has the number `first_line`."""
    found = []
    following = [len(text)] * 7  # where the next heading of each level starts
    for level, title, line, begin, end in reversed(_headings(text, start, first_line)):
        found.append(Section(level, title, line, text[end : min(following[1 : level + 1])].strip(), begin, end))
        following[level] = begin
    return tuple(reversed(found))


def _headings(text: str, start: int, first_line: int) -> list[_Heading]:
    headings: list[_Heading] = []
    closing: re.Pattern[str] | None = None  # of the fence, comment or raw HTML that is open
    title: tuple[str, int, int] | None = None  # a line that an underline would turn into a heading
    for number, match in enumerate(_LINE.finditer(text, start), first_line):
        line = match.group().rstrip("\r\n")
        if closing is not None:
            closing = None if closing.search(line) else closing
            continue
        if line.lstrip(" ")[:1] not in _SPECIAL:
            title = _title(line, number, match.start())
            continue
        if fence := _FENCE.match(line):
            sign = fence[1][0]
            closing, title = re.compile(rf"^ {{0,3}}{re.escape(sign)}{{{len(fence[1])},}}[ \t]*$"), None
        elif raw := _RAW.match(line):
            end = re.compile("-->" if raw[1] else r"</(?:pre|script|style|textarea)>", re.IGNORECASE)
            closing, title = None if end.search(line, raw.end()) else end, None
        elif heading := _ATX.match(line):
            words = _without_closing(line[heading.end() :].strip(" \t"))
            headings.append((len(heading[1]), words, number, match.start(), match.end()))
            title = None
        elif title is not None and (under := _SETEXT.fullmatch(line)):
            level = 1 if under[1].startswith("=") else 2
            headings.append((level, *title, match.end()))
            title = None
        else:
            title = _title(line, number, match.start())
    return headings


def _title(line: str, number: int, start: int) -> tuple[str, int, int] | None:
    """A line that an underline below it would turn into a heading."""
    words = line.strip()
    return (words, number, start) if words and not _NO_TITLE.match(line) else None


def _without_closing(words: str) -> str:
    """A heading's words without the signs that may close it: behind a space, or alone."""
    bare = words.rstrip("#")
    return bare.rstrip(" \t") if not bare or bare[-1] in " \t" else words
