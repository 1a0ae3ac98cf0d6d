"""Policies that come with the environment: the oracle, and a heuristic that knows many shapes of questions."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import Any

from .shapes import ONE_TABLE
from .shapes_joins import SEVERAL_TABLES

MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"

# How questions put conditions on flights; (phrase, column and operator, whether the value is a text).
CONDITIONS = (
    (r"operated by carrier '(\w+)'", "carrier =", True),
    (r"with carrier code '(\w+)'", "carrier =", True),
    (r"departing from (\w{3})\b", "origin =", True),
    (r"with origin (\w{3})\b", "origin =", True),
    (r"to destination (\w{3})\b", "dest =", True),
    (r"bound for (\w{3})\b", "dest =", True),
    (rf"in (?:the month of )?({MONTHS})\b", "month =", False),
    (r"scheduled to depart before (\d+):00", "hour <", False),
    (r"scheduled to depart at (\d+):00 or later", "hour >=", False),
    (r"of at least (\d+) miles", "distance >=", False),
    (r"with a distance of (\d+) miles or more", "distance >=", False),
    (r"of less than (\d+) miles", "distance <", False),
    (r"with a distance below (\d+) miles", "distance <", False),
    (r"that departed more than (\d+) minutes late", "dep_delay >", False),
    (r"with a dep_delay above (\d+) minutes", "dep_delay >", False),
    (r"that arrived more than (\d+) minutes late", "arr_delay >", False),
    (r"with an arr_delay above (\d+) minutes", "arr_delay >", False),
    (r"that arrived at least (\d+) minutes early", "arr_delay <= -", False),
    (r"with more than (\d+) minutes in the air", "air_time >", False),
)
COMPILED = tuple((re.compile(pattern), query) for pattern, query in SEVERAL_TABLES + ONE_TABLE)
FALLBACK = "SELECT COUNT(*) FROM flights"


def oracle(task: Mapping[str, Any], observation: Any, info: Mapping[str, Any], rng: random.Random) -> str:
    """The query that made the right answer; the oracle alone sees it."""
    return str(task["gold_sql"])


def heuristic(task: Mapping[str, Any], observation: Any, info: Mapping[str, Any], rng: random.Random) -> str:
    """Translate the question by shapes that an author would think of; count all flights where none fits."""
    for pattern, query in COMPILED:
        if found := pattern.search(task["question"]):
            return query.format_map({name: _sql(name, text) for name, text in found.groupdict().items()})
    return FALLBACK


def _sql(name: str, text: str) -> str:
    translate: dict[str, Callable[[str], str]] = {
        "where": _conditions,
        "fwhere": lambda said: _conditions(said, "f."),
        "metric": _column,
        "thing": _column,
        "key": _column,
        "end": lambda said: {"largest": "MAX", "smallest": "MIN"}[said],
        "month": lambda said: str(MONTHS.split("|").index(said) + 1),
        "sense": lambda said: {"below": "<", "above": ">"}[said],
    }
    return translate.get(name, lambda said: said.replace("'", "''"))(text)


def _column(said: str) -> str:
    named = re.search(r"\((\w+)\)", said)
    return named.group(1) if named else said


def _conditions(said: str, alias: str = "") -> str:
    found = []
    for pattern, test, is_text in CONDITIONS:
        for value in re.findall(pattern, said):
            number = str(MONTHS.split("|").index(value) + 1) if value in MONTHS.split("|") else value
            gap = "" if test.endswith("-") else " "
            found.append(f"{alias}{test}{gap}" + (f"'{value}'" if is_text else number))
    return " AND ".join(found) or "1"
