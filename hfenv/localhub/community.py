"""Discussions and pull requests: what is stored of them, one file each in the repository's folder."""

from __future__ import annotations

import html
import json
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from typing import Any

from hfenv.localhub.errors import HubError, bad_request
from hfenv.localhub.gitstore import PULL, GitRepo
from hfenv.localhub.names import RepoId, whole_number
from hfenv.localhub.storage import Storage, timestamp

FOLDER = "hub-discussions"
MIN_TITLE, MAX_TITLE = 3, 200  # characters, as on the Hub
MAX_COMMENT = 64 * 1024  # characters
MAX_EVENTS = 5000
_MAX_HISTORY = 50
HIDDEN_TEXT = "This comment has been hidden"

JsonObject = dict[str, Any]


class Status(str, Enum):
    """Where a discussion stands; only pull requests are drafts or merged."""

    DRAFT = "draft"
    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"

    @property
    def is_open(self) -> bool:
        return self in (Status.DRAFT, Status.OPEN)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a discussion; `data` is what the client reads for this `type`."""

    id: str
    type: str
    author: str
    created_at: str
    data: JsonObject

    @classmethod
    def now(cls, kind: str, author: str, data: JsonObject) -> Event:
        return cls(secrets.token_hex(12), kind, author, timestamp(), data)


@dataclass(frozen=True, slots=True)
class PullRequest:
    """What a pull request is about: the branch it goes to, the commit it started from, the commit that merged it."""

    target: str
    base: str
    merge_commit: str | None = None


@dataclass(frozen=True, slots=True)
class Discussion:
    """A discussion, or a pull request where `pull` is given."""

    num: int
    title: str
    author: str
    status: Status
    created_at: str
    events: tuple[Event, ...]
    pull: PullRequest | None = None
    format: int = field(default=1)

    @property
    def ref(self) -> str:
        """The reference that a pull request's commits go to."""
        return f"{PULL}{self.num}"

    @property
    def comments(self) -> int:
        return sum(event.type == "comment" for event in self.events)

    def with_event(self, event: Event) -> Discussion:
        """The discussion with one event more.

        Raises:
            HubError: 400 if it has too many.
        """
        if len(self.events) >= MAX_EVENTS:
            raise bad_request(f"This discussion has {MAX_EVENTS} events, which is the most: open another one.")
        return replace(self, events=(*self.events, event))


def comment(author: str, text: object) -> Event:
    """The event of a comment.

    Raises:
        HubError: 400 if the text is empty or too long.
    """
    data = {"edited": False, "hidden": False, "latest": _version(author, _checked(text)), "numEdits": 0, "history": []}
    return Event.now("comment", author, data)


def edited(event: Event, author: str, text: object) -> Event:
    """A comment with another text; the texts it had stay in its history."""
    old = event.data
    history = [*old["history"], old["latest"]][-_MAX_HISTORY:]
    new = {"edited": True, "latest": _version(author, _checked(text)), "numEdits": old["numEdits"] + 1}
    return replace(event, data={**old, **new, "history": history})


def hidden(event: Event, author: str) -> Event:
    """A comment whose texts are gone for good."""
    return replace(
        event,
        data={**event.data, "hidden": True, "hiddenBy": author, "latest": _version(author, HIDDEN_TEXT)}
        | {"history": []},
    )


def _version(author: str, text: str) -> JsonObject:
    # Markdown isn't rendered here: the text is shown as it was typed, and no sign of it can be taken for a tag.
    shown = f"<p>{html.escape(text)}</p>"
    return {"raw": text, "html": shown, "updatedAt": timestamp(), "author": {"name": author}}


def _checked(text: object) -> str:
    if not isinstance(text, str) or not text.strip():
        raise bad_request("A comment needs a text.")
    if len(text) > MAX_COMMENT:
        raise bad_request(f"A comment has at most {MAX_COMMENT} characters.")
    return text.strip()


def checked_title(title: object) -> str:
    """A title in one line.

    Raises:
        HubError: 400 if it is too short or too long.
    """
    text = " ".join(title.split()) if isinstance(title, str) else ""
    if not MIN_TITLE <= len(text) <= MAX_TITLE:
        raise bad_request(f"A title has between {MIN_TITLE} and {MAX_TITLE} characters.")
    return text


def cut_title(text: str) -> str:
    """A title made of a commit's summary, whatever its length."""
    line = " ".join(text.split())[:MAX_TITLE]
    return line if len(line) >= MIN_TITLE else f"Pull request: {line}"


class Community:
    """The discussions of one repository. Whoever writes holds the repository's lock."""

    def __init__(self, storage: Storage, repo: RepoId) -> None:
        self._storage = storage
        self._folder = storage.path(repo) / FOLDER

    def numbers(self) -> list[int]:
        """Numbers of all discussions, newest first."""
        try:
            names = [path.stem for path in self._folder.iterdir() if path.suffix == ".json"]
        except FileNotFoundError:
            return []
        return sorted((number for name in names if (number := whole_number(name))), reverse=True)

    def all(self) -> Iterator[Discussion]:
        """Every discussion, newest first."""
        for number in self.numbers():
            if (found := self.find(number)) is not None:
                yield found

    def find(self, number: int) -> Discussion | None:
        try:
            data = json.loads((self._folder / f"{number}.json").read_bytes())
        except FileNotFoundError:
            return None
        return _decode(data)

    def get(self, number: int) -> Discussion:
        """The discussion.

        Raises:
            HubError: 404 if there is none of this number.
        """
        if (found := self.find(number)) is None:
            raise HubError(404, f"There is no discussion {number}.")
        return found

    def next_number(self, git: GitRepo) -> int:
        """A number that no discussion has, and no pull request that came in as a reference only."""
        pulls = [int(ref.name) for ref in git.refs(PULL) if whole_number(ref.name)]
        return max([*self.numbers()[:1], *pulls], default=0) + 1

    def save(self, discussion: Discussion) -> None:
        self._folder.mkdir(exist_ok=True)
        data = json.dumps(asdict(discussion), ensure_ascii=False).encode("utf-8")
        self._storage.replace_file(self._folder / f"{discussion.num}.json", data)

    def open(
        self,
        number: int,
        title: str,
        author: str,
        first: object,
        pull: PullRequest | None = None,
        *,
        draft: bool = False,
    ) -> Discussion:
        """Store a new discussion whose first comment is `first`."""
        status = Status.DRAFT if draft else Status.OPEN
        found = Discussion(number, title, author, status, timestamp(), (comment(author, first),), pull)
        self.save(found)
        return found


def _decode(data: JsonObject) -> Discussion:
    pull = PullRequest(**data["pull"]) if data["pull"] else None
    events = tuple(Event(**event) for event in data["events"])
    return Discussion(**{**data, "status": Status(data["status"]), "events": events, "pull": pull})
