"""The environment: a question in, one SQL query out."""

import random
from typing import Any

import hfenv

from .database import open_database, run, schema_of


class SQLEnvironment(hfenv.TaskEnvironment):
    """One turn: the agent sends a query and sees its result."""

    def __init__(self) -> None:
        self._database = None

    def start(self, task: dict[str, Any], rng: random.Random) -> dict[str, str]:
        """Set up one task and return the first observation. `task` is a whole row of tasks/*.jsonl."""
        self.close()
        path = self.resource(task["database"])
        self._database = open_database(path)
        return {"question": task["question"], "schema": schema_of(path)}

    def execute(self, action: Any) -> hfenv.Outcome:
        """Carry out an action and say what was observed, without judging it: that is the reward's part."""
        result = run(self._database, action)
        shown = {"rows": result["rows"][:20], "error": result["error"]}
        return hfenv.Outcome(data=result, observation=shown, output=shown, terminated=True, error=result["error"])

    def close(self) -> None:
        """Release everything; called once at the end."""
        if self._database is not None:
            self._database.close()
            self._database = None
