"""What an author writes: environments, outcomes, scores, and what hfenv hands to them. Standard library only."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hfenv.errors import NotFoundError, UsageError

Task = Mapping[str, Any]  # one row of a split: parsed JSON values, with a string `id`
Status = Literal["ok", "agent_fault", "infra_fault"]
STATUSES: tuple[Status, ...] = ("ok", "agent_fault", "infra_fault")


class StepResult(NamedTuple):
    """What `step` returns; unpacks like Gymnasium's five values."""

    observation: Any
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What the code component observed when it carried out an action; no judgement.

    `data` is plain JSON for reward and record and never reaches `info`; `output` becomes `info["raw_output"]`, `error`
    becomes `info["error"]`, and `observation` what the policy sees next.
    """

    data: Any = None
    observation: Any = None
    output: Any = None
    terminated: bool = False
    truncated: bool = False
    error: str | None = None


@dataclass(frozen=True)
class RecordedOutcome:
    """An outcome as the reward sees it: exactly what a rollout records, so that rescoring gives the same reward.

    `data` has been through JSON; `truncated` includes the step limit.
    """

    data: Any = None
    terminated: bool = False
    truncated: bool = False

    def __getattr__(self, name: str) -> Any:
        if name in ("observation", "output", "error"):
            raise AttributeError(
                f"reward code sees what a rollout records (data, terminated, truncated), not outcome.{name}: "
                f"put it into the outcome's data"
            )
        raise AttributeError(name)


@dataclass(frozen=True)
class Turn:
    """One turn of an episode: the action, what came of it, and what `measure` found out (None without one)."""

    action: Any
    outcome: RecordedOutcome
    evidence: Any = None


Transcript = tuple[Turn, ...]


@dataclass(frozen=True)
class Score:
    """The reward of the latest turn, its named parts, and whose fault it was if something went wrong.

    Raises ValueError for an unknown status and TypeError for a total that isn't a number.
    """

    total: float
    parts: Mapping[str, float] | None = None
    status: Status = "ok"

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"status is one of {', '.join(STATUSES)}, not {self.status!r}")
        object.__setattr__(self, "total", float(self.total))


@dataclass(frozen=True)
class MeasureContext:
    """What `measure` may use besides the task and the transcript. `rng` is seeded by the episode and the turn."""

    config: Mapping[str, Any]
    services: Mapping[str, Any]
    rng: random.Random
    resources: Mapping[str, Path] = field(default_factory=dict, repr=False)

    def resource(self, name: str) -> Path:
        """Local, read-only path of a resource on the card; NotFoundError for a name that isn't there."""
        return find_resource(self.resources, name)


MeasureFunction = Callable[[Task, Transcript, MeasureContext], Any]


class Environment(ABC):
    """The smallest contract that works: an environment that picks its own tasks and computes its own reward.

    `action_space` and `observation_space` come from the card when a class doesn't set them.
    """

    action_space: Any = None
    observation_space: Any = None

    @abstractmethod
    def reset(
        self, *, seed: int | None = None, task_id: str | None = None, options: Mapping[str, Any] | None = None
    ) -> Any:
        """Begin an episode; returns `(observation, info)`, or awaits to it."""

    @abstractmethod
    def step(self, action: Any) -> Any:
        """Carry out one action; returns a StepResult, or awaits to it."""

    def close(self) -> Any:
        """Release what the environment holds; called once."""
        return None


class TaskEnvironment(Environment):
    """An environment made of tasks: the author writes `start` and `execute`, hfenv does the rest.

    hfenv picks the task, calls the reward, enforces `max_steps`, fills `info` and cleans up. Both methods may be
    `async def`. A subclass may also define `state()` (a JSON snapshot for `info["state"]`), `render(observation)`
    and `parse(completion)`. The attributes are set before `__init__` runs:

    - `tasks`: the rows of the loaded split, a read-only sequence; every access gives a fresh copy
    - `reward`: the reward function, `(task, transcript) -> Score`; None while a class is used without hfenv
    - `work_dir`: a private folder, removed with the environment
    - `config`: the caller's configuration over the card's defaults
    - `services`: what was given at load for the services on the card
    """

    tasks: Sequence[Task] = ()
    reward: Callable[[Task, Transcript], Score] | None = None
    work_dir: Path
    config: Mapping[str, Any] = {}
    services: Mapping[str, Any] = {}
    _resources: Mapping[str, Path] = {}

    @abstractmethod
    def start(self, task: dict[str, Any], rng: random.Random) -> Any:
        """Set up one task (the whole row) and return the first observation."""

    @abstractmethod
    def execute(self, action: Any) -> Outcome | Awaitable[Outcome]:
        """Carry out an action and say what was observed; an exception here is an infrastructure fault."""

    def resource(self, name: str) -> Path:
        """Local, read-only path of a resource on the card; NotFoundError for a name that isn't there."""
        return find_resource(self._resources, name)

    def reset(
        self, *, seed: int | None = None, task_id: str | None = None, options: Mapping[str, Any] | None = None
    ) -> Any:
        raise self._driven()

    def step(self, action: Any) -> Any:
        raise self._driven()

    def _driven(self) -> UsageError:
        return UsageError(
            f"{type(self).__name__} is a TaskEnvironment, which hfenv drives; it has no reset or step of its own.",
            "Load its folder with hfenv.load and use what that returns.",
        )


def find_resource(resources: Mapping[str, Path], name: str) -> Path:
    """Path of a named resource, or NotFoundError with the names there are."""
    if name in resources:
        return resources[name]
    known = ", ".join(sorted(resources)) or "none"
    raise NotFoundError(f"The environment has no resource '{name}'.", f"Resources on its card: {known}.")
