"""A commit in the cache, verified: every file against the commit's tree, components against the release record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hfenv.card.manifest import Manifest
from hfenv.card.reader import manifest, parse_card
from hfenv.components.ownership import CARD_NAME, RECORD_NAME, Component, FileEntry, owner_of
from hfenv.components.release import RecordedComponent, ReleaseRecord, parse_record, record_component
from hfenv.components.status import declared_versions
from hfenv.errors import NotFoundError
from hfenv.hub.allowed import check_allowed
from hfenv.hub.cache import CachedCommit, ContentId, RemoteFile
from hfenv.hub.client import Hub
from hfenv.hub.fetch import Progress, fetch_checked, list_commit
from hfenv.hub.policy import check_source


@dataclass(frozen=True, slots=True)
class Verified:
    """A commit whose files were checked. `components` is what they are now, `record` what they were released as.

    `digests` has the SHA-256 of every file that was fetched and checked: what isn't in it must not be used.
    """

    repo: str
    commit: str
    files: Path
    listing: Mapping[str, RemoteFile]
    manifest: Manifest
    record: ReleaseRecord | None
    components: Mapping[Component, RecordedComponent]
    digests: Mapping[str, str]

    def let_go(self) -> None:
        """Nothing of the commit's folder is needed any more: `hfenv cache prune` may remove it."""
        CachedCommit(self.repo, self.commit, self.files.parent).let_go()

    @property
    def unreleased(self) -> bool:
        """True when some component isn't what the record says: edited after the release, or never released."""
        return self.record is None or any(
            recorded.exact != self.record.components[component].exact
            or recorded.version != self.record.components[component].version
            for component, recorded in self.components.items()
        )

    def executable_paths(self) -> frozenset[str]:
        """Paths whose executable bit the record keeps, since the hub doesn't."""
        if self.record is None:
            return frozenset()
        return frozenset(f.path for c in self.record.components.values() for f in c.files if f.executable)


def verified_commit(
    hub: Hub,
    repo: str,
    commit: str,
    components: Sequence[Component],
    wanted: Callable[[str], bool],
    *,
    progress: Progress | None = None,
) -> Verified:
    """Fetch what is wanted of a commit and check it; card and record always come along.

    Makes no request when everything is cached. Raises IntegrityError for a damaged cache; whether content agrees
    with the record is data (`unreleased`), for the caller to judge. Raises PolicyError for what may not be used here.
    """
    check_source(hub.key, repo)
    listing = list_commit(hub, repo, commit)
    if CARD_NAME not in listing:
        raise NotFoundError(f"{repo}@{commit} has no Environment Card (README.md).", "Is it an environment?")

    def needed(path: str) -> bool:
        return path in (CARD_NAME, RECORD_NAME) or wanted(path)

    cached, contents = fetch_checked(hub, repo, commit, needed, progress=progress)
    card = parse_card((cached.files / CARD_NAME).read_bytes(), f"{CARD_NAME} of {repo}@{commit}")
    block = manifest(card)
    record = None
    if RECORD_NAME in listing:
        record = parse_record((cached.files / RECORD_NAME).read_bytes(), f"{RECORD_NAME} of {repo}@{commit}")
    entries = _entries(listing, contents, record)
    versions = declared_versions(block)
    check_allowed(hub, repo, card.front_matter, record)
    found = {c: record_component(c, entries, block.raw, versions[c]) for c in components}
    digests = {path: content.sha256 for path, content in contents.items()}
    return Verified(repo, commit, cached.files, listing, block, record, found, digests)


def _entries(
    listing: Mapping[str, RemoteFile], contents: Mapping[str, ContentId], record: ReleaseRecord | None
) -> list[FileEntry]:
    """The commit's files as a walk would give them, with the executable bits that the record keeps.

    A file that wasn't needed, and so wasn't fetched, has the digest that the hub lists for large files, else the one
    that the record has for it; its bytes are checked when something needs them.
    """
    recorded = {f.path: f for c in (record.components.values() if record else ()) for f in c.files}
    entries = []
    for path, file in sorted(listing.items(), key=lambda item: item[0].encode()):
        known = recorded.get(path)
        same_size = known is not None and known.size == file.size
        if path in contents:
            sha256 = contents[path].sha256
        else:
            sha256 = file.sha256 or (known.sha256 if known is not None and same_size else "")
        executable = known is not None and known.executable and known.sha256 == sha256
        entries.append(FileEntry(path, file.size, sha256, executable, owner_of(path)))
    return entries
