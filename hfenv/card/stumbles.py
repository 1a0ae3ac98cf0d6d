"""What the parser of YAML stumbles over, in an author's words: what is wrong, where, and the cure."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import yaml
from yaml.events import Event, ScalarEvent

DEEPEST = 20
TOO_DEEP = (
    f"the header is nested more than {DEEPEST} levels deep",
    "Move the nested data into a file of the environment.",
)
BAD_ESCAPE = (
    "a backslash in double quotes starts an escape that YAML doesn't know",
    "Write the backslash twice, or use single quotes.",
)
_BREAK = re.compile(r"\r\n|\n|\r")
_WIDE_KEY = re.compile(r"^[ \t]*-?[ \t]*[\w.-]+[ \t]*(：)", re.MULTILINE)
_FULL_WIDTH = ("a full-width colon stands behind the key", "Write ': ', a plain colon and a space.")
_ODD = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"  # spaces that aren't white space to YAML
_ODD_SPACES = {"\t": "a tab", "\u3000": "a full-width space", "\xa0": "a no-break space"}
_WIDE_SPACE = re.compile(rf"""[ \t]*(?:- +)*(?:[\w.-]+|"[^"\r\n]*"|'[^'\r\n]*')[ \t]*:[{_ODD}]""")
_PLAIN_SPACE = ("Write a plain space there.",)
_TAB_INDENT = re.compile(r" *(\t)[ \t]*[^\s#]")
_WIDE_INDENT = re.compile(rf" *([{_ODD}])\s*[^\s#]")
_CLOSED = re.compile(r"""(?:^|[\s\[{,])("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')[ \t]*\Z""")
_GLUED_KEY = re.compile(r"^[ \t]*(?:- +)?[\w.-]+:(?=[^\s:/\\])", re.MULTILINE)
_GLUED = ("there is no space behind the colon", "Write 'key: value', with a space behind the colon.")
_GLUED_DASH = ("there is no space behind the dash", "Write '- item', with a space behind the dash.")
_IN_BRACES = re.compile(r"flow (mapping|sequence)")
_WIDE_SIGNS = {"，": ("comma", ", "), "：": ("colon", ": "), "｝": ("brace", "}"), "］": ("bracket", "]")}
_WIDE_SIGNS |= {"｛": ("brace", "{"), "［": ("bracket", "["), "】": ("bracket", "]"), "【": ("bracket", "[")}
_WIDE_SIGNS |= {"、": ("comma", ", "), "“": ("quote", '"'), "”": ("quote", '"')}
_ENDS_LINE = re.compile(r"[｝］】，、]+[ \t]*[\r\n]")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'")
SECOND_DOCUMENT = (
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
    (r"unknown escape character|escape code|hexdecimal|escape sequence", *BAD_ESCAPE),
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
    (r"<document start>", *SECOND_DOCUMENT),
    (r"sequence entries are not allowed", "a list can't start here", "Begin the list on a line of its own."),
)


def space_behind_colon(text: str) -> tuple[str, int] | None:
    """What space stands behind the colon of a key, where YAML takes it for text, and its offset; None for none."""
    match = _WIDE_SPACE.match(text)
    return (_named(text[match.end() - 1]), match.end() - 1) if match else None


def _named(space: str) -> str:
    return _ODD_SPACES.get(space) or f"the character U+{ord(space):04X} ({unicodedata.name(space).lower()})"


def in_plain_words(text: str, error: yaml.MarkedYAMLError, last: Event | None) -> ComposeError:
    problem = error.problem or "not valid YAML"
    mark = error.problem_mark or error.context_mark
    index = min(mark.index, len(text)) if mark else 0
    if "nesting depth" in problem:
        # The parser in C looks ahead and stops by itself, before the events are that deep.
        return ComposeError("HFE014", *TOO_DEEP, index)
    if (space := _odd_indent(text, index)) is not None:
        return ComposeError(
            "HFE007", f"{_named(text[space])} is used for indentation", "Indent with plain spaces alone.", space
        )
    if (opened := _swallowing_quote(text, index, last)) is not None:
        line = len(_BREAK.findall(text[:index]))
        problem = f"the quote that opens here is closed only on line {{+{line}}}, in front of other text"
        return ComposeError("HFE006", problem, "Close it where the text ends.", opened)
    if (space := _space_near(text, index)) is not None:
        return ComposeError("HFE006", f"{_named(text[space])} stands behind the colon", *_PLAIN_SPACE, space)
    if (sign := _wide_sign(text, index, error)) is not None:
        name, plain = _WIDE_SIGNS[text[sign]]
        return ComposeError("HFE006", f"a full-width {name} stands here", f"Write a plain one: '{plain}'.", sign)
    if (behind := _behind_quote(text, index, problem)) is not None:
        return ComposeError("HFE006", *behind, index)
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


def _space_near(text: str, index: int) -> int | None:
    """Offset of an odd space behind a key's colon on the line of the problem, or on the last line before it.

    With such a space the whole line is text, which only the next colon contradicts.
    """
    start = _line_start(text, index)
    for line in (start, _line_start(text, len(text[:start].rstrip()))):
        if (key := _WIDE_SPACE.match(text, line)) is not None:
            return key.end() - 1
    return None


def _wide_sign(text: str, index: int, error: yaml.MarkedYAMLError) -> int | None:
    """Offset of a full-width sign that stands for one of YAML's own, inside the braces or brackets of the problem."""
    opened = error.context_mark
    if opened is None or not _IN_BRACES.search(f"{error.context} {error.problem}"):
        return None
    start = max(opened.index, index - 2000)
    unquoted = _QUOTED.sub(lambda match: " " * len(match[0]), text[start:index] + text[index : index + 1])
    line = _line_start(unquoted, len(unquoted) - 1)
    found = [at for at, sign in enumerate(unquoted) if sign in _WIDE_SIGNS]
    # What the parser stumbles over is behind the sign: on the same line, or the sign ends its line.
    near = [at for at in found if at >= line] or [at for at in found if _ENDS_LINE.match(unquoted, at)]
    return start + near[-1] if near else None


def _line_start(text: str, index: int) -> int:
    return max(text.rfind("\n", 0, index), text.rfind("\r", 0, index)) + 1


def _behind_quote(text: str, index: int, problem: str) -> tuple[str, str] | None:
    """Problem and cure where text stands behind a closing quote, on the quote's own line."""
    before = text[max(_line_start(text, index), index - 2000) : index]
    rest = re.split(r"[\r\n]", text[index : index + 100], maxsplit=1)[0]
    match = _CLOSED.search(before) if before.rstrip(" \t")[-1:] in ("'", '"') else None
    if match is None or not rest.strip() or rest[0] in "\"':,]}":
        return None
    in_flow = re.search(r"expected ',' or", problem) is not None
    if in_flow and re.match(r"[\w.-]+:|[\[{]", rest):
        return None  # a comma is missing
    inside = "a ' in it is written twice" if match[1].startswith("'") else 'a " in it is written \\"'
    comma = "; or add the missing comma" if in_flow else ""
    return (
        "the quote closes before the value ends: more text stands behind it",
        f"Put the whole value in quotes ({inside}){comma}.",
    )


def _full_width_colon(text: str, index: int) -> int | None:
    """Offset of a full-width colon behind the key of the line with the problem, or of a line before it."""
    near = [match for match in _WIDE_KEY.finditer(text, 0, index + 200) if match.start() <= index]
    return near[-1].start(1) if near else None


def _glued(text: str, error: yaml.MarkedYAMLError) -> ComposeError | None:
    """Where a missing space makes a key or an item into a text that runs on to the problem."""
    problem, mark = str(error.problem), error.context_mark or error.problem_mark
    index = mark.index if mark else 0
    start = _line_start(text, index)
    if (space := _space_near(text, index)) is not None:
        return ComposeError("HFE006", f"{_named(text[space])} stands behind the colon", *_PLAIN_SPACE, space)
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


def _index(mark: Any) -> int:
    return int(mark.index)
