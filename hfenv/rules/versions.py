"""Rules about versions and changelogs: 5xx."""

from __future__ import annotations

from hfenv.findings import Severity
from hfenv.rules.rule import Example, Group, Rule

ERROR = Severity.ERROR

RULES = (
    Rule(
        "HFE501",
        ERROR,
        Group.VERSIONS,
        "A changed component declares a higher version.",
        "A version never changes its content: whoever pinned it must get the same bytes for ever. The finding"
        " says what changed since release.json; `hfenv bump` writes version and changelog.",
    ),
    Rule(
        "HFE502",
        ERROR,
        Group.VERSIONS,
        "A version never goes backwards.",
        "Pins and ranges rely on the order. After a release of 1.1.0 the next one is above it, also for a "
        "correction of 1.0.",
    ),
    Rule(
        "HFE503",
        ERROR,
        Group.VERSIONS,
        "Every declared version has a changelog entry.",
        "A trainer who moves a pin reads what changed. `hfenv bump` writes the entry.",
        bad=Example("# Changelog\n", path="changelog/reward.md"),
        good=Example("# Changelog\n\n## [1.0.0] - 2026-01-01\n\n- First version.\n", path="changelog/reward.md"),
    ),
    Rule(
        "HFE504",
        ERROR,
        Group.VERSIONS,
        "The release record and the changelogs can be read.",
        "They say what was released, and nothing can be compared without them. `hfenv pull` brings the release's own.",
        bad=Example("{", path="release.json"),
        good=Example(None, path="release.json"),
    ),
)
