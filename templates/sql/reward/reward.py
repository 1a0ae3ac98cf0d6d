"""What a query is worth: 1 if it is right on every database, a little for right rows, less than nothing if it fails."""

from collections import Counter
from typing import Any

import hfenv

from .database import open_database, run

DATABASES = ("shop", "hidden-a", "hidden-b")  # an answer learned by heart is wrong on the hidden ones
OVERLAP = 0.4


def measure(task: dict, transcript: tuple, context: Any) -> dict[str, Any]:
    """Run the query and the gold query on every database, each over a connection of its own; recorded once per turn."""
    return {
        name: {"answer": _rows(context, name, transcript[-1].action), "gold": _rows(context, name, task["gold_sql"])}
        for name in DATABASES
    }


def score(task: dict, transcript: tuple) -> hfenv.Score:
    """The reward of the latest turn: a pure function of task, outcome and evidence."""
    turn = transcript[-1]
    kind = turn.outcome.data["kind"]
    if kind is not None:
        penalty = -1.0 if kind == "destructive" else -0.3
        return hfenv.Score(penalty, {"penalty": penalty}, status="agent_fault")
    if not turn.outcome.data["tables"]:
        return hfenv.Score(0.0, {"overlap": 0.0, "exact": 0.0})  # constants: nothing was looked up
    shares = [_share(found["answer"], found["gold"], task["ordered"]) for found in turn.evidence.values()]
    exact = min(shares) == 1.0
    parts = {"overlap": OVERLAP * min(shares), "exact": 1 - OVERLAP if exact else 0.0}
    return hfenv.Score(sum(parts.values()), parts)


def _rows(context: Any, name: str, sql: Any) -> list:
    database = open_database(context.resource(name))
    try:
        result = run(database, sql)
    finally:
        database.close()
    return result["rows"] if result["kind"] is None else [["failed"]]


def _share(answer: list, gold: list, ordered: bool) -> float:
    """Precision times recall of typed rows, duplicates included; right rows in the wrong order count half."""
    if not answer and not gold:
        return 1.0
    left, right = [[_typed(row) for row in rows] for rows in (answer, gold)]
    hits = sum((Counter(left) & Counter(right)).values())
    share = hits / max(len(left), 1) * hits / max(len(right), 1)
    return share / 2 if ordered and left != right else share


def _typed(row: list) -> tuple:
    # 1, 1.0 and True are equal in Python, and so are rows that differ only in them; '1' and NULL are something else.
    return tuple(
        ("number", round(value, 6)) if isinstance(value, (int, float)) else (type(value).__name__, value)
        for value in row
    )
