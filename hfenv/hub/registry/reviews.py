"""Reviews: a rating of one release, as a discussion on the hub in a form that reads back.

The title has the rating and the release, so that a list of titles is enough for the summary; the text starts with a
comment that pages don't show, with the commit and the components' versions. Somebody who reviews a release again opens
a new discussion: of one author's about a release the newest counts. Whether one is open or closed doesn't matter, since
the owner of what is reviewed could close it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hfenv.components.ownership import Component
from hfenv.components.versions import is_version
from hfenv.errors import HfenvError, NetworkError, UsageError
from hfenv.hub.client import REPO_TYPE, Hub
from hfenv.hub.references import HubReference
from hfenv.hub.registry.entry import date, line
from hfenv.hub.resolve import check_promises, read_remote_record, resolve

PAGES = 10  # requests for lists of discussions
BEST = 5
_COMMENT = "<!-- hfenv-review"
_LONGEST = 10_000  # characters of a review's text
_TITLE = re.compile(r"\[hfenv review\] (?P<rating>[1-5])/5 for (?P<release>\S{1,100})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Review:
    """A rating from 1 to 5 of one release; `number` is its discussion's, `day` a date in ISO form."""

    number: int
    author: str
    rating: int
    release: str
    day: str


@dataclass(frozen=True, slots=True)
class Talk:
    """What is talked about: reviews, newest first, one per author and release, and open discussions and requests.

    `complete` is False where there are more discussions than were read.
    """

    reviews: tuple[Review, ...]
    open_discussions: int
    open_pulls: int
    complete: bool

    @property
    def mean(self) -> float | None:
        """The mean rating, None without reviews."""
        return sum(review.rating for review in self.reviews) / len(self.reviews) if self.reviews else None


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


def review(hub: Hub, reference: HubReference, rating: int, text: str) -> Review:
    """Publish a review of a release; a bare name means the newest one.

    Raises UsageError for a rating that is none, an empty text, or a revision that is no release.
    """
    if not 1 <= rating <= BEST:
        raise UsageError(f"{rating} is no rating.", f"Write --rating 1 to --rating {BEST}, {BEST} is the best.")
    text = text.strip()
    if not text or len(text) > _LONGEST:
        raise UsageError(f"A review says why, in at most {_LONGEST:,} characters.", "Write it with -m TEXT.")
    if hub.offline:
        raise NetworkError("A review needs the hub, and offline mode is on.", "Turn it off.")
    resolved = resolve(hub, reference)
    record = read_remote_record(hub, resolved.repo, resolved.revision)
    if record is None or len(set(resolved.commits.values())) > 1:
        raise UsageError(f"{reference.text} is no release.", "Review a release, such as org/name@1.2.0.")
    check_promises(resolved, dict.fromkeys(Component, record))
    versions = {component: record.components[component].version for component in Component}
    body = body_of(rating, record.release, resolved.revision, versions, text)
    with hub.translated(resolved.repo):
        made = hub.api.create_discussion(
            resolved.repo, title=title_of(rating, record.release), description=body, repo_type=REPO_TYPE
        )
    return Review(made.num, made.author, rating, record.release, f"{made.created_at:%Y-%m-%d}")


def text_of(body: str) -> str:
    """What the reviewer wrote, of a discussion's text; all of it where it isn't in the form of `body_of`."""
    head, _, text = body.partition("\n\n")
    return text.strip() if head.startswith(_COMMENT) else body.strip()


def texts(hub: Hub, repo: str, reviews: Iterable[Review]) -> dict[int, str]:
    """What reviewers wrote, by the number of the discussion; one request each."""
    found = {}
    for one in reviews:
        try:
            with hub.translated(repo):
                details = hub.api.get_discussion_details(repo, one.number, repo_type=REPO_TYPE)
            first = str(
                next((getattr(event, "content", "") for event in details.events if event.type == "comment"), "")
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            first = ""  # not in the form that the client knows
        found[one.number] = text_of(first)[:_LONGEST]
    return found


def talk(hub: Hub, repo: str, released: Iterable[str]) -> Talk | None:
    """Reviews and numbers of open discussions, from their titles; at most ten requests.

    None where the hub has no discussions, or they are turned off. A review of what isn't `released` is left out.
    """
    try:
        found, complete = _discussions(hub, repo)
    except (HfenvError, KeyError, TypeError):
        return None  # turned off, not built in, or not in the form that hubs have
    known = frozenset(released)
    opened = [discussion for discussion in found if discussion.get("status") == "open"]
    pulls = sum(discussion.get("isPullRequest") is True for discussion in opened)
    return Talk(tuple(_reviews(found, known)), len(opened) - pulls, pulls, complete)


def _discussions(hub: Hub, repo: str) -> tuple[list[Mapping[str, Any]], bool]:
    """What the hub lists of its first pages, and whether that is all."""
    from hfenv.hub.wire import LARGEST_ANSWER, get_json

    found: list[Mapping[str, Any]] = []
    with hub.translated(repo):
        for page in range(PAGES):
            listed, _ = get_json(hub, repo, "discussions", f"p={page}", limit=LARGEST_ANSWER)
            items = listed["discussions"]
            found += [item for item in items if isinstance(item, Mapping) and type(item.get("num")) is int]
            if not items or listed["start"] + len(items) >= listed["count"]:
                return found, True
    return found, False


def _reviews(discussions: Iterable[Mapping[str, Any]], released: frozenset[str]) -> Iterator[Review]:
    seen = set()
    for one in sorted(discussions, key=lambda discussion: -discussion["num"]):
        read, author = read_title(one.get("title")), _author(one.get("author"))
        if read is None or one.get("isPullRequest") is True or read[1] not in released or (author, read[1]) in seen:
            continue
        seen.add((author, read[1]))
        yield Review(one["num"], author, read[0], read[1], date(one.get("createdAt")) or "")


def _author(value: Any) -> str:
    """A user's name; the account may be gone since."""
    return line(value.get("name")) or "deleted" if isinstance(value, Mapping) else "deleted"
