"""What is in the cache, over all hubs: listed, verified and repaired."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from hfenv import paths
from hfenv.components.files import is_staged
from hfenv.errors import HfenvError, IntegrityError, NetworkError
from hfenv.hub.cache import CachedCommit, RemoteFile, RepositoryCache, content_id
from hfenv.hub.client import Hub
from hfenv.hub.fetch import fetch_checked, list_commit
from hfenv.hub.references import is_hash
from hfenv.hub.resolve import read_cached_refs


@dataclass(frozen=True, slots=True)
class CachedRepository:
    """A repository of one hub. `bytes` are those on the disk: what commits share counts once."""

    endpoint: str
    key: str
    repo: str
    commits: tuple[str, ...]
    releases: tuple[str, ...]
    bytes: int
    used: float  # seconds since the epoch


@dataclass(frozen=True, slots=True)
class DamagedFile:
    """A cached file whose bytes aren't those that the commit's tree promises. `cure`: "", `removed` or `fetched`."""

    repo: str
    commit: str
    path: str
    cure: str = ""


@dataclass(slots=True)
class _Looked:
    checked: int = 0
    damaged: list[DamagedFile] = field(default_factory=list)


def repositories() -> Iterator[tuple[RepositoryCache, Path]]:
    """The cache of every repository, and the folder of its hub's part of the cache."""
    for folder in sorted((paths.cache_root() / "hub").glob("*/*--*")):
        if folder.is_dir() and not folder.is_symlink():
            yield RepositoryCache.at(folder), folder.parent


def commits_of(cache: RepositoryCache) -> list[CachedCommit]:
    """The commits of a repository that anything is cached of."""
    folders = sorted((cache.folder / "commits").glob("*"))
    return [cache.commit(path.name) for path in folders if is_hash(path.name) and path.is_dir()]


def list_cache() -> list[CachedRepository]:
    """What the cache holds, by hub and repository."""
    found = []
    for cache, place in repositories():
        commits = commits_of(cache)
        found.append(
            CachedRepository(
                endpoint=_endpoint(place),
                key=place.name,
                repo=cache.repo,
                commits=tuple(cached.commit for cached in commits),
                releases=_releases(cache, commits),
                bytes=disk_bytes([cache.folder]),
                used=max((last_used(cached) for cached in commits), default=0.0),
            )
        )
    return found


def _endpoint(place: Path) -> str:
    """Which hub a part of the cache is of, as it was noted down for people."""
    try:
        with (place / "endpoint").open("rb") as stream:
            return stream.read(300).decode("utf-8", "replace")
    except OSError:
        return place.name


def last_used(cached: CachedCommit) -> float:
    """When a commit was fetched or loaded last, in seconds since the epoch."""
    for path in (cached.tree, cached.folder):
        with suppress(OSError):
            return path.stat().st_mtime
    return 0.0


def _releases(cache: RepositoryCache, commits: list[CachedCommit]) -> tuple[str, ...]:
    """Releases that the hub's tags, as they were looked up last, name at these commits."""
    try:
        versions = read_cached_refs(cache.refs, cache.repo).versions("v")
    except HfenvError:
        return ()
    here = {cached.commit for cached in commits}
    return tuple(sorted(version for version, commit in versions.items() if commit in here))


def disk_bytes(roots: list[Path]) -> int:
    """Bytes on the disk below some folders; a file with several names counts once."""
    seen: dict[tuple[int, int], int] = {}
    for root in roots:
        for folder, _, names in os.walk(root):
            for name in names:
                with suppress(OSError):
                    found = (Path(folder) / name).lstat()
                    seen[found.st_dev, found.st_ino] = found.st_size
    return sum(seen.values())


def verify_all(*, repair: bool, hub: Hub | None = None) -> tuple[int, tuple[DamagedFile, ...]]:
    """Check every cached file of every hub; with `repair`, remove what is damaged.

    What is of `hub` is fetched again; the rest is, when it is needed. Returns the number of files that were checked,
    and the damaged ones with what was done.
    """
    looked = _Looked()
    for cache, place in repositories():
        same = hub if hub is not None and place.name == hub.key else None
        _check_refs(cache, looked, repair=repair)
        _check_blobs(cache, looked, repair=repair)
        for cached in commits_of(cache):
            _check_commit(cached, looked, repair=repair, hub=same)
    return looked.checked, tuple(looked.damaged)


def _check_refs(cache: RepositoryCache, looked: _Looked, *, repair: bool) -> None:
    try:
        read_cached_refs(cache.refs, cache.repo)
    except NetworkError:
        return  # it isn't there
    except IntegrityError:
        if repair:
            remove(cache.refs)
        looked.damaged.append(DamagedFile(cache.repo, "", "refs.json", "removed" if repair else ""))


def _check_blobs(cache: RepositoryCache, looked: _Looked, *, repair: bool) -> None:
    """Damaged content that no commit shows; what one shows is told of there."""
    for blob in sorted((cache.folder / "blobs").glob("*")):
        if is_staged(blob.name):
            continue  # another process may be writing it
        looked.checked += 1
        if _regular(blob):
            content = content_id(blob)
            if blob.name in (content.oid, content.sha256):
                continue
        if repair:
            remove(blob)
        looked.damaged.append(DamagedFile(cache.repo, "", f"blobs/{blob.name}", "removed" if repair else ""))


def _check_commit(cached: CachedCommit, looked: _Looked, *, repair: bool, hub: Hub | None) -> None:
    wrong: list[str] = []
    try:
        listing = cached.read_listing() or {}
    except IntegrityError:
        wrong.append("tree.json")
        if repair:
            remove(cached.folder)
    else:
        here = sorted(p for p in cached.files.rglob("*") if not p.is_dir() or _misplaced(p, cached, listing))
        for path in here:
            name = path.relative_to(cached.files).as_posix()
            looked.checked += 1
            file = listing.get(name)
            if file is None or not _holds(path, file):
                wrong.append(name)
                if repair:
                    remove(path)
    fetched = _fetched_again(cached, wrong, hub) if repair else frozenset()
    for name in wrong:
        cure = "" if not repair else "fetched" if name in fetched else "removed"
        looked.damaged.append(DamagedFile(cached.repo, cached.commit, name, cure))


def _fetched_again(cached: CachedCommit, names: list[str], hub: Hub | None) -> frozenset[str]:
    """Those of some files that the hub has given anew; none where it can't be asked."""
    if hub is None or hub.offline or not names:
        return frozenset()
    try:
        listing = list_commit(hub, cached.repo, cached.commit)
        known = {name for name in names if name in listing}
        if known:
            fetch_checked(hub, cached.repo, cached.commit, known.__contains__)
    except HfenvError:
        return frozenset()
    return frozenset(known | ({"tree.json"} & set(names)))


def _misplaced(folder: Path, cached: CachedCommit, listing: Mapping[str, RemoteFile]) -> bool:
    """Whether something stands in the place of a file, or a link in the place of a folder."""
    return folder.is_symlink() or folder.relative_to(cached.files).as_posix() in listing


def remove(path: Path) -> None:
    """Remove a file, a link or a folder; what is gone already is fine."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _holds(path: Path, file: RemoteFile) -> bool:
    """Whether a path of the cache is a regular file with the bytes that the tree promises."""
    try:
        return _regular(path) and content_id(path).is_content_of(file)
    except OSError:
        return False
