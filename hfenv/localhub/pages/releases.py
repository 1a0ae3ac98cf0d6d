"""The releases in a repository: what their records say, and the changelog entries of what each one changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from semver import Version

from hfenv.card.preview_body import render_note
from hfenv.components.changelog import changelog_name, entry_for
from hfenv.components.ownership import RECORD_NAME, Component
from hfenv.components.release import ReleaseRecord, component_tag, parse_record, release_tag
from hfenv.components.versions import is_version
from hfenv.errors import UnreadableError
from hfenv.localhub.gitstore import TAG, GitRepo
from hfenv.localhub.pages.shown import plain_text

# A record of a hundred thousand tasks has some megabytes; a larger one is no page's business.
_LARGEST_RECORD, _LARGEST_CHANGELOG = 16 * 1024 * 1024, 1024 * 1024
_REMEMBERED = 64
_HEAD = "main"


@dataclass(frozen=True, slots=True)
class Release:
    """A release: its version, its commit and date (seconds since 1970), its components' versions, all its tags."""

    version: str
    commit: str
    when: int
    components: Mapping[str, str]
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What a release changed in a component: the version it gave it, and its changelog entry as safe HTML."""

    component: str
    version: str
    html: str


def record_at(git: GitRepo, commit: str) -> ReleaseRecord | None:
    """The release record at a commit; None where there is none that can be read."""
    entry = git.entry(commit, RECORD_NAME)
    if entry is None or entry.is_folder or entry.size > _LARGEST_RECORD:
        return None
    return _record(git.path, entry.oid)


@lru_cache(maxsize=_REMEMBERED)
def _record(folder: Path, oid: str) -> ReleaseRecord | None:
    try:
        return parse_record(GitRepo(folder).read(oid), RECORD_NAME)
    except UnreadableError:
        return None


def release_tags(git: GitRepo) -> list[tuple[str, str]]:
    """The tags of releases with their commits, the newest version first."""
    found = [(ref.name, ref.commit) for ref in git.refs(TAG) if ref.name.startswith("v") and is_version(ref.name[1:])]
    return sorted(found, key=lambda pair: Version.parse(pair[0][1:]), reverse=True)


def releases(git: GitRepo, tags: Sequence[tuple[str, str]]) -> list[Release]:
    """The releases under some tags; one whose commit's record says something else is left out."""
    by_commit: dict[str, list[str]] = {}
    for ref in git.refs(TAG):
        by_commit.setdefault(ref.commit, []).append(ref.name)
    found = []
    for tag, commit in tags:
        record = record_at(git, commit)
        if record is None or release_tag(record.release) != tag:
            continue
        components = {component.value: record.components[component].version for component in Component}
        when = git.commit_info(commit).when
        found.append(Release(record.release, commit, when, components, tuple(sorted(by_commit[commit]))))
    return found


def changes(git: GitRepo, release: Release, before: Release | None) -> tuple[Change, ...]:
    """What is new in a release, component by component.

    Its tags say it: after a fix to an older line, the next lower release isn't the one that it was made from. Where no
    component has a tag, it is what differs from the release before.
    """
    tagged = {c for c in Component if component_tag(c, release.components[c.value]) in release.tags}
    found = []
    for component in Component:
        version = release.components[component.value]
        differs = before is None or before.components[component.value] != version
        if not (component in tagged if tagged else differs):
            continue
        found.append(Change(component.value, version, _entry(git, release.commit, component, version)))
    return tuple(found)


def _entry(git: GitRepo, commit: str, component: Component, version: str) -> str:
    entry = git.entry(commit, changelog_name(component))
    if entry is None or entry.is_folder or entry.size > _LARGEST_CHANGELOG:
        return ""
    found = entry_for(git.read(entry.oid).decode("utf-8", "replace"), version)
    return render_note(plain_text(found.body)) if found else ""
