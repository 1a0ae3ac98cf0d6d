"""Ranges of task files scanned by several processes at once, or by this one where that isn't worth it or can't be."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from hfenv.components.tasks.range import Found, Job, Terms
from hfenv.components.tasks.scan import scan

WORTH = 8 << 20  # bytes from which on other processes are asked for help
_MOST = 8


def scan_all(jobs: Sequence[Job], terms: Terms, *, size: int, workers: int | None = None) -> Iterator[Found]:
    """What each range holds, in the order of the jobs. `size` is the number of bytes in all of them together.

    The result is the same whatever the number of `workers`; None takes as many as the machine has processors for.
    """
    count = _worth(jobs, size) if workers is None else min(workers, len(jobs))
    if count > 1:
        from hfenv.components.tasks.workers import LostError, scan_by_workers

        try:
            found = scan_by_workers(jobs, terms, count)
        except (LostError, OSError):
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
