"""What a query is worth: much when it is right on all databases, a little for each row that is right on all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import hfenv

from .compare import overlap, same
from .guard import Database, Status

FIXTURES = ("fixture-a", "fixture-b", "fixture-c")
MAX_EVIDENCE_ROWS = 2_000  # twice the longest right answer on a fixture

EXECUTED = 0.02  # runs and reads a table
OVERLAP = 0.38  # times the share of right rows, on the database where it is smallest
EXACT = 0.60  # right everywhere

PENALTIES = {
    Status.EMPTY: -0.4,
    Status.SYNTAX: -0.3,
    Status.FAILED: -0.2,
    Status.TIME_LIMIT: -0.3,
    Status.SIZE_LIMIT: -0.3,
    Status.SEVERAL: -0.6,
    Status.FORBIDDEN: -0.6,
    Status.DESTRUCTIVE: -1.0,
}


def measure(task: Mapping[str, Any], transcript: Sequence[hfenv.Turn], context: hfenv.MeasureContext) -> dict[str, Any]:
    """Run the query on the hidden fixtures, each over a fresh connection; nothing if it failed on the visible one."""
    turn = transcript[-1]
    if turn.outcome.data["status"] != Status.OK.value:
        return {}
    evidence = {}
    for name in FIXTURES:
        with Database(context.resource(name)) as database:
            result = database.run(turn.action, max_rows=MAX_EVIDENCE_ROWS)
        evidence[name] = {"status": result.status.value, "rows": [list(row) for row in result.rows]}
    return evidence


def score(task: Mapping[str, Any], transcript: Sequence[hfenv.Turn]) -> hfenv.Score:
    """The reward of one query, from -1 to 1; a pure function of its arguments."""
    turn = transcript[-1]
    data, evidence = turn.outcome.data, turn.evidence or {}
    status = Status(data["status"])
    if status is not Status.OK:
        penalty = PENALTIES[status]
        return hfenv.Score(penalty, {"penalty": penalty}, status="agent_fault")
    parts = {"penalty": 0.0, "executed": 0.0, "overlap": 0.0, "exact": 0.0}
    if not data["tables"]:  # constants: nothing was looked up
        return hfenv.Score(0.0, parts)
    ordered = bool(task["ordered"])
    pairs = [(data["rows"], json.loads(task["gold_rows"]))]
    for name, gold in json.loads(task["hidden_rows"]).items():
        found = evidence.get(name, {})
        pairs.append((found.get("rows", []) if found.get("status") == Status.OK.value else [["failed"]], gold))
    parts["executed"] = EXECUTED
    parts["overlap"] = OVERLAP * min(overlap(answer, gold, ordered=ordered) for answer, gold in pairs)
    parts["exact"] = EXACT * all(same(answer, gold, ordered=ordered) for answer, gold in pairs)
    return hfenv.Score(round(sum(parts.values()), 6), parts)
