"""The cache on disk: apart by endpoint, one folder per commit, every file checked before it gets its name."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import mkstemp

from hfenv import paths
from hfenv.components.files import STAGED_PREFIX, STAGED_SUFFIX, is_staged, sweep, write_all
from hfenv.components.ignoring import STATE_FOLDER
from hfenv.components.ownership import collisions, name_problem
from hfenv.errors import IntegrityError, StorageError
from hfenv.hub.client import Hub

REPAIR = "hfenv cache verify --repair"


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a commit: POSIX path, bytes, git blob id, and SHA-256 where the hub stores it as a large file."""

    path: str
    size: int
    oid: str
    sha256: str | None

    @property
    def blob(self) -> str:
        """Name under which the content is kept: the strongest digest that is known before downloading."""
        return self.sha256 or self.oid


@dataclass(frozen=True, slots=True)
class ContentId:
    """Both digests of some bytes, as the hub and the release record name them."""

    oid: str
    sha256: str

    def is_content_of(self, file: RemoteFile) -> bool:
        """Whether these are the bytes that the commit's tree promises."""
        return self.sha256 == file.sha256 if file.sha256 else self.oid == file.oid


def content_id(path: Path) -> ContentId:
    """Git blob id and SHA-256 of a file, in one pass."""
    sha256 = hashlib.sha256()
    with path.open("rb") as stream:
        blob = hashlib.sha1(b"blob %d\0" % os.fstat(stream.fileno()).st_size, usedforsecurity=False)
        while chunk := stream.read(1 << 20):
            sha256.update(chunk)
            blob.update(chunk)
    return ContentId(blob.hexdigest(), sha256.hexdigest())


def content_id_of(content: bytes | Path) -> ContentId:
    """Git blob id and SHA-256 of a file, or of bytes that aren't on disk yet."""
    if isinstance(content, Path):
        return content_id(content)
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
    return ContentId(blob.hexdigest(), hashlib.sha256(content).hexdigest())


@dataclass(frozen=True, slots=True)
class CachedCommit:
    """One commit in the cache: `files` holds the files that were needed so far, `listing` is the commit's tree."""

    repo: str
    commit: str
    folder: Path

    @property
    def files(self) -> Path:
        return self.folder / "files"

    def read_listing(self) -> Mapping[str, RemoteFile] | None:
        """The commit's tree as it was listed, None when it wasn't yet."""
        path = self.folder / "tree.json"
        try:
            listing = [RemoteFile(**row) for row in json.loads(path.read_bytes())]
            return self._checked(listing)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError, RecursionError, AttributeError):
            raise self.damaged("tree.json") from None

    def write_listing(self, listing: Iterable[RemoteFile]) -> Mapping[str, RemoteFile]:
        """Keep a commit's tree; refuses names that could leave the cache or collide on some platform."""
        by_path = self._checked(listing)
        content = json.dumps([asdict(by_path[path]) for path in sorted(by_path)]).encode()
        write_all({self.folder / "tree.json": content})
        return by_path

    def _checked(self, listing: Iterable[RemoteFile]) -> Mapping[str, RemoteFile]:
        by_path = {file.path: file for file in listing}
        for path in by_path:
            problem = name_problem(path)
            if problem is None and path.endswith((".pyc", ".pyo")):
                problem = "Compiled Python is never loaded from a repository."
            if problem is None and path.split("/")[0] == STATE_FOLDER:
                problem = "What a folder remembers about hubs never comes from one."
            if problem:
                raise IntegrityError(
                    f"{self.repo}@{self.commit} holds {path!r}. {problem}", "Nothing was written; tell its author."
                )
        if twins := collisions(list(by_path)):
            raise IntegrityError(f"{self.repo}@{self.commit}: {twins[0].message}", "Nothing was written.")
        return by_path

    def damaged(self, path: str) -> IntegrityError:
        """The error for a file of this commit whose bytes aren't those that were downloaded."""
        return IntegrityError(f"{path} of {self.repo}@{self.commit} is damaged in the cache.", f"Repair it: {REPAIR}")

    def verify(self, files: Iterable[RemoteFile]) -> Mapping[str, ContentId]:
        """Check files against the commit's tree; raises IntegrityError for the first that differs or is gone."""
        found = {}
        for file in files:
            try:
                content = content_id(self.files / file.path)
            except OSError:
                raise self.damaged(file.path) from None
            if not content.is_content_of(file):
                raise self.damaged(file.path)
            found[file.path] = content
        return found


class RepositoryCache:
    """What is cached of one repository on one endpoint."""

    def __init__(self, hub: Hub, repo: str) -> None:
        self.repo = repo
        self.folder = paths.cache_root() / "hub" / hub.key / repo.replace("/", "--")

    def commit(self, sha: str) -> CachedCommit:
        return CachedCommit(self.repo, sha, self.folder / "commits" / sha)

    def blob(self, name: str) -> Path:
        """Content shared between commits: a database that didn't change is kept once."""
        return self.folder / "blobs" / name

    def stage(self) -> Path:
        """A new file to download into, on the same file system as the blobs."""
        folder = self.folder / "blobs"
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = mkstemp(dir=folder, prefix=STAGED_PREFIX, suffix=STAGED_SUFFIX)
        os.close(handle)
        return Path(name)

    def check_space(self, needed: int) -> None:
        """Raises StorageError before a download that can't fit; makes room where killed downloads took some."""
        self.folder.mkdir(parents=True, exist_ok=True)
        sweep(self.folder / "blobs")
        free = shutil.disk_usage(self.folder).free
        if needed > free:
            raise StorageError(
                f"{self.repo} needs {needed / 1e6:.1f} MB in {self.folder}, where {free / 1e6:.1f} MB are free.",
                "Free some space, or set HFENV_CACHE to a folder with more.",
            )

    def place(self, file: RemoteFile, commit: CachedCommit) -> None:
        """Put a blob's content under its path in a commit's folder: a hard link where possible, else a copy."""
        target = commit.files / file.path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise commit.damaged(file.path) from None
        if target.is_dir():
            raise commit.damaged(file.path)
        staged = self.stage()
        staged.unlink()
        try:
            try:
                os.link(self.blob(file.blob), staged)
            except OSError:
                shutil.copyfile(self.blob(file.blob), staged)
            staged.replace(target)
        finally:
            staged.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class DamagedFile:
    """A cached file whose bytes aren't those that the commit's tree promises."""

    repo: str
    commit: str
    path: str


def verify_all(*, repair: bool) -> tuple[int, tuple[DamagedFile, ...]]:
    """Check every cached file of every endpoint; with `repair`, remove what is damaged so that it is fetched again.

    Returns the number of files that were checked, and the damaged ones.
    """
    checked, damaged = 0, []
    for folder in sorted((paths.cache_root() / "hub").glob("*/*/commits/*")):
        cached = CachedCommit(folder.parent.parent.name.replace("--", "/", 1), folder.name, folder)
        try:
            listing = cached.read_listing() or {}
        except IntegrityError:
            damaged.append(DamagedFile(cached.repo, cached.commit, "tree.json"))
            if repair:
                _remove(folder)
            continue
        for path in sorted(p for p in cached.files.rglob("*") if not p.is_dir() or _misplaced(p, cached, listing)):
            name = path.relative_to(cached.files).as_posix()
            checked += 1
            file = listing.get(name)
            if file is not None and _holds(path, file):
                continue
            damaged.append(DamagedFile(cached.repo, cached.commit, name))
            if repair:
                _remove(path)
    if repair:
        _drop_damaged_blobs()
    return checked, tuple(damaged)


def _misplaced(folder: Path, cached: CachedCommit, listing: Mapping[str, RemoteFile]) -> bool:
    """Whether something stands in the place of a file, or a link in the place of a folder."""
    return folder.is_symlink() or folder.relative_to(cached.files).as_posix() in listing


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _holds(path: Path, file: RemoteFile) -> bool:
    """Whether a path of the cache is a regular file with the bytes that the tree promises."""
    try:
        return path.is_file() and not path.is_symlink() and content_id(path).is_content_of(file)
    except OSError:
        return False


def _drop_damaged_blobs() -> None:
    for folder in (paths.cache_root() / "hub").glob("*/*/blobs"):
        sweep(folder)
        for blob in folder.iterdir():
            if is_staged(blob.name):
                continue  # another process may be downloading into it
            if blob.is_symlink() or not blob.is_file():
                _remove(blob)
                continue
            content = content_id(blob)
            if blob.name not in (content.oid, content.sha256):
                blob.unlink()
