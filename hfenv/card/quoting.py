"""An author's own text in messages: shortened, and safe on a terminal and in a log whatever it holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hfenv.card.nodes import tokens

LONGEST = 60  # code points of an author's text that a message repeats
_JOINERS = "\u200c\u200d"  # parts of emoji and of some scripts
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def short(text: str) -> str:
    """The text on one line, cut after 60 code points; what isn't printable (controls, turned text) as an escape."""
    if len(text) <= LONGEST and text.isprintable():
        return text
    return one_line(text if len(text) <= LONGEST else f"{text[:LONGEST]}...")


def one_line(text: str) -> str:
    """The same for a text whose length is bounded already."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign in _JOINERS else _escaped(sign) for sign in text)


def _escaped(sign: str) -> str:
    return _NAMED.get(sign) or (f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}")


def shown(value: Any) -> str:
    """A value of the header as a message names it: texts and numbers as they are, collections by their kind."""
    if isinstance(value, str):
        return f"'{short(value)}'"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return short(number(value))


def number(value: Any) -> str:
    """A number, truth value or null as text."""
    try:
        return json.dumps(value)
    except ValueError:  # an integer of more digits than Python prints
        return "a very long number"


def dotted(pointer: str) -> str:
    """A JSON Pointer as authors think of it: 'reward.range.0', without the `environment` that all share."""
    keys = tokens(pointer)
    keys = keys[1:] if keys[:1] == ["environment"] and len(keys) > 1 else keys
    names = [short(key) if key.strip() else f"'{key}'" for key in keys]
    return ".".join(names if len(names) <= 8 else [*names[:4], "...", *names[-3:]])
