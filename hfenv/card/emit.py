"""Values to YAML text for splicing into a card: quoted where any reader might take a text for something else."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hfenv.card.scalars import other_reading, plain_value

WIDTH = 100
# Plain only what no reader, old or new, in block or flow, can take for anything but this text.
_PLAIN = re.compile(r"[A-Za-z_./\u00c0-\u024f\u3400-\u9fff](?:[^\s,\[\]{}:#\"'&*!|%@`\\]| (?=[^\s]))*")
_ESCAPED = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def scalar(value: Any, style: str = "") -> str:
    """One scalar as YAML text; a string keeps the quotes (`style`) of the text it replaces, where it can."""
    if isinstance(value, str):
        return _string(value, style)
    if value is None or isinstance(value, (bool, int)):
        return json.dumps(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            return ".nan" if math.isnan(value) else f"{'-' * (value < 0)}.inf"
        text = json.dumps(value)
        # Readers of YAML 1.1 take 1e-05 for text: they want a dot.
        return text if "." in text else re.sub(r"(?=e)", ".0", text)
    raise TypeError(f"{type(value).__name__} is no JSON value")


def flow(value: Any) -> str:
    """Any JSON value in flow style, on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key_text(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if is_list(value):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return scalar(value)


def block(value: Mapping[str, Any] | Sequence[Any], indent: int) -> list[str]:
    """A non-empty collection in block style, as lines that start in column `indent`; its leaves are in flow style."""
    lines = []
    margin = " " * indent
    if isinstance(value, Mapping):
        for key, item in value.items():
            first, rest = _below(item, indent)
            lines += [f"{margin}{key_text(key)}:{first and ' ' + first}", *rest]
        return lines
    for item in value:
        first, rest = _below(item, indent)
        if first:
            lines.append(f"{margin}- {first}")
        else:
            lines += [f"{margin}- {rest[0].lstrip()}", *rest[1:]]
    return lines


def _below(item: Any, indent: int) -> tuple[str, list[str]]:
    if fits_flow(item, indent):
        return flow(item), []
    return "", block(item, indent + 2)


def fits_flow(value: Any, indent: int = 0) -> bool:
    """Whether a value goes on its key's line: a scalar, or a collection of scalars that is short."""
    if not (isinstance(value, Mapping) or is_list(value)) or not value:
        return True
    items = value.values() if isinstance(value, Mapping) else value
    if any(isinstance(item, Mapping) or is_list(item) for item in items):
        return False
    return indent + len(flow(value)) <= WIDTH


def is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def key_text(key: Any) -> str:
    """A mapping key as YAML text."""
    if not isinstance(key, str):
        raise TypeError(f"a key must be text, not {type(key).__name__}")
    return _string(key, "")


def _string(value: str, style: str) -> str:
    if style == "'" and not _ESCAPED.search(value) and "\t" not in value:
        return "'" + value.replace("'", "''") + "'"
    if style != '"' and _is_plain(value):
        return value
    text = json.dumps(value, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _is_plain(value: str) -> bool:
    return (
        _PLAIN.fullmatch(value) is not None
        and not _ESCAPED.search(value)
        and isinstance(plain_value(value), str)
        and other_reading(value) is None
        and value.lower() not in ("y", "n")
        and not value.startswith(("...", "---"))
    )
