"""The reward component as a function: loaded from its part, its results checked."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any

from hfenv.card.manifest import RewardScope
from hfenv.errors import AuthorCodeError, UsageError
from hfenv.runtime.contracts import MeasureFunction, Score, Task, Transcript, Turn
from hfenv.runtime.faults import describe
from hfenv.runtime.imports import import_entry, module_of, source_of
from hfenv.runtime.jsondata import shown
from hfenv.runtime.spec import Part

REWARD_FOLDERS = ("reward",)


class RewardFunction:
    """`score(task, transcript)` of a reward component; `measure` is its other function, or None."""

    def __init__(self, part: Part, score: Any, measure: MeasureFunction | None) -> None:
        self.part = part
        self.section = part.manifest.reward
        self.measure = measure
        self._score = score

    def __call__(self, task: Task, transcript: Sequence[Turn]) -> Score:
        """The reward of the transcript's last turn; AuthorCodeError when the function fails or returns no score."""
        try:
            result = self.call(task, tuple(transcript))
        except (Exception, SystemExit) as error:
            raise AuthorCodeError(
                f"score failed: {describe(error, self.part.root)}.", "Correct the reward function."
            ) from error
        return as_score(result, self._where)

    def call(self, task: Task, transcript: Transcript) -> Any:
        """What the author's function returns or raises, unchecked."""
        return self._score(task, transcript)

    def check(self, result: Any) -> Score:
        """A result of `call` as a Score; AuthorCodeError when it is none."""
        return as_score(result, self._where)

    @property
    def _where(self) -> str:
        return f"{self.section.entry} (reward {self.part.version})"


def load_reward_function(part: Part) -> RewardFunction:
    """Import a reward component; UsageError when the reward is built into the environment's code."""
    section = part.manifest.reward
    if section.builtin or section.entry is None:
        raise UsageError(
            "This environment computes its reward itself (reward.builtin), so there is no reward function to load.",
            "Load the whole environment; its reward's version moves with its code.",
        )
    if section.scope is RewardScope.GROUP:
        raise UsageError(
            "The card says reward.scope: group, and this version of hfenv scores turns and episodes only.",
            "Declare turn or episode, or load it with a version that plays groups.",
        )
    source = source_of("reward", part, REWARD_FOLDERS)
    score = import_entry(source, section.entry, "environment.reward.entry")
    if not callable(score):
        raise AuthorCodeError(f"{section.entry} is no function.", "Write score(task, transcript).")
    if inspect.iscoroutinefunction(score):
        raise AuthorCodeError(
            f"{section.entry} is 'async def', and a score is pure.", "Ask services in measure, which may be async."
        )
    measure = getattr(module_of(score), "measure", None)
    return RewardFunction(part, score, measure if callable(measure) else None)


def as_score(result: Any, where: str) -> Score:
    """A Score from what a reward function returned: a Score or a finite number."""
    if not isinstance(result, Score):
        total = _number(result)
        if total is None:
            raise AuthorCodeError(
                f"{where} returned a {type(result).__name__}.", "Return hfenv.Score(total, parts) or a number."
            )
        result = Score(total)
    parts = {} if result.parts is None else result.parts
    if not isinstance(parts, Mapping):
        raise AuthorCodeError(
            f"{where} returned a {type(parts).__name__} as parts.", "Parts are a mapping from names to numbers."
        )
    numbers = {str(name): _number(value) for name, value in parts.items()}
    for name, number, value in (
        ("total", _number(result.total), result.total),
        *((name, numbers[str(name)], value) for name, value in parts.items()),
    ):
        if number is None or not math.isfinite(number):
            raise AuthorCodeError(
                f"{where} returned {name} = {shown(value)[:100]}.", "Every number of a score is finite."
            )
    return Score(result.total, {name: number for name, number in numbers.items() if number is not None}, result.status)


def _number(value: Any) -> float | None:
    """A number of any library as a float, infinite where it is too large for one; None for anything else."""
    if isinstance(value, (str, bytes, bytearray)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return None
