"""A repository's releases, one by one: commit, date, versions, marks, and what the changelogs say of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from hfenv.card.regular import LARGEST_TEXT
from hfenv.components.changelog import Entry, changelog_name, entry_for
from hfenv.components.history import ReleasedVersions, releases_of
from hfenv.components.marks import Advisory, Marks, Yanked
from hfenv.components.ownership import Component
from hfenv.components.release import ReleaseRecord
from hfenv.components.versions import parse_version
from hfenv.errors import HfenvError, NetworkError, NotFoundError
from hfenv.hub.client import Hub
from hfenv.hub.fetch import fetch, list_commit
from hfenv.hub.history import history
from hfenv.hub.marks import read_marks
from hfenv.hub.registry.entry import date, line
from hfenv.hub.resolve import Refs, read_refs, read_remote_record

COMMIT_PAGES = 200  # commits whose dates are looked up
STRAYS = 8  # releases that the newest record doesn't know, such as fixes to an older line, whose own record is read

_Tags = Mapping[Component, Mapping[str, str]]  # the commit of each version's tag


@dataclass(frozen=True, slots=True)
class Moved:
    """A component that moved in a release: its version, and the first line of its changelog about it."""

    component: Component
    version: str
    line: str


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """One release. `revision` is the commit of its tag, `date` a day in ISO form.

    `versions` is None where no record that was read knows them.
    """

    release: str
    revision: str
    date: str | None
    versions: ReleasedVersions | None
    yanked: Yanked | None
    advisories: tuple[Advisory, ...]
    aliases: tuple[str, ...]
    moved: tuple[Moved, ...]


@dataclass(frozen=True, slots=True)
class Releases:
    """All releases of a repository, the newest first, and the card's marks."""

    repo: str
    rows: tuple[ReleaseRow, ...]
    marks: Marks


def releases(hub: Hub, repo: str) -> Releases:
    """The releases that have a tag.

    At most fifteen requests, however many there are, while nothing strays: the refs; the tree, the record and the
    changelogs of the newest; the tree and the card of the head; the commits' dates. Raises NotFoundError.
    """
    refs = read_refs(hub, repo)
    tagged = refs.versions("v")
    if not tagged:
        raise NotFoundError(f"{repo} has no release.", "Is it an environment? hfenv push makes the first one.")
    names = sorted(tagged, key=parse_version, reverse=True)
    marks = read_marks(hub, repo, refs)
    known = _versions(hub, repo, names, tagged)
    logs = _changelogs(hub, repo, tagged[names[0]])
    dates = _dates(hub, repo, refs)
    tags = {component: refs.versions(f"{component.value}-v") for component in Component}
    rows = []
    for index, name in enumerate(names):
        own = known.get(name)
        before = next((known[earlier] for earlier in names[index + 1 :] if earlier in known), None)
        moved = _moved_components(own, before, tags, tagged[name]) if own else ()
        rows.append(
            ReleaseRow(
                release=name,
                revision=tagged[name],
                date=dates.get(tagged[name]) or _written_date(own, moved, logs),
                versions=own,
                yanked=marks.yank_of(name),
                advisories=marks.advisories_on(own or {}, name),
                aliases=marks.aliases_of(name),
                moved=tuple(_moved(own, moved, logs)),
            )
        )
    return Releases(repo, tuple(rows), marks)


def _versions(hub: Hub, repo: str, names: Sequence[str], tagged: Mapping[str, str]) -> dict[str, ReleasedVersions]:
    """Component versions by release: the newest record has the history, only what strays is asked for."""
    known: dict[str, ReleasedVersions] = {}
    asked = 0
    for name in names:
        if name in known or asked > STRAYS:
            continue
        asked += 1
        record = _record(hub, repo, tagged[name])
        if record is not None:
            own = [one for one in releases_of(record) if one.release in tagged]
            known = {one.release: one for one in own} | known
    return known


def _record(hub: Hub, repo: str, commit: str) -> ReleaseRecord | None:
    try:
        return read_remote_record(hub, repo, commit)
    except NetworkError:
        raise
    except HfenvError:
        return None  # one damaged record doesn't hide the other releases


def _changelogs(hub: Hub, repo: str, commit: str) -> dict[Component, str]:
    """The changelogs of a commit; empty where there is none that can be read."""
    paths = {component: changelog_name(component) for component in Component}
    listing = list_commit(hub, repo, commit)
    fine = {path for path in paths.values() if path in listing and listing[path].size <= LARGEST_TEXT}
    cached = fetch(hub, repo, commit, fine.__contains__)
    return {
        component: (cached.files / path).read_bytes().decode("utf-8", "replace") if path in fine else ""
        for component, path in paths.items()
    }


def _dates(hub: Hub, repo: str, refs: Refs) -> dict[str, str]:
    """The days of the newest commits; changelogs date the older ones."""
    if hub.offline or "main" not in refs.branches:
        return {}
    items = islice(history(hub, repo, refs.branches["main"]), COMMIT_PAGES)
    return {commit.id: day for commit in items if (day := date(commit.date))}


def _written_date(
    own: ReleasedVersions | None, moved: Sequence[Component], logs: Mapping[Component, str]
) -> str | None:
    days = [entry.date for _, entry in _entries(own, moved, logs)]
    return max((day for day in map(date, days) if day), default=None)


def _moved_components(
    own: ReleasedVersions, before: ReleasedVersions | None, tags: _Tags, commit: str
) -> tuple[Component, ...]:
    """What is new in a release, by its tags: with an older line, the next lower release isn't what it was made from.

    Where no component has a tag there, it is what differs from the release before.
    """
    found = [c for c in Component if tags[c].get(own.of(c)) == commit]
    return tuple(found or (c for c in Component if before is None or own.of(c) != before.of(c)))


def _moved(own: ReleasedVersions | None, moved: Sequence[Component], logs: Mapping[Component, str]) -> Iterator[Moved]:
    for component, entry in _entries(own, moved, logs):
        items = [text for text in entry.body.splitlines() if text.startswith(("- ", "* "))]
        yield Moved(component, entry.version, line(items[0][2:]) or "" if items else "")


def _entries(
    own: ReleasedVersions | None, moved: Sequence[Component], logs: Mapping[Component, str]
) -> Iterator[tuple[Component, Entry]]:
    for component in moved:
        entry = entry_for(logs[component], own.of(component)) if own else None
        if entry is not None:
            yield component, entry
