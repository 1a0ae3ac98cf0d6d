"""What changed in a component since it was recorded, as evidence: the one way in for status, the gate and diff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hfenv.card.nodes import escape
from hfenv.card.reader import Card
from hfenv.components.changes.change import Change, ChangeKind, Difference
from hfenv.components.changes.code import classify_code
from hfenv.components.changes.policy import Policy
from hfenv.components.changes.reward import classify_reward
from hfenv.components.describe import Meaning
from hfenv.components.meaning.shape import Shape
from hfenv.components.meaning.shaping import shape_of
from hfenv.components.ownership import CARD_NAME, RECORD_NAME, Component
from hfenv.components.snapshot import Snapshot
from hfenv.components.tasks.changes import classify_tasks
from hfenv.components.tasks.index import TaskIndex, index_tasks, task_source
from hfenv.components.tasks.since import SinceRelease, since_release

# Where the card has what a kind of change of tasks is about, by the kind's first word.
_ON_CARD = {
    "field": "tasks/fields/{}",
    "split": "tasks/splits/{}",
    "task": "tasks/seeds/{}",
    "generator": "tasks/generator",
    "resource": "resources",
}


@dataclass(frozen=True, slots=True)
class Classified:
    """The changes of a component, at least one where its exact digest differs; `tasks` compares two task sets."""

    changes: tuple[Change, ...]
    tasks: SinceRelease | None = None


def classify(
    component: Component, released: Meaning | None, folder: Snapshot, paths: Sequence[str], policy: Policy
) -> Classified:
    """Hold a component that differs from what was recorded against it; `released` is None where no meaning was.

    `paths` are those of the component whose bytes or modes differ. Raises UnreadableError
    for what can't be read.
    """
    if released is not None and released.tasks is not None:
        return _tasks(released.tasks, folder, paths, policy)
    if released is None or released.shape is None:
        unknown = Difference(ChangeKind.UNKNOWN, RECORD_NAME, component.value, "what it meant wasn't recorded")
        return Classified(policy.judge(component, [unknown]))
    now = shape_of(component, folder.root, folder.files, folder.manifest.raw)
    return Classified(_code(component, released.shape, now, paths, policy))


def placed(change: Change, card: Card) -> Change:
    """With the line of the card that a change of its slice stands on."""
    if change.path != CARD_NAME:
        return change
    pointer = change.name.replace(".", "/")
    if change.component is Component.TASKS:  # where names are those of splits, fields and resources
        pointer = _ON_CARD.get(change.kind.value.partition("-")[0], "tasks").format(escape(change.name))
    pointer = f"/environment/{pointer}"
    return replace(change, line=card.place(pointer).line)


def _code(component: Component, old: Shape, new: Shape, paths: Sequence[str], policy: Policy) -> tuple[Change, ...]:
    judge = classify_code if component is Component.CODE else classify_reward
    # The card's slice may differ in its spelling alone.
    rest = [Difference(ChangeKind.TEXT, CARD_NAME, component.value, "the card says the same otherwise")]
    return judge(old, new, exact=paths, policy=policy) or policy.judge(component, rest)


def _tasks(old: TaskIndex, folder: Snapshot, paths: Sequence[str], policy: Policy) -> Classified:
    source = task_source(folder.root, folder.manifest, folder.files)
    since = since_release(old, index_tasks(source, released=old.roles))
    return Classified(task_changes(since, paths, policy), since)


def task_changes(since: SinceRelease, paths: Sequence[str], policy: Policy) -> tuple[Change, ...]:
    """The changes of tasks that differ from what was released, at least one; `paths` as for `classify`."""
    if changes := classify_tasks(since, policy):
        return changes
    there = {file.name for file in since.new.source.files}
    place = next((path for path in paths if path in there), CARD_NAME)
    files = f" ({len(paths):,} files differ)" if len(paths) > 1 else ""
    same = Difference(ChangeKind.TASK_FILES, place, place, f"the same tasks, stored otherwise{files}")
    return policy.judge(Component.TASKS, [same])
