"""The JSON shape of a column over many rows: which types it has, also inside of lists and objects, and where first."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

MAX_DEPTH = 60  # Arrow's schemas end at 64 levels
MAX_COLUMNS = 2000  # names in one object that are told apart
_KEY_SETS = 8
_NODES = 20_000  # values in one field beyond which its shape isn't looked at
_SEEN = 1024
_INT64 = range(-(2**63), 2**63)

TEXT, DATE, BOOL, WHOLE, FRACTION, NULL, LIST, OBJECT = "text", "date", "bool", "int", "float", "null", "list", "object"
KINDS: dict[type, str] = {
    str: TEXT,
    bool: BOOL,
    int: WHOLE,
    float: FRACTION,
    type(None): NULL,
    list: LIST,
    tuple: LIST,
    dict: OBJECT,
}
# What Arrow reads as a point in time when every text of a column is one.
_DATE = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[ T](?:[01]\d|2[0-3])(?::[0-5]\d(?::[0-5]\d)?)?"
    r"(?:Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?",
    re.ASCII,
)

Place = tuple[int, int]  # file and line


def kind_of(type_: type) -> str:
    """The kind of a value's type; its own name where JSON has no such type."""
    return KINDS.get(type_, type_.__name__)


def is_date(text: str) -> bool:
    """Whether Arrow's JSON reader takes a text for a point in time."""
    if text[4:5] != "-" or not (match := _DATE.fullmatch(text)):
        return False
    try:
        date(int(match[1]) or 400, int(match[2]), int(match[3]))
    except ValueError:
        return False
    return True


def is_odd(value: float) -> bool:
    """A number that JSON can't say or that 64 bits can't hold."""
    return value not in _INT64 if type(value) is int else not math.isfinite(value)


@dataclass(slots=True)
class Kind:
    """One type that a place in the rows has: where first, and how often (inside of lists and objects: not counted)."""

    first: Place
    rows: int = 0


@dataclass(slots=True)
class Node:
    """A column, or a place inside of it: its types, the key sets of its objects, and what lies below."""

    kinds: dict[str, Kind] = field(default_factory=dict)
    keys: dict[frozenset[str], Place] = field(default_factory=dict)
    below: dict[str, Node] = field(default_factory=dict)
    items: Node | None = None

    def note(self, kind: str, place: Place, rows: int = 0) -> None:
        """Count rows of a type; the earliest place is kept."""
        known = self.kinds.setdefault(kind, Kind(place))
        known.first = min(known.first, place)
        known.rows += rows

    def absorb(self, other: Node, base: int = 0) -> None:
        """Add what was found elsewhere, whose lines count from `base`."""
        for kind, seen in other.kinds.items():
            self.note(kind, (seen.first[0], seen.first[1] + base), seen.rows)
        for keys, (file, line) in other.keys.items():
            if keys in self.keys or len(self.keys) < _KEY_SETS:
                self.keys.setdefault(keys, (file, line + base))
        for name, node in other.below.items():
            if name in self.below or len(self.below) < MAX_COLUMNS:
                self.below.setdefault(name, Node()).absorb(node, base)
        if other.items is not None:
            self.items = self.items or Node()
            self.items.absorb(other.items, base)


@dataclass(slots=True)
class Columns:
    """The columns of a range of rows, by name."""

    nodes: dict[str, Node] = field(default_factory=dict)
    rows: int = 0

    def node(self, name: str) -> Node | None:
        """The column of this name; None where there are too many of them to be told apart."""
        if name not in self.nodes:
            if len(self.nodes) >= MAX_COLUMNS:
                return None
            self.nodes[name] = Node()
        return self.nodes[name]

    def absorb(self, other: Columns, base: int = 0) -> None:
        """Add what was found elsewhere, whose lines count from `base`."""
        self.rows += other.rows
        for name, theirs in other.nodes.items():
            if (mine := self.node(name)) is not None:
                mine.absorb(theirs, base)


class Shaper:
    """Notes the shapes of lists and objects, each different one once.

    `odd` holds afterwards what in the value is no ordinary one: numbers, the name of a type that JSON doesn't have, or
    "depth" for one that is nested too deeply.
    """

    def __init__(self, file: int) -> None:
        self.odd: list[Any] = []
        self._file = file
        self._seen: set[Any] = set()
        self._budget = 0

    def note(self, node: Node, name: str, value: Any, line: int) -> None:
        """Add a value's shape to its column's."""
        self._budget = _NODES
        self.odd = []
        shape = self._shape(value, 1)
        if self.odd or self._budget < 0 or (name, shape) in self._seen:
            return
        if len(self._seen) >= _SEEN:
            self._seen.clear()
        self._seen.add((name, shape))
        self._grow(node, shape, (self._file, line), top=True)

    def _shape(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            return DATE if is_date(value) else TEXT
        if kind is not dict and KINDS.get(kind) != LIST:
            if kind in (int, float) and is_odd(value):
                self.odd.append(value)
            elif kind not in KINDS:
                self.odd.append(kind.__name__)
            return kind_of(kind)
        self._budget -= len(value)
        if depth > MAX_DEPTH:
            self.odd.append("depth")
        if self._budget < 0 or self.odd:
            # Numbers are looked for all the same, without building anything.
            self.odd += [] if self.odd else _odd_below(value)
            return None
        if kind is not dict:
            return (LIST, frozenset(self._shape(item, depth + 1) for item in value))
        return (OBJECT, tuple(value), tuple(self._shape(item, depth + 1) for item in value.values()))

    def _grow(self, node: Node, shape: Any, place: Place, *, top: bool = False) -> None:
        if isinstance(shape, str):
            node.note(shape, place)
            return
        if not top:  # the rows themselves are counted with their layout
            node.note(shape[0], place)
        if shape[0] == LIST:
            node.items = node.items or Node()
            for item in sorted(shape[1], key=repr):
                self._grow(node.items, item, place)
            return
        keys = frozenset(shape[1])
        if keys in node.keys or len(node.keys) < _KEY_SETS:
            node.keys.setdefault(keys, place)
        for name, below in zip(shape[1], shape[2], strict=True):
            if name in node.below or len(node.below) < MAX_COLUMNS:
                self._grow(node.below.setdefault(name, Node()), below, place)


def _odd_below(value: Any) -> list[Any]:
    """What of a large value is no ordinary number, without recursion."""
    pending: list[Iterator[Any]] = [iter([value])]
    while pending:
        item: Any = next(pending[-1], pending)
        if item is pending:
            pending.pop()
        elif type(item) in (list, tuple, dict):
            if len(pending) > MAX_DEPTH:
                return ["depth"]
            pending.append(iter(item.values() if type(item) is dict else item))
        elif type(item) in (int, float) and is_odd(item):
            return [item]
    return []
