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

DEEPEST = 20
LONGEST_KEY = 1024
MOST_VALUES = 10_000
_TOO_DEEP = (
    f"the header is nested more than {DEEPEST} levels deep",
    "Move the nested data into a file of the environment.",
)
_BAD_ESCAPE = (
    "a backslash in double quotes starts an escape that YAML doesn't know",
    "Write the backslash twice, or use single quotes.",
)
# The parser in Python lets escapes of surrogates through, which no encoding can hold.
_SURROGATE = re.compile("[\ud800-\udfff]")
_BREAK = re.compile(r"\r\n|\n|\r")
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
_WIDE_KEY = re.compile(r"^[ \t]*-?[ \t]*[\w.-]+[ \t]*(：)", re.MULTILINE)
_FULL_WIDTH = ("a full-width colon stands behind the key", "Write ': ', a plain colon and a space.")
_ODD_SPACES = {"\t": "a tab", "\u3000": "a full-width space", "\xa0": "a no-break space"}
_WIDE_SPACE = re.compile(r"[ \t]*(?:- +)?[\w.-]+:[\u3000\xa0]")
_PLAIN_SPACE = ("Write a plain space there.",)
_TAB_INDENT = re.compile(r" *(\t)[ \t]*[^\s#]")
_WIDE_INDENT = re.compile(r" *([\u3000\xa0])\s*[^\s#]")
_GLUED_KEY = re.compile(r"^[ \t]*(?:- +)?[\w.-]+:(?=[^\s:/\\])", re.MULTILINE)
_GLUED = ("there is no space behind the colon", "Write 'key: value', with a space behind the colon.")
_GLUED_DASH = ("there is no space behind the dash", "Write '- item', with a space behind the dash.")
_SECOND_DOCUMENT = (
    "a second YAML document starts inside the header",
    "Remove the line of dots or dashes: a header is one document.",
)


class ComposeError(Exception):
    """The text can't be composed: a rule, what is wrong, the cure, and the offset into the text."""

    def __init__(self, rule: str, problem: str, cure: str, index: int) -> None:
        super().__init__(rule, problem, cure, index)
        self.rule = rule
        self.problem = problem
        self.cure = cure
        self.index = index


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
                raise ComposeError("HFE006", *_SECOND_DOCUMENT, _index(event.start_mark))
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
            raise ComposeError("HFE014", *_TOO_DEEP, _index(event.start_mark))
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
            raise ComposeError("HFE006", *_BAD_ESCAPE, start)
        value: Any = event.value if style else plain_value(event.value)
        return ScalarNode(value, event.value, style, start + self.offset, end + self.offset)

    def add(self, node: Node) -> None:
        if not self.stack:
            self.root = node
            return
        parent = self.stack[-1]
        if parent.mapping and len(parent.children) % 2 == 0:
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
        self.values += 1
        if self.values > 2 * MOST_VALUES:  # a key and its value
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
        raise _in_plain_words(text, error, last) from None
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


# The two parsers word the same problem differently; both wordings are matched. {line} is where the context starts.
_WORDS = (
    (
        r"mapping values are not allowed",
        "a colon is not allowed here",
        "If the text contains ': ', put it in quotes; if this is a key, line it up with its neighbours.",
    ),
    (
        r"(found unexpected end of stream|found unexpected document indicator)",
        "a quote is opened but never closed",
        "Close the quote that starts here.",
    ),
    (
        r"expected ',' or ('}'|']')",
        "the brace or bracket opened on line {line} is not closed, or a comma is missing",
        "Add the missing comma or closing sign.",
    ),
    (
        r"(expected <block end>|did not find expected key|expected '-')",
        "this line doesn't fit the indentation or the list around it",
        "Line it up with the keys or items it belongs to.",
    ),
    (
        r"could not find expected ':'",
        "a key has no ': ' behind it",
        "Write 'key: value', with a space behind the colon.",
    ),
    (r"unknown escape character|escape code|hexdecimal|escape sequence", *_BAD_ESCAPE),
    (
        r"cannot start any token|expected alphabetic or numeric character",
        "a value can't start with this sign",
        "Put the value in quotes.",
    ),
    (r"expected (the )?node content", "a value is missing here", "Write one, or put it in quotes if it is a sign."),
    (
        r"expected comment or (a )?line break|expected (chomping|indentation)|indentation indicator",
        "behind | or > stands more than an indicator",
        "Begin the text on the next line, or put it in quotes.",
    ),
    (r"directive|YAML version", "a line that starts with % is a YAML directive", "Remove it; a text goes in quotes."),
    (r"tag handle|tag", "a text that starts with ! is a tag, which a card can't have", "Put it in quotes."),
    (r"<document start>", *_SECOND_DOCUMENT),
    (r"sequence entries are not allowed", "a list can't start here", "Begin the list on a line of its own."),
)


def _in_plain_words(text: str, error: yaml.MarkedYAMLError, last: Event | None) -> ComposeError:
    problem = error.problem or "not valid YAML"
    mark = error.problem_mark or error.context_mark
    index = min(mark.index, len(text)) if mark else 0
    if "nesting depth" in problem:
        # The parser in C looks ahead and stops by itself, before the events are that deep.
        return ComposeError("HFE014", *_TOO_DEEP, index)
    if (space := _odd_indent(text, index)) is not None:
        what = _ODD_SPACES[text[space]]
        return ComposeError("HFE007", f"{what} is used for indentation", "Indent with plain spaces alone.", space)
    if (opened := _swallowing_quote(text, index, last)) is not None:
        line = len(_BREAK.findall(text[:index]))
        problem = f"the quote that opens here is closed only on line {{+{line}}}, in front of other text"
        return ComposeError("HFE006", problem, "Close it where the text ends.", opened)
    if (colon := _full_width_colon(text, index)) is not None:
        return ComposeError("HFE006", *_FULL_WIDTH, colon)
    if (glued := _glued(text, error)) is not None:
        return glued
    for pattern, words, cure in _WORDS:
        if re.search(pattern, problem):
            context = error.context_mark
            if "quote" in words and context:
                index = context.index
            line = 0 if context is None else len(_BREAK.findall(text[: context.index]))
            return ComposeError("HFE006", words.replace("{line}", f"{{+{line}}}"), cure, index)
    return ComposeError("HFE006", problem, "Correct the YAML of the header.", index)


def _swallowing_quote(text: str, index: int, last: Event | None) -> int | None:
    """Offset of a quote that ran over line ends up to the problem: the closing one was forgotten lines before."""
    if not isinstance(last, ScalarEvent) or last.style not in ("'", '"'):
        return None
    start, end = _index(last.start_mark), _index(last.end_mark)
    runs_over = _BREAK.search(text[start:end]) is not None
    return start if runs_over and index >= end and not text[end:index].strip() else None


def _full_width_colon(text: str, index: int) -> int | None:
    """Offset of a full-width colon behind the key of the line with the problem, or of a line before it."""
    near = [match for match in _WIDE_KEY.finditer(text, 0, index + 200) if match.start() <= index]
    return near[-1].start(1) if near else None


def _glued(text: str, error: yaml.MarkedYAMLError) -> ComposeError | None:
    """Where a missing space makes a key or an item into a text that runs on to the problem."""
    problem, mark = str(error.problem), error.context_mark or error.problem_mark
    index = mark.index if mark else 0
    start = max(text.rfind("\n", 0, index), text.rfind("\r", 0, index)) + 1
    if (key := _WIDE_SPACE.match(text, start)) is not None:
        space = key.end() - 1
        return ComposeError("HFE006", f"{_ODD_SPACES[text[space]]} stands behind the colon", *_PLAIN_SPACE, space)
    if "could not find expected ':'" in problem and re.match(r" *-[^\s-]", text[start:]):
        return ComposeError("HFE006", *_GLUED_DASH, text.index("-", start))
    if "mapping values are not allowed" in problem:
        before = text[:start].rstrip()
        line = max(before.rfind("\n"), before.rfind("\r")) + 1
        if (key := _GLUED_KEY.match(text, line)) is not None:
            return ComposeError("HFE006", *_GLUED, key.end() - 1)
    return None


def _odd_indent(text: str, index: int) -> int | None:
    """Offset of a tab in the indentation of the line with the problem, or of the line before it; or of a wide space.

    A line that begins with a wide space stands at the left margin, and breaks what follows at any later place.
    """
    lines = re.finditer(r"[^\r\n]*(?:\r\n|\n|\r|\Z)", text[: index + 200])
    near = [line for line in lines if line.start() <= index]
    tabs = (line.start() + match.start(1) for line in near[-2:] if (match := _TAB_INDENT.match(line.group())))
    wide = (line.start() + match.start(1) for line in near if (match := _WIDE_INDENT.match(line.group())))
    return next(tabs, next(wide, None))
