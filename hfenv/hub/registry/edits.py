"""Editing the card at the head of a remote repository: one spliced documentation commit, guarded by its parent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hfenv.card.edit import set_values
from hfenv.card.reader import Card, parse_card
from hfenv.card.regular import LARGEST_TEXT
from hfenv.components.marks import Marks, marks_of
from hfenv.components.ownership import CARD_NAME
from hfenv.errors import ConflictError, IntegrityError, NetworkError, NotFoundError
from hfenv.hub.client import REPO_TYPE, Hub
from hfenv.hub.fetch import fetch_one, list_commit
from hfenv.hub.resolve import Refs, read_refs

MAIN = "main"
ATTEMPTS = 4  # looks at a head that keeps moving


@dataclass(frozen=True, slots=True)
class Head:
    """The card at a repository's head, with its marks and all names beside it."""

    commit: str
    refs: Refs
    card: Card
    marks: Marks

    def raw(self, key: str) -> list[Any]:
        """A list of the card's `environment` block as it is written; empty where there is none."""
        value = self.card.block.get(key)
        return list(value) if isinstance(value, list) else []


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a card: the new value of each JSON Pointer, and the commit's message."""

    values: Mapping[str, Any]
    message: str


@dataclass(frozen=True, slots=True)
class Edited:
    """The head after an edit: its commit, and whether this edit made it (or found everything as it should be)."""

    repo: str
    revision: str
    changed: bool
    refs: Refs
    marks: Marks


def read_head(hub: Hub, repo: str) -> Head:
    """The card at the head of `main`; raises NotFoundError, and UnreadableError for a card that can't be read."""
    if hub.offline:
        raise NetworkError("This needs the hub, and offline mode is on.", "Turn it off.")
    refs = read_refs(hub, repo)
    commit = refs.branches.get(MAIN)
    file = list_commit(hub, repo, commit).get(CARD_NAME) if commit is not None else None
    if commit is None or file is None:
        raise NotFoundError(f"{repo} has no Environment Card ({CARD_NAME}) at its head.", "Is it an environment?")
    if file.size > LARGEST_TEXT:
        raise IntegrityError(f"{CARD_NAME} of {repo} has {file.size:,} bytes.", "Tell its author.")
    raw = fetch_one(hub, repo, commit, CARD_NAME).read_bytes()
    card = parse_card(raw, f"{CARD_NAME} of {repo}@{commit[:12]}")
    return Head(commit, refs, card, marks_of(card.block))


def edit_head(hub: Hub, repo: str, change: Callable[[Head], Change | None], subject: Callable[[Head], Any]) -> Edited:
    """Make a documentation commit that changes the card at the head; no release, and every other byte stays.

    `change` gives what to change, None where nothing is to be changed, or raises where that isn't possible. When the
    head moves meanwhile, it is asked again about the new one, unless somebody else changed the same `subject`:
    then, and when the head keeps moving, raises ConflictError. Four requests where nothing is cached and nobody
    interferes: the refs, the tree, the card and the commit, after what the client asks before a commit.
    """
    first = None
    for attempt in range(ATTEMPTS):
        head = read_head(hub, repo)
        if first is None:
            first = head
        elif subject(head) != subject(first):
            raise ConflictError(
                f"Somebody else edited the same mark of {repo} at this moment ({head.commit[:12]}); it stays as it is.",
                "Look at it with hfenv versions, then run the command again if it is still needed.",
            )
        wanted = change(head)
        content = set_values(head.card, wanted.values) if wanted else head.card.raw
        if wanted is None or content == head.card.raw:
            return Edited(repo, head.commit, False, head.refs, head.marks)
        try:
            revision = _commit(hub, repo, content, wanted.message, head.commit)
        except ConflictError:
            if attempt + 1 == ATTEMPTS:
                raise ConflictError(
                    f"{repo} moved {ATTEMPTS} times while its card was edited; nothing was changed.",
                    "Wait until others have pushed, then run the command again.",
                ) from None
            continue
        return Edited(repo, revision, True, head.refs, marks_of(parse_card(content).block))
    raise AssertionError("the last attempt returns or raises")


def _commit(hub: Hub, repo: str, content: bytes, message: str, parent: str) -> str:
    from huggingface_hub import CommitOperationAdd

    with hub.translated(repo):
        info = hub.api.create_commit(
            repo,
            [CommitOperationAdd(CARD_NAME, content)],
            commit_message=message,
            repo_type=REPO_TYPE,
            revision=MAIN,
            parent_commit=parent,
        )
    return info.oid
