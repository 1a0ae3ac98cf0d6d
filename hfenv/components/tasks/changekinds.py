"""Kinds of changes of a task set, the level that each needs and why, and one change as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from hfenv.components.ownership import Component
from hfenv.components.versions import Level


class TaskChange(str, Enum):
    """Kinds of changes of a task set, as a policy names them."""

    TASK_META = "task-meta"
    TASK_ADDED_TRAINING = "task-added-training"
    TASK_ADDED_EVALUATION = "task-added-evaluation"
    TASK_REMOVED = "task-removed"
    TASK_EDITED = "task-edited"
    TASK_RENAMED = "task-renamed"
    TASK_MOVED = "task-moved"
    TASK_ORDER = "task-order"
    TASK_UNKNOWN = "task-unknown"
    FIELD_ADDED = "field-added"
    FIELD_FILLED = "field-filled"
    FIELD_REMOVED = "field-removed"
    FIELD_RETYPED = "field-retyped"
    FIELD_ROLE = "field-role"
    RESOURCE_ADDED = "resource-added"
    RESOURCE_EDITED = "resource-edited"
    RESOURCE_REMOVED = "resource-removed"
    SPLIT_ADDED = "split-added"
    SPLIT_REMOVED = "split-removed"
    SPLIT_DEFAULT = "split-default"


@dataclass(frozen=True, slots=True)
class TaskRule:
    """What one kind of change needs, and why in a sentence."""

    level: Level
    why: str


TaskPolicy = Mapping[TaskChange, TaskRule]

DEFAULT_POLICY: TaskPolicy = MappingProxyType({
    TaskChange.TASK_META: TaskRule(Level.PATCH, "No score depends on a meta field."),
    TaskChange.TASK_ADDED_TRAINING: TaskRule(Level.MINOR, "The old training tasks are untouched."),
    TaskChange.TASK_ADDED_EVALUATION: TaskRule(Level.MAJOR, "An average over other tasks means something else."),
    TaskChange.TASK_REMOVED: TaskRule(Level.MAJOR, "Scores on the task can't be measured again, nor averages with it."),
    TaskChange.TASK_EDITED: TaskRule(Level.MAJOR, "Scores on the old and the new task aren't comparable."),
    TaskChange.TASK_RENAMED: TaskRule(Level.MAJOR, "Results are kept by id."),
    TaskChange.TASK_MOVED: TaskRule(Level.MAJOR, "What was trained on is evaluated now, or the other way round."),
    TaskChange.TASK_ORDER: TaskRule(Level.MINOR, "A seed picks a task by its place."),
    TaskChange.TASK_UNKNOWN: TaskRule(Level.MAJOR, "It may be any change, so that it counts as the largest."),
    TaskChange.FIELD_ADDED: TaskRule(Level.MINOR, "It tells no task from another, and old fields are still there."),
    TaskChange.FIELD_FILLED: TaskRule(Level.MAJOR, "Each task has more content than it had: it is another task."),
    TaskChange.FIELD_REMOVED: TaskRule(Level.MAJOR, "Whoever reads the field doesn't find it."),
    TaskChange.FIELD_RETYPED: TaskRule(Level.MAJOR, "Whoever reads the field relies on its type."),
    TaskChange.FIELD_ROLE: TaskRule(Level.MAJOR, "The role says what a policy sees and what counts as the task."),
    TaskChange.RESOURCE_ADDED: TaskRule(Level.MINOR, "Old tasks don't know it."),
    TaskChange.RESOURCE_EDITED: TaskRule(Level.MAJOR, "It is part of the tasks that use it."),
    TaskChange.RESOURCE_REMOVED: TaskRule(Level.MAJOR, "Whoever asks for it doesn't get it."),
    TaskChange.SPLIT_ADDED: TaskRule(Level.MINOR, "No number was measured on it, so that none loses its meaning."),
    TaskChange.SPLIT_REMOVED: TaskRule(Level.MAJOR, "Whoever loads it doesn't find it."),
    TaskChange.SPLIT_DEFAULT: TaskRule(Level.MAJOR, "Whoever names no split gets other tasks, or none."),
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Difference:
    """A change of a task set before a policy is asked.

    `path` and `line` (from 1; 0 where there is none) say where it is seen first, `name` is the split, field or resource
    concerned, `texts` are before and after, short or empty. `count` is the number of tasks, None where it isn't known
    or says nothing, and `examples` are the ids of the first few.
    """

    kind: TaskChange
    path: str
    name: str
    message: str
    texts: tuple[str, str] = ("", "")
    line: int = 0
    count: int | None = None
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """A difference with the level that it needs and the policy's reason; see `Difference` for the other fields."""

    component: Component
    kind: TaskChange
    level: Level
    path: str
    line: int
    name: str
    message: str
    before: str = ""
    after: str = ""
    why: str = ""
    count: int | None = None
    examples: tuple[str, ...] = ()


def judged(difference: Difference, policy: TaskPolicy) -> Change:
    """The difference as a change."""
    d, rule = difference, policy[difference.kind]
    return Change(
        Component.TASKS, d.kind, rule.level, d.path, d.line, d.name, d.message, *d.texts, rule.why, d.count, d.examples
    )
