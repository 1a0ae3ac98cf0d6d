"""The two sides of a comparison: folders or commits, read and verified, and no more of them fetched than differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hfenv.card.reader import parse_card
from hfenv.components.digest import canonical_json, card_slice
from hfenv.components.ownership import CARD_NAME, RECORD_NAME, Component, FileEntry, owner_of
from hfenv.components.release import RecordedComponent, ReleaseRecord
from hfenv.components.snapshot import Snapshot
from hfenv.components.status import current_components
from hfenv.components.tasks.resources import FOLDER as RESOURCES
from hfenv.diffing.result import SideFacts
from hfenv.hub.cache import content_id
from hfenv.hub.client import Hub
from hfenv.hub.fetch import Progress
from hfenv.hub.references import HubReference, LocalReference
from hfenv.hub.resolve import Resolved, check_promises, resolve
from hfenv.hub.verify import Verified, verified_commit


@dataclass(frozen=True, slots=True)
class Content:
    """What is known of a file's content without reading it: bytes, git blob id and SHA-256, each where it is known."""

    size: int
    oid: str | None
    sha256: str | None


@dataclass(frozen=True, slots=True)
class Place:
    """A folder or a commit, and every file's content. `commit` is None for a folder.

    `snapshot` has the files of a folder; of a commit none, since they may not be there yet.
    """

    snapshot: Snapshot
    commit: str | None
    contents: Mapping[str, Content]
    components: Mapping[Component, RecordedComponent]

    @property
    def root(self) -> Path:
        return self.snapshot.root

    @property
    def record(self) -> ReleaseRecord | None:
        return self.snapshot.record

    def of(self, component: Component) -> Snapshot:
        """The snapshot with the files of one component, which were fetched and verified."""
        files = self.components[component].files
        own = tuple(FileEntry(f.path, f.size, f.sha256, f.executable, component) for f in files)
        return replace(self.snapshot, files=own)

    def paths(self, component: Component | None) -> dict[str, Content]:
        """What a component, or none of them, consists of."""
        return {path: content for path, content in self.contents.items() if owner_of(path) is component}

    def oid(self, path: str) -> str:
        """The git blob id of a file, which a folder's has to be read for."""
        known = self.contents[path].oid
        return known if known is not None else content_id(self.root / path).oid


@dataclass(frozen=True, slots=True)
class Side:
    """One side, with the place that each component comes from; the card and the rest come from the code's."""

    name: str
    repo: str | None
    places: Mapping[Component, Place]
    resolved: Resolved | None = None

    @property
    def main(self) -> Place:
        return self.places[Component.CODE]

    def facts(self) -> SideFacts:
        """What it is called, and whether it is a release."""
        records = {p.record.release if p.record is not None else None for p in self.places.values()}
        changed = [c.value for c, place in self.places.items() if is_changed(place, c)]
        if None in records:
            note = "no release record, so that it is no release"
        elif changed:
            note = (
                f"{' and '.join(changed)} changed since release {self.main.record.release if self.main.record else ''}"
            )
        elif len(records) > 1:
            note = "components of several releases"
        else:
            return SideFacts(self.name, self.repo, records.pop())
        return SideFacts(self.name, self.repo, None, note)


def is_changed(place: Place, component: Component) -> bool:
    """Whether a component isn't what the place's record says; so it is where there is none."""
    if place.record is None:
        return True
    now, then = place.components[component], place.record.components[component]
    return (now.exact, now.version) != (then.exact, then.version)


def folder_side(reference: LocalReference) -> Side:
    """A folder on this machine. Raises UnreadableError for a card or a record that can't be read."""
    folder = Snapshot.of(reference.path, remembers=True)
    components = current_components(folder.manifest, folder.files, folder.record)
    contents = {entry.path: Content(entry.size, None, entry.sha256) for entry in folder.files}
    return Side(str(reference.path), None, dict.fromkeys(Component, Place(folder, None, contents, components)))


def hub_side(hub: Hub, reference: HubReference) -> Side:
    """A reference on the hub, of which nothing but cards and records is fetched yet."""
    resolved = resolve(hub, reference)
    places: dict[Component, Place] = {}
    for commit in dict.fromkeys(resolved.commits.values()):
        own = [component for component, sha in resolved.commits.items() if sha == commit]
        found = verified_commit(hub, resolved.repo, commit, tuple(Component), lambda path: False)
        places.update(dict.fromkeys(own, _commit(found)))
    check_promises(resolved, {component: place.record for component, place in places.items()})
    return Side(reference.text, resolved.repo, places, resolved)


def _commit(found: Verified) -> Place:
    card = parse_card((found.files / CARD_NAME).read_bytes(), f"{CARD_NAME} of {found.repo}@{found.commit}")
    contents = {path: Content(file.size, file.oid, file.sha256) for path, file in found.listing.items()}
    snapshot = Snapshot(found.files, card, found.manifest, (), found.record)
    return Place(snapshot, found.commit, contents, found.components)


def fetched(hub: Hub | None, side: Side, components: Sequence[Component], progress: Progress | None) -> Side:
    """The side with the files of some components fetched and verified; a folder has them.

    Large files that tasks refer to aren't fetched: the commit's tree has their digests.
    """
    if hub is None or side.resolved is None:
        return side
    places = dict(side.places)
    for commit in dict.fromkeys(side.resolved.commits[component] for component in components):
        own = frozenset(c for c in components if side.resolved.commits[c] == commit)
        contents = places[next(iter(own))].contents
        wanted = {path for path in contents if owner_of(path) in own and not _is_referred_to(path, contents[path])}
        found = verified_commit(hub, side.resolved.repo, commit, tuple(own), wanted.__contains__, progress=progress)
        known = {path: Content(content.size, content.oid, found.digests.get(path, content.sha256))
                 for path, content in contents.items()}  # fmt: skip
        for component in own:
            place = places[component]
            now = {**place.components, component: found.components[component]}
            places[component] = replace(place, components=now, contents=known)
    return replace(side, places=places)


def _is_referred_to(path: str, content: Content) -> bool:
    return path.startswith(RESOURCES) and content.sha256 is not None


def same_component(old: Place, new: Place, component: Component) -> bool:
    """Whether a component is the same to the byte on both sides, told by what is known without fetching it.

    The commits' trees say so, not the records: what was edited on the hub still has the record of its release.
    """
    slices = [canonical_json(card_slice(component, place.snapshot.manifest.raw)) for place in (old, new)]
    if slices[0] != slices[1]:
        return False
    return not any(differing(old, new, component))


def differing(old: Place, new: Place, component: Component | None) -> Iterator[str]:
    """Paths of a component, or of none, that aren't the same on both sides, sorted."""
    before, after = old.paths(component), new.paths(component)
    modes = [
        {f.path for f in place.components[component].files if f.executable} if component is not None else set()
        for place in (old, new)
    ]
    for path in sorted(before.keys() | after.keys()):
        if path in (CARD_NAME, RECORD_NAME):
            continue
        on_both = path in before and path in after and (path in modes[0]) is (path in modes[1])
        if not on_both or not same_content(old, path, new, path):
            yield path


def same_content(old: Place, path: str, new: Place, new_path: str) -> bool:
    """Whether a file's bytes are another's. Where that can't be told without fetching one, they count as different."""
    before, after = old.contents[path], new.contents[new_path]
    if before.size != after.size:
        return False
    if before.sha256 is not None and after.sha256 is not None:
        return before.sha256 == after.sha256
    # Where one side alone stores it as a large file, its id there is that of a pointer.
    return old.oid(path) == new.oid(new_path)
