"""Discussions, pull requests and reviews, to be read."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from hfenv.card.preview_body import render_note
from hfenv.components.reviews import BEST, Titled, mean_rating, read_title, reviews_among
from hfenv.localhub import pulls
from hfenv.localhub.community import Community, Event
from hfenv.localhub.errors import HubError
from hfenv.localhub.gitstore import BRANCH
from hfenv.localhub.names import whole_number
from hfenv.localhub.pages import shown as text
from hfenv.localhub.pages.releases import release_tags
from hfenv.localhub.pages.repository import frame, opened
from hfenv.localhub.pages.visit import Visit

PAGE = 50
_MOST_EVENTS = 500  # of one discussion


@dataclass(frozen=True, slots=True)
class Said:
    """One event: who, when (ISO 8601), a comment as safe HTML or what was done; `link` is a commit's page."""

    author: str
    when: str
    kind: str
    html: str = ""
    what: str = ""
    link: str = ""


def show_all(visit: Visit) -> Response:
    """The list of discussions and pull requests, newest first."""
    shown = opened(visit)
    everything = list(Community(visit.call.hub.storage, shown.id).all())
    closed = visit.call.value("status") == "closed"
    found = [each for each in everything if each.status.is_open != closed]
    last = max(1, -(-len(found) // PAGE))
    number = min(max(1, whole_number(visit.call.value("page") or "") or 1), last)
    titled = (Titled(each.num, each.author, each.title, "") for each in everything if each.pull is None)
    reviews = list(reviews_among(titled, (tag[1:] for tag, _ in release_tags(shown.repo.git))))
    return visit.page(
        "discussions.html.jinja",
        **frame(visit, shown, "discussions"),
        found=found[(number - 1) * PAGE : number * PAGE],
        closed=closed,
        open_count=sum(each.status.is_open for each in everything),
        closed_count=sum(not each.status.is_open for each in everything),
        reviews=reviews[:PAGE],
        mean=mean_rating(reviews),
        number=number,
        last=last,
        best=BEST,
    )


def show_one(visit: Visit) -> Response:
    """One discussion or pull request, with all that was said."""
    shown = opened(visit)
    number = whole_number(visit.call.param("num"))
    found = Community(visit.call.hub.storage, shown.id).find(number) if number is not None else None
    if found is None:
        raise HubError(404, "There is no such discussion.")
    events, compare = list(found.events), None
    conflicts: tuple[str, ...] = ()
    if found.pull is not None:
        seen = pulls.changes(shown.repo.git, found, with_diff=False)
        events[1:] = sorted([*events[1:], *seen.commits], key=lambda event: event.created_at)
        conflicts = seen.conflicts
        head = shown.repo.git.ref_target(found.ref)
        compare = visit.address(shown.id, "compare", f"{found.pull.base}...{head}") if head else None
    base = visit.address(shown.id, "commit")
    return visit.page(
        "discussion.html.jinja",
        **frame(visit, shown, "discussions"),
        found=found,
        said=[said for event in events[:_MOST_EVENTS] if (said := _said(event, base)) is not None],
        more=max(0, len(events) - _MOST_EVENTS),
        conflicts=conflicts[:PAGE],
        compare=compare,
        target=found.pull.target.removeprefix(BRANCH) if found.pull else "",
        review=read_title(found.title),
        best=BEST,
    )


def _said(event: Event, base: str) -> Said | None:
    data, who, when = event.data, event.author, event.created_at
    match event.type:
        case "comment" if data.get("hidden"):
            return Said(who, when, "hidden")
        case "comment":
            raw = str(data.get("latest", {}).get("raw", ""))
            return Said(who, when, "comment", html=render_note(text.plain_text(raw)))
        case "commit":
            oid = str(data.get("oid", ""))
            return Said(who, when, "commit", what=str(data.get("subject", "")), link=f"{base}/{text.in_address(oid)}")
        case "status-change":
            return Said(who, when, "status", what=str(data.get("status", "")))
        case "title-change":
            return Said(who, when, "title", what=str(data.get("to", "")))
        case _:
            return None
