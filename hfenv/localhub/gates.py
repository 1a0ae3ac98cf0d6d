"""Gated repositories: who asked for access, and what was answered; one file in the repository's folder."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

from hfenv.localhub.accounts import Access
from hfenv.localhub.errors import ErrorCode, HubError
from hfenv.localhub.names import RepoId
from hfenv.localhub.storage import Storage, timestamp
from hfenv.localhub.wire import Call, OpenRepo

_FILE = "hub-access.json"


class Answer(str, Enum):
    """What became of a request for access; the values are the client's."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """One user's request for one repository."""

    user: str
    id: str
    status: Answer
    when: str
    fields: dict[str, Any]
    reason: str | None = None

    @classmethod
    def now(cls, user: str, status: Answer, fields: dict[str, Any] | None = None) -> AccessRequest:
        return cls(user, secrets.token_hex(12), status, timestamp(), fields or {})


class Gate:
    """The requests for access to one repository. Whoever writes holds the repository's lock."""

    def __init__(self, storage: Storage, repo: RepoId) -> None:
        self._storage = storage
        self._path = storage.path(repo) / _FILE

    def requests(self) -> dict[str, AccessRequest]:
        """Requests by user, in the order in which they came."""
        try:
            data = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        found = (AccessRequest(**{**each, "status": Answer(each["status"])}) for each in data["requests"])
        return {each.user: each for each in found}

    def save(self, request: AccessRequest) -> None:
        found = [asdict(each) for each in ({**self.requests(), request.user: request}).values()]
        data = {"format": 1, "requests": found}
        self._storage.replace_file(self._path, json.dumps(data, ensure_ascii=False).encode("utf-8"))


def check_gate(call: Call, repo: OpenRepo) -> None:
    """Refuse the content of a gated repository to who has no access to it.

    Raises:
        HubError: GatedRepo, 401 without a token and 403 with one.
    """
    if not repo.record.gated or call.access(repo) >= Access.READ:
        return
    full = repo.id.full
    if call.user is None:
        raise HubError(401, f"Access to {full} is restricted: send a token.", ErrorCode.GATED_REPO)
    found = Gate(call.hub.storage, repo.id).requests().get(call.user.name)
    match found.status if found else None:
        case Answer.ACCEPTED:
            return
        case Answer.PENDING:
            message = f"Your request for access to {full} waits for an answer by its authors."
        case Answer.REJECTED:
            message = f"Your request for access to {full} was rejected by its authors."
        case _:
            message = f"Access to {full} is restricted and you haven't asked for it: POST to {_ask_url(call, repo)}"
    raise HubError(403, message, ErrorCode.GATED_REPO)


def _ask_url(call: Call, repo: OpenRepo) -> str:
    return f"{call.origin}/{repo.id.url_path}/ask-access"


def is_open_to(call: Call, repo: OpenRepo) -> bool:
    """Whether the caller gets the content of a repository that they may read."""
    try:
        check_gate(call, repo)
    except HubError:
        return False
    return True
