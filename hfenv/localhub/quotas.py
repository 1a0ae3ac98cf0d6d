"""Quotas: bytes that a namespace may store and files that a repository may have; the file `quotas.json`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hfenv.localhub.errors import HubError
from hfenv.localhub.jsonfile import JsonFile
from hfenv.localhub.names import RepoId, RepoType
from hfenv.localhub.storage import Storage

EVERYBODY = "*"


@dataclass(frozen=True, slots=True)
class Quota:
    """What a namespace may use: bytes in all, files in each branch of a repository; None: as much as there is."""

    bytes: int | None = None
    files: int | None = None


class Quotas:
    """The quotas of a storage folder; a namespace without its own has that of everybody, `*`."""

    def __init__(self, root: Path) -> None:
        self._file = JsonFile(root, "quotas.json")

    def all(self) -> dict[str, Quota]:
        """Quotas by namespace.

        Raises:
            UnreadableError: the file isn't what was written.
        """
        try:
            return {name: Quota(**entry) for name, entry in self._file.read().get("quotas", {}).items()}
        except (AttributeError, TypeError) as error:
            raise self._file.unreadable() from error

    def of(self, namespace: str) -> Quota:
        found = self.all()
        return found.get(namespace) or found.get(EVERYBODY) or Quota()

    def set(self, namespace: str, quota: Quota) -> None:
        """Give a namespace its quota; one without limits frees it from everybody's."""
        entry: dict[str, Any] = {"bytes": quota.bytes, "files": quota.files}
        with self._file.changed() as data:
            data["quotas"] = {**data.get("quotas", {}), namespace: entry}

    def check_bytes(self, storage: Storage, repo: RepoId, more: int) -> None:
        """Refuse `more` bytes that a namespace has no room for. Uploads at the same moment may both still pass.

        Raises:
            HubError: 403.
        """
        limit = self.of(repo.namespace).bytes
        if limit is None:
            return
        used = used_bytes(storage, repo.namespace)
        if used + more > limit:
            raise HubError(
                403,
                f"The namespace '{repo.namespace}' may store {limit} bytes and has {used}: {more} more don't fit. "
                "Delete something, or ask the hub's administrator.",
            )

    def check_files(self, repo: RepoId, count: int) -> None:
        """Refuse a tree with too many files.

        Raises:
            HubError: 413.
        """
        limit = self.of(repo.namespace).files
        if limit is not None and count > limit:
            raise HubError(
                413,
                f"A repository of '{repo.namespace}' may have {limit} files, and this would make {count}: "
                "join small files into archives or Parquet.",
            )


def used_bytes(storage: Storage, namespace: str) -> int:
    """Bytes on disk of a namespace's repositories and of the large files that were uploaded to them."""
    total, seen = 0, set[str]()
    for kind in RepoType:
        for repo in storage.list(kind):
            if repo.namespace == namespace:
                total += _folder_size(storage.path(repo) / "objects")
                seen.update(storage.large_files(repo))
    return total + sum(storage.lfs.size(oid) or 0 for oid in seen)


def _folder_size(folder: Path) -> int:
    total = 0
    for found in os.scandir(folder):
        try:
            total += _folder_size(Path(found.path)) if found.is_dir(follow_symlinks=False) else found.stat().st_size
        except FileNotFoundError:
            continue  # git packs its objects just now
    return total
