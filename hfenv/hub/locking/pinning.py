"""Make an entry of a lock file out of what a reference means now; fetches cards and records, no content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hfenv.card.reader import Card, parse_card, read_card
from hfenv.components.marks import Marks
from hfenv.components.ownership import CARD_NAME, RECORD_NAME, Component
from hfenv.components.release import ReleaseRecord
from hfenv.errors import HfenvError, IntegrityError, NetworkError, UsageError
from hfenv.hub.client import Hub
from hfenv.hub.fetch import fetch_one
from hfenv.hub.locking.known import remember_marks
from hfenv.hub.locking.lockfile import Entry, LockedComponent, LockedResource, hub_address
from hfenv.hub.marks import read_marks
from hfenv.hub.references import HubReference, hub_reference
from hfenv.hub.resolve import Resolved, check_promises, read_refs, resolve
from hfenv.hub.verify import Verified, verified_commit

_URI = "hf://datasets/"


def pin(hub: Hub, reference: HubReference) -> Entry:
    """Lock what a reference means now, and keep what is known about its releases.

    Raises IntegrityError for a commit that is no release, and the errors of resolving and fetching.
    """
    resolved = resolve(hub, reference)
    found: dict[Component, Verified] = {}
    for commit in dict.fromkeys(resolved.commits.values()):
        own = [component for component, sha in resolved.commits.items() if sha == commit]
        found.update(dict.fromkeys(own, verified_commit(hub, resolved.repo, commit, own, lambda path: False)))
    check_promises(resolved, {component: one.record for component, one in found.items()})
    remember_marks(hub.key, resolved.repo, _marks(hub, resolved))
    records = {component: _record(one) for component, one in found.items()}
    code, reward = found[Component.CODE], found[Component.REWARD]
    if code.commit != reward.commit and (code.manifest.reward.builtin or reward.manifest.reward.builtin):
        raise UsageError(
            f"{reference.repo} computes its reward itself (reward.builtin), so that code and reward can't be mixed.",
            "Name one release or one commit.",
        )
    cards = {one.commit: _card(one) for one in found.values()}
    releases = {record.release for record in records.values()}
    return Entry(
        ref=reference.text,
        hub=hub_address(hub),
        release=releases.pop() if len(releases) == 1 else "",
        components={c: _component(c, found[c], records[c], cards[found[c].commit]) for c in Component},
        python=code.manifest.requires.python,
        packages=code.manifest.requires.packages,
        resolved=records[Component.CODE].packages,
        resources=_resources(hub, found[Component.TASKS], cards[found[Component.TASKS].commit]),
    )


def _marks(hub: Hub, resolved: Resolved) -> Marks:
    """What resolving read, else the marks at the head: whoever locks a yanked release by its name should hear of it."""
    if resolved.marks is not None:
        return resolved.marks
    return read_marks(hub, resolved.repo, read_refs(hub, resolved.repo))


def _record(found: Verified) -> ReleaseRecord:
    if found.record is None or found.unreleased:
        what = "differs from its release record" if found.record else f"has no release record ({RECORD_NAME})"
        raise IntegrityError(
            f"{found.repo}@{found.commit} {what}, so that it is no release and can't be locked.", "Lock a release."
        )
    return found.record


def _card(found: Verified) -> Card:
    return parse_card((found.files / CARD_NAME).read_bytes(), f"{CARD_NAME} of {found.repo}@{found.commit}")


def _component(component: Component, found: Verified, record: ReleaseRecord, card: Card) -> LockedComponent:
    recorded = record.components[component]
    own = card.block.get(component.value, {}).get("license")
    licence = _licence({"license": own} if own else card.front_matter)
    return LockedComponent(found.commit, recorded.version, recorded.exact, recorded.semantic, licence)


def _licence(front_matter: Mapping[str, Any]) -> str:
    """The licence, or several with commas; empty for `other` without a name, which says nothing."""
    value = front_matter.get("license")
    names = value if isinstance(value, list) else [value]
    known = [name for name in names if isinstance(name, str) and name.strip()]
    if known == ["other"]:
        named = front_matter.get("license_name")
        known = [named] if isinstance(named, str) and named.strip() else []
    return ", ".join(known)


def _resources(hub: Hub, tasks: Verified, card: Card) -> tuple[LockedResource, ...]:
    """Files that tasks refer to: those in the environment have the licence of its tasks, others their repository's."""
    own = _licence({"license": tasks.manifest.raw["tasks"].get("license")}) or _licence(card.front_matter)
    return tuple(
        LockedResource(one.name, one.uri or "", own if one.uri is None else _elsewhere(hub, one.uri))
        for one in sorted(tasks.manifest.resources, key=lambda one: one.name)  # as the file has them: equal is equal
    )


def _elsewhere(hub: Hub, uri: str) -> str:
    repo, _, rest = uri.removeprefix(_URI).partition("@")
    commit = rest.partition("/")[0]
    try:
        path = fetch_one(hub, hub_reference(f"{repo}@{commit}").repo, commit, CARD_NAME)
        return _licence(read_card(path).front_matter)
    except NetworkError:
        raise
    except HfenvError:
        return ""  # no card, or none that can be read: its licence is unknown, which --licenses says
