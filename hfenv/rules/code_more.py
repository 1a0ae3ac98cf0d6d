"""More rules about code: what it says about itself in the card, from HFE428 on."""

from __future__ import annotations

from hfenv.findings import Severity
from hfenv.rules.rule import Example, Group, Rule

_REWARD = 'environment:\n  reward: {version: "1.0.0", entry: "reward/reward.py:score", range: [-1.0, 1.0], parts: %s}\n'

RULES = (
    Rule(
        "HFE428",
        Severity.WARNING,
        Group.CODE,
        "The card lists the parts that scores have.",
        "Curves and tables of a score's parts are found by these names. Compared are the names in "
        "`hfenv.Score(total, {...})` of all files of the reward, and only where all of them are written out there: "
        "names that no score gives, and names that the card doesn't list. A card that lists no parts is fine.",
        bad=Example(_REWARD % "[right, from]"),
        good=Example(_REWARD % "[right, form]"),
    ),
)
