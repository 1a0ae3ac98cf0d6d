"""Another revision in the place of a folder's last release: what `--against REF` compares with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hfenv.components.ownership import Component
from hfenv.components.release import ReleaseRecord
from hfenv.components.releasing import with_meaning
from hfenv.components.snapshot import Snapshot
from hfenv.diffing.sides import Side, fetched, folder_side, hub_side
from hfenv.errors import UsageError
from hfenv.hub.client import connect
from hfenv.hub.references import HubReference, Mixed, Newest, Release, parse_reference
from hfenv.hub.state import read_state

_FIRST = "0.0.0"  # the release version of what was never released


def against(folder: Snapshot, ref: str, *, hub: str | None = None, offline: bool = False) -> Snapshot:
    """The folder, with what a reference names in the place of its last release.

    `ref` is a reference, or what may stand behind its `@` (a version, a tag, a hash, ...), of the folder's own
    repository. A release gives its record, and nothing else of it is fetched; of anything else, and of a release that
    recorded no meaning, the files are read. Raises the errors of resolving, and UsageError for a version alone where no
    repository is known.
    """
    state = read_state(folder.root)
    own = _is_selector(ref)
    repo = state.repo if state is not None else folder.manifest.repo
    if own and repo is None:
        raise UsageError(
            f"'{ref}' names no repository, and neither does this folder.", f"Write NAMESPACE/NAME@{ref}, or a folder."
        )
    reference = parse_reference(f"{repo}@{ref}" if own else ref)
    if not isinstance(reference, HubReference):
        return replace(folder, record=_record(folder_side(reference)))
    with connect(hub, offline=offline) as opened:
        if own and state is not None and state.endpoint != opened.key:
            raise UsageError(
                f"This folder comes from another hub than {opened.name}, so that '{ref}' isn't to be found there.",
                "Name its hub: --hub local, or an address.",
            )
        side = hub_side(opened, reference)
        released = isinstance(reference.selector, (Newest, Release, Mixed))
        wanted = [c for c in Component if not released or not _is_described(side, c)]
        return replace(folder, record=_record(fetched(opened, side, wanted, None) if wanted else side))


def _is_selector(ref: str) -> bool:
    """Whether a text names a revision and no repository; a folder of that name wins."""
    return "/" not in ref and "@" not in ref and ref not in (".", "..") and not Path(ref).exists()


def _is_described(side: Side, component: Component) -> bool:
    record = side.places[component].record
    return record is not None and record.components[component].described is not None


def _record(side: Side) -> ReleaseRecord:
    """The record of one side: as it was released where it still is that, else as it stands."""
    found = {}
    for component, place in side.places.items():
        now = place.components[component]
        then = place.record.components[component] if place.record is not None else None
        same = then is not None and then.exact == now.exact and then.version == now.version
        if then is not None and same and then.described is not None:
            found[component] = then
        else:
            found |= with_meaning(place.of(component), {component: now}, most=None)
    own = side.main.record
    if own is None:
        return ReleaseRecord(_FIRST, "", found)
    return replace(own, components=found)
