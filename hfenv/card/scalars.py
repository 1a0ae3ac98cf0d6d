"""What a plain scalar means: YAML 1.2's core schema, and where readers of YAML 1.1 take it for something else."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import yaml

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"([-+]?)\.(?:inf|Inf|INF)")
_NAN = frozenset((".nan", ".NaN", ".NAN"))
_SPECIAL = frozenset("0123456789+-.~nNtTfF")  # signs with which anything but text begins
MERGE_KEY = "<<"  # what stands behind it is merged into its mapping by readers of YAML 1.1
_TAG = "tag:yaml.org,2002:"
_LONGEST_INT = 4000  # Python refuses to read and to write integers of more than 4,300 digits
_LONGEST_HEX = 3000


def plain_value(text: str) -> Any:
    """None, bool, int, float or str. Words such as `no`, dates, `12:30` and `1_000` stay text."""
    if text and text[0] not in _SPECIAL:
        return text
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INT.fullmatch(text):
        return int(text) if len(text) <= _LONGEST_INT else text
    if _OCTAL.fullmatch(text):
        return int(text[2:], 8) if len(text) <= _LONGEST_HEX else text
    if _HEX.fullmatch(text):
        return int(text[2:], 16) if len(text) <= _LONGEST_HEX else text
    if _FLOAT.fullmatch(text):
        return float(text)
    if match := _INFINITE.fullmatch(text):
        return float(f"{match[1]}inf")
    return float("nan") if text in _NAN else text


_legacy: Any = yaml.resolver.Resolver()
_FIRST = frozenset(_legacy.yaml_implicit_resolvers) - {None}  # signs with which anything but text can begin
_KINDS = {"null": "nothing", "bool": "true or false", "int": "a number", "float": "a number", "timestamp": "a date"}


@lru_cache(maxsize=4096)
def other_reading(text: str) -> str | None:
    """What readers of YAML 1.1 (PyYAML, hence the Hub's own library) take a plain scalar for; None if they agree."""
    if text[:1] not in _FIRST and not text[:1].isdigit():
        return None
    value = plain_value(text)
    kind = str(_legacy.resolve(yaml.ScalarNode, text, (True, False))).removeprefix(_TAG)
    if isinstance(value, str):
        return None if kind == "str" else _KINDS.get(kind, "a special sign")
    if value is None or isinstance(value, bool):
        return None
    if kind == "str":
        return "text"
    digits = text.lstrip("+-")
    if (
        kind == "int"
        and digits.startswith("0")
        and len(digits) > 1
        and digits.isdigit()
        and int(digits, 8) != abs(value)
    ):
        return f"the number {int(digits, 8)}"
    return None
