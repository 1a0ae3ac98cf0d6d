"""Tries a gold query on all databases and refuses tasks that would be unfair, ambiguous or easy to fake."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from env.guard import Database, Status, has_outer_order
from reward.compare import Rows, overlap, same

FIXTURES = ("fixture-a", "fixture-b", "fixture-c")
MAX_GOLD_STEPS = 12_000_000  # a fifth of what an agent may use
LARGE = range(200, 3_001)
SMALL = range(1, 121)
FAKE = 0.15  # what the visible answer may overlap with the hidden ones, at the worst fixture


class Unfair(Exception):
    """A drawn task can't be used; the message says why."""


@dataclass(frozen=True)
class Gold:
    """The right answer on the visible database and on each hidden fixture."""

    visible: list[Any]
    hidden: dict[str, list[Any]]
    ordered: bool

    def signature(self, edge: str) -> str:
        """What no two tasks may share: the visible answer, or, where that is empty on purpose, the hidden ones."""
        return json.dumps(self.hidden if edge == "empty" else self.visible, ensure_ascii=False)


class Workbench:
    """Open connections to all databases; the guarded ones are those that agents get."""

    def __init__(self, resources: Path) -> None:
        names = ("flights", *FIXTURES)
        self._guarded = {name: Database(resources / f"{name}.sqlite") for name in names}
        self._reversed = {name: sqlite3.connect(resources / f"{name}.sqlite") for name in names}
        for connection in self._reversed.values():
            connection.execute("PRAGMA reverse_unordered_selects = ON")
        self.rejected: Counter[str] = Counter()

    def __enter__(self) -> Workbench:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in (*self._guarded.values(), *self._reversed.values()):
            connection.close()

    def take_rejected(self) -> Counter[str]:
        taken, self.rejected = self.rejected, Counter()
        return taken

    def gold(self, sql: str, weaker: Sequence[str], edge: str) -> Gold:
        """Run a gold query everywhere; raises Unfair. The small databases come first, since they refuse most."""
        ordered = has_outer_order(sql)
        hidden = {name: self._run(name, sql) for name in FIXTURES}
        self._check_hidden(hidden)
        visible = self._run("flights", sql)
        sizes = range(1) if edge == "empty" else LARGE if edge == "large" else SMALL
        if len(visible) not in sizes or (visible and _says_nothing(visible)):
            raise Unfair("the visible answer has the wrong size")
        if min(overlap(visible, rows, ordered=ordered) for rows in hidden.values()) > FAKE:
            raise Unfair("learning the visible answer by heart would pay")
        golds = {"flights": visible, **hidden}
        for name, rows in golds.items():
            again = [list(row) for row in self._reversed[name].execute(sql)]
            if not same(again, rows, ordered=ordered):
                raise Unfair("a tie is cut or left in no order")
        for mutant in (*weaker, *_mutants(sql)):
            if not any(self._differs(name, mutant, rows, ordered) for name, rows in reversed(golds.items())):
                raise Unfair("a condition or a DISTINCT makes no difference")
        return Gold(visible, hidden, ordered)

    def _run(self, name: str, sql: str) -> list[Any]:
        database = self._guarded[name]
        result = database.run(sql)
        if result.status is not Status.OK:
            raise RuntimeError(f"gold query fails on {name}: {result.status.value}: {result.message}\n{sql}")
        if database.steps > MAX_GOLD_STEPS:
            raise Unfair("the gold query takes long")
        return [list(row) for row in result.rows]

    def _check_hidden(self, hidden: dict[str, list[Any]]) -> None:
        telling = [rows for rows in hidden.values() if rows and not _says_nothing(rows)]
        if len(telling) < 2 or max(map(len, hidden.values())) > 1_000:
            raise Unfair("the hidden answers say too little or too much")
        if any(same(left, right, ordered=False) for at, left in enumerate(telling) for right in telling[:at]):
            raise Unfair("two hidden answers are equal")

    def _differs(self, name: str, sql: str, gold: Rows, ordered: bool) -> bool:
        result = self._guarded[name].run(sql)
        return result.status is not Status.OK or not same(result.rows, gold, ordered=ordered)


def _says_nothing(rows: Rows) -> bool:
    """A lone 0 or NULL, which an agent could guess."""
    return len(rows) == 1 and all(value in (0, None) for value in rows[0])


def _mutants(sql: str) -> list[str]:
    """The same query with its DISTINCT removed, which must not give the same answer."""
    return [
        sql.replace(old, new, 1) for old, new in (("SELECT DISTINCT ", "SELECT "), ("(DISTINCT ", "(")) if old in sql
    ]
