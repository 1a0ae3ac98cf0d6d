"""Plays and records one episode: what it is given, how its record grows, and the loop beside an environment."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hfenv.errors import AuthorCodeError
from hfenv.runtime import seeds
from hfenv.runtime.contracts import StepResult
from hfenv.runtime.driver import TurnFacts
from hfenv.runtime.environment import LoadedEnvironment
from hfenv.runtime.faults import describe
from hfenv.runtime.policies import PolicySource, Reply, settled
from hfenv.runtime.rollout import Episode, TurnRecord, episode_status


@dataclass(frozen=True)
class Job:
    """One episode to play: `seed` and `task_id` say how it begins, `policy_seed` what the policy's `rng` draws."""

    index: int
    seed: int
    policy_seed: int
    task_id: str | None = None
    group_id: int | None = None

    def rng(self) -> random.Random:
        return seeds.generator(self.policy_seed, "policy")


@dataclass(frozen=True)
class Beginning:
    """What a reset tells: the policy's view, and for the record the whole row."""

    observation: Any
    info: dict[str, Any]
    shown: Mapping[str, Any] = field(default_factory=dict)
    row: Mapping[str, Any] | None = None
    split: str | None = None
    provenance: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Stepped:
    """What a step tells; `facts` is there when it is to be recorded."""

    result: StepResult
    facts: TurnFacts | None = None


class Recording:
    """The record of one episode while it is played."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._beginning: Beginning | None = None
        self._turns: list[TurnRecord] = []

    def begin(self, beginning: Beginning) -> None:
        self._beginning, self._turns = beginning, []

    def add(self, turn: TurnRecord) -> None:
        self._turns.append(turn)

    def fault(self, error: str, action: Any = None) -> Episode:
        """The episode when infrastructure failed outside of a step's own result: a last turn says how."""
        facts = TurnFacts(action, status="infra_fault", truncated=True, error=error)
        self._turns.append(TurnRecord.of(facts))
        return self.episode()

    def episode(self) -> Episode:
        begun = self._beginning
        turns = tuple(self._turns)
        return Episode(
            index=self.job.index,
            group_id=self.job.group_id,
            seed=self.job.seed,
            task_id=begun.info["task_id"] if begun else self.job.task_id,
            split=begun.split if begun else None,
            task=begun.row if begun else None,
            turns=turns,
            total=float(sum(turn.reward for turn in turns)),
            status=episode_status(turns),
            provenance=begun.provenance if begun else None,
        )


def begin(env: LoadedEnvironment, job: Job, record: bool = True) -> Beginning:
    """Reset an environment for a job."""
    observation, info = env.reset(seed=job.seed, task_id=job.task_id)
    return beginning(env, observation, info, record)


def beginning(env: LoadedEnvironment, observation: Any, info: dict[str, Any], record: bool) -> Beginning:
    if not record:
        return Beginning(observation, info)
    return Beginning(observation, info, env.task, env.task_row, env.tasks.split, dict(env.provenance))


def play(
    env: LoadedEnvironment,
    source: PolicySource,
    job: Job,
    progress: Callable[[Beginning | TurnRecord], None] | None = None,
) -> Episode:
    """Play one episode with a policy beside the environment; `progress` hears of its beginning and of every turn.

    An environment that fails ends the episode as an infrastructure fault; AuthorCodeError when the policy fails.
    """
    recording = Recording(job)
    action: Any = None
    try:
        begun = begin(env, job)
    except AuthorCodeError as error:
        return recording.fault(str(error))
    recording.begin(begun)
    if progress is not None:
        progress(replace(begun, observation=None, info={"task_id": begun.info["task_id"]}, shown={}))
    observation, info, rng = begun.observation, begun.info, job.rng()
    task = begun.row if source.sees_targets else begun.shown
    policy = None
    while True:
        try:
            policy = source.make() if policy is None else policy
            reply = as_reply(settled(policy(task or {}, observation, info, rng)))
        except (Exception, SystemExit) as error:
            raise AuthorCodeError(
                f"The policy '{source.name}' failed: {describe(error, env.spec.code.root)}.", "Correct the policy."
            ) from error
        action = reply.action
        try:
            result = env.step(action)
        except AuthorCodeError as error:
            return recording.fault(str(error), action)
        turn = TurnRecord.of(env.last_turn or TurnFacts(action), reply.completion, reply.extra)
        recording.add(turn)
        if progress is not None:
            progress(turn)
        observation, info = result.observation, result.info
        if result.terminated or result.truncated:
            return recording.episode()


def as_reply(value: Any) -> Reply:
    return value if isinstance(value, Reply) else Reply(value)


def with_u(episode: Episode, section: Any) -> Episode:
    """The episode with its u under a reward section of the card."""
    return replace(episode, u=section.normalise(episode.total))
