"""The list of environments: the form, the ones that fit, the pages."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.responses import Response

from hfenv.localhub.names import whole_number
from hfenv.localhub.pages.catalogue import PAGE, RATINGS, SORTS, Search, choices, matching
from hfenv.localhub.pages.visit import Visit

_LONGEST = 200  # characters of one field of the form


def show(visit: Visit) -> Response:
    """The list at `/`."""
    search = _search(visit)
    everything = visit.site.catalogue.environments(visit.call)
    found = matching(everything, search)
    last = max(1, -(-len(found) // PAGE))
    number = min(search.page, last)
    return visit.page(
        "environments.html.jinja",
        search=search,
        found=found[(number - 1) * PAGE : number * PAGE],
        total=len(found),
        everything=len(everything),
        number=number,
        last=last,
        previous=_address(search, number - 1) if number > 1 else None,
        following=_address(search, number + 1) if number < last else None,
        choices=choices(everything),
        ratings=RATINGS[:-1],
        sorts=SORTS,
    )


def _search(visit: Visit) -> Search:
    def value(name: str) -> str:
        return (visit.call.value(name) or "").strip()[:_LONGEST]

    sort = value("sort")
    return Search(
        text=value("q"),
        tag=value("tag"),
        action=value("action"),
        licence=value("licence"),
        grade=value("grade"),
        framework=value("framework"),
        rating=value("rating"),
        sort=sort if sort in SORTS else "date",
        page=max(1, whole_number(value("page")) or 1),
    )


def _address(search: Search, page: int) -> str:
    return f"/?{urlencode({**search.filters, 'sort': search.sort, 'page': str(page)})}"
