"""One rollout of a pool: keeps every slot busy, tries faults again, gives episodes in order."""

from __future__ import annotations

import inspect
import random
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hfenv.errors import AuthorCodeError, UsageError
from hfenv.runtime import seeds
from hfenv.runtime.contracts import StepResult
from hfenv.runtime.driver import TurnFacts
from hfenv.runtime.episode import Beginning, Job, Recording, Stepped, as_reply, with_u
from hfenv.runtime.messages import Act, Answer, Failed, Lost, Play, Ready, Reset
from hfenv.runtime.policies import PolicySource, callers_policy, check_policy, on_card, settled
from hfenv.runtime.rollout import Episode, TurnRecord

if TYPE_CHECKING:
    from hfenv.runtime.pool import EnvironmentPool

_PATIENCE = 16  # spoiled attempts per slot, with no episode played in between, after which a rollout gives up


def jobs(episodes: int | None, tasks: Sequence[str] | None, repeats: int, seed: int) -> list[Job]:
    """The episodes of a rollout: their beginnings depend on the group, what a policy draws on the episode."""
    if (episodes is None) == (tasks is None):
        raise UsageError("A rollout needs episodes or tasks, and not both.", "Pass episodes=100 or tasks=ids.")
    if not _is_whole(repeats, 1) or (episodes is not None and not _is_whole(episodes, 0)):
        raise UsageError("episodes and repeats are whole numbers, repeats at least 1.", "Correct them.")
    if isinstance(tasks, str):
        raise UsageError(f"tasks is the text '{tasks}'.", "Pass a list of task ids.")
    base = seeds.as_seed(seed)
    beginnings: Sequence[str | None] = tasks if tasks is not None else [None] * (episodes or 0)
    grouped = tasks is not None or repeats > 1
    return [
        Job(
            index=group * repeats + repeat,
            seed=seeds.derive(base, group),
            policy_seed=seeds.derive(base, group * repeats + repeat),
            task_id=task_id,
            group_id=group if grouped else None,
        )
        for group, task_id in enumerate(beginnings)
        for repeat in range(repeats)
    ]


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


@dataclass
class _Playing:
    """An episode in a slot, and what the caller's policy needs for its next action."""

    job: Job
    attempt: int
    recording: Recording
    rng: random.Random
    policy: Any = None
    task: Mapping[str, Any] = field(default_factory=dict)
    observation: Any = None
    info: Mapping[str, Any] = field(default_factory=dict)
    action: Any = None
    completion: Any = None
    extra: Any = None


class Rollout:
    """The state of one rollout; `episodes` plays it."""

    def __init__(self, pool: EnvironmentPool, policy: Any, work: Sequence[Job], batched: bool, ordered: bool) -> None:
        self._pool = pool
        self._waiting = deque((job, 1) for job in work)
        self._total = len(work)
        self._ordered = ordered
        self._batched = batched
        self._playing: dict[int, _Playing] = {}
        self._asking: list[int] = []  # slots whose episode waits for the caller's policy
        self._has_ended = False
        self._spoiled = 0  # attempts that were lost since the last episode that was played
        self._beside = policy if isinstance(policy, str) and self._on_card(policy) else None
        self._source = None if self._beside else self._own(policy)

    def _on_card(self, policy: str) -> bool:
        manifest = self._pool.manifest
        if manifest is None:
            return ":" not in policy
        check_policy(policy, manifest)
        return on_card(policy, manifest)

    def _own(self, policy: Any) -> PolicySource:
        if isinstance(policy, str):
            return callers_policy(policy)
        if not callable(policy):
            raise UsageError(f"A policy is a name or a callable, not a {type(policy).__name__}.", "Pass one of them.")
        if self._batched and inspect.isclass(policy):
            policy = policy()
        return PolicySource(getattr(policy, "__name__", "policy"), policy)

    def episodes(self) -> Iterator[Episode]:
        """Yield every episode once. Left early, it drops what the slots are doing."""
        done: dict[int, Episode] = {}
        given = 0
        self._pool.take(self)
        try:
            while given < self._total:
                ended = self._advance()
                self._pool.count(episodes=len(ended))
                done.update((episode.index, episode) for episode in ended)
                ready = (given,) if self._ordered else tuple(done)
                while ready and ready[0] in done:
                    yield self._finished(done.pop(ready[0]))
                    given += 1
                    ready = (given,) if self._ordered else tuple(done)
                    if given < self._total:
                        self._go_on()  # closed or used for something else meanwhile, whatever is there already
        finally:
            self.end()

    def end(self) -> None:
        """Drop what the slots are doing. A pool does one thing at a time: whatever begins next ends what runs."""
        self._has_ended = True
        playing, self._playing = list(self._playing), {}
        for slot in playing:
            self._pool.abandon(slot)

    def _go_on(self) -> None:
        self._pool.require_open()
        if self._has_ended:
            raise UsageError(
                "The pool was used for something else before this rollout was done.",
                "Take all its episodes first, or use a pool for each.",
            )

    def _finished(self, episode: Episode) -> Episode:
        spec = self._pool.spec
        return with_u(episode, spec.reward.manifest.reward) if spec is not None else episode

    def _advance(self) -> list[Episode]:
        """Give free slots work, let the policy act, take what answers; returns the episodes that ended."""
        self._go_on()
        self._fill()
        self._act()
        ended: list[Episode] = []
        for slot, answer in self._pool.wait(None):
            playing = self._playing.get(slot)
            if playing is None:
                self._pool.settle_setup(slot, answer)
            elif (episode := self._take(slot, playing, answer)) is not None:
                ended.append(episode)
        return ended

    def _fill(self) -> None:
        if self._waiting:
            self._pool.wake()
        for slot in self._pool.ready_slots:
            if not self._waiting:
                return
            if slot in self._playing:
                continue
            job, attempt = self._waiting.popleft()
            self._playing[slot] = _Playing(job, attempt, Recording(job), job.rng())
            if self._beside is not None:
                self._pool.backend.send(slot, Play(job, self._beside), self._pool.limits.reset)
            else:
                self._pool.backend.send(slot, Reset(job, record=True), self._pool.limits.reset)

    def _act(self) -> None:
        """Ask the caller's policy for the actions of all slots that wait for one."""
        slots, self._asking = sorted(self._asking), []
        if not slots or self._source is None:
            return
        states = [self._playing[slot] for slot in slots]
        if self._batched:
            rngs = [state.rng for state in states]
            views = [state.task for state in states], [state.observation for state in states]
            answer = settled(self._source.target(*views, [state.info for state in states], rngs))
            if not isinstance(answer, Iterable):
                raise UsageError(
                    f"The batched policy returned a {type(answer).__name__}.", "Return one action per observation."
                )
            actions = list(answer)
            if len(actions) != len(slots):
                raise UsageError(
                    f"The batched policy returned {len(actions)} actions for {len(slots)} observations.",
                    "Return one action per observation.",
                )
        else:
            actions = [self._ask(state) for state in states]
        self._go_on()  # the policy may have used the pool
        for slot, state, action in zip(slots, states, actions, strict=True):
            reply = as_reply(action)
            state.action, state.completion, state.extra = reply.action, reply.completion, reply.extra
            self._pool.backend.send(slot, Act(state.action, record=True), self._pool.limits.step)

    def _ask(self, state: _Playing) -> Any:
        if state.policy is None and self._source is not None:
            state.policy = self._source.make()
        return settled(state.policy(state.task, state.observation, state.info, state.rng))

    def _take(self, slot: int, playing: _Playing, answer: Answer) -> Episode | None:
        """Carry an episode on by one answer; the episode when it ended and isn't tried again."""
        if isinstance(answer, TurnRecord):
            playing.recording.add(answer)
            return None
        if isinstance(answer, Beginning):
            playing.recording.begin(answer)
            if self._beside is not None:
                return None
            playing.task, playing.observation, playing.info = answer.shown, answer.observation, answer.info
            self._asking.append(slot)
            return None
        if isinstance(answer, Stepped):
            return self._stepped(slot, playing, answer)
        if isinstance(answer, Episode):
            return self._ended(slot, playing, answer)
        if isinstance(answer, Lost):
            return self._ended(slot, playing, playing.recording.fault(answer.error, playing.action))
        assert isinstance(answer, Failed | Ready)  # noqa: S101 - nothing else is sent
        from hfenv.runtime.pool import as_error

        error = as_error(answer)
        del self._playing[slot]
        # A policy on the card that fails is no fault of the infrastructure, and neither is a wrong task id.
        if self._beside is None and isinstance(error, AuthorCodeError):
            return self._retried(playing, playing.recording.fault(str(error), playing.action))
        raise error

    def _stepped(self, slot: int, playing: _Playing, answer: Stepped) -> Episode | None:
        result: StepResult = answer.result
        facts = answer.facts or TurnFacts(playing.action)
        playing.recording.add(TurnRecord.of(facts, playing.completion, playing.extra))
        playing.observation, playing.info = result.observation, result.info
        if result.terminated or result.truncated:
            return self._ended(slot, playing, playing.recording.episode())
        self._asking.append(slot)
        return None

    def _ended(self, slot: int, playing: _Playing, episode: Episode) -> Episode | None:
        del self._playing[slot]
        return self._retried(playing, episode)

    def _retried(self, playing: _Playing, episode: Episode) -> Episode | None:
        """None when a spoiled episode goes back to the queue; the pool gives up when nothing works any more."""
        if not episode.masked:
            self._spoiled = 0
            return episode
        self._pool.count(faults=1)
        self._spoiled += 1
        if self._spoiled > _PATIENCE * self._pool.num_envs:
            raise AuthorCodeError(
                f"{self._spoiled} attempts in a row failed, the last one so: {episode.error}",
                "Correct the environment, or raise its limits.",
            )
        if playing.attempt > self._pool.retries:
            return episode
        self._pool.count(retries=1)
        self._waiting.appendleft((playing.job, playing.attempt + 1))
        return None
