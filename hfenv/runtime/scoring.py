"""Scores transcripts with a reward in a process of its own: what hangs, dies or returns rubbish is a result, too."""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import subprocess
import sys
import time
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from hfenv import errors
from hfenv.card.manifest import RewardScope
from hfenv.errors import AuthorCodeError, HfenvError, UsageError
from hfenv.runtime.contracts import STATUSES
from hfenv.runtime.folders import WorkFolder
from hfenv.runtime.guarding import end_guard, new_marker, start_guard
from hfenv.runtime.messages import (
    Answer,
    Failed,
    LinesRun,
    LoadReward,
    Request,
    RewardReady,
    Scored,
    ScoreTurns,
    TellLines,
)
from hfenv.runtime.process import WorkerProcess
from hfenv.runtime.requirements import check_requirements
from hfenv.runtime.spec import Part

_AHEAD = 64  # requests that wait in the worker's pipe
_AHEAD_BYTES = 1 << 20
_LARGEST = 4 << 20  # bytes of an answer
_IN_A_ROW, _IN_ALL = 3, 20  # scores that may cost the worker its life before the reward is given up
_LOOK = 0.5  # seconds between looks at a worker that says nothing


@dataclass(frozen=True)
class ScoringLimits:
    """What one score may take, and its process: seconds to import the reward, seconds a score, megabytes of memory."""

    setup_s: float = 120.0
    score_s: float = 10.0
    memory_mb: int = 2048


def check_scorable(part: Part) -> None:
    """Raise UsageError for a reward that can't be called by itself, MissingPackagesError for what it needs."""
    section = part.manifest.reward
    if section.builtin or section.entry is None:
        raise UsageError(
            "This environment computes its reward itself (reward.builtin), so that nothing can be scored without it.",
            "Only a reward with an entry of its own can score what was recorded.",
        )
    if section.scope is RewardScope.GROUP:
        raise UsageError(
            "The card says reward.scope: group, and recorded turns are scored one by one.",
            "Only rewards of scope turn or episode can score what was recorded.",
        )
    check_requirements(part.manifest.requires, part.manifest.name or part.root.name)


class Scorer:
    """One reward in a process without network and with limits; `score` is as often asked as you like.

    Runs the reward's code: the caller has seen to it that it's trusted. Use it in a `with` statement: leaving it ends
    the process with all that it started and removes its folder; a guard does the same when this process is killed.
    What holds the reward is in `ready.enforced`: `namespaces` (no network, no view of other processes), `sockets`
    (only Python's own are refused), `data` and `as` (memory), `fsize`, `core`.
    """

    def __init__(
        self, part: Part, *, limits: ScoringLimits | None = None, hash_seed: int = 0, trace: bool = False
    ) -> None:
        """Start the process, without waiting for it. Raises what `check_scorable` raises."""
        if sys.platform == "win32":
            raise UsageError("Scoring needs Linux or macOS.", "Run it there, or in WSL.")
        check_scorable(part)
        self.part = part
        self.limits = limits or ScoringLimits()
        self._hash_seed = hash_seed
        self._trace = trace
        self._lost = self._row = self._scored = self._generation = 0
        self._given_up: str | None = None
        self._ready: RewardReady | None = None
        self._process: WorkerProcess | None = None
        self._selector = selectors.DefaultSelector()
        self._folder = WorkFolder(prefix="hfenv-score-")
        self._marker = new_marker()
        self._guard = start_guard(self._marker, self._folder.path.resolve())
        self._finalizer = weakref.finalize(self, _clean_up, self._guard, self._folder)
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Scorer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def ready(self) -> RewardReady:
        """What the worker told of itself, once the reward is imported; AuthorCodeError when that fails."""
        if self._ready is None:
            self._ready = self._expect_ready()
        return self._ready

    def score(self, jobs: Iterable[ScoreTurns]) -> Iterator[tuple[Scored, ...]]:
        """For each job, in order, the scores of its turns from `first` on; what went wrong is in `Scored.error`.

        Takes a few jobs ahead. Raises AuthorCodeError only when the reward can't be imported at all.
        """
        _ = self.ready
        source, waiting = iter(jobs), deque[_Waiting]()
        exhausted = False
        while True:
            while not exhausted and len(waiting) < _AHEAD and self._takes_more():
                job = next(source, None)
                exhausted = job is None
                if job is not None:
                    waiting.append(self._sent(job))
            if not waiting:
                return
            head = waiting[0]
            while len(head.scores) < head.wanted:
                self._next_score(waiting)
            waiting.popleft()
            yield tuple(head.scores)

    def lines_run(self) -> LinesRun:
        """Lines of the called functions, where the scorer was made to trace; nothing once the process was lost."""
        if self._given_up is not None or self._lost:
            return LinesRun({}, {})
        _ = self.ready
        found = self._await(self._send(TellLines()), self.limits.score_s)
        return _checked_lines(found) if isinstance(found, LinesRun) else LinesRun({}, {})

    def close(self) -> None:
        """End the process with all that it started, and remove its folder."""
        self._drop()
        self._selector.close()
        self._finalizer()

    # -- one process ----------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._generation += 1
        name = f"{self._generation}/"
        self._process = WorkerProcess(
            self._marker + name, self._folder.path / f"run-{self._generation}", program="scoreworker",
            variables={"PYTHONHASHSEED": str(self._hash_seed)}, max_frame=_LARGEST,
        )  # fmt: skip
        for descriptor in (self._process.answers_fd, self._process.errors_fd):
            self._selector.register(descriptor, selectors.EVENT_READ)
        cpu = self.limits.score_s * (os.cpu_count() or 1)
        self._setup_id = self._send(LoadReward(self.part, cpu, self.limits.memory_mb, self._trace))

    def _drop(self) -> None:
        process, self._process = self._process, None
        for key in list((self._selector.get_map() or {}).values()):
            self._selector.unregister(key.fileobj)
        if process is not None:
            process.kill()

    def _send(self, request: Request) -> int:
        return self._process.send(request) if self._process is not None else 0

    def _sent(self, job: ScoreTurns) -> _Waiting:
        """A job on its way; one that no other process can read is done, with errors."""
        waiting = _Waiting(job, 0)
        try:
            waiting.request_id = self._send(job) if waiting.wanted else 0
        except UsageError as error:
            waiting.scores += [Scored(error=f"not scored: {error.message}")] * waiting.wanted
        return waiting

    def _takes_more(self) -> bool:
        return self._process is None or self._process.unsent < _AHEAD_BYTES

    def _expect_ready(self) -> RewardReady:
        answer = self._await(self._setup_id, self.limits.setup_s)
        if isinstance(answer, Failed):
            kind = getattr(errors, answer.kind, AuthorCodeError)
            raise kind(answer.message, answer.hint) if issubclass(kind, HfenvError) else AuthorCodeError(answer.message)
        if not isinstance(answer, RewardReady):
            what = answer if isinstance(answer, str) else "It said nothing of use."
            raise AuthorCodeError(f"The reward can't be imported. {what}", "Correct the reward, or what it imports.")
        return answer

    def _next_score(self, waiting: deque[_Waiting]) -> None:
        """Add the next score of the job at the head, or what became of it."""
        head = waiting[0]
        if self._given_up is not None:
            head.scores.append(Scored(error=self._given_up))
            return
        answer = self._await(head.request_id, self.limits.score_s)
        if not isinstance(answer, str):
            self._row, self._scored = 0, self._scored + 1
            head.scores.append(_checked(answer))
            return
        head.scores.append(Scored(error=answer))
        self._lose(waiting)

    def _lose(self, waiting: deque[_Waiting]) -> None:
        """After a score that cost the worker its life: a new worker for what is waiting, unless it's hopeless."""
        self._lost, self._row = self._lost + 1, self._row + 1
        self._drop()
        if self._row >= _IN_A_ROW or self._lost > _IN_ALL + self._scored // 100:
            row = f"{self._row} in a row" if self._row >= _IN_A_ROW else f"{self._lost} in all"
            self._given_up = f"not scored: the scores before it hung or ended the process, {row}"
            return
        try:
            self._start()
            self._ready = self._expect_ready()
        except AuthorCodeError as error:
            self._drop()
            self._given_up = f"not scored: after a lost process, {error}"
            return
        for entry in waiting:
            rest = replace(entry.job, first=entry.job.first + len(entry.scores))
            entry.request_id = self._send(rest) if len(entry.scores) < entry.wanted else 0

    def _await(self, request_id: int, seconds: float) -> Answer | str:
        """The next answer to a request, or a sentence on why there is none; they come in the order of requests."""
        process = self._process
        if process is None:
            return "The process is gone."
        deadline = time.monotonic() + seconds
        while True:
            process.flush()
            for answered, answer in process.receive():
                process.inbox.append((answered, answer))
            while process.inbox:
                answered, answer = process.inbox.popleft()
                if answered == request_id:
                    return answer
            if process.ended:
                return process.how_it_ended()
            if process.errors_closed:
                with contextlib.suppress(KeyError):
                    self._selector.unregister(process.errors_fd)
            rest = deadline - time.monotonic()
            if rest <= 0:
                printed = f" It printed last:\n{process.printed}" if process.printed else ""
                return f"No answer within {seconds:g} s.{printed}"
            self._wait(process, min(rest, _LOOK))

    def _wait(self, process: WorkerProcess, seconds: float) -> None:
        """Until the worker says something, or takes more of what it is sent."""
        if not process.has_outgoing:
            self._selector.select(seconds)
            return
        self._selector.register(process.requests_fd, selectors.EVENT_WRITE)
        try:
            self._selector.select(seconds)
        finally:
            self._selector.unregister(process.requests_fd)


@dataclass
class _Waiting:
    """A job on its way, and the scores that came for it."""

    job: ScoreTurns
    request_id: int

    def __post_init__(self) -> None:
        self.scores: list[Scored] = []
        self.wanted = len(self.job.turns) - self.job.first


def _checked(answer: Any) -> Scored:
    """An answer as a score: the process that made it runs foreign code, so that nothing in it is taken as it comes."""
    if isinstance(answer, Failed):
        return Scored(error=f"{answer.message}"[:1000])
    if not isinstance(answer, Scored):
        return Scored(error="The scorer's process answered with something else than a score.")
    if answer.error is not None:
        return Scored(error=str(answer.error)[:1000])
    numbers = [answer.total, *(answer.parts.values() if isinstance(answer.parts, Mapping) else [None])]
    plain = all(type(number) is float and math.isfinite(number) for number in numbers)
    if not plain or not all(type(name) is str for name in answer.parts) or answer.status not in STATUSES:
        return Scored(error="The scorer's process answered with something else than a score.")
    return Scored(answer.total, dict(answer.parts), answer.status)


def _checked_lines(answer: LinesRun) -> LinesRun:
    def plain(found: Any) -> dict[str, frozenset[int]]:
        entries = found.items() if isinstance(found, dict) else ()
        return {str(path): frozenset(line for line in lines if type(line) is int) for path, lines in entries}

    return LinesRun(plain(answer.possible), plain(answer.reached))


def _clean_up(watcher: subprocess.Popen[bytes], folder: WorkFolder) -> None:
    end_guard(watcher)
    folder.remove()
