"""Compares two results as bags, or as sequences, of typed rows; nothing here knows databases."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

Rows = Sequence[Sequence[Any]]
RELATIVE = 1e-6
ABSOLUTE = 1e-6


def same_value(left: Any, right: Any) -> bool:
    """Equal as typed values: NULL, "" and "None" differ, 1 and "1" differ, 1 and 1.0 don't, True is no number."""
    if _is_number(left) and _is_number(right):
        if isinstance(left, int) and isinstance(right, int):
            return left == right
        return math.isclose(left, right, rel_tol=RELATIVE, abs_tol=ABSOLUTE)  # False for NaN
    return type(left) is type(right) and left == right


def same_row(left: Sequence[Any], right: Sequence[Any]) -> bool:
    return len(left) == len(right) and all(map(same_value, left, right))


def same(answer: Rows, gold: Rows, *, ordered: bool) -> bool:
    """Whether two results are equal: as sequences if ordered, else as bags (duplicates count)."""
    if len(answer) != len(gold):
        return False
    if ordered:
        return all(map(same_row, answer, gold))
    return matched(answer, gold) == len(gold)


def overlap(answer: Rows, gold: Rows, *, ordered: bool) -> float:
    """Precision times recall of the rows, in [0, 1]; half of it when the rows are right and their order isn't.

    The product keeps a dump cheap: all rows of a table around the right tenth of them earn a tenth.
    """
    if not answer and not gold:
        return 1.0
    if not answer or not gold or len(answer[0]) != len(gold[0]):
        return 0.0
    hits = matched(answer, gold)
    value = (hits / len(answer)) * (hits / len(gold))
    return value / 2 if ordered and not same(answer, gold, ordered=True) else value


def matched(answer: Rows, gold: Rows) -> int:
    """How many rows of the answer can be paired with rows of gold, each used once."""
    exact = Counter(map(_key, answer)) & Counter(map(_key, gold))
    hits = exact.total() if hasattr(exact, "total") else sum(exact.values())
    if hits in (len(answer), len(gold)):
        return hits
    # What is left may still agree within the tolerance: numbers that fell on two sides of a rounding.
    return hits + _pair(_without(answer, exact), _without(gold, exact))


def _pair(answer: list[Sequence[Any]], gold: list[Sequence[Any]]) -> int:
    """Pair rows whose numbers agree within the tolerance; rows are grouped by what isn't a fraction first."""
    groups: dict[tuple[Any, ...], list[Sequence[Any]]] = {}
    for row in gold:
        groups.setdefault(_coarse(row), []).append(row)
    hits = 0
    for row in answer:
        rest = groups.get(_coarse(row), [])
        found = next((at for at, other in enumerate(rest[:200]) if same_row(row, other)), None)
        if found is not None:
            rest.pop(found)
            hits += 1
    return hits


def _without(rows: Rows, taken: Counter[tuple[Any, ...]]) -> list[Sequence[Any]]:
    budget = Counter(taken)
    rest = []
    for row in rows:
        key = _key(row)
        if budget[key] > 0:
            budget[key] -= 1
        else:
            rest.append(row)
    return rest


def _key(row: Sequence[Any]) -> tuple[Any, ...]:
    # A kind beside each value, since 1 == 1.0 == True inside a Counter and NaN is never found again.
    return tuple(_typed(value) for value in row)


def _coarse(row: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(("number",) if _is_number(value) else _typed(value) for value in row)


def _typed(value: Any) -> tuple[str, Any]:
    if isinstance(value, float) and math.isnan(value):
        return ("nan", object())  # equal to nothing, as in SQL
    if isinstance(value, float):
        return ("number", int(value) if value.is_integer() and abs(value) < 2**53 else round(value, 9))
    if _is_number(value):
        return ("number", value)
    return (type(value).__name__, str(sorted(value.items())) if isinstance(value, dict) else value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
