"""Another revision in the place of a folder's last release: what `--against REF` compares with."""

from __future__ import annotations

from dataclasses import replace

from hfenv.components.ownership import Component
from hfenv.components.release import ReleaseRecord
from hfenv.components.releasing import with_meaning
from hfenv.components.snapshot import Snapshot
from hfenv.components.versions import is_version
from hfenv.diffing.sides import Side, fetched, folder_side, hub_side
from hfenv.errors import UsageError
from hfenv.hub.client import connect
from hfenv.hub.references import HubReference, Mixed, Newest, Release, is_hash, parse_reference
from hfenv.hub.state import read_state

_FIRST = "0.0.0"  # the release version of what was never released


def against(folder: Snapshot, ref: str, *, hub: str | None = None, offline: bool = False) -> Snapshot:
    """The folder, with what a reference names in the place of its last release.

    `ref` is a reference, or a version or a commit hash alone, of the folder's own repository. A release gives its
    record, and nothing else of it is fetched; of anything else the files are read. Raises the errors of resolving,
    and UsageError for a version alone where no repository is known.
    """
    reference = parse_reference(_with_repository(folder, ref))
    if not isinstance(reference, HubReference):
        return replace(folder, record=_record(folder_side(reference)))
    with connect(hub, offline=offline) as opened:
        side = hub_side(opened, reference)
        if not isinstance(reference.selector, (Newest, Release, Mixed)):
            side = fetched(opened, side, tuple(Component), None)
        return replace(folder, record=_record(side))


def _with_repository(folder: Snapshot, ref: str) -> str:
    if not (is_version(ref) or is_hash(ref)):
        return ref
    state = read_state(folder.root)
    repo = state.repo if state is not None else folder.manifest.repo
    if repo is None:
        raise UsageError(
            f"'{ref}' names no repository, and neither does this folder.", f"Write NAMESPACE/NAME@{ref}, or a folder."
        )
    return f"{repo}@{ref}"


def _record(side: Side) -> ReleaseRecord:
    """The record of one side: as it was released where it still is that, else as it stands."""
    found = {}
    for component, place in side.places.items():
        now = place.components[component]
        then = place.record.components[component] if place.record is not None else None
        if then is not None and then.exact == now.exact and then.version == now.version:
            found[component] = then
        else:
            found |= with_meaning(place.of(component), {component: now}, most=None)
    own = side.main.record
    if own is None:
        return ReleaseRecord(_FIRST, "", found)
    return replace(own, components=found)
