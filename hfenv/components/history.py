"""Which component versions went out in which release: a record's own release and those before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hfenv.components.ownership import Component
from hfenv.components.versions import parse_version

if TYPE_CHECKING:  # which holds a history itself
    from hfenv.components.release import ReleaseRecord


@dataclass(frozen=True, slots=True)
class ReleasedVersions:
    """One release and the versions of its components."""

    release: str
    code: str
    tasks: str
    reward: str

    def of(self, component: Component) -> str:
        """The version that a component had."""
        return {Component.CODE: self.code, Component.TASKS: self.tasks, Component.REWARD: self.reward}[component]


def releases_of(record: ReleaseRecord) -> tuple[ReleasedVersions, ...]:
    """All releases that a record knows, oldest first; the last one is its own."""
    return (*record.history, record.versions)


def at_release(history: Sequence[ReleasedVersions], release: str) -> ReleasedVersions | None:
    """The entry of a release, None when there is none."""
    wanted = parse_version(release)
    return next((one for one in history if parse_version(one.release) == wanted), None)


def first_release(history: Sequence[ReleasedVersions], component: Component, version: str) -> str | None:
    """The release in which a component's version went out; None when no release had it."""
    return next((one.release for one in history if one.of(component) == version), None)
