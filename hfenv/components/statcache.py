"""Digests of files that can't have changed since they were read: what makes a second `status` quick.

A file counts as unchanged when device, inode, size, modification and change time are what they were. Nobody can set a
change time, so that a file restored to its old modification time is read again. Only digests of files that were left
alone for two seconds before they were read are kept: within a clock's step, two edits look like one. Nothing that
verifies what came from a hub may ask this cache.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from hfenv.card.regular import MIB, read_regular
from hfenv.components.remembered import remember, remembered_file

_HEAD = "hfenv-stat-1"
_CLOCK_STEP_NS = 2_000_000_000  # the coarsest that is in use: FAT counts in steps of two seconds
_LARGEST = 256 * MIB
_FOLDER = "stat"
Fingerprint = tuple[int, int, int, int, int]


def fingerprint(status: os.stat_result) -> Fingerprint:
    """What identifies a state of a file: device, inode, bytes, modification and change time in nanoseconds."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class StatCache:
    """Known digests of one folder's files, by path. A cache that is missing, damaged or unwritable knows nothing."""

    def __init__(self, root: Path, file: Path) -> None:
        self.root = os.path.realpath(root)
        self.file = file
        self._known = self._load()
        self._read = len(self._known)
        self._changed = False

    @classmethod
    def of(cls, root: Path) -> StatCache | None:
        """The cache of a folder, in the user's cache folder: a folder that is only looked at stays as it is.

        None on Windows, where the change time is the time of creation and an edit can hide.
        """
        if os.name == "nt":
            return None
        return cls(root, remembered_file(_FOLDER, root))

    def digest(self, path: str, status: os.stat_result) -> str | None:
        """SHA-256 (hex) of the file at a path below the folder, None when it has to be read."""
        found = self._known.get(path)
        return found[1] if found is not None and found[0] == fingerprint(status) else None

    def note(self, path: str, status: os.stat_result, digest: str, asked_ns: int) -> None:
        """Keep the digest of a file whose `status` was the same before and after it was read.

        `asked_ns` is `time.time_ns()` from before the status was asked for.
        """
        if max(status.st_mtime_ns, status.st_ctime_ns) + _CLOCK_STEP_NS < asked_ns:
            self._known[path] = (fingerprint(status), digest)
            self._changed = True

    def save(self, paths: Sequence[str]) -> None:
        """Write what is known of the files that are there, where that is something new; `paths` are all of them.

        A cache that can't be written stays as it was.
        """
        if not self._changed and len(paths) >= self._read:
            return
        kept = {path: self._known[path] for path in paths if path in self._known}
        numbers = [number for state, _ in kept.values() for number in state]
        digests = [digest for _, digest in kept.values()]
        payload = json.dumps([self.root, [*kept], numbers, digests], separators=(",", ":")).encode()
        content = f"{_HEAD} {sha256(payload).hexdigest()}\n".encode() + payload
        remember(self.file, content)

    def _load(self) -> dict[str, tuple[Fingerprint, str]]:
        try:
            head, _, payload = read_regular(self.file, _LARGEST).partition(b"\n")
            if head != f"{_HEAD} {sha256(payload).hexdigest()}".encode():
                return {}
            root, paths, numbers, digests = json.loads(payload)
            n = iter(numbers)
            found = zip(paths, zip(zip(n, n, n, n, n, strict=True), digests, strict=True), strict=True)
            return dict(found) if root == self.root else {}
        except (OSError, ValueError, TypeError):
            return {}
