"""Locks on the cache between processes and threads, which the system frees when their holder dies."""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# What a file system answers that has no locks (some network ones); work goes on there without.
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL})
_LOOK_S = 0.02
_MOST_HELD = 200  # commits that one process keeps from being pruned; each takes a file handle

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int, *, shared: bool = False) -> bool:
        if shared:  # an open file can't be removed there, which is all that sharing is for
            return True
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(handle: int, *, shared: bool = False) -> bool:
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextmanager
def alone(path: Path, pause: Callable[[float], object]) -> Iterator[bool]:
    """Hold the lock file `path`, which is there only as long as somebody holds it or died holding it.

    Waits for other holders, with `pause` between two looks, which may raise to end the waiting. Yields False where the
    file system has no locks.
    """
    handle = _taken(path, wait=pause)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            with suppress(OSError):
                path.unlink()  # while it is held: who waits for it sees that the name is gone, and takes a new one
            os.close(handle)


def try_alone(path: Path) -> bool:
    """Whether nobody holds the lock file `path`; removes one that a killed process left."""
    try:
        handle = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return True
    try:
        if not _try_lock(handle):
            return False
        with suppress(OSError):
            path.unlink()
        return True
    finally:
        os.close(handle)


def _taken(path: Path, wait: Callable[[float], object]) -> int | None:
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except FileNotFoundError:
            continue  # its folder was removed in between
        try:
            locked = _try_lock(handle)
            if locked and _is_still(path, handle):
                return handle
        except OSError as error:
            os.close(handle)
            if error.errno in _NO_LOCKS:
                return None
            raise
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        if not locked:
            wait(_LOOK_S)


def _is_still(path: Path, handle: int) -> bool:
    """Whether a name still leads to the file that was opened by it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except OSError:
        return False


_held: dict[Path, int] = {}
_HELD_GUARD = threading.Lock()


def hold(path: Path) -> None:
    """Keep what stands at `path` from being pruned for as long as this process runs, or until `let_go`.

    Needs no right to write. Of very many, the oldest are let go.
    """
    with _HELD_GUARD:
        known = _held.get(path)
        if known is not None and _is_still(path, known):
            return
        handle = _opened_shared(path)
        _drop(path)
        if handle is not None:
            _held[path] = handle
        while len(_held) > _MOST_HELD:
            _drop(next(iter(_held)))


def let_go(path: Path) -> None:
    """The end of `hold`."""
    with _HELD_GUARD:
        _drop(path)


def _drop(path: Path) -> None:
    handle = _held.pop(path, None)
    if handle is not None:
        os.close(handle)


def _opened_shared(path: Path) -> int | None:
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        if _try_lock(handle, shared=True):
            return handle
    except OSError:
        return handle  # no locks there
    os.close(handle)
    return None


@contextmanager
def unused(path: Path) -> Iterator[bool]:
    """Whether no process holds `path`; as long as the context lasts, none can begin to."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        yield True  # nothing is there that could be held
        return
    try:
        try:
            free = _try_lock(handle)
        except OSError:
            free = True
        if sys.platform == "win32":
            os.close(handle)  # it couldn't be removed while it is open
            handle = -1
        yield free
    finally:
        if handle >= 0:
            os.close(handle)
