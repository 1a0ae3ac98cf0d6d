"""The header as a tree of frozen nodes that know where they stand in the card's text, and positions in a text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_LINE_BREAK = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a text; line and column count from 1, in code points."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class LineTable:
    """Where each line of a text starts. Only LF, CRLF and CR end a line, as in editors and in SARIF."""

    starts: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> LineTable:
        return cls((0, *(match.end() for match in _LINE_BREAK.finditer(text))))

    def position(self, index: int) -> Position:
        line = bisect_right(self.starts, index)
        return Position(line, index - self.starts[line - 1] + 1)


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """`text` is the scalar without quotes and escapes, `value` what it means under YAML 1.2's core schema.

    `style` is empty for a plain scalar, else the sign it starts with: a quote, `|` or `>`. `start` and `end` are
    offsets in code points into the card's text, quotes included.
    """

    value: Any
    text: str
    style: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class EntryNode:
    """A key and its value in a mapping."""

    key: ScalarNode
    value: Node

    @property
    def end(self) -> int:
        return max(self.key.end, self.value.end)


@dataclass(frozen=True, slots=True)
class MappingNode:
    """`end` is the end of the last entry of a block mapping, and lies behind the brace of a flow mapping."""

    entries: tuple[EntryNode, ...]
    flow: bool
    start: int
    end: int
    _index: dict[str, EntryNode] = field(default_factory=dict, init=False, repr=False, compare=False)

    def entry(self, key: str) -> EntryNode | None:
        """The entry of a key; the last one where a key stands twice, as YAML readers take it."""
        if not self._index and self.entries:
            self._index.update((entry.key.text, entry) for entry in self.entries)
        return self._index.get(key)


@dataclass(frozen=True, slots=True)
class SequenceNode:
    """Items of a list; `start` is the first dash or the bracket."""

    items: tuple[Node, ...]
    flow: bool
    start: int
    end: int


Node = ScalarNode | MappingNode | SequenceNode


def value_of(node: Node) -> Any:
    """The node as plain Python values; keys are text as written, of a repeated key the last one counts."""
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, SequenceNode):
        return [value_of(item) for item in node.items]
    return {entry.key.text: value_of(entry.value) for entry in node.entries}


def scalars(node: Node, pointer: str = "") -> Iterator[tuple[str, ScalarNode]]:
    """Every scalar value below a node with its JSON Pointer, in the order of the text; keys are not among them."""
    if isinstance(node, ScalarNode):
        yield pointer, node
    elif isinstance(node, SequenceNode):
        for index, item in enumerate(node.items):
            yield from scalars(item, f"{pointer}/{index}")
    else:
        for entry in node.entries:
            yield from scalars(entry.value, f"{pointer}/{escape(entry.key.text)}")


def escape(key: str) -> str:
    """One reference token of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def tokens(pointer: str) -> list[str]:
    """The keys and indices of a JSON Pointer; ValueError if it isn't one."""
    if not pointer:
        return []
    if not pointer.startswith("/"):
        raise ValueError(f"not a JSON Pointer: {pointer!r}")
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/")]


def is_index(token: str, size: int) -> bool:
    return token.isascii() and token.isdigit() and len(token) <= len(str(size)) and int(token) < size


def find(root: Node, pointer: str) -> tuple[list[EntryNode | Node], bool]:
    """The nodes from the root down to a pointer (an entry for a key, a node for an index), and whether it exists."""
    chain: list[EntryNode | Node] = [root]
    for token in tokens(pointer):
        last = chain[-1]
        node = last.value if isinstance(last, EntryNode) else last
        if isinstance(node, MappingNode) and (entry := node.entry(token)) is not None:
            chain.append(entry)
        elif isinstance(node, SequenceNode) and is_index(token, len(node.items)):
            chain.append(node.items[int(token)])
        else:
            return chain, False
    return chain, True
