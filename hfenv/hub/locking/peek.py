"""One small file of a commit in one request, without the commit's tree: to compare it, never to use it."""

from __future__ import annotations

from urllib.parse import quote

from hfenv.card.regular import LARGEST_TEXT
from hfenv.hub.client import REPO_TYPE, Hub
from hfenv.hub.wire import get_bytes


def peek(hub: Hub, repo: str, commit: str, path: str, *, limit: int = LARGEST_TEXT) -> bytes:
    """The bytes of a file as the hub serves them. Raises NotFoundError where commit or file are gone."""
    with hub.translated(f"{repo}@{commit}"):
        return get_bytes(hub, f"{hub.endpoint}/{REPO_TYPE}s/{repo}/resolve/{commit}/{quote(path)}", limit=limit)[0]
