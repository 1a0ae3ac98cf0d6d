"""The Markdown body's headings; lines in code fences, HTML comments and raw HTML blocks are not headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
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

    `start` and `end` are the heading's own offsets in the card's text, underline and line break included; `stop` is
    where that text ends.
    """

    level: int
    title: str
    line: int
    body: str
    start: int
    end: int
    stop: int


_ALIKE = re.compile(
    r" {0,3}(?:([#＃]{1,6})([ \t]*)(?=[^#＃ \t])(.+?)[ \t#＃]*"
    r"|(?:\*\*|__)(.+?)(?:\*\*|__)[:：]?|<h[1-6][^>]*>(.+?)</h[1-6]>)[ \t]*",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# What stands where the text is still to be written, without the signs around it.
_PLACEHOLDERS = frozenset(
    re.split(
        r"\|",
        "todo|to do|tbd|tba|tbc|wip|fixme|xxx|placeholder|to be done|to be written|to be added|to be completed|"
        "to be determined|coming soon|more information needed|work in progress|write me|fill me in|"
        "write this section|待补充|待补|待定|待写|待续|待填写|待填|待完善|待更新|待办|待添加|待编写|暂缺|敬请期待|"
        "未完待续|占位|占位符|稍后补充|后续补充|待補充|待補|待寫|待續|待填寫|待編寫|敬請期待|稍後補充",
    )
)
_LONGEST_PLACEHOLDER = 60
_SIGNS = re.compile(r"[\s.…。?？🚧]+|(?:[-*_][ \t]*){3,}")  # a single dash is an answer: there is nothing to say
_TO_DO = re.compile(r"\W*(?:TODO|TBD|FIXME|待补充|待補充)\W*[:：][^\r\n]*")


@dataclass(frozen=True, slots=True)
class Lookalike:
    """A line that looks like a heading and is none: its words, the line itself and its number (from 1).

    `gap` is where a space is missing behind the signs that begin it (offsets of what stands in its place), else None.
    """

    title: str
    text: str
    line: int
    gap: tuple[int, int] | None


_Heading = tuple[int, str, int, int, int]  # level, title, line, start and end


def find_sections(text: str, start: int, first_line: int) -> tuple[Section, ...]:
    """Sections of the Markdown that begins at offset `start`, whose first line has the number `first_line`."""
    found = []
    following = [len(text)] * 7  # where the next heading of each level starts
    for level, title, line, begin, end in reversed(_headings(text, start, first_line)):
        stop = min(following[1 : level + 1])
        found.append(Section(level, title, line, text[end:stop].strip(), begin, end, stop))
        following[level] = begin
    return tuple(reversed(found))


def lookalikes(text: str, start: int, first_line: int) -> Iterator[Lookalike]:
    """Lines outside of code that look like headings: no space behind the signs, other signs, bold text, HTML."""
    closing: re.Pattern[str] | None = None
    for number, match in enumerate(_LINE.finditer(text, start), first_line):
        line = match.group().rstrip("\r\n")
        if closing is not None:
            closing = None if closing.search(line) else closing
            continue
        begins, closing = _closing(line)
        if begins or _ATX.match(line) or (alike := _ALIKE.fullmatch(line)) is None:
            continue
        words = next(part for part in alike.group(3, 4, 5) if part is not None)
        gap = None
        if alike[1] and "＃" not in alike[1]:
            wide = len(words) - len(words.lstrip())  # a full-width space isn't one that counts
            gap = (match.start() + alike.end(1), match.start() + alike.start(3) + wide)
        yield Lookalike(words.strip(), line.strip(), number, gap)


def is_empty(body: str) -> bool:
    """Whether a section's text says nothing: comments aside there is none, or a sign that it is still to be written."""
    shown = _COMMENT.sub("", body).strip()
    if not shown or _TO_DO.fullmatch(shown):
        return True
    if len(shown) > _LONGEST_PLACEHOLDER:
        return False
    return bool(_SIGNS.fullmatch(shown)) or re.sub(r"[\W_]+", " ", shown).strip().casefold() in _PLACEHOLDERS


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
        begins, closing = _closing(line)
        if begins:
            title = None
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


def _closing(line: str) -> tuple[bool, re.Pattern[str] | None]:
    """Whether a fence, a comment or raw HTML begins on a line, and what ends it on a later one."""
    if fence := _FENCE.match(line):
        sign = fence[1][0]
        return True, re.compile(rf"^ {{0,3}}{re.escape(sign)}{{{len(fence[1])},}}[ \t]*$")
    if raw := _RAW.match(line):
        end = re.compile("-->" if raw[1] else r"</(?:pre|script|style|textarea)>", re.IGNORECASE)
        return True, None if end.search(line, raw.end()) else end
    return False, None


def _title(line: str, number: int, start: int) -> tuple[str, int, int] | None:
    """A line that an underline below it would turn into a heading."""
    words = line.strip()
    return (words, number, start) if words and not _NO_TITLE.match(line) else None


def _without_closing(words: str) -> str:
    """A heading's words without the signs that may close it: behind a space, or alone."""
    bare = words.rstrip("#")
    return bare.rstrip(" \t") if not bare or bare[-1] in " \t" else words
