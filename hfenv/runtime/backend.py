"""What a pool asks of the place where its slots live, and the simplest such place: its own process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from hfenv.errors import HfenvError
from hfenv.runtime.environment import LoadedEnvironment
from hfenv.runtime.episode import Beginning
from hfenv.runtime.messages import Answer, Failed, Play, Ready, Request, SlotAnswer
from hfenv.runtime.policies import PolicySource, card_policy
from hfenv.runtime.rollout import TurnRecord
from hfenv.runtime.serving import answer_request


@dataclass(frozen=True)
class Limits:
    """Seconds that a slot may take to be set up, for a reset, and for a step (its policy included)."""

    setup: float
    reset: float
    step: float


class Backend(ABC):
    """Slots that take one request each and answer in any order."""

    @abstractmethod
    def start(self, slot: int) -> None:
        """Set a slot up, or anew; `Ready` or `Failed` is its answer."""

    @abstractmethod
    def send(self, slot: int, request: Request, seconds: float) -> None:
        """Give a slot a request; without an answer after so many seconds (where it can be interrupted) it is `Lost`."""

    @abstractmethod
    def busy(self, slot: int) -> bool:
        """Whether an answer of this slot is outstanding."""

    @abstractmethod
    def wait(self, timeout: float | None) -> list[SlotAnswer]:
        """Answers as they come; empty after `timeout` seconds, and when nothing is outstanding."""

    @abstractmethod
    def drop(self, slot: int) -> None:
        """Give up on a slot: whatever it is doing doesn't matter any more; `start` it before its next request."""

    @abstractmethod
    def close(self) -> None:
        """Leave no environment, process or folder."""


def is_final(request: Request | None, answer: Answer) -> bool:
    """Whether an answer ends its request; while an episode is played, its beginning and turns are signs of life."""
    return not (isinstance(request, Play) and isinstance(answer, Beginning | TurnRecord))


class InlineBackend(Backend):
    """Environments in this process, called one after the other. A call can't be interrupted: limits have no effect."""

    def __init__(self, build: Callable[[], LoadedEnvironment], slots: int) -> None:
        self._build = build
        self._slots: list[LoadedEnvironment | None] = [None] * slots
        self._policies: dict[tuple[int, str], PolicySource] = {}
        self._answers: deque[SlotAnswer] = deque()

    def start(self, slot: int) -> None:
        self.drop(slot)
        try:
            self._slots[slot] = self._build()
        except HfenvError as error:
            self._answers.append(SlotAnswer(slot, Failed(type(error).__name__, error.message, error.hint)))
        else:
            self._answers.append(SlotAnswer(slot, Ready()))

    def send(self, slot: int, request: Request, seconds: float) -> None:
        env = self._slots[slot]
        assert env is not None  # noqa: S101 - the pool starts a slot first
        try:
            answer = answer_request(env, request, lambda name: self._policy(slot, name))
        except HfenvError as error:
            answer = Failed(type(error).__name__, error.message, error.hint)
        self._answers.append(SlotAnswer(slot, answer))

    def _policy(self, slot: int, name: str) -> PolicySource:
        env = self._slots[slot]
        if (slot, name) not in self._policies and env is not None:
            self._policies[slot, name] = card_policy(name, env.spec.code, env.action_space)
        return self._policies[slot, name]

    def busy(self, slot: int) -> bool:
        return any(answer.slot == slot for answer in self._answers)

    def wait(self, timeout: float | None) -> list[SlotAnswer]:
        answers = list(self._answers)
        self._answers.clear()
        return answers

    def drop(self, slot: int) -> None:
        env, self._slots[slot] = self._slots[slot], None
        self._answers = deque(answer for answer in self._answers if answer.slot != slot)
        if env is not None:
            env.close()

    def close(self) -> None:
        for slot in range(len(self._slots)):
            self.drop(slot)
