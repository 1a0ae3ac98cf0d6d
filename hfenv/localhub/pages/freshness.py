"""Whether the rating on a card still is about the content of a release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hfenv.components.release import ReleaseRecord


def freshness(audit: Mapping[str, Any], record: ReleaseRecord | None) -> str:
    """Whether a rating is about the content of a release: `fresh`, `stale`, or `freshness_unknown`."""
    digests = audit.get("digests")
    if record is None or not isinstance(digests, str):
        return "freshness_unknown"
    return "fresh" if digests == record.audited else "stale"
