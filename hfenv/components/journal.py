"""Change many files of a folder as one step: staged, written down, then renamed into place; a killed one is finished.

Until the journal is written the folder is as it was. From then on it counts as changed: whoever reads the folder next
carries out what is left. A file that somebody edited in between is kept, and the new one is laid beside it.
"""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from hfenv.card.regular import MIB, read_regular
from hfenv.components.files import check_writable, write_all
from hfenv.components.holding import held
from hfenv.components.ignoring import STATE_FOLDER
from hfenv.errors import StorageError, UnreadableError

REMOTE_SUFFIX = ".remote"
_FOLDER = "update"
_JOURNAL = "journal.json"
_LARGEST = 64 * MIB


@dataclass(frozen=True, slots=True)
class Change:
    """What a file becomes: a copy of `source` or these bytes, None to remove it; `executable` None leaves its bit."""

    content: bytes | Path | None
    executable: bool | None = None


@contextmanager
def changing(root: Path) -> Iterator[None]:
    """Hold a folder that is to be changed, or read while nobody changes it; a killed change is finished first."""
    with held(root):
        _finish(root)
        yield


def apply_all(root: Path, changes: Mapping[str, Change]) -> None:
    """Make all changes of a folder, by POSIX path, in their order; after a kill at any moment `finish` ends it.

    The caller holds the folder by `changing`. Raises StorageError, with the folder as it was, where there is no room.
    """
    folder = root / STATE_FOLDER / _FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    operations = []
    try:
        (root / STATE_FOLDER).mkdir(exist_ok=True)
        ignore = root / STATE_FOLDER / ".gitignore"
        if not ignore.exists():
            write_all({ignore: b"*\n"})
        folder.mkdir(parents=True)
        for parent in {_there(root / path) for path in changes}:
            check_writable(parent)  # once the journal is written, there is no way back
        for number, (path, change) in enumerate(changes.items()):
            target = root / path
            staged = None
            if change.content is not None:
                staged = str(number)
                content = change.content if isinstance(change.content, bytes) else change.content.read_bytes()
                write_all({folder / staged: content})
                mode = target.stat().st_mode & 0o777 if target.is_file() else 0o644
                if change.executable is not None:
                    mode = mode | 0o111 if change.executable else mode & ~0o111
                (folder / staged).chmod(mode)
            operations.append({"path": path, "staged": staged, "before": _digest(target)})
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise StorageError.of(error) from error
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    write_all({folder / _JOURNAL: json.dumps(operations).encode()})
    _finish(root)


def finish(root: Path) -> bool:
    """Carry out what a killed update left to do; returns whether there was something. Costs one look where not."""
    if not (root / STATE_FOLDER / _FOLDER / _JOURNAL).exists():
        return False
    with held(root):
        return _finish(root)


def _finish(root: Path) -> bool:
    folder = root / STATE_FOLDER / _FOLDER
    journal = folder / _JOURNAL
    if not journal.exists():
        return False
    try:
        operations = json.loads(read_regular(journal, _LARGEST))
        for operation in operations:
            staged = None if operation["staged"] is None else folder / str(int(operation["staged"]))
            _carry_out(root, str(operation["path"]), staged, operation["before"])
        journal.unlink()
        shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise StorageError.of(error) from error
    except (ValueError, TypeError, KeyError, RecursionError):
        raise UnreadableError(
            f"{journal} can't be read.", f"Remove {folder}, then run hfenv pull --update again."
        ) from None
    return True


def _carry_out(root: Path, path: str, staged: Path | None, before: str | None) -> None:
    target = root / path
    if staged is None:
        if _digest(target) == before:
            target.unlink(missing_ok=True)
            _prune(root, target.parent)
        return
    if not staged.exists():
        return  # done before the kill
    target.parent.mkdir(parents=True, exist_ok=True)
    if _digest(target) not in (before, _digest(staged)):
        target = target.with_name(target.name + REMOTE_SUFFIX)
    try:
        staged.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # A folder of it lies on another disk.
        write_all({target: staged.read_bytes()})
        target.chmod(staged.stat().st_mode & 0o777)
        staged.unlink()


def _there(target: Path) -> Path:
    """The folder that a file lies in, or the nearest above it that is there."""
    return next(parent for parent in target.parents if parent.is_dir())


def _prune(root: Path, folder: Path) -> None:
    """Remove folders that became empty: git and hubs know none."""
    while folder != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _digest(file: Path) -> str | None:
    if not file.is_file():
        return None
    hasher = sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            hasher.update(chunk)
    return hasher.hexdigest()
