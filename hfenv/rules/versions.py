"""Rules about versions and changelogs: 5xx."""

from __future__ import annotations

from hfenv.findings import Severity
from hfenv.rules.rule import Group, Rule

ERROR = Severity.ERROR

RULES = (
    Rule(
        "HFE501",
        ERROR,
        Group.VERSIONS,
        "A changed component declares a higher version.",
        "A version never changes its content.",
    ),
    Rule("HFE502", ERROR, Group.VERSIONS, "A version never goes backwards.", "Pins and ranges rely on the order."),
    Rule("HFE503", ERROR, Group.VERSIONS, "Every declared version has a changelog entry.", "`hfenv bump` writes it."),
    Rule(
        "HFE504",
        ERROR,
        Group.VERSIONS,
        "The release record and the changelogs can be read.",
        "They say what was released.",
    ),
)
