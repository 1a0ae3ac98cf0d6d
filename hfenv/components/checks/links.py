"""Checks of the card's links: those without a scheme lead to files of the environment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from hfenv.card.prose import without_code
from hfenv.card.reader import Card
from hfenv.components.ownership import FileEntry
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

LINK_RULES = ("HFE607",)

# What a link, an image or a reference definition of Markdown, or an attribute of HTML in it, points to. Every
# repetition is bounded: a card is text that others wrote.
_TARGETS = re.compile(
    r"\]\(\s{0,9}(?:<([^<>\n]{0,999})>|([^\s<>()]{1,999}(?:\([^\s()]{0,99}\)[^\s<>()]{0,99}){0,3}))"
    r"(?:\s{1,9}[\"'(][^\n]{0,299}?)?\s{0,9}\)"
    r"|^ {0,3}\[(?!\^)[^\]\n]{1,299}\]:[ \t]{0,9}<?([^\s<>]{1,999})>?(?:\s|\Z)"
    r"|<(?:a|img|source|video|audio)\b[^<>]{0,499}?\s(?:href|src)\s{0,9}=\s{0,9}[\"']([^\"'\n]{0,999})[\"']",
    re.MULTILINE | re.IGNORECASE,
)


def check_links(files: Sequence[FileEntry], card: Card) -> Iterator[Finding]:
    """Links and images of the card's Markdown that lead to a file that isn't there, or leave the environment."""
    stored = {file.path for file in files}
    folders = {parent.as_posix() for path in stored for parent in PurePosixPath(path).parents}
    body = without_code(card.text[card.header.body :])
    for match in _TARGETS.finditer(body):
        group = next(n for n in (1, 2, 3, 4) if match[n] is not None)
        target = match[group]
        problem = _link_problem(target, stored | folders)
        if problem is not None:
            at = card.lines.position(card.header.body + match.start(group))
            fix = "Correct the path: it starts at the folder of the card."
            yield Finding("HFE607", severity("HFE607"), card.path, problem, line=at.line, column=at.column, fix=fix)


def _link_problem(target: str, known: set[str]) -> str | None:
    try:
        parts = urlsplit(target)
    except ValueError:
        return f"the link '{target[:80]}' is no address"
    if parts.scheme or parts.netloc or not parts.path:
        return None
    if parts.path.startswith("/"):
        return f"the link '{target[:80]}' starts at the Hub's root, not at the environment's folder"
    names: list[str] = []
    for name in unquote(parts.path).split("/"):
        if name == ".." and not names:
            return f"the link '{target[:80]}' leaves the environment"
        if name == "..":
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    return None if "/".join(names) in known or not names else f"the link '{target[:80]}' leads to no file"
