"""The environments of the hub that a visitor may see: what lists show of each, and which fit a search."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from hfenv.card import preview_facts as facts
from hfenv.localhub import cards, popularity
from hfenv.localhub.gitstore import BRANCH, GitError, GitRepo
from hfenv.localhub.names import RepoId, RepoType
from hfenv.localhub.pages import shown
from hfenv.localhub.storage import RECORD, RepoRecord, Storage
from hfenv.localhub.wire import Call

PAGE = 30
RATINGS = ("A", "B", "C", "D", "E")
SORTS = ("date", "rating", "likes", "downloads")
_MARKS = frozenset({"hfenv", "rl-environment"})
_REMEMBERED = 16_384
# Whatever changes about a repository in a list changes one of these.
_WATCHED = (RECORD, f"{BRANCH}main", "packed-refs", popularity.LIKES, popularity.DOWNLOADS)
_CLOCK_NS = 2 * 10**9  # two changes within one tick of a disk's clock look like one
_TAGS, _FRAMEWORKS = 12, 6  # of one environment that a list shows


@dataclass(frozen=True, slots=True)
class About:
    """What an environment's card says, as texts of bounded length; `haystack` is what a search looks through.

    `rating` is A to E, U for an audit without a rating, empty without an audit. `changed` is in seconds since 1970.
    """

    title: str
    summary: str
    action: str
    licences: tuple[str, ...]
    frameworks: tuple[str, ...]
    grades: tuple[str, ...]
    tags: tuple[str, ...]
    release: str
    status: str
    rating: str
    score: float
    changed: int
    haystack: str


@dataclass(frozen=True, slots=True)
class Listed:
    """An environment in a list."""

    repo: RepoId
    record: RepoRecord
    about: About
    likes: int = 0
    downloads: int = 0


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for; empty fields don't matter. `rating` is the least one, `page` counts from 1."""

    text: str = ""
    tag: str = ""
    action: str = ""
    licence: str = ""
    grade: str = ""
    framework: str = ""
    rating: str = ""
    sort: str = "date"
    page: int = 1

    @property
    def filters(self) -> dict[str, str]:
        """What is set, by the names of the form."""
        found = {"q": self.text, "tag": self.tag, "action": self.action, "licence": self.licence}
        found |= {"grade": self.grade, "framework": self.framework, "rating": self.rating}
        return {key: value for key, value in found.items() if value}


@dataclass(frozen=True, slots=True)
class Choices:
    """What the environments offer to choose from."""

    actions: tuple[str, ...]
    licences: tuple[str, ...]
    grades: tuple[str, ...]
    frameworks: tuple[str, ...]


class Catalogue:
    """The environments of a hub. What is known of one is read again when one of its files says that it changed."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._base = str(storage.root / RepoType.DATASET.plural)
        self._known: dict[str, tuple[_Signature, Listed | None]] = {}

    def environments(self, call: Call) -> list[Listed]:
        """All that the visitor may see, in the order of names."""
        known: dict[str, tuple[_Signature, Listed | None]] = {}
        found = []
        for folder, namespace, name in _folders(self._base):
            signature = _signature(folder)
            before = self._known.get(folder)
            if before is not None and before[0] == signature and signature.settled:
                entry = before
            else:
                entry = (signature, self._read(folder, RepoId(RepoType.DATASET, namespace, name)))
            known[folder] = entry
            listed = entry[1]
            if listed is not None and call.may_read(listed.repo, listed.record):
                found.append(listed)
        self._known = known
        return found

    def _read(self, folder: str, repo: RepoId) -> Listed | None:
        path = Path(folder)
        try:
            if not self._storage.exists(repo):
                return None
            git = GitRepo(path)
            head = git.ref_target(f"{BRANCH}main")
            about = _about(path, head, repo.name) if head else None
        except (GitError, KeyError, OSError):
            return None  # deleted a moment ago, or damaged: the others are still there to see
        if about is None:
            return None
        likes, downloads = len(popularity.likers(path)), popularity.downloads(path).recent
        return Listed(repo, self._storage.record(repo), about, likes, downloads)


@dataclass(frozen=True, slots=True)
class _Signature:
    """When files of a repository changed last. It is settled where that was long enough ago to be told by a clock."""

    files: tuple[tuple[int, int, int], ...]
    settled: bool = field(compare=False)


def _folders(base: str) -> Iterator[tuple[str, str, str]]:
    """Folders of repositories, with namespace and name, in the order of these. Many: without objects for paths."""
    for namespace in _names_in(base):
        for name in _names_in(f"{base}/{namespace}"):
            if name.endswith(".git"):
                yield f"{base}/{namespace}/{name}", namespace, name[:-4]


def _names_in(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208
    except (FileNotFoundError, NotADirectoryError):
        return []


def _signature(folder: str) -> _Signature:
    files = []
    for name in _WATCHED:
        try:
            status = os.stat(f"{folder}/{name}")  # noqa: PTH116
            files.append((status.st_mtime_ns, status.st_ino, status.st_size))
        except OSError:
            files.append((0, 0, 0))
    newest = max(changed for changed, _, _ in files)
    return _Signature(tuple(files), time.time_ns() - newest > _CLOCK_NS)


@lru_cache(maxsize=_REMEMBERED)
def _about(folder: Path, head: str, name: str) -> About | None:
    # A commit's content never changes, so neither does what its card says.
    git = GitRepo(folder)
    entry = git.entry(head, cards.CARD_PATH)
    data = cards.card_data(git.read(entry.oid)) if entry and not entry.is_folder else {}
    tags = cards.tags(data)
    block = facts.mapping(data.get("environment"))
    if not block and not _MARKS & set(tags):
        return None
    return _described(data, block, tags, name, git.commit_info(head).when)


def _described(
    data: Mapping[str, Any], block: Mapping[str, Any], tags: Sequence[str], name: str, changed: int
) -> About:
    audit = facts.mapping(block.get("audit"))
    rating, score = audit.get("rating"), audit.get("score")
    status = facts.mapping(block.get("lifecycle")).get("status")
    title = shown.name(facts.text(data.get("pretty_name")) or facts.text(block.get("name")) or name, 120)
    summary = shown.name(facts.text(block.get("summary")))
    about = About(
        title=title,
        summary=summary,
        action=shown.name(facts.text(facts.mapping(block.get("action")).get("type")), 40),
        licences=_names(data.get("license"), 8),
        frameworks=_names(block.get("frameworks"), _FRAMEWORKS),
        grades=_names(list(facts.mapping(facts.mapping(block.get("tasks")).get("difficulty"))), 24),
        tags=tuple(shown.name(tag, 60) for tag in facts.strings(data.get("tags"))[:_TAGS] if tag not in _MARKS),
        release=shown.name(facts.text(block.get("release")), 40),
        status=status if status in ("deprecated", "archived") else "",
        rating=(rating if rating in RATINGS else "U") if isinstance(rating, str) else "",
        score=float(score) if isinstance(score, (int, float)) and 0 <= score <= 100 else -1.0,
        changed=changed,
        haystack="",
    )
    words = [title, summary, about.action, *tags[:100], *about.frameworks]
    return replace(about, haystack=" ".join(words).casefold())


def _names(value: Any, most: int) -> tuple[str, ...]:
    """The names in a list, the keys of a mapping, or a single name."""
    items = list(value) if isinstance(value, Mapping) else value
    return tuple(shown.name(text, 60) for text in facts.strings(items)[:most])


def choices(listed: Iterable[Listed]) -> Choices:
    """What there is to choose from, most frequent first where there is no other order."""
    abouts = [each.about for each in listed]
    grades = {grade: 1 for about in abouts for grade in about.grades}
    return Choices(
        actions=_sorted(about.action for about in abouts),
        licences=_sorted(licence for about in abouts for licence in about.licences),
        grades=tuple(bar.name for bar in facts.bars(grades) if bar.name),
        frameworks=_sorted(framework for about in abouts for framework in about.frameworks),
    )


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if name}, key=str.casefold))


def matching(listed: Sequence[Listed], search: Search) -> list[Listed]:
    """Those that fit everything that is looked for, sorted; equal ones by name."""
    words = search.text.casefold().split()
    tag = search.tag.casefold().strip()
    allowed = RATINGS[: RATINGS.index(search.rating) + 1] if search.rating in RATINGS else ()

    def fits(each: Listed) -> bool:
        about = each.about
        return (
            (not allowed or about.rating in allowed)
            and (not search.action or about.action == search.action)
            and (not search.licence or search.licence in about.licences)
            and (not search.grade or search.grade in about.grades)
            and (not search.framework or search.framework in about.frameworks)
            and (not tag or tag in (own.casefold() for own in about.tags))
            and all(word in about.haystack or word in each.repo.full.lower() for word in words)
        )

    return sorted(filter(fits, listed), key=_ORDERS[search.sort if search.sort in SORTS else "date"])


def _by_rating(each: Listed) -> tuple[int, float, str]:
    return ("ABCDEU".find(each.about.rating) if each.about.rating else 9, -each.about.score, each.repo.full)


_ORDERS: dict[str, Any] = {
    "date": lambda each: (-each.about.changed, each.repo.full),
    "rating": _by_rating,
    "likes": lambda each: (-each.likes, each.repo.full),
    "downloads": lambda each: (-each.downloads, each.repo.full),
}
