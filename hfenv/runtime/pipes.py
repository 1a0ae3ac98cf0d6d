"""A worker's end of the pipes to the process that started it: requests in, answers out, and an end when it is gone."""

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
from typing import Any, NoReturn

from hfenv.errors import HfenvError
from hfenv.runtime.messages import HEADER, encode, unreadable, unsendable


def take_pipes() -> tuple[int, int]:
    """Move standard input and output out of the author's reach; returns the descriptors of requests and answers."""
    requests_fd, answers_fd = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # what the author prints joins standard error, of which the caller keeps the end
    os.close(nothing)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True, errors="backslashreplace")
    return requests_fd, answers_fd


def serve_pipes(requests_fd: int) -> None:
    """Prepare for author code: no Ctrl-C, which is the caller's, and an end as soon as the caller is gone."""
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch, args=(requests_fd,), daemon=True).start()


def read_requests(descriptor: int) -> Iterator[tuple[int, Any]]:
    """Requests with their ids, until the caller closes the pipe; an error stands for one that can't be read here."""
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


def send_answer(descriptor: int, request_id: int, answer: Any) -> None:
    """Write one answer; what can't be sent becomes a `Failed` that says so."""
    try:
        frame = encode(request_id, answer)
    except HfenvError as error:
        frame = encode(request_id, unsendable(error.__cause__ or error))
    view = memoryview(frame)
    while view:
        view = view[os.write(descriptor, view) :]


def leave() -> NoReturn:
    """End now: threads that an author left behind don't keep a worker alive."""
    sys.stdout.flush()
    os._exit(0)


def _watch(descriptor: int) -> None:
    """End this process and its group at once when the caller is gone, whatever the author's code is doing."""
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
