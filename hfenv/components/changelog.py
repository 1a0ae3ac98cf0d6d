"""Changelogs, one per component, in Keep a Changelog form: find, add and rename the entry of a version."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from hfenv.card.regular import LARGEST_TEXT, read_regular
from hfenv.components.ownership import Component
from hfenv.components.versions import Level
from hfenv.errors import UnreadableError

FOLDER = "changelog"
# What Markdown shows as it is or not at all. Only what starts at a line's first column can hide a heading there: a
# comment inside a line, or three backticks with code after them, end with their paragraph.
_QUOTED = re.compile(
    r"^(?P<fence>`{3,}(?=[^`\n]*$)|~{3,}).*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*\r?$|\Z)|^<!--.*?(?:-->|\Z)",
    re.MULTILINE | re.DOTALL,
)
_HEADING = re.compile(r"^\ufeff?##[ \t]+\[?v?(?P<version>[0-9][^\]\s:]*)\]?(?P<rest>.*?)\r?$", re.MULTILINE)
_RELEASE = re.compile(r"[ \t]*\(release (?P<release>[^()\s]+)\)[ \t]*$")
GROUPS = {Level.MAJOR: "Changed", Level.MINOR: "Added", Level.PATCH: "Fixed", Level.NONE: "Changed"}


@dataclass(frozen=True, slots=True)
class Item:
    """One point of an entry: the group that it stands in (`Added`, `Changed`, `Removed`, `Fixed`), and its text."""

    group: str
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One version's entry: its heading's rest (usually a date), its text, and where it starts and ends.

    `release` is the release in which it went out, None while its heading doesn't say so.
    """

    version: str
    date: str
    body: str
    start: int
    end: int
    release: str | None = None


def changelog_name(component: Component) -> str:
    """The path of a component's changelog in an environment: `changelog/COMPONENT.md`."""
    return f"{FOLDER}/{component.value}.md"


def changelog_path(root: Path, component: Component) -> Path:
    """The changelog of a component in an environment's folder."""
    return root / changelog_name(component)


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
    found = _headings(text)
    # A file without headings has an end but no entry.
    ends = [match.start() for match in found[1:]] + [len(text)] * bool(found)
    return tuple(_entry(text, match, end) for match, end in zip(found, ends, strict=True))


def _headings(text: str) -> list[re.Match[str]]:
    return list(_HEADING.finditer(_QUOTED.sub(lambda quoted: re.sub(r"[^\r\n]", " ", quoted[0]), text)))


def _entry(text: str, heading: re.Match[str], end: int) -> Entry:
    rest, release = heading["rest"], None
    if (mark := _RELEASE.search(rest)) is not None:
        rest, release = rest[: mark.start()], mark["release"]
    body = text[heading.end() : end].strip()
    return Entry(heading["version"], rest.strip(" -:\t"), body, heading.start(), end, release)


def entry_for(text: str, version: str) -> Entry | None:
    """The entry of a version, None when it has none."""
    return next((entry for entry in entries(text) if entry.version == version), None)


def with_release(text: str, version: str, release: str) -> str:
    """The changelog with the release in which a version went out in that version's heading, as `(release 1.2.0)`.

    Every other byte stays, and nothing changes where the heading says so already or there is none.
    """
    heading = next((match for match in _headings(text) if match["version"] == version), None)
    if heading is None:
        return text
    start, end = heading.span("rest")
    mark = _RELEASE.search(text, start, end)
    if mark is not None:
        return text[: mark.start("release")] + release + text[mark.end("release") :]
    place = start + len(text[start:end].rstrip())
    return f"{text[:place]} (release {release}){text[place:]}"


def with_entry(
    text: str,
    *,
    title: str,
    version: str,
    date: str,
    items: Sequence[Item],
    replaces: str,
    without: Collection[str] = (),
) -> str:
    """The changelog with `items` under the heading of `version`, and `without` what an earlier draft wrote there.

    `replaces` is a version that was declared before: its heading becomes the one of `version`, so that several bumps
    before one push leave one heading with all their texts. One that says in which release it went out stays.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    if not text.strip():
        text = f"# Changelog: {title}{newline}"
    current, before = entry_for(text, version), entry_for(text, replaces)
    if current is None and before is not None and before.release is None:
        current = before
    mark = f" (release {current.release})" if current and current.release else ""
    body: list[str] = []
    if current is not None:
        start, end, body = current.start, current.end, _split(current.body)
    else:
        first = next(iter(entries(text)), None)
        start = end = first.start if first else len(text)
    if without and (current is None or current.release is None):
        body = _without(body, {f"- {drafted}" for drafted in without})
    for item in items:
        body = _with_item(body, f"### {item.group}", _lines(item.text))
    head, tail = text[:start].rstrip(), text[end:]
    lines = [
        *([head, ""] if head else []),
        f"## [{version}] - {date}{mark}",
        "",
        *body,
        *(["", tail] if tail else [""]),
    ]
    return newline.join(lines)


def _without(body: list[str], lines: Collection[str]) -> list[str]:
    """An entry's lines without some of them, and without the headings of groups that this leaves empty."""
    kept: list[str] = []
    for line in body:
        if line in lines:
            continue
        if line.startswith("### ") or not kept:
            _drop_empty_group(kept)
        kept.append(line)
    _drop_empty_group(kept)
    return kept


def _drop_empty_group(lines: list[str]) -> None:
    while lines and not lines[-1].strip():
        lines.pop()
    if lines and lines[-1].startswith("### "):
        lines.pop()
        _drop_empty_group(lines)
    elif lines:
        lines.append("")


def _split(body: str) -> list[str]:
    """Lines as Markdown counts them: `splitlines` also breaks at form feeds and at U+2028."""
    return re.split(r"\r\n|\n", body) if body else []


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
