"""The reward component as a function: loaded from its part, its results checked."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import Any

from hfenv.card.manifest import RewardScope
from hfenv.errors import AuthorCodeError, UsageError
from hfenv.runtime.contracts import MeasureFunction, Score, Task, Transcript, Turn
from hfenv.runtime.faults import describe
from hfenv.runtime.imports import import_entry, module_of, source_of
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
    source = source_of("reward", part.root, REWARD_FOLDERS, part.exact)
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
        try:
            result = Score(result)
        except (TypeError, ValueError):
            raise AuthorCodeError(
                f"{where} returned a {type(result).__name__}.", "Return hfenv.Score(total, parts) or a number."
            ) from None
    for name, value in (("total", result.total), *(result.parts or {}).items()):
        if isinstance(value, str) or not math.isfinite(value):
            raise AuthorCodeError(f"{where} returned {name} = {value}.", "Every number of a score is finite.")
    parts = {str(name): float(value) for name, value in (result.parts or {}).items()}
    return Score(result.total, parts, result.status)
