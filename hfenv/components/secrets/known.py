"""Digests of files in which the scan found nothing: an unchanged file isn't looked through twice."""

from __future__ import annotations

import contextlib
import json
import os
import time
from hashlib import sha256
from pathlib import Path
from tempfile import mkstemp

from hfenv.card.regular import MIB, read_regular
from hfenv.components.files import STAGED_PREFIX, STAGED_SUFFIX, sweep
from hfenv.components.secrets.scanning import Hit, Kind, hits
from hfenv.paths import cache_root

# Counted up with every change of what is found: what was clean before may not be any more.
_HEAD = "hfenv-secrets-1"
_LARGEST = 64 * MIB
_DIGITS = 32
_UNUSED_S = 30 * 86_400.0


class CleanFiles:
    """What one folder's files are known to be clean. A cache that is missing, damaged or unwritable knows nothing.

    By content, not by time: a file that moved or was restored is known too. Never holds a finding, nor a secret.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._known = self._load()
        self._asked: set[str] = set()

    @classmethod
    def of(cls, root: Path) -> CleanFiles:
        """The cache of a folder, in the user's cache folder: a folder that is only looked at stays as it is."""
        name = sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:32]
        return cls(cache_root() / "secrets" / f"{name}.json")

    def hits(self, path: str, digest: str, source: Path | bytes) -> list[Hit]:
        """What `scanning.hits` finds in a file; `digest` is the SHA-256 (hex) of its content."""
        key = Kind.of(path).value + digest[:_DIGITS]
        if key in self._known:
            self._asked.add(key)
            return []
        found = list(hits(path, source))
        if not found:
            self._asked.add(key)
        return found

    def save(self, *, whole: bool) -> None:
        """Write what is known, where that is something new; `whole` says that every file was asked about."""
        known = self._asked if whole else self._known | self._asked
        if known <= self._known and len(self._known) < 2 * len(known) + 100:
            return
        content = json.dumps([_HEAD, sorted(known)], separators=(",", ":")).encode()
        with contextlib.suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            handle, name = mkstemp(dir=self.file.parent, prefix=STAGED_PREFIX, suffix=STAGED_SUFFIX)
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(content)
                Path(name).replace(self.file)
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise
            self._tidy()

    def _load(self) -> frozenset[str]:
        try:
            head, known = json.loads(read_regular(self.file, _LARGEST))
            return frozenset(map(str, known)) if head == _HEAD else frozenset()
        except (OSError, ValueError, TypeError, RecursionError):
            return frozenset()

    def _tidy(self) -> None:
        sweep(self.file.parent)
        oldest = time.time() - _UNUSED_S
        for path in self.file.parent.glob("*.json"):
            if path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)
