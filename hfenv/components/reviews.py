"""Reviews: a rating of one release, as a discussion on the hub in a form that reads back.

The title has the rating and the release, so that a list of titles is enough for the summary; the text starts with a
comment that pages don't show, with the commit and the components' versions. Somebody who reviews a release again opens
a new discussion: of one author's about a release the newest counts. Whether one is open or closed doesn't matter, since
the owner of what is reviewed could close it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hfenv.components.ownership import Component
from hfenv.components.versions import is_version

BEST = 5
_COMMENT = "<!-- hfenv-review"
_TITLE = re.compile(r"\[hfenv review\] (?P<rating>[1-5])/5 for (?P<release>\S{1,100})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Titled:
    """A discussion in a list, which isn't a pull request; `day` is a date in ISO form. Nothing of it is checked."""

    number: int
    author: str
    title: Any
    day: str


@dataclass(frozen=True, slots=True)
class Review:
    """A rating from 1 to 5 of one release; `number` is its discussion's, `day` a date in ISO form."""

    number: int
    author: str
    rating: int
    release: str
    day: str


def title_of(rating: int, release: str) -> str:
    """The title of a review's discussion."""
    return f"[hfenv review] {rating}/{BEST} for {release}"


def read_title(title: Any) -> tuple[int, str] | None:
    """Rating and release of a review's title; None for every other."""
    match = _TITLE.fullmatch(title.strip()) if isinstance(title, str) and len(title) < 300 else None
    return (int(match["rating"]), match["release"]) if match and is_version(match["release"]) else None


def body_of(rating: int, release: str, revision: str, versions: Mapping[Component, str], text: str) -> str:
    """The text of a review's discussion: the data, a line for people, and what the reviewer wrote."""
    named = {component.value: version for component, version in versions.items()}
    data = {"format": 1, "rating": rating, "release": release, "revision": revision, **named}
    said = ", ".join(f"{name} {version}" for name, version in named.items())
    return f"{_COMMENT} {json.dumps(data)} -->\n**{rating}/{BEST}** for release {release} ({said})\n\n{text}"


def text_of(body: str) -> str:
    """What the reviewer wrote, of a discussion's text; all of it where it isn't in the form of `body_of`."""
    head, _, text = body.partition("\n\n")
    return text.strip() if head.startswith(_COMMENT) else body.strip()


def reviews_among(discussions: Iterable[Titled], released: Iterable[str]) -> Iterator[Review]:
    """The reviews of what is `released`, newest first; of one author's about a release the newest counts."""
    known, seen = frozenset(released), set()
    for one in sorted(discussions, key=lambda discussion: -discussion.number):
        read = read_title(one.title)
        if read is not None and read[1] in known and (one.author, read[1]) not in seen:
            seen.add((one.author, read[1]))
            yield Review(one.number, one.author, *read, one.day)


def mean_rating(reviews: Sequence[Review]) -> float | None:
    """The mean rating, None without reviews."""
    return sum(review.rating for review in reviews) / len(reviews) if reviews else None
