"""Changes of a component as data: what changed, where, which version that needs and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from hfenv.components.ownership import CARD_NAME, Component
from hfenv.components.versions import Level


class ChangeKind(str, Enum):
    """Every kind of change of a component; the policy table says what each one needs, and why."""

    TEXT = "text"
    DOCUMENT = "document"
    CARD_OTHER = "card-other"

    BODY = "body"
    BUILTIN_BODY = "builtin-body"
    DATA = "data"
    PROMPT = "prompt"
    ENTRY_REMOVED = "entry-removed"
    ENTRY_MOVED = "entry-moved"
    ENTRY_BASES = "entry-bases"
    SURFACE_REMOVED = "surface-removed"
    SURFACE_ADDED = "surface-added"
    SURFACE_FORM = "surface-form"
    PARAMETER_REMOVED = "parameter-removed"
    PARAMETER_REQUIRED = "parameter-required"
    PARAMETER_NARROWED = "parameter-narrowed"
    PARAMETER_ADDED = "parameter-added"
    PARAMETER_WIDENED = "parameter-widened"
    DEFAULT_CHANGED = "default-changed"
    CONSTANT_CHANGED = "constant-changed"
    SPACE_CHANGED = "space-changed"
    HELPER_CHANGED = "helper-changed"
    HELPER_MOVED = "helper-moved"
    TOOL_REMOVED = "tool-removed"
    TOOL_ADDED = "tool-added"
    TOOL_NARROWED = "tool-narrowed"
    TOOL_WIDENED = "tool-widened"
    TOOL_DEFAULT = "tool-default"
    TOOL_TEXT = "tool-text"
    ACTION_NARROWED = "action-narrowed"
    ACTION_WIDENED = "action-widened"
    ACTION_CHANGED = "action-changed"
    OBSERVATION_NARROWED = "observation-narrowed"
    OBSERVATION_WIDENED = "observation-widened"
    OBSERVATION_RESIZED = "observation-resized"
    OBSERVATION_CHANGED = "observation-changed"
    STEP_TIMEOUT_LOWERED = "step-timeout-lowered"
    STEP_TIMEOUT_RAISED = "step-timeout-raised"
    MAX_STEPS_LOWERED = "max-steps-lowered"
    MAX_STEPS_RAISED = "max-steps-raised"
    MEMORY_LOWERED = "memory-lowered"
    MEMORY_RAISED = "memory-raised"
    PACKAGES = "packages"
    PYTHON_NARROWED = "python-narrowed"
    PYTHON_WIDENED = "python-widened"
    SYSTEM_ADDED = "system-added"
    SYSTEM_REMOVED = "system-removed"
    SECRET_ADDED = "secret-added"  # noqa: S105
    SECRET_REMOVED = "secret-removed"  # noqa: S105
    NETWORK_RAISED = "network-raised"
    NETWORK_LOWERED = "network-lowered"
    CONFIG_NARROWED = "config-narrowed"
    CONFIG_WIDENED = "config-widened"
    CONFIG_CHANGED = "config-changed"
    CONFIG_DEFAULT = "config-default"
    SERVICE_ADDED = "service-added"
    SERVICE_REMOVED = "service-removed"
    SERVICE_CHANGED = "service-changed"
    SANDBOX_IMAGE = "sandbox-image"
    SANDBOX_NARROWED = "sandbox-narrowed"
    SANDBOX_WIDENED = "sandbox-widened"
    DETERMINISM_LOST = "determinism-lost"
    DETERMINISM_GAINED = "determinism-gained"
    VOLATILE_ADDED = "volatile-added"
    VOLATILE_REMOVED = "volatile-removed"

    PROBES = "probes"
    REWARD_REMOVED = "reward-removed"
    REWARD_ENTRY = "reward-entry"
    REWARD_SIGNATURE = "reward-signature"
    REWARD_PARAMETER = "reward-parameter"
    REWARD_DEFAULT = "reward-default"
    REWARD_CONSTANT = "reward-constant"
    REWARD_NUMBER = "reward-number"
    REWARD_KEY_NEUTRAL = "reward-key-neutral"
    REWARD_BODY = "reward-body"
    REWARD_TOP = "reward-top"
    MEASURE_BODY = "measure-body"
    MEASURE_ADDED = "measure-added"
    REWARD_UNREACHED = "reward-unreached"
    REWARD_DATA = "reward-data"
    REWARD_DATA_ADDED = "reward-data-added"
    REWARD_RANGE = "reward-range"
    REWARD_FLOOR = "reward-floor"
    REWARD_PARTS = "reward-parts"
    REWARD_PARTS_ADDED = "reward-parts-added"
    REWARD_SCOPE = "reward-scope"
    REWARD_BUILTIN = "reward-builtin"
    PROBE_MOVED = "probe-moved"
    PROBE_PARTS = "probe-parts"

    TASK_META = "task-meta"
    TASK_ADDED_TRAINING = "task-added-training"
    TASK_ADDED_EVALUATION = "task-added-evaluation"
    TASK_REMOVED = "task-removed"
    TASK_EDITED = "task-edited"
    TASK_RENAMED = "task-renamed"
    TASK_MOVED = "task-moved"
    TASK_ORDER = "task-order"
    TASK_FILES = "task-files"
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
    GENERATOR = "generator"

    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Change:
    """One change and what it needs. `name` is what changed (a function, a constant, a key of the card), `path` and
    `line` where it stands now, or where it stood; line 0 where there is none. `before` and `after` are short texts or
    digests, empty for what wasn't there. `why` is the policy's reason for `level`.

    `unless_probes` is the level that is enough when probes score alike under old and new; None where they can't tell.
    `count` is the number of tasks concerned, None where it isn't known or says nothing, and `examples` are the ids of
    the first few.
    """

    component: Component
    kind: ChangeKind
    level: Level
    path: str
    line: int
    name: str
    message: str
    before: str = ""
    after: str = ""
    why: str = ""
    unless_probes: Level | None = None
    count: int | None = None
    examples: tuple[str, ...] = ()

    def settled(self) -> Change:
        """The change after probes scored alike: at the lower level where they can tell, else as it is."""
        return self if self.unless_probes is None else replace(self, level=self.unless_probes, unless_probes=None)


@dataclass(frozen=True, slots=True)
class Difference:
    """A change before the policy is asked: everything but its level. `texts` are before and after; see `Change`."""

    kind: ChangeKind
    path: str
    name: str
    message: str
    texts: tuple[str, str] = ("", "")
    line: int = 0
    count: int | None = None
    examples: tuple[str, ...] = ()


def on_card(kind: ChangeKind, key: str, message: str, before: str = "", after: str = "") -> Difference:
    """A difference in the card's `environment` block; `key` is the key as `limits.max_steps`."""
    return Difference(kind, CARD_NAME, key, message, (before, after))


def required(changes: Iterable[Change]) -> Level:
    """The smallest level that covers all changes."""
    return max((change.level for change in changes), default=Level.NONE)
