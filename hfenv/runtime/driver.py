"""Drives one author's environment through an episode: the same interface for task and builtin environments.

Everything is `async def` so that coroutines of authors fit in; with plain functions nothing ever waits.
"""

from __future__ import annotations

import inspect
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hfenv.card.manifest import Limits, RewardScope
from hfenv.errors import AuthorCodeError, UsageError
from hfenv.runtime import seeds
from hfenv.runtime.contracts import (
    Environment,
    MeasureContext,
    Outcome,
    RecordedOutcome,
    Score,
    Status,
    TaskEnvironment,
    Transcript,
    Turn,
)
from hfenv.runtime.eventloop import run_blocking, settle
from hfenv.runtime.jsondata import NotJsonError, round_trip, shown
from hfenv.runtime.reward import RewardFunction
from hfenv.runtime.tasks import Row


class StageError(Exception):
    """An exception of author code while the environment ran; its cause is the author's exception."""

    def __init__(self, stage: str) -> None:
        super().__init__(stage)
        self.stage = stage


@dataclass(frozen=True)
class TurnFacts:
    """All that is known about one turn: what goes into the step's result, and what a rollout records."""

    action: Any
    observation: Any = None
    data: Any = None
    evidence: Any = None
    reward: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    status: Status = "ok"
    terminated: bool = False
    truncated: bool = False
    output: Any = None
    error: str | None = None
    timings: Mapping[str, float] = field(default_factory=dict)
    author_info: Mapping[str, Any] = field(default_factory=dict)


class Driver(ABC):
    """One author's instance. `on_loop` says that the caller runs us on an event loop, so that we may await."""

    def __init__(self, instance: Any, limits: Limits) -> None:
        self.instance = instance
        self.limits = limits
        self.on_loop = False
        self.turns = 0
        self._timings: dict[str, float] = {}

    @abstractmethod
    async def begin(self, row: Row, seed: int, options: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
        """Set up a task; returns the first observation and what the author put into `info`."""

    @abstractmethod
    async def act(self, action: Any) -> TurnFacts:
        """Carry out an action; StageError for an exception of the author's, AuthorCodeError for a broken contract."""

    async def close(self) -> None:
        await self.call("close", self.instance.close)

    async def state(self) -> Any:
        """The author's JSON snapshot, None without one."""
        snapshot = getattr(self.instance, "state", None)
        if not isinstance(self.instance, TaskEnvironment) or not callable(snapshot):
            return None
        return self.json(await self.call("state", snapshot), "state()")

    async def call(self, stage: str, function: Any, *arguments: Any, **keywords: Any) -> Any:
        """Call author code, awaiting what needs it; an exception becomes a StageError."""
        start = time.perf_counter()
        try:
            value = function(*arguments, **keywords)
            if inspect.isawaitable(value):
                return await settle(value) if self.on_loop else run_blocking(settle(value))
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):  # the user's: an author's own one doesn't get out of settle
                raise
            raise StageError(stage) from error
        else:
            return value
        finally:
            self._timings[stage] = time.perf_counter() - start

    def json(self, value: Any, where: str) -> Any:
        try:
            return round_trip(value, where)
        except NotJsonError as error:
            raise AuthorCodeError(f"{error}.", "Return plain JSON data: numbers, strings, lists, objects.") from None

    def limit_reached(self, terminated: bool) -> bool:
        """Whether this turn is the last that `limits.max_steps` allows, the episode not having ended by itself."""
        return not terminated and self.limits.max_steps is not None and self.turns >= self.limits.max_steps


class TaskDriver(Driver):
    """Drives a TaskEnvironment: start, execute, measure, score."""

    def __init__(self, instance: TaskEnvironment, limits: Limits, reward: RewardFunction) -> None:
        super().__init__(instance, limits)
        self.reward = reward
        self._task: Row = {}
        self._seed = 0
        self._transcript: Transcript = ()

    async def begin(self, row: Row, seed: int, options: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
        self._seed, self._transcript, self.turns = seed, (), 0
        self._timings = {}
        # The author may keep or change the row that start gets; the reward judges by a copy of its own.
        self._task = round_trip(row, "task")
        return await self.call("start", self.instance.start, row, seeds.generator(seed)), {}

    async def act(self, action: Any) -> TurnFacts:
        self._timings = {}
        try:
            recorded_action = round_trip(action, "the action")
        except NotJsonError as error:  # the caller's mistake, not the environment's: the episode stays as it is
            raise UsageError(f"In step, {error}.", "Send plain JSON data: numbers, strings, lists, objects.") from None
        outcome = await self.call("execute", self.instance.execute, action)
        if not isinstance(outcome, Outcome):
            raise AuthorCodeError(f"execute returned a {type(outcome).__name__}.", "Return hfenv.Outcome(data=...).")
        self.turns += 1
        terminated = bool(outcome.terminated)
        truncated = bool(outcome.truncated) or self.limit_reached(terminated)
        data = self.json(outcome.data, "outcome.data")
        evidence = None
        # What is recorded is kept apart from what reward code gets: it may change that.
        recorded = RecordedOutcome(round_trip(data, "data"), terminated, truncated)
        self._transcript = (*self._transcript, Turn(round_trip(recorded_action, "action"), recorded))
        score = Score(0.0, {})
        if self.reward.section.scope is RewardScope.TURN or terminated or truncated:
            evidence = await self._measure()
            task = round_trip(self._task, "task")
            score = self.reward.check(await self.call("score", self.reward.call, task, self._transcript))
        return TurnFacts(
            action=recorded_action,
            observation=outcome.observation,
            data=data,
            evidence=evidence,
            reward=score.total,
            parts=dict(score.parts or {}),
            status=score.status,
            terminated=terminated,
            truncated=truncated,
            output=outcome.output,
            error=outcome.error,
            timings=self._timings,
        )

    async def _measure(self) -> Any:
        """Let the reward measure the last turn, put what it found into the transcript, and return a copy of it."""
        if self.reward.measure is None:
            return None
        instance = self.instance
        context = MeasureContext(
            config=instance.config,
            services=instance.services,
            rng=seeds.generator(self._seed, f"measure:{self.turns}"),
            resources=instance._resources,
        )
        task = round_trip(self._task, "task")
        found = await self.call("measure", self.reward.measure, task, self._transcript, context)
        last = self._transcript[-1]
        evidence = self.json(found, "evidence")
        self._transcript = (*self._transcript[:-1], Turn(last.action, last.outcome, evidence))
        return round_trip(evidence, "evidence")


class BuiltinDriver(Driver):
    """Drives a plain Environment or a gymnasium.Env, which compute their reward themselves."""

    async def begin(self, row: Row, seed: int, options: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
        self.turns, self._timings = 0, {}
        if isinstance(self.instance, Environment):
            keywords: dict[str, Any] = {"task_id": row["id"], "options": dict(options)}
        else:
            keywords = {"options": {**options, "task_id": row["id"]}}
        result = await self.call("reset", self.instance.reset, seed=seed, **keywords)
        if not isinstance(result, tuple) or len(result) != 2 or not isinstance(result[1], Mapping):
            raise AuthorCodeError("reset didn't return (observation, info).", "Return the two as a tuple.")
        return result

    async def act(self, action: Any) -> TurnFacts:
        self._timings = {}
        result = await self.call("step", self.instance.step, action)
        if not isinstance(result, tuple) or len(result) != 5 or not isinstance(result[4], Mapping):
            raise AuthorCodeError(
                "step didn't return (observation, reward, terminated, truncated, info).", "Return hfenv.StepResult."
            )
        observation, reward, terminated, truncated, info = result
        self.turns += 1
        try:
            reward = float(reward)
        except (TypeError, ValueError, OverflowError):
            reward = math.nan
        if not math.isfinite(reward):
            raise AuthorCodeError(f"step returned the reward {shown(result[1])[:100]}.", "A reward is a finite number.")
        return TurnFacts(
            action=action,
            observation=observation,
            reward=reward,
            terminated=bool(terminated),
            truncated=bool(truncated) or self.limit_reached(bool(terminated)),
            timings=self._timings,
            author_info=info,
        )
