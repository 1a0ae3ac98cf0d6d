"""The program in a pool's worker process: loads one environment and answers requests about it over two pipes."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import os
import pickle
import select
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from hfenv.errors import HfenvError
from hfenv.runtime.environment import LoadedEnvironment
from hfenv.runtime.loader import prepare
from hfenv.runtime.messages import HEADER, Failed, Ready, SetUp, encode, unreadable, unsendable
from hfenv.runtime.policies import PolicySource, card_policy
from hfenv.runtime.serving import answer_request


class Worker:
    """One environment and the requests to it."""

    def __init__(self, answers: int) -> None:
        self._answers = answers
        self._env: LoadedEnvironment | None = None
        self._policies: dict[str, PolicySource] = {}

    def serve(self, requests: Iterator[tuple[int, Any]]) -> None:
        """Answer until the pool says to end."""
        for request_id, request in requests:
            if request is None:
                break
            try:
                if isinstance(request, HfenvError):
                    raise request
                answer = self._answer(request_id, request)
            except HfenvError as error:
                answer = Failed(type(error).__name__, error.message, error.hint)
            self._send(request_id, answer)
        if self._env is not None:
            self._env.close()

    def _answer(self, request_id: int, request: Any) -> Any:
        if isinstance(request, SetUp):
            self._env = prepare(request.spec, checked=True).environment(Path(request.folder))
            return Ready()
        assert self._env is not None  # noqa: S101 - the pool sets up first
        return answer_request(self._env, request, self._policy, lambda sign: self._send(request_id, sign))

    def _policy(self, name: str) -> PolicySource:
        if name not in self._policies and self._env is not None:
            self._policies[name] = card_policy(name, self._env.spec.code, self._env.action_space)
        return self._policies[name]

    def _send(self, request_id: int, answer: Any) -> None:
        try:
            frame = encode(request_id, answer)
        except HfenvError as error:
            frame = encode(request_id, unsendable(error.__cause__ or error))
        view = memoryview(frame)
        while view:
            view = view[os.write(self._answers, view) :]


def _read_requests(descriptor: int) -> Iterator[tuple[int, Any]]:
    """Requests with their ids, until the pool closes the pipe; an error stands for one that can't be read here."""
    buffer = bytearray()
    while chunk := os.read(descriptor, 1 << 16):
        buffer += chunk
        while len(buffer) >= HEADER.size:
            length, request_id = HEADER.unpack_from(buffer)
            if len(buffer) < HEADER.size + length:
                break
            payload = bytes(memoryview(buffer)[HEADER.size : HEADER.size + length])
            del buffer[: HEADER.size + length]
            try:
                request = pickle.loads(payload)  # noqa: S301 - from the process that started us
            except Exception as error:  # an action of a class that exists in the caller's process only
                request = unreadable(error)
            yield request_id, request
    _end_group()


def _watch(descriptor: int) -> None:
    """End this process and its group at once when the pool's process is gone, whatever the author's code is doing."""
    parent = os.getppid()
    gone = select.poll()
    gone.register(descriptor, 0)  # asks for nothing but the news that nobody writes any more
    while not gone.poll(1000) and os.getppid() == parent:
        continue
    _end_group()


def _end_group() -> NoReturn:
    with contextlib.suppress(OSError):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def main() -> None:
    """Serve on standard input and output, after moving both out of the author's reach."""
    requests_fd, answers_fd = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # what the author prints joins standard error, of which the pool keeps the end
    os.close(nothing)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True, errors="backslashreplace")
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the pool, which closes its workers
    threading.Thread(target=_watch, args=(requests_fd,), daemon=True).start()
    Worker(answers_fd).serve(_read_requests(requests_fd))
    sys.stdout.flush()
    os._exit(0)  # threads that an author left behind don't keep a worker alive


if __name__ == "__main__":
    main()
