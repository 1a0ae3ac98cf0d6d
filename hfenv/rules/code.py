"""Rules about code and reward, judged by their syntax trees: 4xx."""

from __future__ import annotations

from hfenv.findings import Severity
from hfenv.rules.rule import Group, Rule

ERROR = Severity.ERROR

RULES = (
    Rule("HFE401", ERROR, Group.CODE, "Python files parse.", "Nothing is imported: this is the syntax tree only."),
    Rule("HFE402", ERROR, Group.CODE, "Entries exist in their files.", "Defined or imported at the file's top level."),
    Rule(
        "HFE403",
        ERROR,
        Group.CODE,
        "The environment's class has the methods of the contract.",
        "`start` and `execute` for a task environment; `reset`, `step` and `close` for an environment of its own. "
        "Methods that a base class from elsewhere may bring are not asked for.",
    ),
    Rule(
        "HFE404",
        ERROR,
        Group.CODE,
        "The reward is a plain function of a task and a transcript.",
        "score(task, transcript), not async; with scope group, score_group(task, transcripts) beside it.",
    ),
    Rule("HFE405", ERROR, Group.CODE, "`measure` takes a task, a transcript and a context.", "It may be async."),
)
