"""Garbage collection: large files that no commit names, leftovers of killed processes, unreachable git objects."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from hfenv.localhub.errors import HubError
from hfenv.localhub.gitpointers import pointers
from hfenv.localhub.lfs import SIGNATURE_LIFE_S
from hfenv.localhub.names import RepoId, RepoType, is_sha256
from hfenv.localhub.storage import Storage

# An upload is signed for an hour, its commit may come any time later; a day is more than both.
DEFAULT_AGE = timedelta(days=1)
LEAST_AGE = timedelta(seconds=2 * SIGNATURE_LIFE_S)


@dataclass(frozen=True, slots=True)
class Garbage:
    """Something to be deleted, or deleted: its kind, where it lies and its size in bytes."""

    kind: str
    path: Path
    size: int


def collect(storage: Storage, *, older_than: timedelta = DEFAULT_AGE, dry_run: bool = False) -> tuple[Garbage, ...]:
    """Delete what nothing needs any more; servers and clients may be at work meanwhile.

    A large file stays as long as a commit of a repository that it was uploaded to names it, any commit that git still
    has, and at least until it is `older_than`: an upload comes before its commit. Whoever uploads the same content
    again makes it young again.

    Args:
        storage: The storage folder.
        older_than: How old garbage must be; never less than two hours, the life of two upload addresses.
        dry_run: Tell, and delete nothing.

    Returns:
        What was found, in the order of kinds and paths.
    """
    before = time.time() - max(older_than, LEAST_AGE).total_seconds()
    found = [*_leftovers(storage, before, dry_run), *_unreachable(storage, older_than, dry_run)]
    return (*found, *_large_files(storage, before, dry_run))


def _leftovers(storage: Storage, before: float, dry_run: bool) -> Iterator[Garbage]:
    for path in sorted((storage.root / "tmp").iterdir()):
        with suppress(FileNotFoundError):  # its owner was faster
            # A folder's own time stands still while a file in it grows.
            newest = max((each.lstat().st_mtime for each in [path, *path.rglob("*")]), default=0.0)
            if newest < before:
                yield Garbage("leftover", path, _size(path))
                if not dry_run:
                    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()


def _size(path: Path) -> int:
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    return sum(each.lstat().st_size for each in files)


def _repos(storage: Storage) -> Iterator[RepoId]:
    for kind in RepoType:
        yield from storage.list(kind)


def _unreachable(storage: Storage, older_than: timedelta, dry_run: bool) -> Iterator[Garbage]:
    """Objects of git that no reference leads to, such as blobs of refused commits; needs the git program."""
    program = shutil.which("git")
    if program is None:
        return
    age = f"{int(max(older_than, LEAST_AGE).total_seconds())}.seconds.ago"
    for repo in _repos(storage):
        folder = storage.path(repo)
        command = [program, "-c", "safe.directory=*", "-C", str(folder), "prune", "--expire", age]
        with suppress(HubError), storage.lock(repo):  # one that is busy has its turn the next time
            if not storage.exists(repo):
                continue
            listed = subprocess.run([*command, "--dry-run"], capture_output=True, text=True, check=False).stdout
            count = sum(_object_size(folder, line.split()[0]) for line in listed.splitlines() if line.strip())
            if not listed.strip():
                continue
            if not dry_run:
                subprocess.run(command, capture_output=True, check=False)
            yield Garbage("git objects", folder, count)


def _object_size(repo: Path, oid: str) -> int:
    try:
        return (repo / "objects" / oid[:2] / oid[2:]).stat().st_size
    except OSError:
        return 0


def _large_files(storage: Storage, before: float, dry_run: bool) -> Iterator[Garbage]:
    needed: set[str] = set()
    for repo in _repos(storage):
        with storage.lock(repo):
            if storage.exists(repo):
                needed |= _needed(storage, repo, before, dry_run)
    for path in sorted((storage.root / "lfs").glob("??/??/*")):
        if is_sha256(path.name) and path.name not in needed:
            with suppress(FileNotFoundError):
                if (found := path.stat()).st_mtime < before and storage.discard_large_file(
                    path.name, before, dry_run=dry_run
                ):
                    yield Garbage("large file", path, found.st_size)


def _needed(storage: Storage, repo: RepoId, before: float, dry_run: bool) -> set[str]:
    """Large files that a repository needs; the marks of those that it doesn't need any more go."""
    marked = set(storage.large_files(repo))
    if not marked:
        return set()
    named = pointers(storage.path(repo))
    kept = marked & named
    for oid in marked - named:
        # A mark is renewed by every upload and every question whether the file is there.
        if storage.forget_large_file(repo, oid, before, dry_run=dry_run):
            continue
        kept.add(oid)
    return kept
