"""Make room in the cache: what wasn't used for long, what no commit needs, and what killed downloads left."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from hfenv.components.files import STAGED_PREFIX, STAGED_SUFFIX
from hfenv.errors import HfenvError
from hfenv.hub.cache import CachedCommit, RepositoryCache
from hfenv.hub.cachelocks import try_alone, unused
from hfenv.hub.locking.reading import read_lock
from hfenv.hub.upkeep import commits_of, disk_bytes, last_used, remove, repositories

_STALE_S = 3600.0  # what is staged by name is written within an hour
_HASH = re.compile(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which commits go: those of `repo` (None: of all) not used for `older_s` seconds (None: of any age).

    With neither, no commit goes. Commits in `keep` stay.
    """

    repo: str | None = None
    older_s: float | None = None
    keep: frozenset[str] = frozenset()

    @property
    def any(self) -> bool:
        return self.repo is not None or self.older_s is not None


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was removed, or would be: commits as (repo, commit), other files as (repo, what), bytes that became free.

    `in_use` are commits that stay because a running process uses them.
    """

    commits: tuple[tuple[str, str], ...]
    blobs: int
    leftovers: int
    bytes: int
    in_use: tuple[tuple[str, str], ...]


def commits_in_lock(path: Path) -> frozenset[str]:
    """Every commit that a lock file pins, those of its resources elsewhere too; raises as `read_lock` does."""
    entries = read_lock(path).entries
    elsewhere = (sha for entry in entries for one in entry.resources for sha in _HASH.findall(one.uri))
    return frozenset([*(sha for entry in entries for sha in entry.commits.values()), *elsewhere])


def prune(wanted: Wanted, *, dry_run: bool = False) -> Pruned:
    """Remove what `wanted` says and what nobody needs any more; never what a running process uses."""
    commits: list[tuple[str, str]] = []
    in_use: list[tuple[str, str]] = []
    blobs = leftovers = freed = 0
    for cache, _ in repositories():
        if wanted.repo is not None and cache.repo != wanted.repo:
            continue
        before = disk_bytes([cache.folder])
        gone: list[Path] = []
        kept: list[CachedCommit] = []
        for cached in commits_of(cache):
            if not _is_wanted(cached, wanted):
                kept.append(cached)
                continue
            with unused(cached.tree) as free:
                (commits if free else in_use).append((cache.repo, cached.commit))
                if not free:
                    kept.append(cached)
                elif dry_run:
                    gone.append(cached.folder)
                else:
                    _remove_whole(cached.folder, cache)
        needless, left = _needless(cache, kept), _leftovers(cache)
        blobs, leftovers = blobs + len(needless), leftovers + len(left)
        if dry_run:
            freed += before - _remaining(cache, [*gone, *needless, *left])
            continue
        for path in [*needless, *left]:
            remove(path)
        _remove_if_empty(cache, kept)
        freed += before - disk_bytes([cache.folder])
    return Pruned(tuple(commits), blobs, leftovers, freed, tuple(in_use))


def _is_wanted(cached: CachedCommit, wanted: Wanted) -> bool:
    if not wanted.any or cached.commit in wanted.keep:
        return False
    return wanted.older_s is None or time.time() - last_used(cached) > wanted.older_s


def _remove_whole(folder: Path, cache: RepositoryCache) -> None:
    """Take a commit's folder away in one step, so that no process finds a part of it."""
    aside = Path(mkdtemp(dir=cache.folder, prefix=STAGED_PREFIX, suffix=STAGED_SUFFIX))
    folder.rename(aside / folder.name)
    remove(aside)


def _needless(cache: RepositoryCache, kept: list[CachedCommit]) -> list[Path]:
    """Blobs that no commit needs which stays. All that a commit in use lists counts: it may be on its way."""
    needed: set[str] = set()
    for cached in kept:
        try:
            listing = cached.read_listing() or {}
        except HfenvError:
            return []  # damaged: that is for `verify`
        with unused(cached.tree) as free:
            needed |= {f.blob for f in listing.values() if not free or (cached.files / f.path).exists()}
    return [
        blob
        for blob in sorted((cache.folder / "blobs").glob("*"))
        if not blob.name.startswith(STAGED_PREFIX) and blob.name not in needed and _nobody_has(cache, blob.name)
    ]


def _nobody_has(cache: RepositoryCache, name: str) -> bool:
    return try_alone(cache.lock(name))


def _leftovers(cache: RepositoryCache) -> list[Path]:
    """What killed processes left: halves of downloads that nobody goes on with now, and staged files."""
    partial = [path for path in (cache.folder / "partial").glob("*") if _nobody_has(cache, path.name)]
    staged = f"{STAGED_PREFIX}*{STAGED_SUFFIX}"
    old = [path for place in (cache.folder, cache.folder / "blobs") for path in place.glob(staged) if _is_stale(path)]
    for lock in (cache.folder / "locks").glob("*"):
        try_alone(lock)
    return partial + old


def _is_stale(path: Path) -> bool:
    try:
        return time.time() - path.lstat().st_mtime > _STALE_S
    except OSError:
        return False


def _remaining(cache: RepositoryCache, gone: list[Path]) -> int:
    below: Callable[[Path], bool] = lambda path: any(path == each or each in path.parents for each in gone)  # noqa: E731
    seen = {}
    for path in cache.folder.rglob("*"):
        if not below(path) and not path.is_dir():
            found = path.lstat()
            seen[found.st_dev, found.st_ino] = found.st_size
    return sum(seen.values())


def _remove_if_empty(cache: RepositoryCache, kept: list[CachedCommit]) -> None:
    """Nothing stays of a repository of which nothing is cached, but what was looked up about it."""
    if kept:
        return
    for name in ("commits", "blobs", "partial", "locks"):
        try:
            (cache.folder / name).rmdir()
        except OSError:
            continue
