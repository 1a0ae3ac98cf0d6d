"""The sections that a card must have, in English or Chinese, at the right level and not empty."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hfenv.card.guessing import nearest
from hfenv.card.quoting import short
from hfenv.card.reader import Card
from hfenv.card.repair import replace_span
from hfenv.card.section_names import (
    BROAD,
    SECTIONS,
    has_chinese,
    is_called,
    names_in,
    other_names,
    proper_names,
    shortened,
)
from hfenv.card.sections import Lookalike, Section, is_empty, lookalikes
from hfenv.findings import Finding, Repair
from hfenv.rules.catalogue import severity

__all__ = ["SECTIONS", "check_sections"]


def check_sections(card: Card) -> Iterator[Finding]:
    """One finding for each section that is missing, empty or at another level than 2."""
    titles = [(section, names_in(section.title)) for section in card.sections]
    chinese = _is_chinese(card)
    hints: _Hints | None = None
    for english in SECTIONS:
        wanted = proper_names(english)
        having = [section for section, names in titles if names and names <= wanted]
        right = next((section for section in having if section.level == 2), None)
        if right is None and having:
            yield _wrong_level(card, having[0])
        elif right is None:
            hints = hints or _Hints(card)
            yield _missing(card, english, chinese, hints)
        elif is_empty(right.body):
            message = f"the section '{short(right.title)}' {'holds no text yet' if right.body else 'is empty'}"
            yield Finding("HFE111", severity("HFE111"), card.path, message, "", right.line, 1, "Write it.")


def _is_chinese(card: Card) -> bool | None:
    """Whether the headings are Chinese; None where there is nothing to go by."""
    titles = [section.title for section in card.sections if section.level <= 2 and section.title]
    having = sum(map(has_chinese, titles))
    if having * 2 != len(titles):
        return having * 2 > len(titles)
    language = card.front_matter.get("language")
    codes = [str(code) for code in (language if isinstance(language, list) else [language]) if code is not None]
    if codes and all(code == "zh" or code.startswith(("zh-", "zh_")) for code in codes):
        return True
    return False if codes else None


def _missing(card: Card, english: str, is_chinese: bool | None, hints: _Hints) -> Finding:
    chinese = SECTIONS[english]
    if is_chinese is None:
        name, add = f"'{english}' ({chinese})", f"Add '## {english}' or '## {chinese}'."
    elif is_chinese:
        name, add = f"'{chinese}' ({english})", f"Add '## {chinese}'."
    else:
        name, add = f"'{english}'", f"Add '## {english}'."
    message = f"the section {name} is missing"
    if (alike := hints.line_like(proper_names(english))) is not None:
        return _no_heading(card, message, alike, alike.title)
    if (meant := hints.heading_for(english)) is not None:
        fix = f"If '{short(meant.title)}' is it, name it '## {_like(english, meant.title)}'; if not, add that section."
        return _finding(card, meant.line, message, fix)
    if (alike := hints.line_like(other_names(english))) is not None:
        return _no_heading(card, message, alike, _like(english, alike.title))
    return _finding(card, card.lines.position(card.header.body).line, message, add)


def _no_heading(card: Card, message: str, alike: Lookalike, right: str) -> Finding:
    fix = f"'{short(alike.text)}' is no heading: if it is meant as this one, write '## {short(right)}'."
    second = alike.text.startswith("##") and not alike.text.startswith("###")
    certain = second and right == alike.title
    repair = replace_span(card, *alike.gap, " ") if alike.gap is not None and certain else None
    return _finding(card, alike.line, message, fix, repair)


def _like(english: str, title: str) -> str:
    """The section's name in the language of a title."""
    return SECTIONS[english] if has_chinese(title) else english


class _Hints:
    """What a missing section may hide behind; what was pointed at once as another's name isn't a second time."""

    def __init__(self, card: Card) -> None:
        taken = {name for english in SECTIONS for name in proper_names(english)}
        named = [section for section in card.sections if section.title]
        self._others = [s for s in named if not names_in(s.title) <= taken]
        line = card.lines.position(card.header.body).line
        self._alike = list(lookalikes(card.text, card.header.body, line))
        self._used: set[int] = set()

    def line_like(self, names: frozenset[str]) -> Lookalike | None:
        """A line that has one of the names and is no heading."""
        for alike in self._alike:
            if alike.line not in self._used and is_called(alike.title, names):
                self._used.add(alike.line)
                return alike
        return None

    def heading_for(self, english: str) -> Section | None:
        """A heading of another name that is used for the section, has its name in it, or nearly is it."""
        free = [section for section in self._others if section.line not in self._used]
        called = [section for section in free if is_called(section.title, other_names(english))]
        called.sort(key=lambda section: section.level != 2)
        if called:
            self._used.add(called[0].line)
            return called[0]
        second = [section for section in self._others if section.level == 2]
        for section in second:
            bare = shortened(section.title)
            if re.search(rf"\b{english.casefold()}\b", bare) or SECTIONS[english] in bare:
                return section
        titles = [section.title for section in second]
        near = nearest(english, titles) or nearest(SECTIONS[english], titles)
        if near is None:
            return next((section for section in second if _has_another_name(section.title, english)), None)
        return next(section for section in second if section.title == near)


def _has_another_name(title: str, english: str) -> bool:
    """Whether a longer title holds another name of the section, one that says enough by itself."""
    bare = shortened(title)
    long = (n for n in other_names(english) if len(n) >= (2 if has_chinese(n) else 6) and n not in BROAD)
    return any(name in bare if has_chinese(name) else re.search(rf"\b{re.escape(name)}\b", bare) for name in long)


def _wrong_level(card: Card, section: Section) -> Finding:
    message = f"the section '{short(section.title)}' has a heading of level {section.level} instead of 2"
    fix = f"Write '## {short(section.title)}'."
    return _finding(card, section.line, message, fix, _level_two(card, section))


def _level_two(card: Card, section: Section) -> Repair | None:
    """The heading at level 2: another number of signs in front of it, or another line below it."""
    heading = card.text[section.start : section.end]
    if signs := re.match(r" {0,3}(#+)", heading):
        return replace_span(card, section.start + signs.start(1), section.start + signs.end(1), "##")
    line = heading.rstrip("\r\n \t")
    under = len(line) - len(line.rstrip("="))
    end = section.start + len(line)
    return replace_span(card, end - under, end, "-" * max(under, 3)) if under else None


def _finding(card: Card, line: int, message: str, fix: str, repair: Repair | None = None) -> Finding:
    return Finding("HFE110", severity("HFE110"), card.path, message, "", line, 1, fix, repair)
