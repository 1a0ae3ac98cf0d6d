"""The card's `environment` block as frozen dataclasses; standard library only, so that workers can use it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class FieldRole(str, Enum):
    """What a field of a task row is for. Only `input` and `meta` are ever shown to a policy."""

    INPUT = "input"
    TARGET = "target"
    GRADING = "grading"
    RESOURCE = "resource"
    META = "meta"


class RewardScope(str, Enum):
    """What one call of the reward judges."""

    TURN = "turn"
    EPISODE = "episode"
    GROUP = "group"


@dataclass(frozen=True, slots=True)
class CodeSection:
    """The component `code`: its version, and its class as path.py:Name."""

    version: str
    entry: str


@dataclass(frozen=True, slots=True)
class SeedRange:
    """The seeds of a generated split: from `first` up to, but without, `stop`."""

    first: int
    stop: int

    @property
    def count(self) -> int:
        return max(0, self.stop - self.first)

    def common(self, other: SeedRange) -> int:
        """How many seeds are in both."""
        return max(0, min(self.stop, other.stop) - max(self.first, other.first))


@dataclass(frozen=True, slots=True)
class TasksSection:
    """`splits` maps a split to its paths or globs, in the order in which they are read.

    A split in `seeds` is made by `generator`, one task for each seed; its one file in `splits` is a sample: the first
    of these tasks.
    """

    version: str
    splits: Mapping[str, tuple[str, ...]]
    fields: Mapping[str, FieldRole]
    generator: str | None = None
    seeds: Mapping[str, SeedRange] = field(default_factory=dict)

    def role(self, name: str) -> FieldRole:
        """Role of a field; one without a role is a target, so that it is never shown."""
        return self.fields.get(name, FieldRole.TARGET)


@dataclass(frozen=True, slots=True)
class RewardSection:
    """`low` and `high` bound an episode's return; `floor` is what doing nothing useful earns."""

    version: str
    entry: str | None
    low: float
    high: float
    floor: float
    parts: Mapping[str, Any] | tuple[str, ...] = ()
    scope: RewardScope = RewardScope.TURN
    builtin: bool = False

    def normalise(self, episode_return: float) -> float:
        """u in [0, 1]: how far a return lies between the floor and the upper end."""
        return min(1.0, max(0.0, (episode_return - self.floor) / (self.high - self.floor)))


@dataclass(frozen=True, slots=True)
class ActionSection:
    """`spec` holds the keys of one action type, such as `n` for `discrete` or `low` and `high` for `box`."""

    type: str
    description: str = ""
    extract: str = "raw"
    spec: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ObservationSection:
    """What the agent sees; `spec` holds what goes with its type."""

    type: str
    description: str = ""
    spec: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds, steps and megabytes; None means that the author declared no limit."""

    step_timeout_s: float | None = None
    max_steps: int | None = None
    memory_mb: int | None = None


@dataclass(frozen=True, slots=True)
class Requires:
    """What must be there before the environment is imported."""

    python: str = ""
    packages: tuple[str, ...] = ()
    system: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    network: Any = None


@dataclass(frozen=True, slots=True)
class Resource:
    """A file that tasks refer to: a `path` in the environment, or a `uri` with its digest and size in bytes."""

    name: str
    path: str | None = None
    uri: str | None = None
    sha256: str | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Service:
    """Something that is given at load and never hosted by hfenv, such as a judge."""

    name: str
    protocol: str
    model: str | None = None
    revision: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Where code that an agent wrote is run; `network` is `none`, `full` or the hosts that are reached."""

    image: str | None = None
    network: str | tuple[str, ...] = "none"


class LifecycleStatus(str, Enum):
    """Whether an environment is kept up."""

    ACTIVE = "active"
    DEPRECATED = "deprecated"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """Whether the environment is kept up, and what takes its place."""

    status: LifecycleStatus = LifecycleStatus.ACTIVE
    successor: str | None = None
    reason: str | None = None
    since: str | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """The `environment` block. `raw` is the block as written: digests and the runtime of later formats read it."""

    summary: str
    code: CodeSection
    tasks: TasksSection
    reward: RewardSection
    action: ActionSection
    observation: ObservationSection
    name: str | None = None
    repo: str | None = None
    release: str | None = None
    limits: Limits = Limits()
    requires: Requires = Requires()
    determinism: str = "seeded"
    volatile_info: tuple[str, ...] = ()
    policies: Mapping[str, str] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    resources: tuple[Resource, ...] = ()
    services: tuple[Service, ...] = ()
    sandbox: Sandbox = Sandbox()
    lifecycle: Lifecycle = Lifecycle()
    canary: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_block(cls, block: Mapping[str, Any]) -> Manifest:
        """Read a block that the schema has accepted; anything else raises KeyError, TypeError or ValueError."""
        return cls(
            summary=block["summary"],
            code=CodeSection(block["code"]["version"], block["code"]["entry"]),
            tasks=_tasks(block["tasks"]),
            reward=_reward(block["reward"]),
            action=ActionSection(
                block["action"]["type"],
                block["action"].get("description", ""),
                block["action"].get("extract", "raw"),
                _rest(block["action"], "type", "description", "extract"),
            ),
            observation=ObservationSection(
                block["observation"]["type"],
                block["observation"].get("description", ""),
                _rest(block["observation"], "type", "description"),
            ),
            name=block.get("name"),
            repo=block.get("repo"),
            release=block.get("release"),
            limits=Limits(**_rest(block.get("limits") or {})),
            requires=_requires(block.get("requires") or {}),
            determinism=block.get("determinism", "seeded"),
            volatile_info=tuple(block.get("volatile_info") or ()),
            policies=dict(block.get("policies") or {}),
            config=dict(block.get("config") or {}),
            resources=tuple(
                Resource(**{key: entry.get(key) for key in ("name", "path", "uri", "sha256", "size")})
                for entry in block.get("resources") or ()
            ),
            services=tuple(Service(**entry) for entry in block.get("services") or ()),
            sandbox=_sandbox(block.get("sandbox") or {}),
            lifecycle=_lifecycle(block.get("lifecycle") or {}),
            canary=block.get("canary"),
            raw=block,
        )


def _rest(block: Mapping[str, Any], *without: str) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key not in without}


def _tasks(block: Mapping[str, Any]) -> TasksSection:
    splits = {split: (paths,) if isinstance(paths, str) else tuple(paths) for split, paths in (block["splits"]).items()}
    fields = {name: FieldRole(role) for name, role in (block.get("fields") or {}).items()}
    seeds = {split: SeedRange(int(first), int(stop)) for split, (first, stop) in (block.get("seeds") or {}).items()}
    return TasksSection(block["version"], splits, fields, block.get("generator"), seeds)


def _reward(block: Mapping[str, Any]) -> RewardSection:
    low, high = (_float(end) for end in block["range"])
    parts = block.get("parts") or ()
    return RewardSection(
        version=block["version"],
        entry=block.get("entry"),
        low=low,
        high=high,
        floor=_float(block["floor"]) if block.get("floor") is not None else max(0.0, low),
        parts=parts if isinstance(parts, Mapping) else tuple(parts),
        scope=RewardScope(block.get("scope", "turn")),
        builtin=bool(block.get("builtin", False)),
    )


def _float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:  # an integer of hundreds of digits, which HFE109 refuses
        return math.inf if number > 0 else -math.inf


def _requires(block: Mapping[str, Any]) -> Requires:
    return Requires(
        python=block.get("python", ""),
        packages=tuple(block.get("packages") or ()),
        system=tuple(block.get("system") or ()),
        secrets=tuple(block.get("secrets") or ()),
        network=block.get("network"),
    )


def _sandbox(block: Mapping[str, Any]) -> Sandbox:
    network = block.get("network", "none")
    return Sandbox(block.get("image"), network if isinstance(network, str) else tuple(network))


def _lifecycle(block: Mapping[str, Any]) -> Lifecycle:
    return (
        Lifecycle(**dict(block) | {"status": LifecycleStatus(block.get("status", "active"))}) if block else Lifecycle()
    )
