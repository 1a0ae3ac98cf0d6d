"""Rules about versions and changelogs: 5xx."""

from __future__ import annotations

from hfenv.findings import Severity
from hfenv.rules.rule import Example, Group, Rule

ERROR = Severity.ERROR
WARNING = Severity.WARNING

RULES = (
    Rule(
        "HFE501",
        ERROR,
        Group.VERSIONS,
        "A released version keeps its content.",
        "Whoever pinned it must get the same bytes for ever. The finding says what changed since release.json, "
        "file by file and by what it means, and which version that needs; `hfenv bump` writes version and changelog.",
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
    Rule(
        "HFE505",
        ERROR,
        Group.VERSIONS,
        "The declared version is as high as the change asks for.",
        "A trainer who allows patches relies on scores staying comparable: a reworded test task or another weight in "
        "the reward is a major version, however small the edit. The finding names what changed, and why that needs "
        "the level. Below 1.0.0 a minor version may break. `hfenv status` shows all of it.",
    ),
    Rule(
        "HFE506",
        WARNING,
        Group.VERSIONS,
        "A version follows the last one without a gap.",
        "After 1.1.0 come 1.1.1, 1.2.0 or 2.0.0. With a gap, people look for what was in between.",
    ),
    Rule(
        "HFE507",
        ERROR,
        Group.VERSIONS,
        "Every changelog belongs to a component.",
        "Components are code, tasks and reward. What another file in `changelog/` tells is shown to nobody.",
        bad=Example("# Changelog\n\n## [1.0.0] - 2026-01-01\n\n- First.\n", path="changelog/rewards.md"),
        good=Example(None, path="changelog/rewards.md"),
    ),
    Rule(
        "HFE508",
        ERROR,
        Group.VERSIONS,
        "`change_policy` names kinds of changes that there are.",
        "A misspelt one would leave the table's level in force. The kinds, their levels and the reasons stand in "
        "`schemas/change-policy-v1.yaml`; the finding lists those of the component.",
        bad=Example("environment:\n  change_policy: {reward: {reward-weight: major}}\n"),
        good=Example("environment:\n  change_policy: {code: {body: minor}}\n"),
    ),
    Rule(
        "HFE509",
        WARNING,
        Group.VERSIONS,
        "A version that rests on probes is checked with them.",
        "Code of the reward changed, no setting did, and the declared version says that it scores as before. "
        "Validation runs nothing of the environment; `hfenv status --probe` and every push replay the probes under "
        "the new reward, and refuse the version if one scores otherwise.",
    ),
    Rule(
        "HFE510",
        Severity.INFO,
        Group.VERSIONS,
        "A policy that asks for less than usual is told.",
        "An environment may set levels of its own for kinds of changes. One below the table's is named wherever a "
        "verdict rests on it, so that nobody takes it for the usual one.",
        bad=Example("environment:\n  change_policy: {tasks: {task-added-evaluation: minor}}\n"),
        good=Example("environment:\n  change_policy: {tasks: {task-added-training: major}}\n"),
    ),
)
