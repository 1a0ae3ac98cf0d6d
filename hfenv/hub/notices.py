"""What somebody who loads or pulls a release ought to know: told where it costs no request."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from hfenv.card.quoting import one_line
from hfenv.components.marks import Marks
from hfenv.components.ownership import Component
from hfenv.components.release import ReleaseRecord
from hfenv.hub.client import Hub
from hfenv.hub.locking.known import known_marks
from hfenv.hub.marks import marks_at_hand
from hfenv.hub.resolve import Resolved, remembered_refs
from hfenv.hub.verify import Verified

log = logging.getLogger("hfenv")


def notices(hub: Hub, resolved: Resolved, records: Mapping[Component, ReleaseRecord | None]) -> tuple[str, ...]:
    """A line for each mark on what was resolved: yanked, advised on, deprecated. Makes no request.

    `records` are those of the components that are used, each at its own commit. The marks are those of the head's
    card where it was read to resolve the name or is in the cache (for a commit that was named by its hash, of the head
    as it was last seen here), else what was last heard of them.
    """
    marks = resolved.marks or _at_hand(hub, resolved)
    if marks is None:
        return ()
    versions = {c: record.components[c].version for c, record in records.items() if record is not None}
    releases = {record.release if record else None for record in records.values()}
    # With components mixed, or of a commit without a record, there is no one release.
    release = releases.pop() if len(releases) == 1 and len(set(resolved.commits.values())) == 1 else None
    return marks.notices(resolved.repo, release, versions)


def tell_marks(hub: Hub, resolved: Resolved, verified: Mapping[Component, Verified]) -> None:
    """Log what the card at the head says about what is being loaded: yanked, advised on, deprecated."""
    for line in notices(hub, resolved, {component: found.record for component, found in verified.items()}):
        log.warning("%s", one_line(line))  # an author's words, which a terminal shows as they are


def _at_hand(hub: Hub, resolved: Resolved) -> Marks | None:
    head = resolved.head
    if head is None and (refs := remembered_refs(hub, resolved.repo)) is not None:
        head = refs.branches.get("main")
    found = marks_at_hand(hub, resolved.repo, head)
    return found if found is not None else known_marks(hub.key, resolved.repo)
