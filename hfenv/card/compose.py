"""YAML text to nodes: from the parser's events, so that nesting, anchors and tags are seen before anything is built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from hfenv.card.nodes import EntryNode, MappingNode, Node, ScalarNode, SequenceNode
from hfenv.card.scalars import plain_value
from hfenv.card.stumbles import BAD_ESCAPE, DEEPEST, SECOND_DOCUMENT, TOO_DEEP, ComposeError, in_plain_words

LONGEST_KEY = 1024
MOST_VALUES = 10_000
# The parser in Python lets escapes of surrogates through, which no encoding can hold.
_SURROGATE = re.compile("[\ud800-\udfff]")
_COLON = re.compile(r"\s*:")
_NO_PLAIN_KEY = ("a key is itself a list or a mapping", "Write keys as plain text.")
_LONG_KEY = (
    "a key has more than 1,024 characters, which YAML doesn't allow",
    "Make it shorter, or move it into a value.",
)
_TOO_MANY = (
    f"the header holds more than {MOST_VALUES:,} values",
    "Move data out of the header into a file of the environment.",
)


@dataclass(slots=True)
class _Open:
    """A collection whose end hasn't come yet; in a mapping, keys and values alternate in `children`."""

    mapping: bool
    flow: bool
    start: int
    children: list[Node] = field(default_factory=list)


def compose(text: str, offset: int = 0, *, pure: bool = False) -> Node | None:
    """The one document in `text` as nodes, None if it is empty; `offset` is added to every position.

    The C parser of PyYAML is used where it was built, the one in Python otherwise or when `pure`. Raises ComposeError.
    """
    builder = _Builder(text, offset)
    documents = 0
    for event in _events(text, pure):
        if isinstance(event, (ScalarEvent, AliasEvent)):
            _refuse(event)
            builder.add(builder.scalar(event))
        elif isinstance(event, (MappingStartEvent, SequenceStartEvent)):
            _refuse(event)
            builder.open(event)
        elif isinstance(event, (MappingEndEvent, SequenceEndEvent)):
            builder.add(builder.close(_index(event.end_mark)))
        elif isinstance(event, DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise ComposeError("HFE006", *SECOND_DOCUMENT, _index(event.start_mark))
    return builder.root


@dataclass(slots=True)
class _Builder:
    """The nodes of one text, whose positions count from `offset`; the parser's own count from 0."""

    text: str
    offset: int
    stack: list[_Open] = field(default_factory=list)
    root: Node | None = None
    values: int = 0

    def open(self, event: MappingStartEvent | SequenceStartEvent) -> None:
        if len(self.stack) == DEEPEST:
            raise ComposeError("HFE014", *TOO_DEEP, _index(event.start_mark))
        start = _index(event.start_mark) + self.offset
        self.stack.append(_Open(isinstance(event, MappingStartEvent), bool(event.flow_style), start))

    def scalar(self, event: Any) -> ScalarNode:
        start, end = _index(event.start_mark), _index(event.end_mark)
        style = event.style or ""
        if style in ("|", ">"):
            # The parser's mark lies behind the blank lines that follow; only with "+" do they belong to the value.
            body = self.text[start:end]
            keep = "+" in re.split(r"[\r\n#]", body, maxsplit=1)[0]
            end = start + len(re.sub(r"(?:\r\n|\n|\r)\Z", "", body) if keep else body.rstrip(" \t\r\n"))
        if style == '"' and _SURROGATE.search(event.value):
            raise ComposeError("HFE006", *BAD_ESCAPE, start)
        value: Any = event.value if style else plain_value(event.value)
        return ScalarNode(value, event.value, style, start + self.offset, end + self.offset)

    def add(self, node: Node) -> None:
        if not self.stack:
            self.root = node
            return
        parent = self.stack[-1]
        is_key = parent.mapping and len(parent.children) % 2 == 0
        if is_key:
            if not isinstance(node, ScalarNode):
                raise ComposeError("HFE006", *_NO_PLAIN_KEY, node.start - self.offset)
            if len(node.text) > LONGEST_KEY:
                raise ComposeError("HFE006", *_LONG_KEY, node.start - self.offset)
        elif parent.mapping and isinstance(node, ScalarNode) and not node.text and not node.style:
            # The two parsers disagree about where a missing value stands: it stands right behind the colon.
            key_end = parent.children[-1].end
            colon = _COLON.match(self.text, key_end - self.offset)
            at = colon.end() + self.offset if colon else key_end
            node = ScalarNode(None, "", "", at, at)
        self.values += not is_key
        if self.values > MOST_VALUES:
            raise ComposeError("HFE015", *_TOO_MANY, node.start - self.offset)
        parent.children.append(node)

    def close(self, end: int) -> Node:
        opened = self.stack.pop()
        children, start = opened.children, opened.start
        end += self.offset
        if not opened.flow and children:
            # A block collection's own mark lies at the next token, behind comments that aren't part of it.
            end = max(children[-1].end, children[-2].end if opened.mapping else 0)
        if not opened.mapping:
            if not opened.flow and children:
                dash = self.text.find("-", start - self.offset, children[0].start - self.offset)
                start = start if dash < 0 else dash + self.offset
            return SequenceNode(tuple(children), opened.flow, start, end)
        keys = cast("list[ScalarNode]", children[::2])
        entries = tuple(EntryNode(key, value) for key, value in zip(keys, children[1::2], strict=True))
        return MappingNode(entries, opened.flow, start, end)


def _events(text: str, pure: bool) -> Iterator[Event]:
    loader = yaml.BaseLoader if pure else getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    last: Event | None = None
    try:
        for event in yaml.parse(text, Loader=loader):
            last = event
            yield event
    except yaml.MarkedYAMLError as error:
        raise in_plain_words(text, error, last) from None
    except yaml.YAMLError as error:
        raise ComposeError("HFE006", str(error).splitlines()[0], "Correct the YAML of the header.", 0) from None


def _index(mark: Any) -> int:
    return int(mark.index)


def _refuse(event: MappingStartEvent | SequenceStartEvent | ScalarEvent | AliasEvent) -> None:
    index = _index(event.start_mark)
    if event.anchor is not None:
        sign = "*" if isinstance(event, AliasEvent) else "&"
        raise ComposeError(
            "HFE013",
            f"anchors and aliases are not allowed in a card ({sign}{event.anchor})",
            f"Write the value out; if a text starts with {sign}, put it in quotes.",
            index,
        )
    tag = getattr(event, "tag", None)
    if tag is not None:
        shown = str(tag).replace("tag:yaml.org,2002:", "!!")
        raise ComposeError(
            "HFE011",
            f"tags are not allowed in a card ({shown})",
            "Remove the tag and write a plain value; if a text starts with !, put it in quotes.",
            index,
        )
