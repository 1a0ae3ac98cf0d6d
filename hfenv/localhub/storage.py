"""The storage folder: which repositories there are, how they come, go and are locked."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from hfenv.errors import UsageError
from hfenv.localhub.errors import HubError
from hfenv.localhub.gitstore import GitRepo
from hfenv.localhub.lfs import Incoming, LfsStore, Signer
from hfenv.localhub.locks import locked
from hfenv.localhub.names import RepoId, RepoType, check_new_repo, is_name

RECORD = "hub.json"
_UPLOADED = "hub-lfs"  # in a repository's folder: an empty file per large file that was uploaded to it
_LEFTOVER_AGE_S = 24 * 3600


@dataclass(frozen=True, slots=True)
class RepoRecord:
    """What the hub knows of a repository besides its git data; `gated` is "auto", "manual" or None."""

    private: bool = False
    gated: str | None = None
    created_at: str = ""
    sdk: str | None = None
    owner: str | None = None  # who made it

    def encode(self) -> bytes:
        return (json.dumps({"format": 1, **asdict(self)}, indent=2) + "\n").encode()

    @classmethod
    def read(cls, path: Path) -> RepoRecord:
        """The record in a file; a repository that was copied in by hand has none, and is private until told else."""
        try:
            data = json.loads(path.read_bytes())
        except (FileNotFoundError, ValueError):
            return cls(private=True)
        known = {key: data[key] for key in ("private", "gated", "created_at", "sdk", "owner") if key in data}
        return cls(**known)


def timestamp(seconds: float | None = None) -> str:
    """A moment as the Hub writes it: ISO 8601 in UTC with milliseconds."""
    moment = datetime.fromtimestamp(time.time() if seconds is None else seconds, timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Storage:
    """Repositories under `root/{models,datasets,spaces}/namespace/name.git`, large files under `root/lfs`.

    Safe for several processes at once: what appears under its final name is complete, and every change of a
    repository's references happens under its lock.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self._scratch = self.root / "tmp"
        try:
            self._scratch.mkdir(parents=True, exist_ok=True)
            self.signer = Signer(self.root / "upload.key")
            self._sweep()
        except OSError as error:
            raise UsageError(
                f"The embedded hub can't use its storage folder {self.root}: {error.strerror}.",
                "Make the folder writable, or choose another one with HFENV_LOCAL_HUB or --root.",
            ) from error
        self.lfs = LfsStore(self.root / "lfs", self._scratch)

    def _sweep(self) -> None:
        # What processes that were killed left behind; younger files may still be written.
        for path in self._scratch.iterdir():
            if time.time() - path.lstat().st_mtime > _LEFTOVER_AGE_S:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)

    @contextmanager
    def scratch_folder(self) -> Iterator[Path]:
        """An empty folder on the storage's own disk, removed at the end."""
        path = Path(tempfile.mkdtemp(dir=self._scratch))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def replace_file(self, path: Path, data: bytes) -> None:
        """Write a file as a whole: readers see the old one or the new one, also after a crash."""
        with self.scratch_folder() as folder:
            fresh = folder / path.name
            fresh.write_bytes(data)
            fresh.replace(path)

    def path(self, repo: RepoId) -> Path:
        return self.root.joinpath(repo.type.plural, repo.namespace, f"{repo.name}.git")

    def exists(self, repo: RepoId) -> bool:
        # Compare as the names stand: a case-folding disk would find `Name` for `name`.
        return is_name(repo.namespace) and is_name(repo.name) and (self.path(repo) / "HEAD").is_file()

    def open(self, repo: RepoId) -> GitRepo:
        return GitRepo(self.path(repo))

    def record(self, repo: RepoId) -> RepoRecord:
        return RepoRecord.read(self.path(repo) / RECORD)

    def lock(self, repo: RepoId) -> AbstractContextManager[None]:
        """Held by whoever changes the repository's references; two repositories by case only share one."""
        name = f"{repo.namespace}/{repo.name}".lower()
        return locked(self.root / "locks" / repo.type.plural / f"{name}.lock")

    def _names_lock(self) -> AbstractContextManager[None]:
        return locked(self.root / "locks" / "names.lock")

    def list(self, kind: RepoType) -> Iterator[RepoId]:
        """Repositories of a kind in the order of names."""
        base = self.root / kind.plural
        for path in sorted(base.glob("*/*.git")):
            repo = RepoId(kind, path.parent.name, path.name.removesuffix(".git"))
            if self.exists(repo):
                yield repo

    def create(self, repo: RepoId, record: RepoRecord, files: dict[str, bytes], author: str) -> None:
        """Make a repository with one commit that holds `files`.

        Raises:
            HubError: 400 for a name the Hub refuses, 409 if there is such a repository, in whatever case.
        """
        check_new_repo(repo)
        with self.scratch_folder() as folder, self._names_lock():
            self._check_free(repo)
            fresh = folder / "new.git"
            GitRepo.create(fresh, files, "initial commit", author)
            (fresh / RECORD).write_bytes(replace(record, created_at=timestamp()).encode())
            target = self.path(repo)
            target.parent.mkdir(parents=True, exist_ok=True)
            fresh.rename(target)

    def _check_free(self, repo: RepoId) -> None:
        wanted = repo.full.lower()
        taken = (each for each in self.list(repo.type) if each.full.lower() == wanted)
        if next(taken, None) is not None:
            raise HubError(409, f"You already created this {repo.type.value} repo: {repo.full}")

    def update(self, repo: RepoId, record: RepoRecord) -> None:
        """Replace a repository's record; the caller holds its lock."""
        self.replace_file(self.path(repo) / RECORD, record.encode())

    def large_file(self, repo: RepoId, oid: str) -> int | None:
        """Bytes of a large file that was uploaded to this repository, else None.

        The store is shared by all repositories: who only knows a digest must not get the content by naming it.
        """
        return self.lfs.size(oid) if (self.path(repo) / _UPLOADED / oid).exists() else None

    def large_files(self, repo: RepoId) -> tuple[str, ...]:
        """The sha256 of every large file that was uploaded to a repository."""
        try:
            return tuple(path.name for path in (self.path(repo) / _UPLOADED).iterdir())
        except FileNotFoundError:
            return ()

    def large_files_lock(self) -> AbstractContextManager[None]:
        """Held by whoever puts a large file in place or takes one away."""
        return locked(self.root / "locks" / "lfs.lock")

    def add_large_file(self, repo: RepoId, incoming: Incoming, oid: str) -> None:
        """Keep a large file that was uploaded to a repository. FileNotFoundError if that is gone."""
        folder = self.path(repo) / _UPLOADED
        incoming.check()
        with self.large_files_lock():
            folder.mkdir(exist_ok=True)
            incoming.finish()
            (folder / oid).touch()

    def renew_large_file(self, repo: RepoId, oid: str) -> int | None:
        """As `large_file`; and it counts as uploaded just now, so that it stays until a commit names it."""
        with self.large_files_lock():
            if (size := self.large_file(repo, oid)) is not None:
                os.utime(self.path(repo) / _UPLOADED / oid)
                os.utime(self.lfs.path(oid))
            return size

    def forget_large_file(self, repo: RepoId, oid: str, before: float, *, dry_run: bool = False) -> bool:
        """Whether a repository's claim to a large file is older than a moment; then it goes."""
        mark = self.path(repo) / _UPLOADED / oid
        with self.large_files_lock():
            is_old = mark.exists() and mark.stat().st_mtime < before
            if is_old and not dry_run:
                mark.unlink()
        return is_old

    def discard_large_file(self, oid: str, before: float, *, dry_run: bool = False) -> bool:
        """Whether a large file is older than a moment; then it goes. The caller knows that no repository needs it."""
        path = self.lfs.path(oid)
        with self.large_files_lock():
            is_old = path.exists() and path.stat().st_mtime < before
            if is_old and not dry_run:
                path.unlink()
        return is_old

    def delete(self, repo: RepoId) -> None:
        """Remove a repository; it is gone from the listing at once, half a repository is never seen."""
        with self.scratch_folder() as folder, self.lock(repo):
            if self.exists(repo):
                self.path(repo).rename(folder / "gone.git")

    def move(self, source: RepoId, target: RepoId) -> None:
        """Rename a repository.

        Raises:
            HubError: 400 and 409 as in `create`.
        """
        check_new_repo(target)
        with self._names_lock(), self.lock(source):
            if source.full.lower() != target.full.lower():
                self._check_free(target)
            destination = self.path(target)
            destination.parent.mkdir(parents=True, exist_ok=True)
            self.path(source).rename(destination)
