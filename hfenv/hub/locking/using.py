"""What was verified, held against what is locked."""

from __future__ import annotations

from collections.abc import Mapping

from hfenv.components.ownership import Component
from hfenv.components.release import RecordedComponent
from hfenv.errors import IntegrityError
from hfenv.hub.locking.lockfile import Entry
from hfenv.hub.verify import Verified


def check_used(pin: Entry | None, verified: Mapping[Component, Verified]) -> None:
    """Raises IntegrityError unless what is going to be used is what is locked, where something is."""
    if pin is not None:
        check_locked(pin, {component: found.components[component] for component, found in verified.items()})


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
