"""Whether a commit may be used here: its licences and its rating against the policies that hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hfenv.components.digest import joint_digest
from hfenv.components.ownership import Component
from hfenv.components.release import ReleaseRecord
from hfenv.hub.client import Hub
from hfenv.hub.marks import head_block
from hfenv.hub.policy import check_licences, check_rating, check_source, least_rating
from hfenv.hub.resolve import read_refs


def check_allowed(hub: Hub, repo: str, front_matter: Mapping[str, Any], record: ReleaseRecord | None) -> None:
    """Refuse what a policy doesn't allow: endpoint, namespace, licences, rating. Raises PolicyError.

    `front_matter` and `record` are those of the commit that is to be used. A rating often comes after its release, so
    that the head's card is asked too, by requests where it isn't in the cache; a stale one counts for nothing.
    """
    check_source(hub.key, repo)
    check_licences(repo, front_matter)
    if least_rating() is None:
        return
    held = record.audited if record is not None else None
    grade = fresh_rating(front_matter.get("environment"), held)
    if grade is None and held is not None:
        head = read_refs(hub, repo).branches.get("main")
        grade = fresh_rating(head_block(hub, repo, head), held) if head is not None else None
    check_rating(repo, grade)


def check_folder(key: str, repo: str, front_matter: Mapping[str, Any], exact: Mapping[Component, str]) -> None:
    """The same for a folder that was pulled from an endpoint, by what lies there; asks nobody."""
    check_source(key, repo)
    check_licences(repo, front_matter)
    check_rating(repo, fresh_rating(front_matter.get("environment"), joint_digest(exact)))


def fresh_rating(block: Any, held: str | None) -> str | None:
    """The rating in a card's block if what was audited is what is held, by its joint digest; else None."""
    audit = block.get("audit") if isinstance(block, Mapping) else None
    if not isinstance(audit, Mapping) or held is None or audit.get("digests") != held:
        return None
    grade = audit.get("rating")
    return grade if isinstance(grade, str) else None
