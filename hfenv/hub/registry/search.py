"""Search: the hub's own list of environments, as much of it filtered there as it can, the rest here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any
from urllib.parse import urlencode

from hfenv.errors import NetworkError, UsageError
from hfenv.hub.client import Hub
from hfenv.hub.registry.entry import RATINGS, Entry, entry_of

TAG = "hfenv"
PAGE = 1000  # entries that one answer may hold; a hub may send less
MOST = 20_000  # entries that are looked at
# What a list is to tell of each: without this the Hub sends neither cards nor all counts.
EXPAND = ("author", "cardData", "downloads", "lastModified", "likes", "private", "tags")


class Sort(str, Enum):
    """By what results are sorted, the best first."""

    LIKES = "likes"
    DOWNLOADS = "downloads"
    RATING = "rating"
    DATE = "date"


# What the hub itself calls the order; it knows no ratings.
_AT_HUB = {Sort.LIKES: "likes", Sort.DOWNLOADS: "downloads", Sort.DATE: "lastModified"}
_KEYS: dict[Sort, Callable[[Entry], Any]] = {
    Sort.LIKES: lambda entry: entry.likes,
    Sort.DOWNLOADS: lambda entry: entry.downloads,
    Sort.DATE: lambda entry: entry.updated or "",
    # A rating of A is above one of B whatever its points; without one, last.
    Sort.RATING: lambda entry: (-RATINGS.index(entry.rating), entry.score or 0.0) if entry.rating else (-99, 0.0),
}


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for; all of it must hold, and each word of `text` must be found somewhere in the entry."""

    text: str = ""
    tags: tuple[str, ...] = ()
    framework: str | None = None
    action: str | None = None
    licence: str | None = None
    min_rating: str | None = None
    grade: str | None = None
    author: str | None = None
    sort: Sort = Sort.LIKES
    limit: int = 20

    def __post_init__(self) -> None:
        if self.min_rating is not None and self.min_rating not in RATINGS:
            raise UsageError(f"'{self.min_rating}' is no rating.", f"Write one of {', '.join(RATINGS)}.")
        if self.limit < 1:
            raise UsageError("A limit below 1 finds nothing.", "Write --limit 20.")

    @property
    def server_filters(self) -> list[str]:
        """Tags that the hub filters by: ours, the ones asked for, and the licence as the hub tags it."""
        licence = [f"license:{self.licence.lower()}"] if self.licence else []
        return [TAG, *self.tags, *licence]

    @property
    def tests(self) -> dict[str, Callable[[Entry], bool]]:
        """What only this side can filter by, each by the option that asks for it."""
        words, tests = self.text.lower().split(), dict[str, Callable[[Entry], bool]]()
        if words:
            tests["TEXT"] = lambda entry: all(word in entry.words for word in words)
        if (framework := _folded(self.framework)) is not None:
            tests["--framework"] = lambda entry: framework in {_folded(f) for f in (*entry.frameworks, *entry.tags)}
        if (action := _folded(self.action)) is not None:
            tests["--action"] = lambda entry: _folded(entry.action) == action
        if self.min_rating is not None:
            accepted = RATINGS[: RATINGS.index(self.min_rating) + 1]
            tests["--min-rating"] = lambda entry: entry.rating in accepted
        if (grade := _folded(self.grade)) is not None:
            tests["--grade"] = lambda entry: grade in {_folded(name) for name in entry.grades}
        return tests

    @property
    def asked(self) -> list[str]:
        """What was asked for, as the command line has it."""
        options = [("--author", self.author), ("--license", self.licence), ("--framework", self.framework)]
        options += [("--action", self.action), ("--min-rating", self.min_rating), ("--grade", self.grade)]
        tags = [f"--tag {tag}" for tag in self.tags]
        return [*([self.text] if self.text else []), *tags, *(f"{name} {value}" for name, value in options if value)]


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found. `looked_at` environments were read and `fitting` of them fit; `complete` is False where
    more of either may be on the hub.

    `without` says, where nothing was found, how many there would be without one of the filters.
    """

    entries: tuple[Entry, ...]
    looked_at: int
    fitting: int
    complete: bool
    without: tuple[tuple[str, int], ...] = ()


def search(hub: Hub, query: Query) -> Found:
    """The environments that fit a query, sorted, at most `limit` of them.

    One request for each page of the hub's list. Where the hub sorts and this side filters, pages end with the last
    result that is wanted. Raises NetworkError, AccessError.
    """
    if hub.offline:
        raise NetworkError("A search needs the hub, and offline mode is on.", "Turn it off.")
    tests = query.tests
    sorted_there = query.sort in _AT_HUB
    seen, fitting = list[Entry](), list[Entry]()
    complete = True
    for index, item in enumerate(_listed(hub, query, small=sorted_there and not tests)):
        if index >= MOST or (sorted_there and len(fitting) >= query.limit):
            complete = False
            break
        if (entry := entry_of(item)) is None:
            continue
        seen.append(entry)
        if all(test(entry) for test in tests.values()):
            fitting.append(entry)
    # The hub's order among equals is its own; here it is the same each time.
    fitting.sort(key=lambda entry: entry.repo)
    fitting.sort(key=_KEYS[query.sort], reverse=True)
    without = () if fitting else tuple(_without(seen, tests))
    return Found(tuple(fitting[: query.limit]), len(seen), len(fitting), complete, without)


def _without(seen: list[Entry], tests: dict[str, Callable[[Entry], bool]]) -> Iterator[tuple[str, int]]:
    for left_out in tests:
        others = [test for name, test in tests.items() if name != left_out]
        if others and (many := sum(all(test(entry) for test in others) for entry in seen)):
            yield left_out, many


def _listed(hub: Hub, query: Query, *, small: bool) -> Iterator[Any]:
    """The hub's list, page after page, as plain JSON.

    Not the client's own `list_datasets`: it makes objects of the cards, and one card with an odd key stops the list.
    """
    from hfenv.hub.wire import get_items

    params: dict[str, Any] = {"filter": query.server_filters, "expand": list(EXPAND)}
    params["limit"] = min(PAGE, query.limit + 1) if small else PAGE
    if query.author:
        params["author"] = query.author
    if query.sort in _AT_HUB:
        params["sort"] = _AT_HUB[query.sort]
    with hub.translated("The list of environments"):
        yield from get_items(hub, "", urlencode(params, doseq=True))


def _folded(text: str | None) -> str | None:
    """Names of frameworks, actions and grades are compared without case, and `-` is `_`."""
    return text.strip().lower().replace("-", "_") or None if text is not None else None
