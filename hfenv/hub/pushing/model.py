"""What a push is given and what it gives back, and what its steps hand to one another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from hfenv.components.ownership import Component
from hfenv.components.status import Settle
from hfenv.hub.cache import RemoteFile
from hfenv.hub.plan import Preview
from hfenv.hub.resolve import Refs

# Files that a hub adds to a new repository by itself; a folder that has none of its own leaves them alone.
HUB_FILES = frozenset({".gitattributes"})
MAIN = "main"

# A bar for `total` units under a label: yields what advances it. `unit` is "B" for bytes.
Bar = Callable[[int | None, str, str], AbstractContextManager[Callable[[int], None]]]


@contextmanager
def no_bar(total: int | None, label: str, unit: str) -> Iterator[Callable[[int], None]]:
    """The bar of a caller that shows none."""
    yield lambda _: None


@dataclass(frozen=True, slots=True)
class PushOptions:
    """How to push. `private` is None where the caller doesn't care; `base` overrides what the folder builds on.

    `settle` lowers what changes need where running something tells more about them, see `make_plan`. `branch` is
    where the commit goes; with `create_pr` it goes to a pull request against that branch instead.
    """

    private: bool | None = None
    message: str | None = None
    adopt: bool = False
    base: str | None = None
    dry_run: bool = False
    settle: Settle | None = None
    branch: str = MAIN
    create_pr: bool = False


@dataclass(frozen=True, slots=True)
class PushResult:
    """What a push did, or with `dry_run` would do. `created` is false when the hub had it all already.

    `pull_request` is the address of the pull request that holds the commit, None for a push to a branch; `preview` is
    what a dry run tells besides.
    """

    repo: str
    revision: str | None
    release: str
    versions: Mapping[Component, str]
    tags: tuple[str, ...]
    created: bool
    url: str
    private: bool
    uploaded: Mapping[str, int]
    deleted: tuple[str, ...]
    branch: str = MAIN
    pull_request: str | None = None
    preview: Preview | None = None


@dataclass(frozen=True, slots=True)
class Remote:
    """The repository as it is now, seen from the branch that is pushed to.

    `head` is None before the branch's first commit; `starts` is true for a branch that isn't there yet and will begin
    at that head. `tree` has the head's files; of one that the hub has just made only their names are known.
    """

    exists: bool
    private: bool
    head: str | None
    refs: Refs
    tree: Mapping[str, RemoteFile]
    starts: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs between the plan and the head: paths to upload with their bytes, paths to delete."""

    upload: Mapping[str, int]
    delete: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.upload or self.delete)
