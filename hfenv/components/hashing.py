"""SHA-256 of files: one, or many at once on several cores."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hfenv.card.regular import open_regular

_CHUNK = 1 << 18  # bytes; larger ones leave the processor's cache before they are hashed
_WORTH_THREADS = 32 << 20  # bytes; hashing less takes about as long as starting threads
_MOST_THREADS = 8  # more wait for the disk, not for a core


def hash_file(path: Path) -> str:
    """SHA-256 (hex) of a regular file's raw bytes; OSError for any other file, and read errors are not swallowed."""
    with open_regular(path) as stream:
        return _digest(stream.fileno())


def hash_files(paths: Sequence[str], size: int) -> list[str]:
    """SHA-256 (hex) of files that were regular when they were listed; `size` is the bytes of all.

    Raises an OSError that names the file for one that can't be read, or that is something else by now.
    """
    threads = min(
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, _MOST_THREADS
    )
    if threads < 2 or size < _WORTH_THREADS:
        return [_hash_listed(path) for path in paths]
    from concurrent.futures import ThreadPoolExecutor

    # One task for many files, since a task costs as much as a small file; more tasks than threads, so that one with
    # large files doesn't keep the rest waiting. Neighbours are often alike in size: each task takes every nth file.
    tasks = min(len(paths), threads * 8)
    digests = [""] * len(paths)

    def work(first: int) -> None:
        for index in range(first, len(paths), tasks):
            digests[index] = _hash_listed(paths[index])

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(tasks)))
    return digests


def _hash_listed(path: str) -> str:
    # Without waiting, should it be a pipe by now; and not by `open`, whose buffer costs more than it saves.
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    handle = os.open(path, flags)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file any more", path)
        return _digest(handle)
    finally:
        os.close(handle)


def _digest(handle: int) -> str:
    digest = hashlib.sha256()
    while chunk := os.read(handle, _CHUNK):
        digest.update(chunk)
        for advance in _watchers:
            advance(len(chunk))
    return digest.hexdigest()


_watchers: list[Callable[[int], None]] = []


@contextmanager
def watched(advance: Callable[[int], None]) -> Iterator[None]:
    """Context in which every hashing of a file, in any thread, tells how many bytes it went on by."""
    _watchers.append(advance)
    try:
        yield
    finally:
        _watchers.remove(advance)
