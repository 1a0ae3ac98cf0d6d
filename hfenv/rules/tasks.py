"""Rules about task files: 3xx."""

from __future__ import annotations

from hfenv.findings import Severity
from hfenv.rules.rule import Group, Rule

ERROR = Severity.ERROR

RULES = (
    Rule("HFE301", ERROR, Group.TASKS, "Task files can be read.", "One JSON object per line in UTF-8, or Parquet."),
    Rule("HFE302", ERROR, Group.TASKS, "Every task has an `id`, a text that isn't empty.", "Results are keyed by it."),
    Rule(
        "HFE303",
        ERROR,
        Group.TASKS,
        "Task ids are unique over all splits.",
        "Two tasks with one id can't be told apart.",
    ),
    Rule(
        "HFE304",
        ERROR,
        Group.TASKS,
        "Every task has the declared fields.",
        "The environment and the reward rely on them.",
    ),
    Rule("HFE305", ERROR, Group.TASKS, "No split is empty.", "There would be nothing to load."),
    Rule("HFE306", ERROR, Group.TASKS, "Resource fields name an entry of `resources`.", "A task's file must be found."),
)
