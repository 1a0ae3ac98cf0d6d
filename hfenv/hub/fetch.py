"""Fetch files of one commit into the cache: list once, download what is missing, check, then name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

from hfenv.errors import IntegrityError, NotFoundError
from hfenv.hub.cache import CachedCommit, RemoteFile, RepositoryCache, content_id
from hfenv.hub.client import REPO_TYPE, Hub

WORKERS = 8
Progress = Callable[[int], None]


def list_commit(hub: Hub, repo: str, commit: str) -> Mapping[str, RemoteFile]:
    """The tree of a commit by path, from the cache or else from the hub (one request per 1,000 entries)."""
    cached = RepositoryCache(hub, repo).commit(commit)
    listing = cached.read_listing()
    if listing is None:
        listing = cached.write_listing(remote_tree(hub, repo, commit))
    return listing


def remote_tree(hub: Hub, repo: str, revision: str) -> list[RemoteFile]:
    """The files of a revision as the hub lists them now."""
    from huggingface_hub.hf_api import RepoFile

    with hub.translated(f"{repo}@{revision}"):
        entries = list(hub.api.list_repo_tree(repo, recursive=True, revision=revision, repo_type=REPO_TYPE))
    return [
        RemoteFile(entry.path, entry.size, entry.blob_id, entry.lfs.sha256 if entry.lfs else None)
        for entry in entries
        if isinstance(entry, RepoFile)
    ]


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
    cache = RepositoryCache(hub, repo)
    cached = cache.commit(commit)
    files = [file for path, file in list_commit(hub, repo, commit).items() if wanted(path)]
    downloads = missing(hub, repo, commit, files)
    with hub.translated(f"{repo}@{commit}"):
        if downloads:
            cache.check_space(sum(file.size for file in downloads))
            with ThreadPoolExecutor(WORKERS) as pool:
                for file in pool.map(lambda f: _download(hub, cache, commit, f), downloads):
                    if progress:
                        progress(file.size)
        for file in files:
            if not (cached.files / file.path).is_file():
                cache.place(file, cached)
    return cached


def fetch_one(hub: Hub, repo: str, commit: str, path: str) -> Path:
    """One file of a commit, checked; raises NotFoundError when the commit has no such file."""
    listing = list_commit(hub, repo, commit)
    if path not in listing:
        raise NotFoundError(f"{repo}@{commit} has no file {path}.", "Check the path and the revision.")
    cached = fetch(hub, repo, commit, lambda candidate: candidate == path)
    cached.verify([listing[path]])
    return cached.files / path


def _download(hub: Hub, cache: RepositoryCache, commit: str, file: RemoteFile) -> RemoteFile:
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils._headers import build_hf_headers

    url = f"{hub.endpoint}/{REPO_TYPE}s/{cache.repo}/resolve/{commit}/{quote(file.path)}"
    headers = build_hf_headers(token=hub.api.token, library_name="hfenv")
    staged = cache.stage()
    try:
        with staged.open("wb") as stream:
            if file.size:
                http_get(url, stream, headers=headers, expected_size=file.size, tqdm_class=silent_bar())
        if not content_id(staged).is_content_of(file):
            raise IntegrityError(
                f"{file.path} of {cache.repo}@{commit} arrived with other bytes than its commit promises.",
                "Nothing was kept; try again, and if it happens again don't trust this hub.",
            )
        staged.replace(cache.blob(file.blob))
    finally:
        staged.unlink(missing_ok=True)
    return file


def silent_bar() -> type:
    """The client's bar, switched off: hfenv shows one bar for all files."""
    from huggingface_hub.utils.tqdm import tqdm

    class Silent(tqdm):
        def __init__(self, *args: object, **kwargs: object) -> None:
            super().__init__(*args, **{**kwargs, "disable": True})  # type: ignore[no-untyped-call]

    return Silent
