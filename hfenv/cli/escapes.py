"""Signs that a terminal, a log or a reader would obey instead of showing, written as escapes."""

from __future__ import annotations

import re

from hfenv.secret_shapes import redacted

# Signs that change the direction of writing or end a line, control characters of old, and what can't be encoded at all.
_TURNING = "\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
_UNSEEN = re.compile(f"[\x00-\x1f{_TURNING}]")
_IN_JSON = re.compile(f"[{_TURNING}]")
_OURS = "\n  "  # where a hint of several lines goes on


def visible(text: str) -> str:
    """The text on one line, with signs that a terminal would obey instead of showing written as escapes."""
    return _UNSEEN.sub(lambda match: match.group().encode("unicode_escape").decode(), text)


def visible_lines(text: str) -> str:
    """A text of several lines, each as `visible` shows it; tabs are spaces, since their width is the terminal's."""
    return "\n".join(visible(line.replace("\t", "    ")) for line in text.replace("\r\n", "\n").split("\n"))


def escaped_json(document: str) -> str:
    """A JSON document in which such signs, which can stand in its strings alone, are escapes of JSON's own."""
    return _IN_JSON.sub(lambda match: f"\\u{ord(match.group()):04x}", document)


def said(text: str) -> str:
    """A sentence for people on one line: nothing in it moves the cursor, and no token is repeated."""
    return visible(redacted(text))


def said_in_lines(text: str) -> str:
    """The same for what hfenv itself has put into several lines, none of which a CI service takes for a command."""
    return _OURS.join(unlike_a_command(said(line)) for line in text.split(_OURS))


def unlike_a_command(line: str) -> str:
    """A line that doesn't start as GitHub's workflow commands do, which count wherever a step prints them."""
    return line if not line.lstrip().startswith("::") else line.replace("::", "\\x3a:", 1)
