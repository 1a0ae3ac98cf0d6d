"""What changed since an older version, out of changelogs: entries with their releases, breaking ones marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hfenv.components.changelog import Entry, entries
from hfenv.components.history import ReleasedVersions, first_release
from hfenv.components.ownership import Component
from hfenv.components.versions import Level, is_version, level_between, parse_version


@dataclass(frozen=True, slots=True)
class VersionNotes:
    """What a changelog says about one version.

    `release` is the one in which it went out, None where that isn't known; `pending` says that it hasn't yet.
    `breaking` says that after the step to it, from the version before, numbers or callers of before may not fit.
    """

    version: str
    date: str
    text: str
    release: str | None
    pending: bool
    breaking: bool


def all_notes(
    text: str, component: Component, history: Sequence[ReleasedVersions] = (), *, since: str | None = None
) -> tuple[VersionNotes, ...]:
    """The entries of a component's changelog in the order of the file; with `since`, only those above that version.

    Then the newest comes first. A heading whose version isn't one in the sense of semver counts by its place.
    """
    found = entries(text)
    kept = found if since is None else _above(found, since)
    finals = [one.version for one in found if is_version(one.version) and not parse_version(one.version).prerelease]
    if since is not None and not parse_version(since).prerelease:
        finals.append(since)
    return tuple(
        VersionNotes(
            one.version,
            one.date,
            one.body,
            one.release or first_release(history, component, one.version),
            one.release is None and _is_pending(one.version, component, history),
            is_version(one.version) and _breaks(one.version, finals, one.body),
        )
        for one in kept
    )


def _above(found: Sequence[Entry], since: str) -> list[Entry]:
    before = parse_version(since)
    versions = [parse_version(one.version) if is_version(one.version) else None for one in found]
    end = next((at for at, version in enumerate(versions) if version is not None and version <= before), len(found))
    newer = [(version, one) for version, one in zip(versions, found, strict=True) if version and version > before]
    newer.sort(key=lambda pair: pair[0], reverse=True)
    ordered = [one for _, one in newer]
    for at, one in enumerate(found[:end]):
        if versions[at] is None:
            ordered.insert(at, one)
    return ordered


def _is_pending(version: str, component: Component, history: Sequence[ReleasedVersions]) -> bool:
    return is_version(version) and all(parse_version(one.of(component)) < parse_version(version) for one in history)


def _breaks(version: str, others: Sequence[str], text: str) -> bool:
    """Whether a version breaks with the final one before it; below 1.0.0 a minor one may, and its text says so."""
    mine = parse_version(version)
    before = max((other for other in map(parse_version, others) if other < mine), default=None)
    if before is None:
        return False
    level = level_between(str(before), version)
    return level is Level.MAJOR or (level is Level.MINOR and before.major == 0 and "breaking" in text.lower())
