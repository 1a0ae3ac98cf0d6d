"""The changelogs of a folder or of one revision on the hub, and the releases that its record knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hfenv.card.reader import manifest, read_card
from hfenv.card.regular import LARGEST_TEXT
from hfenv.components.changelog import changelog_name, entries, read_changelog
from hfenv.components.history import ReleasedVersions, at_release, releases_of
from hfenv.components.ownership import CARD_NAME, RECORD_NAME, Component
from hfenv.components.release import ReleaseRecord, parse_record, read_record
from hfenv.components.status import declared_versions
from hfenv.components.versions import is_version, parse_version
from hfenv.errors import IntegrityError, NotFoundError, UnreadableError, UsageError
from hfenv.hub.cache import RepositoryCache
from hfenv.hub.client import Hub
from hfenv.hub.fetch import fetch, list_commit
from hfenv.hub.references import (
    COMPONENTS,
    Commit,
    HubReference,
    LocalReference,
    Reference,
    is_hash,
    mixed_versions,
    parse_reference,
)
from hfenv.hub.resolve import Resolved, check_promises, read_refs, read_remote_record, resolve

_NAMES = [changelog_name(component) for component in Component]


@dataclass(frozen=True, slots=True)
class Changelogs:
    """What a reference's changelogs say. `texts` are empty where there is none.

    `versions` are what the components have now (None where neither card nor record was asked), `history` the releases
    that are known, oldest first, and `revision` the code's commit, None for a folder.
    """

    reference: HubReference | LocalReference
    revision: str | None
    texts: Mapping[Component, str]
    versions: Mapping[Component, str | None]
    history: tuple[ReleasedVersions, ...]

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.reference.text if isinstance(self.reference, HubReference) else str(self.reference.path)


@dataclass(frozen=True, slots=True)
class Since:
    """What somebody has: the versions of components, only those that were named, and the release that they are."""

    versions: Mapping[Component, str]
    release: str | None = None


def folder_changelogs(root: Path, *, card: bool = True) -> Changelogs:
    """The changelogs of an environment's folder; without its `card`, the versions now are unknown."""
    texts = {component: read_changelog(root, component) for component in Component}
    record = read_record(root)
    versions: dict[Component, str | None] = dict.fromkeys(Component)
    if card:
        versions.update(declared_versions(manifest(read_card(root / CARD_NAME))))
    history = releases_of(record) if record is not None else ()
    return Changelogs(LocalReference(root), None, texts, versions, history)


def hub_changelogs(hub: Hub, reference: HubReference) -> Changelogs:
    """The changelogs of a revision; with components mixed, each is its own revision's."""
    resolved = resolve(hub, reference)
    records = {commit: _fetched(hub, resolved.repo, commit) for commit in set(resolved.commits.values())}
    own = {component: records[commit] for component, commit in resolved.commits.items()}
    check_promises(resolved, own)
    texts = {c: _text(hub, resolved.repo, commit, changelog_name(c)) for c, commit in resolved.commits.items()}
    versions = {c: record.components[c].version if record is not None else None for c, record in own.items()}
    releases = {one.release: one for record in own.values() if record is not None for one in releases_of(record)}
    history = tuple(releases[release] for release in sorted(releases, key=parse_version))
    return Changelogs(reference, resolved.revision, texts, versions, history)


def versions_since(hub: Hub | None, found: Changelogs, since: str) -> Since:
    """What `since` means: a release, `code=1.0.0,reward=2.0.0`, a commit of the repository, or another reference.

    `hub` is there where a hub may be asked. Raises NotFoundError, with what is known, for what there isn't.
    """
    if not since:
        raise UsageError("Since what is empty.", "Write a release, such as 1.0.0, or code=1.0.0.")
    if COMPONENTS.match(since):
        return Since({c: _known(found, c, version) for c, version in mixed_versions(since).items()})
    if is_version(since):
        known = at_release(found.history, since) or _tagged(hub, found, since)
        return Since({component: known.of(component) for component in Component}, known.release)
    if is_hash(since) and isinstance(found.reference, HubReference):
        reference: Reference = HubReference(found.reference.repo, Commit(since), since)
    else:
        reference = parse_reference(since)
    if isinstance(reference, LocalReference):
        return Since(declared_versions(manifest(read_card(reference.path / CARD_NAME))))
    if hub is None:
        raise UsageError(f"'{since}' stands on a hub.", "Name a release of this folder, such as --since 1.0.0.")
    return _recorded(hub, reference)


def _known(found: Changelogs, component: Component, version: str) -> str:
    """The version, if a release, the changelog or the card has it."""
    names = {one.of(component) for one in found.history} | {found.versions[component] or ""}
    names |= {entry.version for entry in entries(found.texts[component])}
    versions = {name for name in names if is_version(name)}
    if version not in versions:
        known = ", ".join(sorted(versions, key=parse_version, reverse=True)[:8])
        raise NotFoundError(f"{found.name} knows no {component.value} {version}.", f"Known: {known or 'none'}.")
    return version


def _tagged(hub: Hub | None, found: Changelogs, release: str) -> ReleasedVersions:
    """A release that the record doesn't know: records of before know only themselves, but the release has its own."""
    names = {one.release for one in found.history}
    if hub is not None and isinstance(found.reference, HubReference):
        repo = found.reference.repo
        tags = read_refs(hub, repo).versions("v")
        names |= tags.keys()
        if release in tags and (record := read_remote_record(hub, repo, tags[release])) is not None:
            check_promises(Resolved(repo, dict.fromkeys(Component, tags[release]), release), {Component.CODE: record})
            return releases_of(record)[-1]
    known = ", ".join(sorted(names, key=parse_version, reverse=True)[:8])
    hint = f"Released: {known}." if known else "Nothing is released yet."
    raise NotFoundError(f"{found.name} knows no release {release}.", hint)


def _recorded(hub: Hub, reference: HubReference) -> Since:
    resolved = resolve(hub, reference)
    records = {commit: read_remote_record(hub, resolved.repo, commit) for commit in set(resolved.commits.values())}
    versions, releases = dict[Component, str](), set[str]()
    for component, commit in resolved.commits.items():
        record = records[commit]
        if record is None:
            raise NotFoundError(
                f"{reference.text} has no release record, so that nobody knows its versions.", "Name a release."
            )
        versions[component] = record.components[component].version
        releases.add(record.release)
    check_promises(resolved, {component: records[commit] for component, commit in resolved.commits.items()})
    return Since(versions, releases.pop() if len(releases) == 1 else None)


def _fetched(hub: Hub, repo: str, commit: str) -> ReleaseRecord | None:
    """The record of a commit, with the changelogs fetched and checked beside it."""
    listing = list_commit(hub, repo, commit)
    wanted = {path: file for path, file in listing.items() if path == RECORD_NAME or path in _NAMES}
    for path in _NAMES:
        if path in wanted and wanted[path].size > LARGEST_TEXT:
            raise IntegrityError(f"{path} of {repo}@{commit} has {wanted[path].size:,} bytes.", "Tell its author.")
    cached = fetch(hub, repo, commit, wanted.__contains__)
    cached.verify(wanted.values())
    if RECORD_NAME not in wanted:
        return None
    return parse_record((cached.files / RECORD_NAME).read_bytes(), f"{RECORD_NAME} of {repo}@{commit}")


def _text(hub: Hub, repo: str, commit: str, path: str) -> str:
    cached = RepositoryCache(hub, repo).commit(commit)
    if path not in list_commit(hub, repo, commit):
        return ""
    try:
        return (cached.files / path).read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableError(
            f"{path} of {repo}@{commit} isn't UTF-8 (byte {error.start}).", "Tell its author."
        ) from None
