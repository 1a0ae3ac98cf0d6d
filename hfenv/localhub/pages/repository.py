"""What all pages of one repository share: the repository as the visitor may see it, a revision, and a file's bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hfenv.localhub.describe import pointer_of
from hfenv.localhub.errors import HubError, entry_not_found
from hfenv.localhub.gates import check_gate
from hfenv.localhub.gitstore import Entry
from hfenv.localhub.lfs import Pointer
from hfenv.localhub.names import RepoId
from hfenv.localhub.pages.visit import Visit
from hfenv.localhub.storage import Storage
from hfenv.localhub.wire import OpenRepo

HEAD = "main"


@dataclass(frozen=True)
class Shown:
    """A repository and one commit of it; `revision` is the name that the address gave it, None for the head."""

    repo: OpenRepo
    commit: str
    revision: str | None
    storage: Storage

    @property
    def id(self) -> RepoId:
        return self.repo.id

    def file(self, path: str) -> Entry | None:
        entry = self.repo.git.entry(self.commit, path)
        return None if entry is None or entry.is_folder else entry

    def content(self, path: str, most: int) -> bytes | None:
        """A file's content, a large file's too; None where it is missing or has more than `most` bytes."""
        entry = self.file(path)
        return None if entry is None else self.read(entry, most)

    def read(self, entry: Entry, most: int) -> bytes | None:
        """As `content`, of an entry."""
        pointer = self.pointer(entry)
        if (pointer.size if pointer else entry.size) > most:
            return None
        if pointer is None:
            return self.repo.git.read(entry.oid)
        if self.storage.large_file(self.id, pointer.oid) != pointer.size:
            return None
        return self.storage.lfs.path(pointer.oid).read_bytes()

    def pointer(self, entry: Entry) -> Pointer | None:
        return pointer_of(self.repo.git, entry)


def opened(visit: Visit, revision: str | None = None) -> Shown:
    """The repository of the address at a revision.

    Raises:
        HubError: it isn't there, or not for this visitor.
    """
    repo = visit.call.open()
    return Shown(repo, repo.commit(revision or HEAD), revision, visit.call.hub.storage)


def may_see_files(visit: Visit, repo: OpenRepo) -> bool:
    """Whether a gated repository's files are for this visitor; those of any other are for whoever sees it."""
    try:
        check_gate(visit.call, repo)
    except HubError:
        return False
    return True


def check_files(visit: Visit, repo: OpenRepo) -> None:
    """Refuse who may see that the repository is there, but not what is in it."""
    check_gate(visit.call, repo)


def missing(path: str) -> HubError:
    return entry_not_found(f"There is no '{path}' here.")


def frame(visit: Visit, shown: Shown, tab: str) -> dict[str, Any]:
    """What the head of each of a repository's pages needs."""
    return {
        "repo": shown.id,
        "record": shown.repo.record,
        "base": visit.address(shown.id),
        "revision": shown.revision,
        "commit": shown.commit,
        "tab": tab,
        "may_see_files": may_see_files(visit, shown.repo),
    }
