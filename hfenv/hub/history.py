"""The commits behind a revision as the hub lists them, newest first; what they say of themselves may be anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from hfenv.errors import NetworkError
from hfenv.hub.client import Hub
from hfenv.hub.references import is_hash


@dataclass(frozen=True, slots=True)
class Past:
    """One commit: its hash, its title, its authors' names and its date in ISO form, empty where none was said."""

    id: str
    title: str
    authors: tuple[str, ...]
    date: str


def history(hub: Hub, repo: str, revision: str) -> Iterator[Past]:
    """The commits behind a revision and that one itself, asked for page by page as they are needed.

    Raises NetworkError for what isn't a list of commits, IntegrityError for one without end.
    """
    from hfenv.hub.wire import get_items

    with hub.translated(repo):
        for item in get_items(hub, f"/{repo}/commits/{quote(revision, safe='')}"):
            if not isinstance(item, dict) or not is_hash(_text(item.get("id"))):
                raise NetworkError(
                    f"The commits of {repo} aren't what a hub gives.",
                    "Check the address; a proxy or a login page may stand in between.",
                )
            authors = tuple(_authors(item.get("authors")))
            yield Past(item["id"], _text(item.get("title")), authors, _text(item.get("date")))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _authors(value: Any) -> Iterator[str]:
    for author in value if isinstance(value, list) else ():
        if isinstance(author, dict) and (name := _text(author.get("user"))):
            yield name
