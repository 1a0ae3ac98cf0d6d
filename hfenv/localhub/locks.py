"""Locks between processes and threads, by `flock`: the system frees them when their holder dies."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hfenv.localhub.errors import HubError

WAIT_S = 60.0
# Another process can hold a ref's lock file for milliseconds only; one this old was left by a process that died.
_STALE_LOCK_S = 2.0


@contextmanager
def locked(path: Path, wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold the lock file `path` (never deleted: a waiter must not hold a lock on a name that is gone).

    Raises:
        HubError: 503 if somebody else holds it for longer than `wait_s`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", newline="") as file:
        deadline = time.monotonic() + wait_s
        pause = 0.001
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise HubError(503, "The repository is busy, try again.", extra={"Retry-After": "1"}) from None
                time.sleep(pause)
                pause = min(pause * 2, 0.02)
        yield


@contextmanager
def ref_lock(repo: Path, ref: str) -> Iterator[None]:
    """Clear git's lock files that a killed process left. No other process of the hub is here: we hold its own lock."""
    for lock in (repo / "packed-refs.lock", repo / f"{ref}.lock"):
        deadline = time.monotonic() + _STALE_LOCK_S
        while lock.exists():
            if time.monotonic() > deadline or _age(lock) > _STALE_LOCK_S:
                lock.unlink(missing_ok=True)
                break
            time.sleep(0.02)
    yield


def _age(path: Path) -> float:
    """Seconds since the file was written, 0 if it is gone."""
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
