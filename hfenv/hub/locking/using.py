"""What was verified, held against what is locked, and the marks of it that are known without asking the hub."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from hfenv.card.quoting import one_line
from hfenv.components.ownership import Component
from hfenv.components.release import RecordedComponent
from hfenv.errors import IntegrityError
from hfenv.hub.client import Hub
from hfenv.hub.locking.known import known_marks
from hfenv.hub.locking.lockfile import Entry
from hfenv.hub.resolve import Resolved
from hfenv.hub.verify import Verified

log = logging.getLogger("hfenv")


def check_used(hub: Hub, resolved: Resolved, verified: Mapping[Component, Verified], pin: Entry | None) -> None:
    """Raises IntegrityError unless what was verified is what is locked, where it is; makes no request.

    A mark that was read to resolve the reference, or that this machine heard of before, is logged as a line.
    """
    if pin is not None:
        check_locked(pin, {component: found.components[component] for component, found in verified.items()})
    marks = resolved.marks or known_marks(hub.key, resolved.repo)
    if marks is None:
        return
    releases = {found.record.release if found.record else None for found in verified.values()}
    versions = {component: found.components[component].version for component, found in verified.items()}
    for notice in marks.notices(resolved.repo, releases.pop() if len(releases) == 1 else None, versions):
        log.warning("%s", one_line(notice))


def check_locked(entry: Entry, components: Mapping[Component, RecordedComponent]) -> None:
    """Raises IntegrityError unless components have exactly the digests and versions that were locked."""
    for component, found in components.items():
        locked = entry.components[component]
        if (found.exact, found.version) != (locked.exact, locked.version):
            raise IntegrityError(
                f"The {component.value} of {entry.repo}@{locked.commit} is {found.version} ({found.exact[:12]}), and "
                f"{locked.version} ({locked.exact[:12]}) is locked.",
                f"Take the lock file back from version control; if it is as you left it, don't trust {entry.repo}.",
            )
