"""Rules about the files of an environment, their owners and names: 2xx."""

from __future__ import annotations

from hfenv.findings import Severity
from hfenv.rules.rule import Group, Rule

ERROR = Severity.ERROR
INFO = Severity.INFO
WARNING = Severity.WARNING

RULES = (
    Rule(
        "HFE201",
        ERROR,
        Group.LAYOUT,
        "Files that the card names exist.",
        "Entries, policies and resources with a path.",
    ),
    Rule(
        "HFE202",
        ERROR,
        Group.LAYOUT,
        "Every path or glob of a split matches a file.",
        "Also true for each item of a list.",
    ),
    Rule(
        "HFE203",
        ERROR,
        Group.NAMES,
        "Every file can be part of an environment.",
        "Links, devices, compiled Python and names that collide or can't be stored on some platform are refused.",
    ),
    Rule(
        "HFE204",
        INFO,
        Group.LAYOUT,
        "Every file belongs somewhere.",
        "Files of no component are pushed, but have no version.",
    ),
    Rule(
        "HFE205",
        ERROR,
        Group.LAYOUT,
        "Files of a component lie in its folder.",
        "Versions and digests go by folder: env/ for code, tasks/ for tasks and resources, reward/ for the reward.",
    ),
    Rule("HFE206", ERROR, Group.LAYOUT, "Every component has files.", "Asked where the card doesn't name them itself."),
    Rule(
        "HFE207",
        WARNING,
        Group.LAYOUT,
        "Executable files are still executable.",
        "The Hub stores no modes; release.json does.",
        fixable=True,
    ),
)
