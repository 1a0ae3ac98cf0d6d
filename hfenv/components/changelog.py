"""Changelogs, one per component, in Keep a Changelog form: find, add and rename the entry of a version."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hfenv.card.regular import LARGEST_TEXT, read_regular
from hfenv.components.ownership import Component
from hfenv.components.versions import Level
from hfenv.errors import UnreadableError

FOLDER = "changelog"
# What Markdown shows as it is or not at all; only what starts at a line's first column can hide a heading there.
_QUOTED = re.compile(r"^(?P<fence>`{3,}|~{3,}).*?(?:^(?P=fence)|\Z)|<!--.*?(?:-->|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^\ufeff?##[ \t]+\[?v?(?P<version>[0-9][^\]\s]*)\]?(?P<rest>.*?)\r?$", re.MULTILINE)
GROUPS = {Level.MAJOR: "Changed", Level.MINOR: "Added", Level.PATCH: "Fixed", Level.NONE: "Changed"}


@dataclass(frozen=True, slots=True)
class Item:
    """One point of an entry: the group that it stands in (`Added`, `Changed`, `Removed`, `Fixed`), and its text."""

    group: str
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One version's entry: its heading's rest (usually a date), its text, and where it starts and ends."""

    version: str
    date: str
    body: str
    start: int
    end: int


def changelog_path(root: Path, component: Component) -> Path:
    """`changelog/COMPONENT.md`."""
    return root / FOLDER / f"{component.value}.md"


def read_changelog(root: Path, component: Component) -> str:
    """The text of a component's changelog, empty when there is none."""
    path = changelog_path(root, component)
    try:
        return read_regular(path, LARGEST_TEXT).decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{path} isn't UTF-8 (byte {error.start}).", "Save it as UTF-8.") from None
    except OSError as error:
        raise UnreadableError(f"{path} can't be read: {error.strerror}.", "Check its permissions.") from error


def entries(text: str) -> tuple[Entry, ...]:
    """The versions' entries in the order of the file; what looks like a heading in a code fence or comment is none."""
    visible = _QUOTED.sub(lambda quoted: re.sub(r"[^\r\n]", " ", quoted[0]), text)
    found = list(_HEADING.finditer(visible))
    # A file without headings has an end but no entry.
    ends = [match.start() for match in found[1:]] + [len(text)] * bool(found)
    return tuple(
        Entry(match["version"], match["rest"].strip(" -\t"), text[match.end() : end].strip(), match.start(), end)
        for match, end in zip(found, ends, strict=True)
    )


def entry_for(text: str, version: str) -> Entry | None:
    """The entry of a version, None when it has none."""
    return next((entry for entry in entries(text) if entry.version == version), None)


def with_entry(text: str, *, title: str, version: str, date: str, items: Sequence[Item], replaces: str) -> str:
    """The changelog with `items` under the heading of `version`.

    `replaces` is a version that was declared but never released: its heading becomes the one of `version`, so that
    several bumps before one push leave one heading with all their texts.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    if not text.strip():
        text = f"# Changelog: {title}{newline}"
    current = entry_for(text, version) or entry_for(text, replaces)
    body: list[str] = []
    if current is not None:
        start, end, body = current.start, current.end, current.body.splitlines()
    else:
        first = next(iter(entries(text)), None)
        start = end = first.start if first else len(text)
    for item in items:
        body = _with_item(body, f"### {item.group}", _lines(item.text))
    head, tail = text[:start].rstrip(), text[end:]
    lines = [head, "", f"## [{version}] - {date}", "", *body, *(["", tail] if tail else [""])]
    return newline.join(lines)


def _with_item(body: list[str], group: str, item: list[str]) -> list[str]:
    """An entry's lines with the item at the end of its group; the same item isn't written twice."""
    if item[0] in body:
        return body
    if group not in body:
        return [*body, *[""] * bool(body), group, "", *item]
    start = body.index(group) + 1
    end = next((i for i in range(start, len(body)) if body[i].startswith("### ")), len(body))
    while end > start and not body[end - 1].strip():
        end -= 1
    return [*body[:end], *item, *body[end:]]


def _lines(message: str) -> list[str]:
    first, *rest = [line.rstrip() for line in message.strip().splitlines()] or ["No description."]
    return [f"- {first}", *(f"  {line}" if line else "" for line in rest)]
