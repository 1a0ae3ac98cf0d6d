"""Read an Environment Card: bytes to values, with the line and column of every one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hfenv.card.compose import ComposeError, compose
from hfenv.card.header import Header, decode, find_header
from hfenv.card.manifest import Manifest
from hfenv.card.nodes import (
    EntryNode,
    LineTable,
    MappingNode,
    Node,
    Position,
    ScalarNode,
    SequenceNode,
    escape,
    find,
    value_of,
)
from hfenv.card.problem import CardError
from hfenv.card.sections import Section, find_sections
from hfenv.findings import Finding, Severity


@dataclass(frozen=True, slots=True)
class Card:
    """A card as it was read. `text` has no byte-order mark (`marked` says whether the file has one).

    `front_matter` holds plain JSON-like values under YAML 1.2's core schema; treat it as read-only. `notices` are what
    was found while reading and didn't stop it.
    """

    path: str
    text: str
    marked: bool
    header: Header
    root: MappingNode
    front_matter: dict[str, Any]
    sections: tuple[Section, ...]
    notices: tuple[Finding, ...]
    lines: LineTable

    @property
    def block(self) -> dict[str, Any]:
        """The `environment` mapping; empty where it is missing or no mapping."""
        block = self.front_matter.get("environment")
        return block if isinstance(block, dict) else {}

    @property
    def raw(self) -> bytes:
        """The file's bytes, as they were read."""
        return (b"\xef\xbb\xbf" if self.marked else b"") + self.text.encode()

    def position(self, pointer: str) -> Position:
        """Where the value of a JSON Pointer starts; for what doesn't exist, its nearest ancestor that does."""
        last = find(self.root, pointer)[0][-1]
        node = last.value if isinstance(last, EntryNode) else last
        return self.lines.position(node.start)

    def key_position(self, pointer: str) -> Position:
        """Where the key of a JSON Pointer stands: an item of a list has none and gives its own place."""
        last = find(self.root, pointer)[0][-1]
        if last is self.root:
            return self.lines.position(self.header.opening)
        return self.lines.position(last.key.start if isinstance(last, EntryNode) else last.start)

    def place(self, pointer: str) -> Position:
        """Where a finding about a value points: at the value if it stands on its key's line, else at the key."""
        last = find(self.root, pointer)[0][-1]
        if isinstance(last, EntryNode) and (isinstance(last.value, ScalarNode) or last.value.flow):
            return self.lines.position(last.value.start)
        return self.key_position(pointer)


def read_card(path: Path) -> Card:
    """Read the card at `path`, or `README.md` in the folder at `path`. Raises CardError, an UnreadableError."""
    target = path / "README.md" if path.is_dir() else path
    return parse_card(read_bytes(target, target.name), target.name)


def read_bytes(target: Path, name: str) -> bytes:
    """The file's bytes; CardError where there is no such file or it can't be read."""
    try:
        return target.read_bytes()
    except FileNotFoundError:
        raise CardError(
            "HFE001", name, f"there is no file {target}", "`hfenv init` writes a card to start from."
        ) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise CardError("HFE001", name, f"{target} can't be read: {reason}", "Check the file and its rights.") from None


def parse_card(raw: bytes, path: str = "README.md", *, pure: bool = False) -> Card:
    """Read a card from bytes; `path` is how findings and errors name it.

    `pure` reads with PyYAML's parser in Python even where the one in C was built. Raises CardError.
    """
    text, marked = decode(raw, path)
    lines = LineTable.of(text)
    header = find_header(text, path, lines)
    root = _root(text, header, path, lines, pure)
    notices = [
        *_mark_notice(path, marked),
        *_repeated_keys(root, "", path, lines),
    ]
    return Card(
        path=path,
        text=text,
        marked=marked,
        header=header,
        root=root,
        front_matter=value_of(root),
        sections=find_sections(text, header.body, lines.position(header.body).line),
        notices=tuple(notices),
        lines=lines,
    )


def manifest(card: Card) -> Manifest:
    """The card's `environment` block; UnreadableError with the first thing in it that breaks the schema."""
    from hfenv.card.schema import manifest_of

    return manifest_of(card)


def _root(text: str, header: Header, path: str, lines: LineTable, pure: bool) -> MappingNode:
    try:
        node = compose(text[header.start : header.end], header.start, pure=pure)
    except ComposeError as error:
        at = lines.position(min(header.start + error.index, header.end))
        first = lines.position(header.start).line
        problem = re.sub(r"\{\+(\d+)\}", lambda match: str(first + int(match[1])), error.problem)
        raise CardError(error.rule, path, problem, error.cure, at.line, at.column) from None
    if node is None or (isinstance(node, ScalarNode) and node.value is None):
        return MappingNode((), False, header.start, header.start)
    if not isinstance(node, MappingNode):
        at = lines.position(node.start)
        what = "a list" if isinstance(node, SequenceNode) else "a single text"
        raise CardError(
            "HFE010",
            path,
            f"the header is {what}, not fields",
            "Write it as lines of 'key: value'.",
            at.line,
            at.column,
        )
    return node


def _mark_notice(path: str, marked: bool) -> Iterator[Finding]:
    if marked:
        yield Finding(
            "HFE008",
            Severity.WARNING,
            path,
            "the file starts with a byte-order mark, which hides the header from some tools",
            line=1,
            column=1,
            fix="Save it as UTF-8 without a byte-order mark.",
        )


def _repeated_keys(node: Node, pointer: str, path: str, lines: LineTable) -> Iterator[Finding]:
    if isinstance(node, SequenceNode):
        for index, item in enumerate(node.items):
            yield from _repeated_keys(item, f"{pointer}/{index}", path, lines)
    if not isinstance(node, MappingNode):
        return
    first: dict[str, ScalarNode] = {}
    for entry in node.entries:
        below = f"{pointer}/{escape(entry.key.text)}"
        if (before := first.setdefault(entry.key.text, entry.key)) is not entry.key:
            at = lines.position(entry.key.start)
            yield Finding(
                "HFE009",
                Severity.ERROR,
                path,
                f"the key '{entry.key.text}' stands twice, first on line {lines.position(before.start).line}; "
                "readers take either one",
                below,
                at.line,
                at.column,
                "Remove one of them.",
            )
        yield from _repeated_keys(entry.value, below, path, lines)
