"""Read an Environment Card: bytes to values, with the line and column of every one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hfenv.card.compose import compose
from hfenv.card.header import Header, decode, find_header, invisible, separators
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
    scalars,
    value_of,
)
from hfenv.card.problem import CardError
from hfenv.card.quoting import short
from hfenv.card.regular import LARGEST_TEXT, read_regular
from hfenv.card.sections import Section, find_sections
from hfenv.card.splice import splice
from hfenv.card.stumbles import ComposeError
from hfenv.card.unseen import unseen
from hfenv.findings import Edit, Finding, Repair, Severity

if TYPE_CHECKING:
    from hfenv.card.manifest import Manifest

MOST = 100  # findings of one kind in one card: one with more is broken as a whole


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
        return read_regular(target, LARGEST_TEXT)
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
    header = find_header(text, path, lines, marked=marked)
    ends = separators(text, header)
    try:
        root = _root(text, header, path, lines, pure)
    except CardError as error:
        if blamed := ends or _unseen_near(text, header, lines, error.line):
            raise invisible(text, path, lines, blamed, marked=marked) from None
        raise
    if outside := _outside_quotes(root, ends):
        raise invisible(text, path, lines, outside, marked=marked)
    notices = [
        *_mark_notice(path, marked),
        *islice(_repeated_keys(_Source(text, marked, path, lines), root, ""), MOST),
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


def _unseen_near(text: str, header: Header, lines: LineTable, line: int) -> list[int]:
    """Offsets of characters that nobody sees, on a line that YAML stumbles over or on the one before it."""
    start = max(header.start, lines.starts[max(line - 2, 0)])
    end = min(header.end, lines.starts[line] if line < len(lines.starts) else len(text))
    return [index for span in unseen(text, start, end) for index in range(*span)]


def _outside_quotes(root: MappingNode, found: list[int]) -> list[int]:
    """Those of the offsets that lie in no quoted text: there, a reader of YAML 1.1 sees the end of a line."""
    if not found:
        return []
    quoted = [(node.start, node.end) for _, node in scalars(root) if node.style in ("'", '"')]
    return [index for index in found if not any(start < index < end for start, end in quoted)]


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
            repair=Repair((Edit(0, 3, b""),)),
        )


@dataclass(frozen=True, slots=True)
class _Source:
    """A text that is being read, and how its findings name it."""

    text: str
    marked: bool
    path: str
    lines: LineTable


def _repeated_keys(source: _Source, node: Node, pointer: str) -> Iterator[Finding]:
    if isinstance(node, SequenceNode):
        for index, item in enumerate(node.items):
            if not isinstance(item, ScalarNode):
                yield from _repeated_keys(source, item, f"{pointer}/{index}")
    if not isinstance(node, MappingNode):
        return
    first: dict[str, EntryNode] = {}
    for entry in node.entries:
        if (before := first.setdefault(entry.key.text, entry)) is not entry:
            yield _repeated(source, node, pointer, before, entry)
        if not isinstance(entry.value, ScalarNode):
            yield from _repeated_keys(source, entry.value, f"{pointer}/{escape(entry.key.text)}")


def _repeated(source: _Source, node: MappingNode, pointer: str, before: EntryNode, entry: EntryNode) -> Finding:
    from hfenv.card.edit import span_without

    at, line = source.lines.position(entry.key.start), source.lines.position(before.key.start).line
    alike = repr(value_of(before.value)) == repr(value_of(entry.value))  # 1, 1.0 and true are equal, and not alike
    repair = splice(source.text, source.marked, span_without(source.text, node, entry)) if alike else None
    return Finding(
        "HFE009",
        Severity.ERROR,
        source.path,
        f"the key '{short(entry.key.text)}' stands twice, first on line {line}; readers take either one",
        f"{pointer}/{escape(entry.key.text)}",
        at.line,
        at.column,
        "Remove it: the first one says the same." if alike else "Remove one of them.",
        repair,
    )
