"""The JSON round trip that everything recorded goes through, with errors that name the value that isn't JSON."""

from __future__ import annotations

import json
import math
import re
from typing import Any

_HALF_PAIR = re.compile("[\ud800-\udfff]")  # no encoding holds these, so no file could
MAX_DEPTH = 500
_LONGEST = 100  # of a path into a value that a message repeats


class NotJsonError(ValueError):
    """A value can't be written as JSON; the message says which one and what it is."""


def round_trip(value: Any, where: str) -> Any:
    """`value` as it reads back from JSON: tuples become lists, keys strings, numpy scalars and arrays plain numbers.

    Half a surrogate pair in a text becomes U+FFFD, so that what is judged now is what a record holds. `where` names the
    value in errors. Raises NotJsonError for anything else, for NaN and for infinities.
    """
    try:
        text = _ENCODER.encode(value)
        data = json.loads(text)
        # Pythons differ in how deep they can go; a record has to be readable by all of them.
        if text.count("[") + text.count("{") > MAX_DEPTH and too_deep(data):
            raise ValueError("nested too deeply")
        return json.loads(as_text(data)) if "\\ud" in text else data
    except Exception as error:  # a value's own tolist may raise anything
        raise NotJsonError(_explained(value, where) or f"{where} is not plain JSON: {error}") from None


def too_deep(value: Any) -> bool:
    """Whether lists and mappings are nested deeper than MAX_DEPTH, or contain themselves."""
    pending = [(value, 1)]
    while pending:
        item, depth = pending.pop()
        if isinstance(item, (dict, list, tuple)):
            if depth > MAX_DEPTH:
                return True
            entries = item.values() if isinstance(item, dict) else item
            pending.extend((entry, depth + 1) for entry in entries if isinstance(entry, (dict, list, tuple)))
    return False


def as_text(data: Any) -> str:
    """JSON data as one line that UTF-8 can hold."""
    return _HALF_PAIR.sub("\ufffd", json.dumps(data, ensure_ascii=False, allow_nan=False))


def shown(value: Any) -> str:
    """A text for a value that may have none: repr, or its type where that fails."""
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


def _plain(value: Any) -> Any:
    """Numbers of numpy, torch and the like, by the method that they share."""
    if hasattr(value, "tolist") and not isinstance(value, type):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} has no JSON form")


_ENCODER = json.JSONEncoder(allow_nan=False, default=_plain)  # built once: json.dumps would build one at each call


def _explained(value: Any, where: str) -> str:
    try:
        found = _explain(value, where)
    except Exception:
        return ""
    return found if len(found) <= 2 * _LONGEST else f"{found[:_LONGEST]}...{found[-_LONGEST:]}"


def _explain(value: Any, where: str, depth: int = 0) -> str:
    """The first value that isn't JSON, named by its path; empty when none is found."""
    if depth > 100:
        return f"{where} is nested too deeply or contains itself"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{where} is {value}, which JSON has no number for"
    if value is None or isinstance(value, (str, bool, int, float)):
        return ""
    if isinstance(value, dict):
        for key, entry in value.items():
            if not isinstance(key, (str, bool, int, float, type(None))):
                return f"{where} has a key of type {type(key).__name__}, and JSON keys are strings"
            if found := _explain(entry, f"{where}[{key!r}]", depth + 1):
                return found
        return ""
    if isinstance(value, (list, tuple)):
        for index, entry in enumerate(value):
            if found := _explain(entry, f"{where}[{index}]", depth + 1):
                return found
        return ""
    if hasattr(value, "tolist") and not isinstance(value, type):
        return _explain(value.tolist(), where, depth + 1)
    return f"{where} is a {type(value).__name__}, which has no JSON form"
