"""Holds two environments against each other, component by component; runs no code of theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hfenv.components.changes.change import Change, required
from hfenv.components.changes.policy import Policy, load_policy
from hfenv.components.classify import classify, placed, task_changes
from hfenv.components.describe import Meaning, recorded_probes
from hfenv.components.meaning.shaping import shape_of
from hfenv.components.ownership import Component
from hfenv.components.tasks.index import task_source
from hfenv.components.tasks.pair import TaskPair, read_pair
from hfenv.components.versions import Level, is_version, parse_version
from hfenv.diffing.cards import key_differences, package_differences, section_differences
from hfenv.diffing.files import file_differences
from hfenv.diffing.result import CardDifference, ComponentDifference, EnvironmentDifference
from hfenv.diffing.sides import Place, Side, differing, fetched, folder_side, hub_side, is_changed, same_component
from hfenv.diffing.verdict import comparability
from hfenv.errors import HfenvError, NotFoundError, UnreadableError
from hfenv.hub.client import Hub
from hfenv.hub.fetch import Progress
from hfenv.hub.references import HubReference, Reference
from hfenv.specify import Origin

if TYPE_CHECKING:  # only some calls run anything
    from hfenv.diffing.probes import Probed
    from hfenv.probing.report import ProbeReport


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a comparison shows beyond what it always does: the lines of the code that differ, and what probes say.

    Probes are replayed where `probe` says with which trust; else nothing of either side is run.
    """

    code: bool = False
    probe: Origin | None = None


def compare_references(
    hub: Hub | None, old: Reference, new: Reference, wanted: Wanted = Wanted(), *, progress: Progress | None = None
) -> EnvironmentDifference:
    """Compare what two references name. `hub` may be None where both are folders.

    Components that are the same to the byte aren't fetched. Raises the errors of resolving and fetching; what can't be
    read of a component is its `problem`.
    """
    sides = (_side(hub, old), _side(hub, new))
    moved = [c for c in Component if not same_component(sides[0].places[c], sides[1].places[c], c)]
    sides = (fetched(hub, sides[0], moved, progress), fetched(hub, sides[1], moved, progress))
    probes = None
    if wanted.probe is not None and Component.REWARD in moved:
        from hfenv.diffing.probes import probed

        probes = probed(sides, replace(wanted.probe, opened=hub))
    return _compare(sides, wanted, probes)


def _side(hub: Hub | None, reference: Reference) -> Side:
    if isinstance(reference, HubReference):
        if hub is None:
            raise ValueError("a reference on a hub needs one")
        return hub_side(hub, reference)
    return folder_side(reference)


def _compare(sides: tuple[Side, Side], wanted: Wanted, probes: Probed | None) -> EnvironmentDifference:
    policy = _policy(sides[1])
    found, breaking, tasks = dict[Component, ComponentDifference](), dict[Component, Level](), None
    for component in Component:
        old, new = (side.places[component] for side in sides)
        one = _component(component, old, new, wanted)
        if not one.same:
            try:
                if component is Component.TASKS:
                    one, tasks = _with_tasks(one, old, new, policy)
                else:
                    report = probes.report if probes is not None and component is Component.REWARD else None
                    one, breaking[component] = _with_changes(one, old, new, policy, report)
            except (UnreadableError, NotFoundError) as error:
                one = replace(one, problem=_said(error))
        found[component] = one
    repos = {side.repo for side in sides}
    main = (sides[0].main, sides[1].main)
    splits = tuple(list(side.places[Component.TASKS].snapshot.manifest.tasks.splits) for side in sides)
    return EnvironmentDifference(
        sides=(sides[0].facts(), sides[1].facts()),
        comparable=comparability(
            found, (splits[0], splits[1]), tasks, breaking=breaking, one_line=len(repos - {None}) < 2
        ),
        components=found,
        tasks=tasks,
        card=CardDifference(
            key_differences(main[0].snapshot.card, main[1].snapshot.card),
            section_differences(main[0].snapshot.card, main[1].snapshot.card),
            file_differences(*main, None),
        ),
        packages=package_differences(*main),
        probes=probes,
    )


def _said(error: HfenvError) -> str:
    return f"{error.message} {error.hint}".strip()


def _policy(new: Side) -> Policy:
    """The policy table with what the new side's card tightens: who reads a comparison isn't bound by its author."""
    try:
        policy = load_policy(new.main.snapshot.manifest.raw.get("change_policy"))
    except UnreadableError:
        return load_policy()
    rules = dict(policy.rules)
    rules.update({(one.component, one.kind): one.table for one in policy.loosened})
    return replace(policy, rules=rules)


def _component(component: Component, old: Place, new: Place, wanted: Wanted) -> ComponentDifference:
    versions = (old.components[component].version, new.components[component].version)
    commits = (old.commit, new.commit)
    if same_component(old, new, component):
        return ComponentDifference(component, versions, commits, same=True)
    lines = component is not Component.TASKS
    patches = component is Component.REWARD or (component is Component.CODE and wanted.code)
    files = file_differences(old, new, component, lines=lines, patches=patches)
    return ComponentDifference(component, versions, commits, same=False, files=files)


def _with_changes(
    found: ComponentDifference, old: Place, new: Place, policy: Policy, report: ProbeReport | None
) -> tuple[ComponentDifference, Level]:
    """With the changes of code or reward, and their level from the older version to the newer one."""
    changes = _changes(found.component, old, new, policy)
    before, after = found.versions
    forward = changes
    if is_version(before) and is_version(after) and parse_version(after) < parse_version(before):
        # Whether numbers fit together can't depend on which side was named first.
        forward = _changes(found.component, new, old, policy)
    if report is not None:
        from hfenv.probing.judge import with_probes

        changes, forward = (with_probes(several, report, policy) for several in (changes, forward))
    elif found.component is Component.REWARD and _recorded_alike(old, new):
        changes, forward = (tuple(change.settled() for change in several) for several in (changes, forward))
    return replace(found, changes=changes), required(forward)


def _recorded_alike(old: Place, new: Place) -> bool:
    """Whether two released rewards gave the same scores to the same probes, as their releases recorded.

    A release records the probes that its reward was seen to score as they say: one's are among the other's then.
    """
    if is_changed(old, Component.REWARD) or is_changed(new, Component.REWARD):
        return False
    one, other = (
        recorded_probes(place.record.components[Component.REWARD]) if place.record is not None else frozenset[str]()
        for place in (old, new)
    )
    return bool(one and other) and (one <= other or other <= one)


def _changes(component: Component, old: Place, new: Place, policy: Policy) -> tuple[Change, ...]:
    before = old.of(component)
    meaning = Meaning("", shape_of(component, before.root, before.files, before.manifest.raw))
    found = classify(component, meaning, new.of(component), list(differing(old, new, component)), policy).changes
    return tuple(placed(change, new.snapshot.card) for change in found)


def _with_tasks(
    found: ComponentDifference, old: Place, new: Place, policy: Policy
) -> tuple[ComponentDifference, TaskPair]:
    sources = []
    for place, which in ((old, "first"), (new, "second")):
        folder = place.of(Component.TASKS)
        try:
            sources.append(task_source(folder.root, folder.manifest, folder.files))
        except NotFoundError as error:
            raise NotFoundError(f"The {which} side: {error.message}", error.hint) from None
    pair = read_pair(*sources)
    paths: Sequence[str] = list(differing(old, new, Component.TASKS))
    return replace(found, changes=task_changes(pair.since, paths, policy)), pair


def as_counts(pair: TaskPair | None) -> Mapping[str, Mapping[str, int]]:
    """How many tasks differ, by split and kind."""
    if pair is None:
        return {}
    return {split: {kind.value: count for kind, count in kinds.items()} for split, kinds in pair.counts.items()}
