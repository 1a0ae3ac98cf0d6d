"""What moving a pin changes: the changelogs between both, and whether numbers stay comparable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hfenv.components.changessince import VersionNotes, all_notes
from hfenv.components.ownership import Component
from hfenv.components.versions import parse_version
from hfenv.diffing.comparing import compare_references
from hfenv.errors import HfenvError, NetworkError
from hfenv.hub.changelogs import hub_changelogs
from hfenv.hub.fetch import Progress
from hfenv.hub.locking.lockfile import Entry
from hfenv.hub.locking.reaching import Reach


@dataclass(frozen=True, slots=True)
class Upgrade:
    """`notes` has, newest first, the changelog entries of the components that moved up, `back` those that moved down.

    `comparable` is the first line of `hfenv diff` between both, `problem` why one of the two couldn't be told.
    """

    before: Entry
    after: Entry
    notes: Mapping[Component, tuple[VersionNotes, ...]]
    back: tuple[Component, ...]
    comparable: str
    problem: str = ""


def explain(before: Entry, after: Entry, reach: Reach, *, progress: Progress | None = None) -> Upgrade:
    """What changes for somebody whose pin moves. Fetches of both what differs, and runs nothing of it."""
    notes: dict[Component, tuple[VersionNotes, ...]] = {}
    back: list[Component] = []
    comparable = problem = ""
    with reach.to(after) as hub:
        try:
            found = hub_changelogs(hub, after.pinned)
            for component in Component:
                old, new = before.components[component].version, after.components[component].version
                if parse_version(new) > parse_version(old):
                    notes[component] = all_notes(found.texts[component], component, found.history, since=old)
                elif new != old:
                    back.append(component)
            comparable = compare_references(hub, before.pinned, after.pinned, progress=progress).comparable.line
        except NetworkError:
            raise
        except HfenvError as error:  # the older one may be gone, which is a reason to move
            problem = str(error)
    return Upgrade(before, after, notes, tuple(back), comparable, problem)
