"""Rules about the schema and the sections of a card: 1xx."""

from __future__ import annotations

from hfenv.findings import Severity
from hfenv.rules.rule import Group, Rule

ERROR = Severity.ERROR
WARNING = Severity.WARNING

RULES = (
    Rule(
        "HFE101", ERROR, Group.SCHEMA, "Required fields are there.", "The schema says which; `init` writes all of them."
    ),
    Rule(
        "HFE102",
        ERROR,
        Group.SCHEMA,
        "A value has the type that its field wants.",
        "Text, a number, a list or a mapping.",
    ),
    Rule("HFE103", ERROR, Group.SCHEMA, "A value is one of those that its field allows.", "The message lists them."),
    Rule("HFE104", ERROR, Group.SCHEMA, "Every key under `environment` is known.", "An unknown key does nothing."),
    Rule(
        "HFE105",
        ERROR,
        Group.SCHEMA,
        "Paths, entries, hashes and names have their form.",
        "The message shows an example.",
    ),
    Rule(
        "HFE106",
        ERROR,
        Group.SCHEMA,
        "Versions are semantic versions.",
        "Three numbers, such as 1.0.0, without build metadata.",
        fixable=True,
    ),
    Rule(
        "HFE107",
        ERROR,
        Group.SCHEMA,
        "Numbers, lists and texts have a size that makes sense.",
        "The message says the bound.",
    ),
    Rule(
        "HFE108",
        ERROR,
        Group.SCHEMA,
        "Fields that exclude or need each other are used so.",
        "A resource has a path or a uri.",
    ),
    Rule(
        "HFE109",
        ERROR,
        Group.SCHEMA,
        "Numbers are finite.",
        "JSON has no infinity; records and rollouts couldn't hold them.",
    ),
    Rule(
        "HFE110",
        ERROR,
        Group.SECTIONS,
        "The required sections are there.",
        "Headings of level 2, in English or Chinese.",
        fixable=True,
    ),
    Rule(
        "HFE111",
        WARNING,
        Group.SECTIONS,
        "Every required section has content.",
        "An empty section tells a reader nothing.",
    ),
    Rule(
        "HFE113",
        ERROR,
        Group.SCHEMA,
        "The reward's range has a lower and a higher end.",
        "u divides by their difference.",
    ),
    Rule(
        "HFE114",
        ERROR,
        Group.SCHEMA,
        "The reward's floor lies in the range, below its upper end.",
        "u would be undefined.",
    ),
    Rule("HFE115", WARNING, Group.SCHEMA, "Some field has the role input.", "Who is shown nothing can only guess."),
    Rule(
        "HFE116",
        ERROR,
        Group.SCHEMA,
        "Names of resources and services are unique.",
        "A task refers to one by its name.",
    ),
    Rule(
        "HFE117",
        ERROR,
        Group.SCHEMA,
        "`config` is a JSON Schema.",
        "`load` checks a caller's configuration against it.",
    ),
    Rule(
        "HFE118",
        ERROR,
        Group.SCHEMA,
        "Box bounds and shape fit together.",
        "low and high are numbers, or lists of that shape.",
    ),
)
