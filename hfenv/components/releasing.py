"""Makes the record of a release: versions, what every component means, and since when numbers are comparable."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from typing import TYPE_CHECKING

from hfenv.card.manifest import Manifest
from hfenv.components.ownership import Component
from hfenv.components.release import RecordedComponent, RecordedSplit, ReleaseRecord
from hfenv.components.snapshot import Snapshot
from hfenv.components.status import ComponentStatus, Statuses, own_policy, release_level
from hfenv.components.tasks.index import RECORDED_TASKS
from hfenv.components.versions import Level, level_between, next_release, parse_version

if TYPE_CHECKING:
    from hfenv.components.changes.policy import Policy


def new_record(folder: Snapshot, states: Statuses, rows: Mapping[str, int]) -> ReleaseRecord:
    """The record of the release that a folder would become; `rows` has the number of tasks of each split.

    Raises UnreadableError, with the place, for code or tasks whose meaning can't be read.
    """
    from hfenv import __version__

    previous = folder.record
    release = next_release(
        previous.release if previous else None,
        release_level(states),
        prerelease=any(parse_version(state.declared).prerelease for state in states.values()),
        components=[state.declared for state in states.values()],
    )
    policy = own_policy(folder.manifest)
    splits = {
        name: RecordedSplit(count, _comparable_since(name, states, previous, policy) or release)
        for name, count in rows.items()
    }
    current = {component: state.current for component, state in states.items()}
    return ReleaseRecord(
        release,
        __version__,
        with_meaning(folder, current),
        splits,
        _packages(folder.manifest),
        (*previous.history, previous.versions) if previous else (),
    )


def with_meaning(
    folder: Snapshot, current: Mapping[Component, RecordedComponent], *, most: int | None = RECORDED_TASKS
) -> dict[Component, RecordedComponent]:
    """The components with their meanings; what is as it was released keeps what was recorded then.

    `most` bounds the tasks that are described one by one.
    """
    from hfenv.components.describe import describe, described

    return {
        component: recorded
        if recorded.described is not None
        else described(recorded, describe(component, folder, most=most))
        for component, recorded in current.items()
    }


def breaks_numbers(state: ComponentStatus, policy: Policy) -> bool:
    """Whether numbers that were measured before a change of code or reward can't stand beside those after it.

    Where the environment's own `policy` is looser than the table, the table counts: whoever reads numbers isn't bound
    by their author.
    """
    step = level_between(state.released, state.declared) if state.released else Level.NONE
    table = {(one.component, one.kind): one.table for one in policy.loosened}
    rules = [table[key] for change in state.changes if (key := (change.component, change.kind)) in table]
    usual = [rule.unless_probes if state.alike and rule.unless_probes else rule.level for rule in rules]
    return max(state.required, step, *usual) is Level.MAJOR or state.unclear is not None


def _comparable_since(split: str, states: Statuses, previous: ReleaseRecord | None, policy: Policy) -> str | None:
    """As before, where nothing happened to the split's tasks and what else scores depend on; else None."""
    if previous is None or split not in previous.splits:
        return None
    if any(breaks_numbers(states[component], policy) for component in (Component.CODE, Component.REWARD)):
        return None
    return previous.splits[split].comparable_since if _same_tasks(states[Component.TASKS], split) else None


def _same_tasks(state: ComponentStatus, split: str) -> bool:
    if not state.changed:
        return True
    if state.tasks is None:  # nobody could tell what changed
        return False
    from hfenv.components.tasks.changes import comparable

    return comparable(state.tasks, split)[0]


def _packages(manifest: Manifest) -> dict[str, str]:
    """Installed versions of the packages that the card requires: what this release was made with."""
    from packaging.requirements import InvalidRequirement, Requirement

    found = {}
    for text in manifest.requires.packages:
        try:
            name = Requirement(text).name
            found[name] = metadata.version(name)
        except (InvalidRequirement, metadata.PackageNotFoundError):
            continue
    return found
