"""Other processes that read ranges of task files for this one; none of them outlives the call."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from hfenv.components.tasks.worker import receive, send

_START_S = 30.0
# The worker sees the modules that this process sees, and nothing of the folder that it happens to run in.
_BOOT = "import sys; sys.path[:] = [{paths}]; from hfenv.components.tasks.worker import main; main()"

J = TypeVar("J")
R = TypeVar("R")


class LostError(Exception):
    """A worker that doesn't start, hashes differently or is gone."""


def by_workers(work: Callable[[J], R], jobs: Sequence[J], count: int) -> dict[int, R]:
    """What `work` makes of each job, by the job's place. Raises LostError; no worker outlives the call.

    `work`, jobs and results travel as pickles: `work` is a function of a module, or a partial of one.
    """
    pending: queue.SimpleQueue[tuple[int, J]] = queue.SimpleQueue()
    for numbered in enumerate(jobs):
        pending.put(numbered)
    results: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
    processes: list[subprocess.Popen[bytes]] = []
    try:
        # Arrow's own allocators keep what they have had; each helper would hold 30 MB more.
        environment = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}
        environment["PYTHONHASHSEED"] = str(int.from_bytes(os.urandom(4), "big"))
        for _ in range(count):
            processes.append(_start(environment))  # one by one: those that started are ended when one doesn't
        for process in processes:
            arguments = (process, work, pending, results)
            threading.Thread(target=_drive, args=arguments, daemon=True).start()
        return _collect(results, len(jobs), count)
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def _start(environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    boot = _BOOT.format(paths=", ".join(ascii(str(path)) for path in sys.path if path))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-c", boot], env=environment, **pipes)  # type: ignore[call-overload,no-any-return]


def _collect(results: queue.SimpleQueue[tuple[int, Any]], jobs: int, workers: int) -> dict[int, Any]:
    found: dict[int, Any] = {}
    probes: list[int] = []
    while len(found) < jobs:
        try:
            # Once all have started, a range takes as long as it takes.
            index, value = results.get(timeout=_START_S if len(probes) < workers else None)
        except queue.Empty:
            raise LostError from None
        if index >= 0:
            found[index] = value
        elif value is not None:
            probes.append(value)
            if value != probes[0]:
                raise LostError
        else:
            raise LostError
    return found


def _drive(
    process: subprocess.Popen[bytes],
    work: Callable[[Any], Any],
    pending: queue.SimpleQueue[tuple[int, Any]],
    results: queue.SimpleQueue[tuple[int, Any]],
) -> None:
    """Feed one worker, in a thread of its own; its hash of a probe comes first, and None where it is lost."""
    source, sink = process.stdout, process.stdin
    if source is None or sink is None:
        return
    try:
        with source, sink:
            results.put((-1, receive(source)))
            send(sink, work)
            while True:
                index, job = pending.get_nowait()
                send(sink, job)
                results.put((index, receive(source)))
    except queue.Empty:
        return
    except Exception:  # whatever it is, the ranges are read without this worker
        results.put((-1, None))
