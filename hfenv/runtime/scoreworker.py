"""The program in a scorer's worker process: loads one reward and scores transcripts, whatever the reward does."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

from hfenv.errors import AuthorCodeError, HfenvError
from hfenv.runtime.contracts import Score, Transcript
from hfenv.runtime.faults import describe
from hfenv.runtime.jail import enclose, limit, limit_cpu
from hfenv.runtime.lines import LineTracer
from hfenv.runtime.messages import Failed, LinesRun, LoadReward, RewardReady, Scored, ScoreTurns, TellLines
from hfenv.runtime.pipes import leave, read_requests, send_answer, serve_pipes, take_pipes
from hfenv.runtime.reward import RewardFunction, load_reward_function

_LONGEST = 1000  # characters of an error


class ScoreWorker:
    """One reward and the transcripts that it is asked about."""

    def __init__(self, answers: int, held: tuple[str, ...]) -> None:
        self._answers = answers
        self._held = held
        self._reward: RewardFunction | None = None
        self._tracer: LineTracer | None = None
        self._cpu_s = 0.0

    def serve(self, requests: Iterator[tuple[int, Any]]) -> None:
        """Answer until the scorer says to end."""
        for request_id, request in requests:
            if request is None:
                break
            try:
                for answer in self._answer(request):
                    send_answer(self._answers, request_id, answer)
            except HfenvError as error:
                send_answer(self._answers, request_id, Failed(type(error).__name__, error.message, error.hint))

    def _answer(self, request: Any) -> Iterator[Any]:
        if isinstance(request, HfenvError):
            raise request
        if isinstance(request, LoadReward):
            yield self._load(request)
        elif isinstance(request, ScoreTurns):
            yield from self._score(request)
        elif isinstance(request, TellLines):
            yield self._tracer.lines() if self._tracer else LinesRun({}, {})

    def _load(self, request: LoadReward) -> RewardReady:
        limits = limit(request.memory_mb)
        self._cpu_s = request.cpu_s
        self._reward = load_reward_function(request.part)
        if request.trace:
            self._tracer = LineTracer(request.part.root)
        return RewardReady(self._reward.measure is not None, (*self._held, *limits))

    def _score(self, request: ScoreTurns) -> Iterator[Scored]:
        """Score turn after turn, as a rollout does: each call gets a task of its own, and the turns as they are."""
        for index in range(request.first, len(request.turns)):
            last = index == len(request.turns) - 1
            task = request.task if last else copy.deepcopy(request.task)
            yield self._one(task, request.turns[: index + 1])

    def _one(self, task: Any, transcript: Transcript) -> Scored:
        reward = self._reward
        assert reward is not None  # noqa: S101 - the scorer loads it first
        limit_cpu(self._cpu_s)
        try:
            with self._tracer.watching() if self._tracer else contextlib.nullcontext():
                result = reward.call(task, transcript)
            score: Score = reward.check(result)
        except AuthorCodeError as error:
            return Scored(error=str(error)[:_LONGEST])
        except MemoryError:
            return Scored(error="score needs more memory than it may use")
        except BaseException as error:
            return Scored(error=f"score failed: {described(error, reward)}"[:_LONGEST])
        return Scored(score.total, dict(score.parts or {}), score.status)


def described(error: BaseException, reward: RewardFunction) -> str:
    """What an exception of the author's says, if it can say anything."""
    try:
        return describe(error, reward.part.root)
    except Exception:
        return type(error).__name__


def main() -> None:
    """Serve on standard input and output, held as far as this system can."""
    held = enclose()
    requests_fd, answers_fd = take_pipes()
    serve_pipes(requests_fd)
    ScoreWorker(answers_fd, held).serve(read_requests(requests_fd))
    leave()


if __name__ == "__main__":
    main()
