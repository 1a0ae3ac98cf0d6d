"""The marks of releases at a head's card on a hub: asked for, or as far as they are in the cache."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hfenv.card.reader import parse_card, read_card
from hfenv.card.regular import LARGEST_TEXT
from hfenv.components.marks import Marks, marks_of
from hfenv.components.ownership import CARD_NAME
from hfenv.errors import HfenvError, NetworkError
from hfenv.hub.cache import RepositoryCache
from hfenv.hub.client import Hub
from hfenv.hub.fetch import fetch_one, list_commit

if TYPE_CHECKING:  # which reads marks itself
    from hfenv.hub.resolve import Refs


def read_marks(hub: Hub, repo: str, refs: Refs) -> Marks:
    """The marks of the card at the head of `main`; none where there is no card that can be read.

    At most two requests (the head's tree and its card), none where the cache has them. Raises NetworkError.
    """
    head = refs.branches.get("main")
    return marks_of(head_block(hub, repo, head)) if head is not None else Marks()


def head_block(hub: Hub, repo: str, head: str) -> Mapping[str, Any]:
    """The `environment` block of a head's card; empty where there is none that can be read. Raises NetworkError."""
    try:
        file = list_commit(hub, repo, head).get(CARD_NAME)
        if file is None or file.size > LARGEST_TEXT:
            return {}
        return parse_card(fetch_one(hub, repo, head, CARD_NAME).read_bytes()).block
    except NetworkError:
        raise
    except HfenvError:
        # A head that can't be read doesn't hide the releases behind it.
        return {}


def marks_at_hand(hub: Hub, repo: str, head: str | None) -> Marks | None:
    """The marks of a head's card if that is in the cache, without a request; None where it isn't."""
    if head is None:
        return None
    cached = RepositoryCache(hub, repo).commit(head)
    try:
        return marks_of(read_card(cached.files / CARD_NAME).block)
    except HfenvError:
        return None
