"""The JSON round trip that everything recorded goes through, with errors that name the value that isn't JSON."""

from __future__ import annotations

import json
import math
from typing import Any


class NotJsonError(ValueError):
    """A value can't be written as JSON; the message says which one and what it is."""


def round_trip(value: Any, where: str) -> Any:
    """`value` as it reads back from JSON: tuples become lists, keys strings, numpy scalars and arrays plain numbers.

    `where` names the value in errors. Raises NotJsonError for anything else, for NaN and for infinities.
    """
    try:
        return json.loads(_ENCODER.encode(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJsonError(_explain(value, where) or f"{where} is not plain JSON: {error}") from None


def _plain(value: Any) -> Any:
    """Numbers of numpy, torch and the like, by the method that they share."""
    if hasattr(value, "tolist") and not isinstance(value, type):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} has no JSON form")


_ENCODER = json.JSONEncoder(allow_nan=False, default=_plain)  # built once: json.dumps would build one at each call


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
