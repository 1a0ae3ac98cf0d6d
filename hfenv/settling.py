"""What running an environment's own code tells about its changes, for author commands alone.

Probes of a changed reward are replayed, and samples of changed tasks are made again by their generator.
"""

from __future__ import annotations

from hfenv.components.ownership import Component
from hfenv.components.snapshot import Snapshot
from hfenv.components.status import Statuses
from hfenv.hub.references import LocalReference
from hfenv.probing.judge import Judged, judge, probes_to_replay
from hfenv.sampling import require_fresh
from hfenv.specify import LocalFolder, Origin


def settle(
    folder: Snapshot, states: Statuses, component: Component | None = None, *, trust_remote_code: bool = False
) -> Judged:
    """Where a folder's components stand after what can be run was run: for one component, or with None for all.

    Nothing is run where that would tell nothing more. Raises TrustError for a pulled folder that isn't trusted,
    FindingsError for samples that the generator makes otherwise, and what replaying probes raises.
    """
    if component in (None, Component.TASKS):
        states = require_fresh(folder, states, trust_remote_code=trust_remote_code)
    if component not in (None, Component.REWARD) or not probes_to_replay(folder, states):
        return Judged(states)
    origin = Origin(trust_remote_code=trust_remote_code, isolation="process")
    LocalFolder.read(folder.root).require_trust(LocalReference(folder.root), origin)
    return judge(folder, states)


def settle_release(folder: Snapshot, states: Statuses, *, trust_remote_code: bool = False) -> Statuses:
    """The same for a release: raises FindingsError too, unless every probe scores as it says."""
    judged = settle(folder, states, trust_remote_code=trust_remote_code)
    judged.require_fresh()
    return judged.states
