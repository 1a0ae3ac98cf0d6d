"""Ranges of task files read by several processes at once, or by this one where that isn't worth it or can't be."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from hfenv.components.tasks.range import Found, Job, Terms
from hfenv.components.tasks.scan import scan

WORTH = 8 << 20  # bytes from which on other processes are asked for help
_MOST = 8


J = TypeVar("J")
R = TypeVar("R")


def scan_all(jobs: Sequence[Job], terms: Terms, *, size: int, workers: int | None = None) -> Iterator[Found]:
    """What each range holds, as `run_all` gives it."""
    return run_all(partial(scan, terms=terms), jobs, size=size, workers=workers)


def run_all(work: Callable[[J], R], jobs: Sequence[J], *, size: int, workers: int | None = None) -> Iterator[R]:
    """What `work` makes of each job, in the order of the jobs. `size` is the number of bytes that all of them read.

    The result is the same whatever the number of `workers`; None takes as many as the machine has processors for.
    """
    count = _worth(jobs, size) if workers is None else min(workers, len(jobs))
    if count > 1:
        from hfenv.components.tasks.workers import LostError, by_workers

        try:
            found = by_workers(work, jobs, count)
        except (LostError, OSError):
            pass
        else:
            # Each goes as soon as it was taken, so that what all rows give is kept only once.
            yield from (found.pop(index) for index in range(len(jobs)))
            return
    for job in jobs:
        yield work(job)


def _worth(jobs: Sequence[Any], size: int) -> int:
    # A program that has Python inside may have itself as its executable: starting it would start all of it again.
    if size < WORTH or getattr(sys, "frozen", False):
        return 1
    if not sys.executable or not Path(sys.executable).name.lower().startswith(("python", "pypy")):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, len(jobs), _MOST)
