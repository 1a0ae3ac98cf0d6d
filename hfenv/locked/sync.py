"""Download and verify exactly what is locked, and tell what has become known about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hfenv.components.marks import Marks
from hfenv.components.ownership import Component
from hfenv.errors import AccessError, NetworkError, NotFoundError
from hfenv.hub.client import Hub
from hfenv.hub.fetch import Progress
from hfenv.hub.locking.checking import look
from hfenv.hub.locking.known import known_marks
from hfenv.hub.locking.lockfile import Entry
from hfenv.hub.locking.reaching import Reach
from hfenv.hub.locking.using import check_locked
from hfenv.hub.resources import local_resources
from hfenv.hub.verify import Verified, verified_commit
from hfenv.selecting import needed_by
from hfenv.specify import Origin, refuse_split_reward


@dataclass(frozen=True, slots=True)
class Synced:
    """An entry whose content is here and verified: its files and their bytes, and a line for each mark on it.

    `asked` is False where the hub couldn't be asked for marks; `notices` are then what was heard before.
    """

    entry: Entry
    files: int
    size: int
    notices: tuple[str, ...]
    asked: bool


def sync(
    entries: Sequence[Entry],
    reach: Reach,
    *,
    only: Component | None = None,
    progress: Progress | None = None,
) -> Iterator[Synced]:
    """Make everything that is locked available without a hub, one entry after the other.

    With the tasks come the files in other repositories that they refer to. Makes no request but for marks where all is
    cached. Raises IntegrityError for content that isn't what was locked, and the errors of fetching.
    """
    wanted = (only,) if only else tuple(Component)
    seen: dict[tuple[str, str], tuple[Marks, bool]] = {}
    for entry in entries:
        with reach.to(entry) as hub:
            found = _fetched(hub, entry, wanted, progress)
            if (entry.key, entry.repo) not in seen:
                seen[entry.key, entry.repo] = _marks(hub, entry)
            marks, asked = seen[entry.key, entry.repo]
        versions = {component: locked.version for component, locked in entry.components.items()}
        sizes = {(one.commit, path): one.listing[path].size for one in found for path in one.digests}
        notices = marks.notices(entry.repo, entry.release or None, versions)
        yield Synced(entry, len(sizes), sum(sizes.values()), notices, asked)


def _fetched(hub: Hub, entry: Entry, wanted: Sequence[Component], progress: Progress | None) -> list[Verified]:
    verified: dict[Component, Verified] = {}
    for commit in dict.fromkeys(entry.components[component].commit for component in wanted):
        own = [component for component in wanted if entry.components[component].commit == commit]
        found = verified_commit(hub, entry.repo, commit, own, needed_by(*own), progress=progress)
        check_locked(entry, {component: found.components[component] for component in own})
        verified.update(dict.fromkeys(own, found))
    if Component.CODE in verified and Component.REWARD in verified:
        refuse_split_reward(verified)
    if (tasks := verified.get(Component.TASKS)) is not None:
        local_resources(tasks.files, tasks.manifest, tasks.digests, Origin(opened=hub).connected, progress=progress)
    return list({found.commit: found for found in verified.values()}.values())


def _marks(hub: Hub, entry: Entry) -> tuple[Marks, bool]:
    """What is known about a repository, and whether it is news: what is locked and here works without the hub."""
    try:
        found = look(hub, entry.repo)
        return found.marks, found.refs is not None
    except (NetworkError, NotFoundError, AccessError):
        return known_marks(hub.key, entry.repo) or Marks(), False
