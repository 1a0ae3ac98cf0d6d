"""Fetch files of one commit into the cache: list once, download what is missing, check, then name."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, runtime_checkable

from hfenv.card.regular import LARGEST_TEXT
from hfenv.components.ownership import CARD_NAME, RECORD_NAME
from hfenv.errors import IntegrityError, NetworkError, NotFoundError
from hfenv.hub.cache import CachedCommit, ContentId, RemoteFile, RepositoryCache
from hfenv.hub.cachelocks import alone
from hfenv.hub.client import Hub

WORKERS = 8
MOST_FILES = 200_000  # of one commit
MOST_PAGES = 400  # of a list of them; hubs put 1,000 on each
LARGEST_RECORD = 32 << 20
_LARGEST_PAGE = 64 << 20
# What is read into memory as a whole, and so is refused before it is downloaded.
_LARGEST = {CARD_NAME: LARGEST_TEXT, RECORD_NAME: LARGEST_RECORD}
Progress = Callable[[int], None]


@runtime_checkable
class Expecting(Protocol):
    """Progress that is told beforehand how many bytes are coming."""

    def expect(self, amount: int) -> None: ...


def list_commit(hub: Hub, repo: str, commit: str) -> Mapping[str, RemoteFile]:
    """The tree of a commit by path, from the cache or else from the hub (one request per 1,000 entries)."""
    cache = RepositoryCache(hub, repo)
    cached = cache.commit(commit)
    listing = cached.read_listing()
    if listing is None:
        if hub.offline:
            raise _not_cached(repo, commit)
        with hub.translated(f"{repo}@{commit}"), alone(cache.lock(f"tree-{commit}"), time.sleep):
            listing = cached.read_listing()  # another process may have been quicker
            if listing is None:
                listing = cached.write_listing(remote_tree(hub, repo, commit))
                cache.note_endpoint(hub)
    return listing


def _not_cached(repo: str, commit: str) -> NetworkError:
    return NetworkError(
        f"{repo}@{commit} isn't in the cache, or not all of it, and offline mode is on.",
        "Load it once with the hub at hand; no other revision is taken in its place.",
    )


def remote_tree(hub: Hub, repo: str, revision: str) -> list[RemoteFile]:
    """The files of a revision as the hub lists them now; raises IntegrityError for more than any environment has."""
    from urllib.parse import quote

    from hfenv.hub.wire import get_json

    files: list[RemoteFile] = []
    pages = 0
    path, query = f"tree/{quote(revision, safe='')}", "recursive=true&expand=false"
    with hub.translated(f"{repo}@{revision}"):
        following: str | None = query
        while following is not None:
            page, following = get_json(hub, repo, path, following, limit=_LARGEST_PAGE)
            files += _files(page, f"{repo}@{revision}")
            pages += 1
            if len(files) > MOST_FILES or pages > MOST_PAGES:
                raise IntegrityError(
                    f"{repo}@{revision} lists files without end, or more than {MOST_FILES:,}.",
                    "Nothing was written; tell its author.",
                )
    return files


def _files(page: Any, what: str) -> list[RemoteFile]:
    try:
        return [
            RemoteFile(entry["path"], entry["size"], entry["oid"], entry["lfs"]["oid"] if entry.get("lfs") else None)
            for entry in page
            if entry["type"] == "file"
        ]
    except (KeyError, TypeError, AttributeError):
        raise NetworkError(
            f"The list of files of {what} isn't one that a hub gives.",
            "Check the address; a proxy or a login page may stand in between.",
        ) from None


def missing(hub: Hub, repo: str, commit: str, wanted: Iterable[RemoteFile]) -> list[RemoteFile]:
    """Those of the wanted files that have to be downloaded, each content once."""
    cache = RepositoryCache(hub, repo)
    cached = cache.commit(commit)
    needed = {f.blob: f for f in wanted if not (cached.files / f.path).is_file() and not cache.blob(f.blob).is_file()}
    return list(needed.values())


def fetch(
    hub: Hub, repo: str, commit: str, wanted: Callable[[str], bool], *, progress: Progress | None = None
) -> CachedCommit:
    """Make the files whose path is `wanted` available in the cache, and return the commit's folder.

    Makes no request when all are there. Every download is checked against the commit's tree before it is named.
    """
    files = [file for path, file in list_commit(hub, repo, commit).items() if wanted(path)]
    _fetch(hub, repo, commit, files, progress)
    return RepositoryCache(hub, repo).commit(commit)


def fetch_checked(
    hub: Hub, repo: str, commit: str, wanted: Callable[[str], bool], *, progress: Progress | None = None
) -> tuple[CachedCommit, Mapping[str, ContentId]]:
    """The same with the digests of all these files, by path; raises IntegrityError where one isn't as it was fetched.

    What this call itself downloaded isn't read a second time.
    """
    files = [file for path, file in list_commit(hub, repo, commit).items() if wanted(path)]
    known = _fetch(hub, repo, commit, files, progress)
    cached = RepositoryCache(hub, repo).commit(commit)
    return cached, cached.verify(files, known)


def fetch_one(hub: Hub, repo: str, commit: str, path: str, *, progress: Progress | None = None) -> Path:
    """One file of a commit, checked; raises NotFoundError when the commit has no such file."""
    if path not in list_commit(hub, repo, commit):
        raise NotFoundError(f"{repo}@{commit} has no file {path}.", "Check the path and the revision.")
    cached, _ = fetch_checked(hub, repo, commit, lambda candidate: candidate == path, progress=progress)
    return cached.files / path


def _fetch(
    hub: Hub, repo: str, commit: str, files: list[RemoteFile], progress: Progress | None
) -> dict[str, ContentId]:
    """Download what is missing of some files and put them in their places; digests of what was downloaded, by blob."""
    for file in files:
        if file.size > _LARGEST.get(file.path, file.size):
            raise IntegrityError(
                f"{file.path} of {repo}@{commit} has {file.size / 1e6:.0f} MB, which none needs.",
                "It wasn't downloaded; tell its author.",
            )
    cache = RepositoryCache(hub, repo)
    cached = cache.commit(commit)
    cached.used()
    downloads = missing(hub, repo, commit, files)
    if downloads and hub.offline:
        raise _not_cached(repo, commit)
    with hub.translated(f"{repo}@{commit}"):
        found = _download(hub, cache, commit, downloads, progress) if downloads else {}
        cache.place_all(files, cached)
    return found


def _download(
    hub: Hub, cache: RepositoryCache, commit: str, files: list[RemoteFile], progress: Progress | None
) -> dict[str, ContentId]:
    from hfenv.hub.download import Downloads

    cache.check_space(sum(file.size - cache.received(file.blob) for file in files))
    if isinstance(progress, Expecting):
        progress.expect(sum(file.size for file in files))
    # Processes that begin at the same moment begin with different files, and each finds what the others did.
    first = os.getpid() * 7919 % len(files)
    guard = Lock()

    def advance(amount: int) -> None:
        with guard:  # it is called from several threads
            if progress is not None:
                progress(amount)

    downloads = Downloads(hub, cache, commit, advance)
    with ThreadPoolExecutor(min(WORKERS, len(files))) as pool:
        running = {pool.submit(downloads.run, file): file for file in [*files[first:], *files[:first]]}
        try:
            done, _ = wait(running, return_when=FIRST_EXCEPTION)
            failed = next((error for future in done if (error := future.exception()) is not None), None)
            if failed is not None:
                raise failed
        except BaseException:
            downloads.stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    contents = {file.blob: future.result() for future, file in running.items()}
    return {blob: content for blob, content in contents.items() if content is not None}
