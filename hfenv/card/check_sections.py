"""The sections that a card must have, in English or Chinese, at the right level and not empty."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hfenv.card.guessing import nearest
from hfenv.card.quoting import short
from hfenv.card.reader import Card
from hfenv.card.repair import replace_span
from hfenv.card.sections import Section
from hfenv.findings import Finding, Repair
from hfenv.rules.catalogue import severity

SECTIONS = {
    "Overview": "概述",
    "Installation": "安装",
    "Interface": "接口",
    "Usage": "用法",
    "Tasks": "任务集",
    "Reward": "奖励",
    "Benchmarks": "基准",
    "Limitations": "限制",
}
_BETWEEN_NAMES = re.compile(r"[/|()（）,·:：&]|\s-\s")
_NUMBER = re.compile(r"^(?:第?[一二三四五六七八九十百]+[章节、.．)）:：]|[ivxlcdm]{1,5}[.)]|[a-z][.)])(?![a-z])")
_LONGEST_TITLE = 200


def check_sections(card: Card) -> Iterator[Finding]:
    """One finding for each section that is missing, empty or at another level than 2."""
    titles = [(section, _names_in(section.title)) for section in card.sections]
    chinese = _is_chinese(card)
    for english, translated in SECTIONS.items():
        wanted = {english.casefold(), translated}
        having = [section for section, names in titles if names and names <= wanted]
        right = next((section for section in having if section.level == 2), None)
        if right is None and having:
            yield _wrong_level(card, having[0])
        elif right is None:
            yield _missing(card, english, translated, chinese)
        elif not right.body:
            message = f"the section '{short(right.title)}' is empty"
            yield Finding("HFE111", severity("HFE111"), card.path, message, "", right.line, 1, "Write it.")


def _is_chinese(card: Card) -> bool | None:
    """Whether the headings are Chinese; None where there is nothing to go by."""
    titles = [section.title for section in card.sections if section.level <= 2 and section.title]
    having = sum(map(_has_chinese, titles))
    if having * 2 != len(titles):
        return having * 2 > len(titles)
    language = card.front_matter.get("language")
    codes = [str(code) for code in (language if isinstance(language, list) else [language]) if code is not None]
    if codes and all(code == "zh" or code.startswith(("zh-", "zh_")) for code in codes):
        return True
    return False if codes else None


def _missing(card: Card, english: str, chinese: str, is_chinese: bool | None) -> Finding:
    if is_chinese is None:
        name, add = f"'{english}' ({chinese})", f"Add '## {english}' or '## {chinese}'."
    elif is_chinese:
        name, add = f"'{chinese}' ({english})", f"Add '## {chinese}'."
    else:
        name, add = f"'{english}'", f"Add '## {english}'."
    taken = {title.casefold() for pair in SECTIONS.items() for title in pair}
    others = {s.title: s.line for s in card.sections if s.level == 2 and not _names_in(s.title) <= taken and s.title}
    meant = _meant(english, chinese, list(others))
    if meant is None:
        line = card.lines.position(card.header.body).line
        return _finding(card, line, f"the section {name} is missing", add)
    right = chinese if _has_chinese(meant) else english
    fix = f"If '{short(meant)}' is it, name it '## {right}'; if not, add that section."
    return _finding(card, others[meant], f"the section {name} is missing", fix)


def _meant(english: str, chinese: str, titles: Sequence[str]) -> str | None:
    """The title that a section may hide behind: nearly its name, or longer than it."""
    for title in titles:
        bare = title.casefold()[:_LONGEST_TITLE]
        if re.search(rf"\b{english.casefold()}\b", bare) or chinese in bare:
            return title
    return nearest(english, titles) or nearest(chinese, titles)


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


def _names_in(title: str) -> set[str]:
    """A title without numbers, signs and emphasis, as the names that it puts side by side: 'Overview 概述' has two."""
    bare = " ".join(title.casefold()[:_LONGEST_TITLE].split())
    parts = _BETWEEN_NAMES.split(_trimmed(_NUMBER.sub("", _trimmed(bare, numbers=True)), numbers=True))
    return {name for part in parts for piece in _by_script(part) if (name := _trimmed(piece))}


def _has_chinese(text: str) -> bool:
    # A pattern of so large a range takes longer to compile than all titles of a card to read.
    return any("㐀" <= sign <= "鿿" for sign in text)


def _by_script(part: str) -> list[str]:
    """The words of a part, put together as long as they are of one script."""
    pieces: list[str] = []
    for word in part.split():
        if pieces and not _has_chinese(pieces[-1][-1]) and not _has_chinese(word[0]):
            pieces[-1] += f" {word}"
        else:
            pieces.append(word)
    return pieces


def _trimmed(text: str, *, numbers: bool = False) -> str:
    """The text without signs at its ends, and without a number in front of it."""
    start, end = 0, len(text)
    while start < end and not (text[start].isalpha() or (text[start].isalnum() and not numbers)):
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return text[start:end]
