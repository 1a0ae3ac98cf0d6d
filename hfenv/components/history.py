"""The releases that a record knows of: which version each component had in each of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hfenv.components.ownership import Component


@dataclass(frozen=True, slots=True)
class ReleasedVersions:
    """The versions that one release gave out."""

    release: str
    code: str
    tasks: str
    reward: str

    def of(self, component: Component) -> str:
        """The version of a component in this release."""
        return {Component.CODE: self.code, Component.TASKS: self.tasks, Component.REWARD: self.reward}[component]


def went_out(history: Iterable[ReleasedVersions], component: Component, version: str) -> str | None:
    """The first release with a version of a component; None where none had it."""
    return next((each.release for each in history if each.of(component) == version), None)
