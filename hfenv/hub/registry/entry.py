"""One environment as a list of the hub tells of it, read leniently: cards there may hold anything."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hfenv.card.manifest import Lifecycle
from hfenv.components.marks import marks_of
from hfenv.components.versions import is_version
from hfenv.hub.references import is_repo_id

RATINGS = ("A", "B", "C", "D", "E")  # the best first; U is unrated
_LONGEST = 300  # characters of a text that are kept
_MOST = 50  # items of a list
_LARGEST = 10**15  # of a count


@dataclass(frozen=True, slots=True)
class Entry:
    """What a list says: texts are on one line and of bounded length, and empty or None where nothing sensible stood.

    `rating` and `score` are the author's own claim. `grades` are numbers of tasks by difficulty.
    """

    repo: str
    name: str
    summary: str
    action: str
    release: str | None
    grades: Mapping[str, int]
    rating: str | None
    score: float | None
    licence: str | None
    tags: tuple[str, ...]
    frameworks: tuple[str, ...]
    likes: int
    downloads: int
    updated: str | None
    private: bool
    lifecycle: Lifecycle = field(default_factory=Lifecycle)

    @property
    def words(self) -> str:
        """Everything that a text is looked for in, in lower case."""
        return " ".join((self.repo, self.name, self.summary, self.action, *self.tags, *self.frameworks)).lower()


def entry_of(item: Any) -> Entry | None:
    """An item of the hub's list; None for what is no environment: no name, or no `environment` block on its card."""
    if not isinstance(item, Mapping) or not is_repo_id(repo := item.get("id")):
        return None
    card = mapping(item.get("cardData"))
    block = card.get("environment")
    if not isinstance(block, Mapping):
        return None
    audit = mapping(block.get("audit"))
    return Entry(
        repo=repo,
        name=line(block.get("name")) or line(card.get("pretty_name")) or repo.split("/")[1],
        summary=line(block.get("summary")) or "",
        action=line(mapping(block.get("action")).get("type")) or "",
        release=version(block.get("release")),
        grades=grades(mapping(block.get("tasks")).get("difficulty")),
        rating=rating(audit.get("rating")),
        score=number(audit.get("score")),
        licence=next(iter(texts(card.get("license"))), None),
        tags=texts(item.get("tags")) or texts(card.get("tags")),
        frameworks=texts(block.get("frameworks")),
        likes=count(item.get("likes")),
        downloads=count(item.get("downloads")),
        updated=date(item.get("lastModified")),
        private=item.get("private") is True,
        lifecycle=marks_of({"lifecycle": block.get("lifecycle")}).lifecycle,
    )


def mapping(value: Any) -> Mapping[str, Any]:
    """The value where it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def line(value: Any) -> str | None:
    """A text on one line and of bounded length; None for anything else and where nothing is left."""
    if not isinstance(value, str):
        return None
    text = " ".join(value[: 4 * _LONGEST].split())
    return (text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...") or None


def texts(value: Any) -> tuple[str, ...]:
    """The texts in a text, a list or a mapping's keys."""
    items = [value] if isinstance(value, str) else list(value)[:_MOST] if isinstance(value, (list, Mapping)) else []
    return tuple(text for item in items if (text := line(item)) is not None)


def version(value: Any) -> str | None:
    """A version, None for what is none."""
    return value if isinstance(value, str) and is_version(value) else None


def count(value: Any) -> int:
    """A whole number from 0 up, and 0 for what is none."""
    return min(value, _LARGEST) if type(value) is int and value >= 0 else 0


def number(value: Any) -> float | None:
    """A finite number, None for what is none."""
    if type(value) not in (int, float) or abs(value) > _LARGEST or not math.isfinite(value):
        return None
    return float(value)


def rating(value: Any) -> str | None:
    """A rating of an audit, A to E; None for U, which is no rating, and for everything else."""
    return value if isinstance(value, str) and value in RATINGS else None


def grades(value: Any) -> dict[str, int]:
    """Numbers of tasks by grade, in the order of the card."""
    found = [(line(key), count(number_of)) for key, number_of in list(mapping(value).items())[:_MOST]]
    return {key: many for key, many in found if key and many}


def date(value: Any) -> str | None:
    """The day of a time in ISO form; None for what is none."""
    return value[:10] if isinstance(value, str) and len(value) >= 10 and value[:4].isdigit() else None
