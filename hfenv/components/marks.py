"""What the card at the head says about releases: yanked, advisories, aliases, lifecycle. A mark may be younger than the
release it is about, so that only the head knows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hfenv.card.manifest import Lifecycle, LifecycleStatus
from hfenv.components.history import ReleasedVersions
from hfenv.components.ownership import Component
from hfenv.components.ranges import within
from hfenv.components.versions import is_version
from hfenv.errors import UsageError

ALIAS = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}")
LATEST = "latest"  # the newest release that isn't yanked, unless the card says otherwise
_LONGEST = 500  # characters of a reason or a summary that are shown
_MOST = 10_000
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Yanked:
    """A release that nobody should start to use; `since` is a date such as 2026-01-31."""

    release: str
    reason: str | None = None
    since: str | None = None


@dataclass(frozen=True, slots=True)
class Advisory:
    """What is wrong with a range of a component's versions (of releases, where `component` is None).

    Without `versions`, it is about everything before `fixed_in`, or about everything where that is None too.
    """

    id: str
    summary: str
    component: Component | None = None
    versions: str | None = None
    fixed_in: str | None = None
    severity: str | None = None

    def applies(self, versions: Mapping[Component, str] | ReleasedVersions, release: str | None = None) -> bool:
        """Whether it is about these component versions, or about this release."""
        version = _version_of(versions, self.component) if self.component else release
        if version is None or not is_version(version):
            return False
        return within(version, self.versions or (f"<{self.fixed_in}" if self.fixed_in else "*"))

    @property
    def line(self) -> str:
        """The advisory in one line: what it is about, what is wrong, and where it is fixed."""
        about = self.component.value if self.component else "release"
        fixed = f" (fixed in {about} {self.fixed_in})" if self.fixed_in else ""
        return f"advisory {self.id} on {about} {self.versions or ''}".rstrip() + f": {self.summary}{fixed}"


@dataclass(frozen=True, slots=True)
class Marks:
    """All marks of one card. What can't be read as a mark is left out."""

    yanked: tuple[Yanked, ...] = ()
    advisories: tuple[Advisory, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    lifecycle: Lifecycle = field(default_factory=Lifecycle)

    def yank_of(self, release: str | None) -> Yanked | None:
        """The mark of a yanked release, None for any other."""
        return next((mark for mark in self.yanked if mark.release == release), None)

    def advisories_on(
        self, versions: Mapping[Component, str] | ReleasedVersions, release: str | None = None
    ) -> tuple[Advisory, ...]:
        """The advisories that are about these component versions or this release."""
        return tuple(advisory for advisory in self.advisories if advisory.applies(versions, release))

    def aliases_of(self, release: str) -> tuple[str, ...]:
        """The names that a release goes by, sorted."""
        return tuple(sorted(name for name, target in self.aliases.items() if target == release))

    def notices(
        self, repo: str, release: str | None, versions: Mapping[Component, str] | ReleasedVersions
    ) -> tuple[str, ...]:
        """A line for each thing that somebody who uses this release ought to know; empty when all is well."""
        lines = [said_of_lifecycle(repo, self.lifecycle)] if self.lifecycle.status is not LifecycleStatus.ACTIVE else []
        if (mark := self.yank_of(release)) is not None:
            lines.append(f"{repo}@{release} is yanked" + (f": {mark.reason}" if mark.reason else "."))
        return (*lines, *(f"{repo}: {advisory.line}" for advisory in self.advisories_on(versions, release)))


def said_of_lifecycle(repo: str, lifecycle: Lifecycle) -> str:
    """The state of an environment in one line."""
    reason = f": {lifecycle.reason}" if lifecycle.reason else "."
    successor = f" Its successor is {lifecycle.successor}." if lifecycle.successor else ""
    since = f" since {lifecycle.since}" if lifecycle.since else ""
    return f"{repo} is {lifecycle.status.value}{since}{reason}{successor}"


def _version_of(versions: Mapping[Component, str] | ReleasedVersions, component: Component) -> str | None:
    return versions.of(component) if isinstance(versions, ReleasedVersions) else versions.get(component)


def marks_of(block: Mapping[str, Any]) -> Marks:
    """The marks in a card's `environment` block, whatever stands there: a broken one is left out."""
    yanked = {mark.release: mark for mark in _each(block.get("yanked"), _yanked)}
    aliases = block.get("aliases")
    names = list(aliases.items())[:_MOST] if isinstance(aliases, Mapping) else []
    return Marks(
        tuple(yanked.values()),
        tuple(_each(block.get("advisories"), _advisory)),
        {name: version for name, version in names if _is_alias(name) and _is_version(version)},
        _lifecycle(block.get("lifecycle")),
    )


def _each(values: Any, read: Callable[[int, Any], _T | None]) -> Iterator[_T]:
    for index, value in enumerate(values[:_MOST] if isinstance(values, (list, tuple)) else ()):
        if (mark := read(index, value)) is not None:
            yield mark


def _yanked(_: int, value: Any) -> Yanked | None:
    mark: Mapping[str, Any] = value if isinstance(value, Mapping) else {"release": value}
    release = mark.get("release")
    if not isinstance(release, str) or not is_version(release):
        return None
    return Yanked(release, _text(mark.get("reason")), _text(mark.get("since")))


def _advisory(index: int, value: Any) -> Advisory | None:
    if not isinstance(value, Mapping) or (summary := _text(value.get("summary"))) is None:
        return None
    component, versions, fixed = value.get("component"), _text(value.get("versions")), _text(value.get("fixed_in"))
    try:
        about = Component(component) if component is not None else None
        within("1.0.0", versions or (f"<{fixed}" if fixed else "*"))
    except (ValueError, UsageError):
        return None
    name = _text(value.get("id")) or f"A-{index + 1}"
    return Advisory(name, summary, about, versions, fixed, _text(value.get("severity")))


def _lifecycle(value: Any) -> Lifecycle:
    try:
        status = LifecycleStatus(value.get("status")) if isinstance(value, Mapping) else LifecycleStatus.ACTIVE
    except ValueError:
        return Lifecycle()
    if not isinstance(value, Mapping):
        return Lifecycle()
    return Lifecycle(status, *(_text(value.get(key)) for key in ("successor", "reason", "since")))


def _text(value: Any) -> str | None:
    """A text on one line and of bounded length; None for what is none or empty."""
    if not isinstance(value, str):
        return None
    # It goes into logs and to terminals: nothing in it may move a cursor or turn the writing around.
    text = "".join(sign if sign.isprintable() else " " for sign in value[: 2 * _LONGEST])
    text = " ".join(text.split())
    return (text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...") or None


def _is_version(value: Any) -> bool:
    return isinstance(value, str) and is_version(value)


def _is_alias(value: Any) -> bool:
    return isinstance(value, str) and ALIAS.fullmatch(value) is not None
