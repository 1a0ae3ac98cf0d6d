"""Ranges of task files scanned by several processes at once, or by this one where that isn't worth it or can't be."""

from __future__ import annotations

import json
import os
import queue
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hfenv.components.taskrange import Found, Job, Terms
from hfenv.components.taskscan import scan
from hfenv.components.taskworker import receive, send

WORTH = 8 << 20  # bytes from which on other processes are asked for help
_MOST = 8
_START_S = 30.0
# The worker sees the modules that this process sees, and nothing of the folder that it happens to run in.
_BOOT = "import sys; sys.path[:] = [{paths}]; from hfenv.components.taskworker import main; main()"


class _LostError(Exception):
    """A worker that doesn't start, hashes differently or is gone."""


def scan_all(jobs: Sequence[Job], terms: Terms, *, size: int, workers: int | None = None) -> Iterator[Found]:
    """What each range holds, in the order of the jobs. `size` is the number of bytes in all of them together.

    The result is the same whatever the number of `workers`; None takes as many as the machine has processors for.
    """
    count = _worth(jobs, size) if workers is None else min(workers, len(jobs))
    if count > 1:
        try:
            found = _by_workers(jobs, terms, count)
        except (_LostError, OSError):
            pass
        else:
            # Each goes as soon as it was taken: the hashes of all rows are kept only once.
            yield from (found.pop(index) for index in range(len(jobs)))
            return
    for job in jobs:
        yield scan(job, terms)


def _worth(jobs: Sequence[Job], size: int) -> int:
    # A program that has Python inside may have itself as its executable: starting it would start all of it again.
    if size < WORTH or getattr(sys, "frozen", False):
        return 1
    if not sys.executable or not Path(sys.executable).name.lower().startswith(("python", "pypy")):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, len(jobs), _MOST)


def _by_workers(jobs: Sequence[Job], terms: Terms, count: int) -> dict[int, Found]:
    """All results by the place of their job. Raises _LostError; no worker outlives the call."""
    pending: queue.SimpleQueue[tuple[int, Job]] = queue.SimpleQueue()
    for numbered in enumerate(jobs):
        pending.put(numbered)
    results: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
    processes: list[subprocess.Popen[bytes]] = []
    try:
        environment = {**os.environ, "PYTHONHASHSEED": str(secrets.randbelow(2**32 - 1) + 1)}
        for _ in range(count):
            processes.append(_start(environment))  # one by one: those that started are ended when one doesn't
        for process in processes:
            arguments = (process, terms, pending, results)
            threading.Thread(target=_drive, args=arguments, daemon=True).start()
        return _collect(results, len(jobs), count)
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def _start(environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    boot = _BOOT.format(paths=", ".join(json.dumps(path) for path in sys.path if path))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-c", boot], env=environment, **pipes)  # type: ignore[call-overload,no-any-return]


def _collect(results: queue.SimpleQueue[tuple[int, Any]], jobs: int, workers: int) -> dict[int, Found]:
    found: dict[int, Found] = {}
    probes: list[int] = []
    while len(found) < jobs:
        try:
            # Once all have started, a range takes as long as it takes.
            index, value = results.get(timeout=_START_S if len(probes) < workers else None)
        except queue.Empty:
            raise _LostError from None
        if isinstance(value, Found):
            found[index] = value
        elif isinstance(value, int):
            probes.append(value)
            if value != probes[0]:
                raise _LostError
        else:
            raise _LostError
    return found


def _drive(
    process: subprocess.Popen[bytes],
    terms: Terms,
    pending: queue.SimpleQueue[tuple[int, Job]],
    results: queue.SimpleQueue[tuple[int, Any]],
) -> None:
    """Feed one worker, in a thread of its own; None is put where it is lost."""
    source, sink = process.stdout, process.stdin
    if source is None or sink is None:
        return
    try:
        with source, sink:
            results.put((-1, receive(source)))
            send(sink, terms)
            while True:
                index, job = pending.get_nowait()
                send(sink, job)
                results.put((index, receive(source)))
    except queue.Empty:
        return
    except Exception:  # whatever it is, the ranges are read without this worker
        results.put((-1, None))
