"""The environment: a question and a schema in, one SQL query out, run on a private connection."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import hfenv

from .guard import Database, Result

PREVIEW_ROWS = 20


class SQLEnvironment(hfenv.TaskEnvironment):
    """One turn: the agent sends a query and sees the first rows of its result, or why it was refused."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._database: Database | None = None

    def start(self, task: dict[str, Any], rng: random.Random) -> dict[str, str]:
        path = self.resource(task["database"])
        if self._database is None or path != self._path:
            self.close()
            self._path, self._database = path, Database(path)
        return {"question": task["question"], "schema": task["schema"]}

    def execute(self, action: Any) -> hfenv.Outcome:
        if self._database is None:
            raise RuntimeError("execute was called before start")
        result = self._database.run(action)
        return hfenv.Outcome(
            data=result.as_data(),
            observation=_preview(result),
            output=_preview(result),
            terminated=True,
            error=result.message or None,
        )

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None


def _preview(result: Result) -> dict[str, Any]:
    return {
        "status": result.status.value,
        "message": result.message,
        "columns": list(result.columns),
        "rows": [list(row) for row in result.rows[:PREVIEW_ROWS]],
        "row_count": len(result.rows),
    }
