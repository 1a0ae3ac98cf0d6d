"""What a card's header says about releases: which are yanked, their other names, whether a rating still holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hfenv.card import preview_facts as facts
from hfenv.components.digest import joint_digest
from hfenv.components.ownership import Component
from hfenv.components.release import ReleaseRecord
from hfenv.localhub.pages import shown

_MOST = 1000


def yanked_in(block: Mapping[str, Any]) -> dict[str, str]:
    """The yanked releases of a card's `environment` block, with the reason or an empty text."""
    listed = block.get("yanked")
    found: dict[str, str] = {}
    for item in (listed if isinstance(listed, list) else [])[:_MOST]:
        release = item.get("release") if isinstance(item, Mapping) else item
        if isinstance(release, str):
            found[release] = shown.name(facts.text(item.get("reason"))) if isinstance(item, Mapping) else ""
    return found


def aliases_in(block: Mapping[str, Any]) -> dict[str, list[str]]:
    """The names that each release goes by, sorted."""
    found: dict[str, list[str]] = {}
    for alias, release in sorted(facts.mapping(block.get("aliases")).items(), key=lambda pair: str(pair[0]))[:_MOST]:
        if isinstance(release, str):
            found.setdefault(release, []).append(shown.name(alias, 64))
    return found


def freshness(audit: Mapping[str, Any], record: ReleaseRecord | None) -> str:
    """Whether a rating is about the content of a release: `fresh`, `stale`, or `freshness_unknown`."""
    digests = audit.get("digests")
    if record is None or not isinstance(digests, str):
        return "freshness_unknown"
    held = joint_digest({component: record.components[component].exact for component in Component})
    return "fresh" if digests == held else "stale"
