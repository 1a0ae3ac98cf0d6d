"""Marks set and taken back: yank, advise, alias. Each is an edit of the card at the head, and moves no version."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hfenv.card.edit import REMOVE
from hfenv.components.marks import ALIAS, Advisory, Marks
from hfenv.components.ownership import Component
from hfenv.components.ranges import check_spec, within
from hfenv.components.versions import is_version, parse_version
from hfenv.errors import NotFoundError, UsageError
from hfenv.hub.client import Hub
from hfenv.hub.references import HubReference, Release, is_hash, parse_reference
from hfenv.hub.registry.edits import Change, Edited, Head, edit_head
from hfenv.hub.resolve import Refs, newest_release
from hfenv.hub.said import refuse_secret

_LONGEST = 500  # characters of a reason or a summary
SEVERITIES = ("low", "moderate", "high", "critical")


@dataclass(frozen=True, slots=True)
class NewAdvisory:
    """An advisory to publish; `id` is chosen where it is None. Of versions and fixed_in at least one is needed."""

    summary: str
    component: Component | None = None
    versions: str | None = None
    fixed_in: str | None = None
    severity: str | None = None
    id: str | None = None

    def checked(self) -> NewAdvisory:
        """The same; raises UsageError for what can't be meant."""
        text(self.summary, "what is wrong")
        if self.versions is None and self.fixed_in is None:
            raise UsageError("This advisory is about no version.", "Give --versions '<1.2.0', or --fixed-in 1.2.0.")
        if self.fixed_in is not None and not is_version(self.fixed_in):
            raise UsageError(f"'{self.fixed_in}' is no version.", "Write --fixed-in 1.2.0.")
        if self.versions is not None and self.fixed_in is not None and within(self.fixed_in, self.versions):
            raise UsageError(
                f"{self.fixed_in} is said to be fixed, and lies in {self.versions}.", "Narrow the range of --versions."
            )
        if self.severity is not None and self.severity not in SEVERITIES:
            raise UsageError(f"'{self.severity}' is no severity.", f"Write one of {', '.join(SEVERITIES)}.")
        if self.id is not None and not re.fullmatch(r"[A-Za-z0-9][\w.:-]{0,99}", self.id, re.ASCII):
            raise UsageError(f"'{self.id}' is no name for an advisory.", "Write letters, digits, dots and dashes.")
        return self

    @property
    def spec(self) -> str:
        """The range of versions that it is about."""
        return check_spec(self.versions or f"<{self.fixed_in}")


def release_of(ref: str) -> tuple[str, str]:
    """Repository and release of `org/name@1.2.0`; raises UsageError for anything else."""
    reference = parse_reference(ref)
    if (
        not isinstance(reference, HubReference)
        or not isinstance(reference.selector, Release)
        or not is_version(reference.selector.spec)
    ):
        raise UsageError(f"'{ref}' names no single release.", "Write namespace/name@VERSION, such as org/my-env@1.2.0.")
    return reference.repo, reference.selector.spec


def text(value: str, what: str) -> str:
    """A sentence on one line; raises UsageError where it is empty or long."""
    line = " ".join(value.split())
    if not line or len(line) > _LONGEST or not line.isprintable():
        raise UsageError(f"The text that says {what} is empty, has odd signs or is too long.", "Write a sentence.")
    refuse_secret(line, f"The text that says {what}")
    return line


def yank(hub: Hub, repo: str, release: str, reason: str, today: str) -> Edited:
    """Mark a release as one that nobody should start to use; `today` is a date in ISO form.

    Ranges and bare names pass it over from now on; who named it exactly or locked it still gets it, with the reason.
    """
    reason = text(reason, "why")

    def change(head: Head) -> Change | None:
        _require_release(repo, release, head.refs)
        mark = {"release": release, "reason": reason, "since": today}
        now = head.marks.yank_of(release)
        if now is not None and now.reason == reason:
            return None
        kept = _others(head.raw("yanked"), lambda item: _yanked_release(item) != release)
        return Change({"/environment/yanked": [*kept, mark]}, f"Yank release {release}: {reason}")

    return edit_head(hub, repo, change, lambda head: head.marks.yank_of(release))


def unyank(hub: Hub, repo: str, release: str) -> Edited:
    """Take the mark of a yanked release back; raises NotFoundError where it has none."""

    def change(head: Head) -> Change | None:
        if head.marks.yank_of(release) is None:
            raise NotFoundError(f"{repo}@{release} isn't yanked.", f"See hfenv versions {repo}.")
        kept = _others(head.raw("yanked"), lambda item: _yanked_release(item) != release)
        return Change({"/environment/yanked": kept or REMOVE}, f"Take back the yank of release {release}")

    return edit_head(hub, repo, change, lambda head: head.marks.yank_of(release))


def advise(hub: Hub, repo: str, new: NewAdvisory) -> tuple[Edited, Advisory]:
    """Publish an advisory, or replace the one of the same id; returns it as it stands on the card."""
    new.checked()
    check_spec(new.spec)
    summary = text(new.summary, "what is wrong")
    about = new.component.value if new.component else None
    item = {"component": about, "versions": new.spec, "fixed_in": new.fixed_in, "severity": new.severity}
    names: list[str] = []

    def change(head: Head) -> Change | None:
        written = head.raw("advisories")
        mark = {key: value for key, value in (item | {"summary": summary}).items() if value is not None}
        # The same advisory again is no second one.
        same = next((name for name, other in _named(written) if _without_id(other) == mark), None)
        name = new.id or same or _free_id(written)
        names.append(name)
        places = [index for index, (other, _) in enumerate(_named(written)) if other == name]
        if places:
            written[places[0]] = {"id": name, **mark}
        else:
            written.append({"id": name, **mark})
        return Change({"/environment/advisories": written}, f"Advise on {name}: {summary}")

    edited = edit_head(hub, repo, change, lambda head: _advisory(head.marks, new.id))
    return edited, next(advisory for advisory in edited.marks.advisories if advisory.id == names[-1])


def withdraw(hub: Hub, repo: str, name: str) -> Edited:
    """Take an advisory back; raises NotFoundError, with those that there are, where there is none of this id."""

    def change(head: Head) -> Change | None:
        if _advisory(head.marks, name) is None:
            known = ", ".join(advisory.id for advisory in head.marks.advisories[:20]) or "none"
            raise NotFoundError(f"{repo} has no advisory '{name}'.", f"It has {known}.")
        written = head.raw("advisories")
        kept = [item for other, item in _named(written) if other != name]
        return Change({"/environment/advisories": kept or REMOVE}, f"Withdraw the advisory {name}")

    return edit_head(hub, repo, change, lambda head: _advisory(head.marks, name))


def set_alias(hub: Hub, repo: str, name: str, release: str) -> Edited:
    """Let a name such as `stable` mean a release.

    Raises UsageError for what would mean something else already: a version, a hash, a branch or a tag.
    """
    if not ALIAS.fullmatch(name) or is_version(name.removeprefix("v")) or _like_hash(name):
        raise UsageError(f"'{name}' can't be an alias.", "Write a word such as stable: letters, digits, dots, dashes.")

    def change(head: Head) -> Change | None:
        if name in head.refs.branches or name in head.refs.tags or name in head.refs.pulls:
            raise UsageError(f"{repo} has a branch or tag '{name}', which would win.", "Choose another name.")
        _require_release(repo, release, head.refs)
        if head.marks.yank_of(release) is not None:
            raise UsageError(f"{repo}@{release} is yanked.", "Choose another release, or take the yank back.")
        return Change({f"/environment/aliases/{name}": release}, f"Let {name} be release {release}")

    return edit_head(hub, repo, change, lambda head: head.marks.aliases.get(name))


def remove_alias(hub: Hub, repo: str, name: str) -> Edited:
    """Take an alias away; raises NotFoundError where there is none of this name."""

    def change(head: Head) -> Change | None:
        if name not in head.marks.aliases:
            raise NotFoundError(f"{repo} has no alias '{name}'.", f"See hfenv alias {repo}.")
        last = len(head.marks.aliases) == 1
        pointer = "/environment/aliases" if last else f"/environment/aliases/{name}"
        return Change({pointer: REMOVE}, f"Remove the alias {name}")

    return edit_head(hub, repo, change, lambda head: head.marks.aliases.get(name))


def _like_hash(name: str) -> bool:
    return len(name) >= 7 and is_hash(name.lower().rjust(40, "0"))


def meant_now(edited: Edited) -> str | None:
    """The release that the bare name means after an edit, None where none is left."""
    return newest_release(edited.refs, edited.marks)


def affected(edited: Edited, advisory: Advisory) -> tuple[str, ...]:
    """The versions with a tag that an advisory is about, oldest first."""
    prefix = f"{advisory.component.value}-v" if advisory.component else "v"
    known = sorted(edited.refs.versions(prefix), key=parse_version)
    return tuple(version for version in known if within(version, advisory.versions or f"<{advisory.fixed_in}"))


def _require_release(repo: str, release: str, refs: Refs) -> None:
    released = refs.versions("v")
    if release not in released:
        known = ", ".join(sorted(released, key=parse_version, reverse=True)[:8]) or "none"
        raise NotFoundError(f"{repo} has no release {release}.", f"Released: {known}.")


def _others(items: list[Any], keep: Callable[[Any], bool]) -> list[Any]:
    return [item for item in items if keep(item)]


def _yanked_release(item: Any) -> Any:
    return item.get("release") if isinstance(item, dict) else item


def _named(written: list[Any]) -> list[tuple[str, Any]]:
    """Advisories as they are written, each with its id; one without is called by its place, as when it is read."""
    names = [item.get("id") if isinstance(item, dict) else None for item in written]
    texts = [" ".join(name.split()) if isinstance(name, str) else "" for name in names]
    return [(name or f"A-{index + 1}", written[index]) for index, name in enumerate(texts)]


def _without_id(item: Any) -> Any:
    return {key: value for key, value in item.items() if key != "id"} if isinstance(item, dict) else None


def _advisory(marks: Marks, name: str | None) -> Advisory | None:
    return next((advisory for advisory in marks.advisories if advisory.id == name), None)


def _free_id(written: list[Any]) -> str:
    taken = {name for name, _ in _named(written)}
    return next(name for number in range(1, len(taken) + 2) if (name := f"A-{number}") not in taken)
