"""The one commit: sent with its parent, and looked for where nobody can know whether it landed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hfenv.errors import ConflictError, NetworkError, NotFoundError
from hfenv.hub.cache import RemoteFile
from hfenv.hub.client import REPO_TYPE, Hub
from hfenv.hub.fetch import list_commit
from hfenv.hub.history import history
from hfenv.hub.patience import BUSY, WAITS, Patience, landing_unknown
from hfenv.hub.pushing.moved import what_moved, where
from hfenv.hub.resolve import read_refs

if TYPE_CHECKING:
    from huggingface_hub import CommitInfo

    from hfenv.hub.pushing.upload import Operation


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that is to be made: where, on which parent, and how to know it by its tree."""

    hub: Hub
    repo: str
    branch: str
    parent: str | None
    message: str
    operations: list[Operation]
    is_ours: Callable[[Mapping[str, RemoteFile]], bool]

    def post(self, *, create_pr: bool = False) -> CommitInfo:
        with self.hub.translated(self.repo):
            return self.hub.api.create_commit(
                self.repo,
                self.operations,
                commit_message=self.message,
                repo_type=REPO_TYPE,
                revision=self.branch,
                parent_commit=self.parent,
                create_pr=create_pr,
            )

    def landed(self) -> str | None:
        """The commit on the branch that has our parent and our tree, whatever came after it; None where there is none.

        Whoever made it: with the same parent and the same files it is the commit that this push wants.
        """
        hub, repo = self.hub, self.repo
        try:
            line = [commit.id for commit in history(hub, repo, self.branch)]
            for commit, parent in zip(line, [*line[1:], None], strict=True):
                if parent == self.parent:
                    tree = list_commit(hub, repo, commit)
                    return commit if self.is_ours(tree) else None
        except NotFoundError:
            pass  # the branch has no commit yet
        return None


def land(commit: Commit) -> str:
    """Make the commit, once; returns its hash.

    An answer that got lost is no reason to send it again: the branch is looked at first, and the parent keeps a late
    one and its repetition from both landing. Raises ConflictError where the branch moved.
    """
    patience = Patience(statuses=BUSY, unreached=len(WAITS))
    while True:
        try:
            return str(commit.post().oid)
        except ConflictError as error:
            # Also the answer to a repetition whose first one landed late, or to that of a push that was killed.
            if found := commit.landed():
                return found
            raise _moved(commit) from error
        except NetworkError as error:
            unknown = landing_unknown(error)
            if unknown and (found := commit.landed()):
                return found
            if unknown and commit.parent is None:
                raise
            patience.failed(error)


def _moved(commit: Commit) -> ConflictError:
    there = read_refs(commit.hub, commit.repo).branches.get(commit.branch)
    moved = ""
    if there is not None and commit.parent is not None and there != commit.parent:
        moved = f" ({what_moved(commit.hub, commit.repo, commit.parent, there)})"
    return ConflictError(
        f"{where(commit.repo, commit.branch)} moved while this push was under way{moved}; nothing of it was published.",
        "Bring it into this folder with hfenv pull --update, then push again.",
    )
