"""One process at a time changes a folder: a lock on the folder itself leaves nothing and ends with its holder."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hfenv.errors import ConflictError

WAIT_S = 60.0
_LOOK_S = 0.02

if sys.platform == "win32":

    def _taken(handle: int) -> bool:
        return True

    def _opened(root: Path) -> int | None:
        return None  # a folder can't be opened there

else:
    import fcntl

    def _taken(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass  # a file system without locks: work goes on there without
        return True

    def _opened(root: Path) -> int | None:
        try:
            return os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return None  # what is wrong with it is told by whoever reads it


@contextmanager
def held(root: Path) -> Iterator[None]:
    """Hold a folder; not to be nested. Raises ConflictError where another process or thread has it for a minute."""
    handle = _opened(root)
    if handle is None:
        yield
        return
    try:
        deadline = time.monotonic() + WAIT_S
        while not _taken(handle):
            if time.monotonic() > deadline:
                raise ConflictError(
                    f"Another hfenv is pushing or updating {root}.", "Wait until it has ended, then run this again."
                )
            time.sleep(_LOOK_S)
        yield
    finally:
        os.close(handle)
