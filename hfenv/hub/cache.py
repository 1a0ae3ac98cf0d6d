"""The cache on disk: apart by endpoint, one folder per commit, every file checked before it gets its name."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import mkstemp

from hfenv import paths
from hfenv.card.regular import read_regular
from hfenv.components.files import STAGED_PREFIX, STAGED_SUFFIX, sweep, write_all
from hfenv.components.ignoring import STATE_FOLDER
from hfenv.components.ownership import collisions, name_problem
from hfenv.errors import IntegrityError, StorageError
from hfenv.hub.cachelocks import hold, let_go
from hfenv.hub.client import Hub

REPAIR = "hfenv cache verify --repair"
LARGEST_LIST = 256 << 20  # bytes of a commit's tree


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a commit: POSIX path, bytes, git blob id, and SHA-256 where the hub stores it as a large file."""

    path: str
    size: int
    oid: str
    sha256: str | None

    def problem(self) -> str | None:
        """Why this can't be what a tree lists, None when it can: digests become names of files here."""
        texts = [self.oid] if self.sha256 is None else [self.oid, self.sha256]
        digests = [re.compile(r"[0-9a-f]{40}"), re.compile(r"[0-9a-f]{64}")]
        if not all(type(t) is str and d.fullmatch(t) for t, d in zip(texts, digests, strict=False)):
            return "Its digest is none."
        return None if type(self.size) is int and 0 <= self.size < 1 << 60 else "Its size is none."

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

    @property
    def tree(self) -> Path:
        """The commit's tree as it was listed. Who uses the commit holds this file; its time says when that was."""
        return self.folder / "tree.json"

    def read_listing(self) -> Mapping[str, RemoteFile] | None:
        """The commit's tree as it was listed, None when it wasn't yet. Raises IntegrityError for a damaged one."""
        if self.tree.is_symlink():
            raise self.damaged("tree.json")
        try:
            return self._checked([RemoteFile(**row) for row in json.loads(read_regular(self.tree, LARGEST_LIST))])
        except (FileNotFoundError, NotADirectoryError):
            return None  # where there can't be one, writing it says so
        except PermissionError as error:
            raise StorageError.of(error) from None
        except (OSError, ValueError, TypeError, KeyError, RecursionError, AttributeError, IntegrityError):
            raise self.damaged("tree.json") from None

    def write_listing(self, listing: Iterable[RemoteFile]) -> Mapping[str, RemoteFile]:
        """Keep a commit's tree; refuses names that could leave the cache or collide on some platform."""
        by_path = self._checked(listing)
        content = json.dumps([asdict(by_path[path]) for path in sorted(by_path)]).encode()
        write_all({self.tree: content})
        return by_path

    def used(self) -> None:
        """Keep this commit from being pruned while this process runs, and note when it was used last."""
        hold(self.tree)
        with suppress(OSError):  # a cache that can't be written serves all the same
            os.utime(self.tree)

    def let_go(self) -> None:
        """The end of `used`: nothing of this commit's folder is needed any more."""
        let_go(self.tree)

    def _checked(self, listing: Iterable[RemoteFile]) -> Mapping[str, RemoteFile]:
        by_path = {file.path: file for file in listing}
        folders = {parent for path in by_path for parent in _parents(path)}
        for path, file in by_path.items():
            problem = name_problem(path) or file.problem()
            if problem is None and path in folders:
                problem = "It is a file and a folder at once."
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

    def verify(
        self, files: Iterable[RemoteFile], known: Mapping[str, ContentId] | None = None
    ) -> Mapping[str, ContentId]:
        """Check files against the commit's tree; raises IntegrityError for the first that differs or is gone.

        `known` has what was found, by blob, when this process itself downloaded it a moment ago.
        """
        found, folders = {}, {self.files}
        for file in files:
            path = self.files / file.path
            try:
                if not stat.S_ISREG(path.lstat().st_mode) or not _are_folders(path.parent, folders):
                    raise self.damaged(file.path)
                content = (known or {}).get(file.blob) or content_id(path)
            except OSError:
                raise self.damaged(file.path) from None
            if not content.is_content_of(file):
                raise self.damaged(file.path)
            found[file.path] = content
        return found


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rsplit("/", 1)[0]
        yield path


def _are_folders(folder: Path, known: set[Path]) -> bool:
    """Whether a folder below those that are known is reached without a link."""
    if folder in known:
        return True
    if not stat.S_ISDIR(folder.lstat().st_mode) or not _are_folders(folder.parent, known):
        return False
    known.add(folder)
    return True


class RepositoryCache:
    """What is cached of one repository on one endpoint."""

    def __init__(self, hub: Hub, repo: str) -> None:
        self.repo = repo
        self.folder = paths.cache_root() / "hub" / hub.key / repo.replace("/", "--")

    @classmethod
    def at(cls, folder: Path) -> RepositoryCache:
        """The cache that lies in a folder, whatever hub it is of."""
        found = cls.__new__(cls)
        found.repo, found.folder = folder.name.replace("--", "/", 1), folder
        return found

    @property
    def refs(self) -> Path:
        """Branches and tags as they were looked up last."""
        return self.folder / "refs.json"

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

    def partial(self, name: str) -> Path:
        """What came of a blob so far: a download that is broken off goes on with it."""
        return self.folder / "partial" / name

    def received(self, name: str) -> int:
        """Bytes of a blob that an earlier download left."""
        try:
            return self.partial(name).stat().st_size
        except OSError:
            return 0

    def note_endpoint(self, hub: Hub) -> None:
        """Write down, for people, which hub this part of the cache is of; it is never read as an address."""
        note = self.folder.parent / "endpoint"
        if not note.exists():
            with suppress(StorageError):
                write_all({note: hub.endpoint.encode()})

    def lock(self, name: str) -> Path:
        """The lock of whoever downloads a blob, or lists a commit."""
        return self.folder / "locks" / name

    def check_space(self, needed: int) -> None:
        """Raises StorageError before a download that can't fit; makes room where killed downloads took some."""
        self.folder.mkdir(parents=True, exist_ok=True)
        # A commit's listing is written once: what a killed process left beside one, nobody else comes across.
        for folder in (self.folder / "blobs", *(self.folder / "commits").glob("*")):
            sweep(folder)
        (self.folder / "blobs").mkdir(exist_ok=True)
        free = shutil.disk_usage(self.folder).free
        if needed > free:
            raise StorageError(
                f"{self.repo} needs {needed / 1e6:.1f} MB in {self.folder}, where {free / 1e6:.1f} MB are free.",
                "Free some space (hfenv cache prune), or set HFENV_CACHE to a folder with more.",
            )

    def refuse_misplaced(self, blob: Path) -> None:
        """Raises IntegrityError where something stands in a blob's place that is no file."""
        if blob.is_symlink() or blob.exists():
            raise IntegrityError(f"{blob.name} of {self.repo} is damaged in the cache.", f"Repair it: {REPAIR}")

    def place(self, file: RemoteFile, commit: CachedCommit) -> None:
        """Put a blob's content under its path in a commit's folder: a hard link where possible, else a copy."""
        target, blob = commit.files / file.path, self.blob(file.blob)
        try:
            os.link(blob, target)
            return
        except FileExistsError:
            if stat.S_ISREG(target.lstat().st_mode):
                return  # another process was quicker
            raise commit.damaged(file.path) from None
        except FileNotFoundError:
            if not blob.is_file():
                raise commit.damaged(file.path) from None
            raise
        except OSError:
            pass  # a file system without links
        staged = self.stage()
        try:
            shutil.copyfile(blob, staged)
            staged.replace(target)
        finally:
            staged.unlink(missing_ok=True)

    def place_all(self, files: Iterable[RemoteFile], commit: CachedCommit) -> None:
        """Put those of the files in their places that aren't there yet."""
        folders: set[Path] = set()
        for file in files:
            target = commit.files / file.path
            try:
                if stat.S_ISREG(target.lstat().st_mode):
                    continue
                raise commit.damaged(file.path)
            except NotADirectoryError:
                raise commit.damaged(file.path) from None
            except FileNotFoundError:
                pass
            if target.parent not in folders:
                self._make_folder(target.parent, commit, file)
                folders.add(target.parent)
            self.place(file, commit)

    def _make_folder(self, folder: Path, commit: CachedCommit, file: RemoteFile) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            whole = _are_folders(folder, {commit.folder})
        except (FileExistsError, NotADirectoryError):
            whole = False
        if not whole:  # a link would lead out of the cache
            raise commit.damaged(file.path) from None
