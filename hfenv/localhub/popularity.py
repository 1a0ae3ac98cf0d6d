"""Likes, one empty file for each in the repository's folder, and downloads, counted by day."""

from __future__ import annotations

import atexit
import json
import os
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from hfenv.localhub.errors import HubError
from hfenv.localhub.locks import locked
from hfenv.localhub.storage import Storage

LIKES, DOWNLOADS = "hub-likes", "hub-downloads.json"
_SAME_DOWNLOAD_S = 300.0
_FLUSH_S = 2.0
_MOST_SEEN = 10_000
_RECENT_DAYS = 30
_BEFORE = "before"  # the sum of the days that count as recent no more


def like(repo: Path, user: str) -> None:
    """Note that a user likes a repository, given by its folder; liking twice is liking once."""
    folder = repo / LIKES
    folder.mkdir(exist_ok=True)
    (folder / user).touch()


def unlike(repo: Path, user: str) -> None:
    (repo / LIKES / user).unlink(missing_ok=True)


def likers(repo: Path) -> list[str]:
    """Users who like a repository, by name."""
    try:
        return sorted(path.name for path in (repo / LIKES).iterdir())
    except FileNotFoundError:
        return []


def liked_at(repo: Path, user: str) -> float | None:
    """When a user liked a repository, in seconds since 1970; None: they don't."""
    try:
        return (repo / LIKES / user).stat().st_mtime
    except (FileNotFoundError, NotADirectoryError):
        return None


@dataclass(frozen=True, slots=True)
class Downloads:
    """How often a repository was downloaded: in the last 30 days, and ever."""

    recent: int = 0
    ever: int = 0


def downloads(repo: Path, today: date | None = None) -> Downloads:
    """The counts that are stored for a repository."""
    days = _read(repo / DOWNLOADS)
    if not days:
        return Downloads()
    first = ((today or _today()) - timedelta(days=_RECENT_DAYS)).isoformat()
    recent = sum(count for day, count in days.items() if day != _BEFORE and day > first)
    return Downloads(recent, sum(days.values()))


def _today() -> date:
    return date.fromtimestamp(time.time())


def _read(path: Path) -> dict[str, int]:
    try:
        data = json.loads(path.read_bytes())
        return {str(day): int(count) for day, count in data.items()}
    except (FileNotFoundError, NotADirectoryError, ValueError, AttributeError, TypeError):
        return {}  # a lost count is no reason to refuse a repository


class DownloadCounter:
    """Counts downloads in memory and writes the sums now and then, so that a download never waits for a disk.

    One client that fetches files of one repository makes one download in five minutes, however many files it takes.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._guard = threading.Lock()
        self._pid = os.getpid()
        self._seen: dict[tuple[str, Path], float] = {}
        self._pending: Counter[Path] = Counter()
        self._timer: threading.Timer | None = None
        atexit.register(self.flush)

    def count(self, client: str, repo: Path) -> None:
        """Note that `client` fetched a file of the repository in the folder `repo`."""
        now = time.monotonic()
        with self._guard:
            self._drop_parents()
            last = self._seen.get((client, repo))
            if last is not None and now - last < _SAME_DOWNLOAD_S:
                return
            if len(self._seen) >= _MOST_SEEN:
                self._seen = {key: at for key, at in self._seen.items() if now - at < _SAME_DOWNLOAD_S}
            self._seen[client, repo] = now
            self._pending[repo] += 1
            if self._timer is None:
                self._timer = threading.Timer(_FLUSH_S, self.flush)
                self._timer.daemon = True
                self._timer.start()

    def _drop_parents(self) -> None:
        # A forked child has its parent's counts, which the parent writes, and not its timer.
        if self._pid != os.getpid():
            self._pid, self._timer = os.getpid(), None
            self._pending.clear()

    def flush(self) -> None:
        """Add what was counted to what is stored; a disk that refuses costs the counts, nothing else."""
        with self._guard:
            self._drop_parents()
            pending, self._pending = self._pending, Counter()
            timer, self._timer = self._timer, None
            if timer is not None:
                timer.cancel()
        if not pending or not self._storage.root.is_dir():
            return
        with suppress(OSError, HubError), locked(self._storage.root / "locks" / "downloads.lock"):
            for repo, count in pending.items():
                with suppress(FileNotFoundError):  # the repository is gone
                    self._add(repo / DOWNLOADS, count)

    def _add(self, path: Path, count: int) -> None:
        today = _today()
        first = (today - timedelta(days=_RECENT_DAYS)).isoformat()
        days = Counter(_read(path))
        days[today.isoformat()] += count
        for day in [day for day in days if day != _BEFORE and day <= first]:
            days[_BEFORE] += days.pop(day)
        self._storage.replace_file(path, json.dumps(days).encode())
