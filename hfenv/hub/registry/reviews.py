"""Reviews on a hub: published as discussions, and read from the list of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hfenv.components.ownership import Component
from hfenv.components.reviews import BEST, Review, Titled, body_of, mean_rating, reviews_among, text_of, title_of
from hfenv.errors import HfenvError, NetworkError, UsageError
from hfenv.hub.client import REPO_TYPE, Hub
from hfenv.hub.references import HubReference
from hfenv.hub.registry.entry import date, line
from hfenv.hub.resolve import check_promises, read_remote_record, resolve
from hfenv.hub.said import refuse_secret

PAGES = 10  # requests for lists of discussions
_LONGEST = 10_000  # characters of a review's text


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
        return mean_rating(self.reviews)


def review(hub: Hub, reference: HubReference, rating: int, text: str) -> Review:
    """Publish a review of a release; a bare name means the newest one.

    Raises UsageError for a rating that is none, an empty text, or a revision that is no release.
    """
    if not 1 <= rating <= BEST:
        raise UsageError(f"{rating} is no rating.", f"Write --rating 1 to --rating {BEST}, {BEST} is the best.")
    text = text.strip()
    if not text or len(text) > _LONGEST:
        raise UsageError(f"A review says why, in at most {_LONGEST:,} characters.", "Write it with -m TEXT.")
    refuse_secret(text, "The review")
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
    titled = [
        Titled(one["num"], _author(one.get("author")), one.get("title"), date(one.get("createdAt")) or "")
        for one in found
        if one.get("isPullRequest") is not True
    ]
    opened = [discussion for discussion in found if discussion.get("status") == "open"]
    pulls = sum(discussion.get("isPullRequest") is True for discussion in opened)
    return Talk(tuple(reviews_among(titled, released)), len(opened) - pulls, pulls, complete)


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


def _author(value: Any) -> str:
    """A user's name; the account may be gone since."""
    return line(value.get("name")) or "deleted" if isinstance(value, Mapping) else "deleted"
