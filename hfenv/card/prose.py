"""Markdown without its code: what is shown as an example there means nothing. Linear, whatever an author wrote."""

from __future__ import annotations

import re

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`\r\n]*[\r\n])|~{3,})")
_TICKS = re.compile(r"`+")


def without_code(body: str) -> str:
    """The text with fenced blocks and code in lines replaced by blanks, so that every offset stays."""
    if "`" not in body and "~~~" not in body:
        return body
    parts = []
    fence = ""
    for match in _LINE.finditer(body):
        line = match.group()
        if fence:
            bare = line.strip()
            closes = bare.startswith(fence) and not bare.strip(fence[0]) and not line.startswith("    ")
            fence = "" if closes else fence
            parts.append(_blank(line))
        elif opening := _FENCE.match(line):
            fence = opening[1]
            parts.append(_blank(line))
        else:
            parts.append(_without_spans(line) if "`" in line else line)
    return "".join(parts)


def _without_spans(line: str) -> str:
    """A run of backticks opens code up to the next run of the same length; one without a partner means itself."""
    runs = [(match.start(), match.end()) for match in _TICKS.finditer(line)]
    closers: dict[int, list[int]] = {}
    for index in range(len(runs) - 1, -1, -1):
        closers.setdefault(runs[index][1] - runs[index][0], []).append(index)
    parts = []
    done, index = 0, 0
    while index < len(runs):
        start, end = runs[index]
        later = closers[end - start]
        while later and later[-1] <= index:
            later.pop()
        if not later:
            index += 1
            continue
        index = later.pop() + 1
        stop = runs[index - 1][1]
        parts += [line[done:start], " " * (stop - start)]
        done = stop
    return "".join([*parts, line[done:]])


def _blank(line: str) -> str:
    content = line.rstrip("\r\n")
    return " " * len(content) + line[len(content) :]
