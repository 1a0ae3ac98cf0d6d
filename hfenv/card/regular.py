"""Reading files that others wrote: regular ones only, and never more of one than a bound."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

MIB = 1 << 20
LARGEST_TEXT = 16 * MIB  # of a card, a changelog, a prompt


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading, through a link too; OSError where there is none, and for pipes, devices and sockets.

    Nothing else is opened at all: a pipe would wait for ever for somebody who writes, and a device may never end.
    """
    _require_regular(path.stat().st_mode, path)
    # What it became meanwhile is seen below; without waiting, should it be a pipe by now.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        _require_regular(os.fstat(handle).st_mode, path)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_regular(path: Path, limit: int) -> bytes:
    """The whole content of a regular file; OSError for any other, and for one of more than `limit` bytes."""
    with open_regular(path) as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit // MIB} MiB", str(path))
    return content


def is_inside(root: Path, path: str) -> bool:
    """Whether a POSIX path below a folder leads to something in it: it has no `..`, and no part of it is a link."""
    place = root
    names = path.split("/")
    return all(not (name in ("", ".", "..") or (place := place / name).is_symlink()) for name in names)


def _require_regular(mode: int, path: Path) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is no regular file but a pipe, a socket or a device", str(path))
