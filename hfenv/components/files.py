"""Writing files so that each is there whole or as it was, several of them together."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkstemp

from hfenv.errors import StorageError

STAGED_PREFIX = ".hfenv-"
STAGED_SUFFIX = ".part"
_STALE_S = 3600.0


def is_staged(name: str) -> bool:
    """True for what was being written when its process was killed: never part of an environment."""
    return name.startswith(STAGED_PREFIX) and name.endswith(STAGED_SUFFIX)


def sweep(folder: Path) -> None:
    """Remove what killed processes left staged in a folder; what is younger than an hour may still be written."""
    for path in folder.glob(f"{STAGED_PREFIX}*{STAGED_SUFFIX}"):
        with contextlib.suppress(OSError):
            if time.time() - path.lstat().st_mtime > _STALE_S:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def check_writable(folder: Path) -> None:
    """Raises StorageError when nothing can be written to a folder; leaves it as it was."""
    try:
        handle, name = mkstemp(dir=folder, prefix=STAGED_PREFIX, suffix=STAGED_SUFFIX)
        os.close(handle)
        Path(name).unlink()
    except OSError as error:
        raise StorageError(f"{folder} can't be written: {error.strerror}.", "Check free space and rights.") from error


def check_replaceable(path: Path) -> None:
    """Raises StorageError for what is there and no regular file, nor a link to one: a device, a pipe, a folder."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(f"{path} can't be written: {error.strerror}.", "Name another file.") from error
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "no regular file, but a device, a pipe or a socket"
        raise StorageError(f"{path} can't be written: it is {kind}.", "Name another file.")


def write_all(files: Mapping[Path, bytes]) -> None:
    """Write several files; when one can't be written, all stay as they were. Raises StorageError that names it.

    A link stays a link: what it leads to is written. What is no regular file isn't touched.
    """
    for path in files:
        check_replaceable(path)
    files = {Path(os.path.realpath(path)) if path.is_symlink() else path: content for path, content in files.items()}
    staged: list[tuple[Path, Path]] = []
    replaced: list[tuple[Path, bytes | None]] = []
    path = Path()
    try:
        for path, content in files.items():
            staged.append((_stage(path, content), path))
        for temporary, path in staged:
            # Noted down first: Ctrl-C may come right after the replacing.
            replaced.append((path, path.read_bytes() if path.exists() else None))
            temporary.replace(path)
    except BaseException as error:  # Ctrl-C between two files too
        for done, content_before in replaced:
            with contextlib.suppress(OSError):
                done.unlink() if content_before is None else done.write_bytes(content_before)
        if isinstance(error, OSError):
            message = f"{path} can't be written: {error.strerror}."
            raise StorageError(message, "Check free space and permissions.") from error
        raise
    finally:
        for temporary, _ in staged:
            temporary.unlink(missing_ok=True)


def _stage(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep(path.parent)
    handle, name = mkstemp(dir=path.parent, prefix=STAGED_PREFIX, suffix=STAGED_SUFFIX)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        temporary.chmod(mode)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary
