"""What running an environment's own code tells about its changes, for author commands alone: its probes, replayed."""

from __future__ import annotations

from hfenv.components.snapshot import Snapshot
from hfenv.components.status import Statuses
from hfenv.hub.references import LocalReference
from hfenv.probing.judge import Judged, judge, probes_to_replay
from hfenv.specify import LocalFolder, Origin


def settle(folder: Snapshot, states: Statuses, *, trust_remote_code: bool = False) -> Judged:
    """Where a folder's components stand after what can be run was run; nothing is where nothing would tell more.

    Raises TrustError for a pulled folder that isn't trusted, and what replaying probes raises.
    """
    if not probes_to_replay(folder, states):
        return Judged(states)
    origin = Origin(trust_remote_code=trust_remote_code)
    LocalFolder.read(folder.root).require_trust(LocalReference(folder.root), origin)
    return judge(folder, states)


def settle_release(folder: Snapshot, states: Statuses, *, trust_remote_code: bool = False) -> Statuses:
    """The same for a release: raises FindingsError too, unless every probe scores as it says."""
    judged = settle(folder, states, trust_remote_code=trust_remote_code)
    judged.require_fresh()
    return judged.states
