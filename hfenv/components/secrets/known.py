"""Digests of files in which the scan found nothing: an unchanged file isn't looked through twice."""

from __future__ import annotations

import json
from pathlib import Path

from hfenv.card.regular import MIB, read_regular
from hfenv.components.remembered import remember, remembered_file
from hfenv.components.secrets.scanning import Hit, Kind, hits

# Counted up with every change of what is found: what was clean before may not be any more.
_HEAD = "hfenv-secrets-2"
_LARGEST = 64 * MIB
_DIGITS = 32


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
        return cls(remembered_file("secrets", root))

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
        remember(self.file, content)

    def _load(self) -> frozenset[str]:
        try:
            head, known = json.loads(read_regular(self.file, _LARGEST))
            return frozenset(map(str, known)) if head == _HEAD else frozenset()
        except (OSError, ValueError, TypeError, RecursionError):
            return frozenset()
