"""Starts and ends the guard: the process that outlives a killed caller and cleans up after it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import uuid
from pathlib import Path

from hfenv.runtime import guard


def new_marker() -> str:
    """A marker that no other pool or scorer has.

    Inside of another pool's worker it begins with that worker's own: the outer pool finds these processes by it.
    """
    return f"{os.environ.get(guard.MARKER, '')}{uuid.uuid4().hex}/"


def start_guard(marker: str, folder: Path) -> subprocess.Popen[bytes]:
    """A process that outlives this one if it is killed, and then kills the workers and removes the folder."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", guard.__file__, marker, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={},
        start_new_session=True,
    )


def end_guard(watcher: subprocess.Popen[bytes]) -> None:
    """Let the guard kill what is left and remove the folder; back when it is done."""
    if watcher.stdin is not None:
        with contextlib.suppress(OSError):
            watcher.stdin.close()
    try:
        watcher.wait(10.0)
    except subprocess.TimeoutExpired:
        watcher.kill()
        watcher.wait()
