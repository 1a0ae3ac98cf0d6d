"""A request to end (SIGTERM) taken like Ctrl-C: what is staged is removed, and the exit code says what happened."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

TERMINATED = 143  # as shells have it: 128 + SIGTERM


@contextmanager
def terminated_cleanly() -> Iterator[None]:
    """Context in which SIGTERM unwinds the stack instead of ending the process; restores what was set before."""
    if threading.current_thread() is not threading.main_thread():  # only there signals can be handled
        yield
        return

    def end(_number: int, _frame: FrameType | None) -> None:
        # A second one, as some runners send it, must not stop the cleaning up.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.exit(TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
