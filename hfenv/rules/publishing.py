"""Rules about what the Hub and readers see, secrets and size: 6xx."""

from __future__ import annotations

from hfenv.findings import Severity
from hfenv.rules.rule import Group, Rule

ERROR = Severity.ERROR
WARNING = Severity.WARNING

RULES = (
    Rule(
        "HFE601", ERROR, Group.PUBLISHING, "The card names a licence.", "Without one, nobody may use the environment."
    ),
    Rule(
        "HFE602",
        ERROR,
        Group.PUBLISHING,
        "The tags contain rl-environment and hfenv.",
        "The Hub's filter and `search` go by them.",
        fixable=True,
    ),
    Rule(
        "HFE603",
        WARNING,
        Group.PUBLISHING,
        "`configs` agrees with the splits.",
        "`load_dataset` and the Hub's viewer read configs, hfenv reads the splits. The next push writes configs again.",
        fixable=True,
    ),
)
