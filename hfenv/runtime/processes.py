"""The process backend: one worker process per slot, watched from one selector without any thread."""

from __future__ import annotations

import selectors
import subprocess
import sys
import time
import weakref
from dataclasses import dataclass, field

from hfenv.errors import UsageError
from hfenv.runtime import guard
from hfenv.runtime.backend import Backend, Limits, is_final
from hfenv.runtime.folders import WorkFolder
from hfenv.runtime.guarding import end_guard, new_marker, start_guard
from hfenv.runtime.messages import Lost, Request, SetUp, SlotAnswer
from hfenv.runtime.process import WorkerProcess
from hfenv.runtime.spec import EnvironmentSpec

_LOOK = 0.5  # seconds between looks at workers that say nothing
_GRACE = 1.0  # seconds more for a worker whose answer is just arriving
_CLOSING = 2.0  # seconds in which workers may close their environments


@dataclass
class _Slot:
    """A worker and the request that it works on: its id, the current limit in seconds, and when that is reached."""

    process: WorkerProcess | None = None
    request: Request | None = None
    request_id: int = 0
    seconds: float = 0.0
    deadline: float | None = None
    generation: int = 0
    registered: list[int] = field(default_factory=list)


class ProcessBackend(Backend):
    """Each slot in a process of its own; one that hangs or dies is killed with its children while the others go on."""

    def __init__(self, spec: EnvironmentSpec, slots: int, limits: Limits) -> None:
        if sys.platform == "win32":
            raise UsageError("The process backend needs Linux or macOS.", "Use backend='inline' here.")
        self._spec = spec
        self._limits = limits
        self._slots = [_Slot() for _ in range(slots)]
        self._selector = selectors.DefaultSelector()
        self._looked = time.monotonic()
        self._folder = WorkFolder(prefix="hfenv-pool-")
        self._marker = new_marker()
        self._guard = start_guard(self._marker, self._folder.path.resolve())
        self._finalizer = weakref.finalize(self, _clean_up, self._guard, self._folder, self._slots)

    def start(self, slot: int) -> None:
        self.drop(slot)
        state = self._slots[slot]
        state.generation += 1
        name = f"{slot}/{state.generation}/"
        folder = self._folder.path / f"slot-{slot}-{state.generation}"
        process = WorkerProcess(self._marker + name, folder)
        state.process = process
        self._selector.register(process.answers_fd, selectors.EVENT_READ, slot)
        self._selector.register(process.errors_fd, selectors.EVENT_READ, slot)
        state.registered = [process.answers_fd, process.errors_fd]
        self.send(slot, SetUp(self._spec, str(folder)), self._limits.setup)

    def send(self, slot: int, request: Request, seconds: float) -> None:
        state = self._slots[slot]
        assert state.process is not None  # noqa: S101 - the pool starts a slot first
        state.request, state.request_id = request, state.process.send(request)
        state.seconds = seconds
        state.deadline = time.monotonic() + seconds
        self._watch_writing(state, slot)

    def busy(self, slot: int) -> bool:
        return self._slots[slot].deadline is not None

    def wait(self, timeout: float | None) -> list[SlotAnswer]:
        end = None if timeout is None else time.monotonic() + timeout
        while any(state.deadline is not None for state in self._slots):
            answers = self._poll(end)
            if answers or (end is not None and time.monotonic() >= end):
                return answers
        return []

    def _poll(self, end: float | None) -> list[SlotAnswer]:
        """One look at all pipes, waiting until the next deadline at most; then judge who is late."""
        away = time.monotonic() - self._looked > _LOOK
        times = [state.deadline for state in self._slots if state.deadline is not None]
        nearest = min([*times, end] if end is not None else times)
        events = self._selector.select(min(_LOOK, max(0.0, nearest - time.monotonic())))
        answers: list[SlotAnswer] = []
        # Without an event, look at all: a dead worker's pipe stays open while a child of its own has it.
        for slot in {key.data for key, _ in events} or range(len(self._slots)):
            answers += self._read(slot, away)
        self._looked = now = time.monotonic()
        for slot, state in enumerate(self._slots):
            if state.deadline is not None and now > state.deadline:
                printed = state.process.printed if state.process else ""
                text = f"No answer within {state.seconds:g} s."
                answers.append(self._lose(slot, text + (f" It printed last:\n{printed}" if printed else "")))
        return answers

    def _read(self, slot: int, away: bool) -> list[SlotAnswer]:
        """Answers of one slot. `away`: nobody looked for a while, and a worker may have been stuck in a full pipe."""
        state = self._slots[slot]
        process = state.process
        if process is None:
            return []
        process.flush()
        found: list[SlotAnswer] = []
        for request_id, answer in process.receive():
            if request_id != state.request_id or state.deadline is None:
                continue  # an answer to what nobody waits for any more
            found.append(SlotAnswer(slot, answer))
            state.deadline = None
            if not is_final(state.request, answer):
                state.seconds = self._limits.step
                state.deadline = time.monotonic() + state.seconds
        if state.deadline is not None and (process.is_arriving or (away and process.flooded)):
            state.deadline = max(state.deadline, time.monotonic() + _GRACE)
        if process.ended:
            found.append(self._lose(slot, process.how_it_ended()))
        elif process.errors_closed and process.errors_fd in state.registered:
            self._unregister(state, process.errors_fd)
        self._watch_writing(state, slot)
        return found

    def _watch_writing(self, state: _Slot, slot: int) -> None:
        """Have the selector tell when a full pipe takes more of a request."""
        process = state.process
        if process is None:
            return
        watched = process.requests_fd in state.registered
        if process.has_outgoing and not watched:
            self._selector.register(process.requests_fd, selectors.EVENT_WRITE, slot)
            state.registered.append(process.requests_fd)
        elif watched and not process.has_outgoing:
            self._unregister(state, process.requests_fd)

    def _unregister(self, state: _Slot, descriptor: int) -> None:
        self._selector.unregister(descriptor)
        state.registered.remove(descriptor)

    def _lose(self, slot: int, error: str) -> SlotAnswer:
        self.drop(slot)
        return SlotAnswer(slot, Lost(error))

    def _release(self, slot: int) -> WorkerProcess | None:
        state = self._slots[slot]
        process, state.process, state.deadline = state.process, None, None
        for descriptor in list(state.registered):
            self._unregister(state, descriptor)
        return process

    def drop(self, slot: int) -> None:
        process = self._release(slot)
        if process is not None:
            process.kill()

    def close(self) -> None:
        processes = [process for slot in range(len(self._slots)) if (process := self._release(slot)) is not None]
        try:
            for process in processes:
                process.ask_to_end()
            end = time.monotonic() + _CLOSING
            for process in processes:
                process.wait(max(0.0, end - time.monotonic()))
        finally:
            guard.kill_marked(self._marker, str(self._folder.path.resolve()))
            for process in processes:
                process.finish()
            self._selector.close()
            self._finalizer()


def _clean_up(watcher: subprocess.Popen[bytes], folder: WorkFolder, slots: list[_Slot]) -> None:
    """Let the guard kill what is left, reap it, then remove the folder."""
    end_guard(watcher)
    for slot in slots:
        if slot.process is not None:
            slot.process.finish()
    folder.remove()
