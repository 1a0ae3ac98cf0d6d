"""A call on its way through the hub: who makes it, what it asks, what it may, and how errors are answered."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from hfenv.localhub.accounts import Access, Role, User
from hfenv.localhub.errors import HubError, bad_request, repo_not_found, revision_not_found
from hfenv.localhub.gitstore import GitError, GitRepo
from hfenv.localhub.names import RepoId, RepoType, whole_number
from hfenv.localhub.popularity import DownloadCounter
from hfenv.localhub.quotas import Quotas
from hfenv.localhub.storage import RepoRecord, Storage
from hfenv.localhub.users import INVALID_CREDENTIALS, TokenStore

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")


@dataclass(frozen=True)
class Hub:
    """What all calls share."""

    storage: Storage
    tokens: TokenStore
    downloads: DownloadCounter
    quotas: Quotas
    in_process_user: str | None = None

    def user(self, authorization: str | None) -> User | None:
        """Who an `Authorization` header stands for; None for nobody.

        Raises:
            HubError: 401 for a token that isn't known here.
        """
        found = None
        if authorization is not None:
            text = _token(authorization)
            found = self.tokens.find(text) if text else None
        if found is None and self.in_process_user is not None:
            # Whoever calls in-process owns the storage folder; a token meant for another hub doesn't matter.
            return User(self.in_process_user, Role.WRITE)
        if found is None and authorization is not None:
            raise HubError(401, INVALID_CREDENTIALS)
        return found


def _token(authorization: str) -> str | None:
    """The token in an `Authorization` header; git sends it as a password."""
    scheme, _, text = authorization.partition(" ")
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(text.strip(), validate=True).decode("utf-8").partition(":")[2].strip()
        except ValueError:
            return None
    return text.strip() if scheme.lower() == "bearer" else None


@dataclass(frozen=True)
class OpenRepo:
    """A repository that the caller may use."""

    id: RepoId
    record: RepoRecord
    git: GitRepo

    def commit(self, revision: str) -> str:
        """The commit of a revision.

        Raises:
            HubError: 404 RevisionNotFound.
        """
        if (commit := self.git.resolve(revision)) is None:
            raise revision_not_found(revision)
        return commit


@dataclass(frozen=True)
class Call:
    """One request; path parameters and query are decoded here, once."""

    hub: Hub
    request: Request
    user: User | None
    body: bytes = b""

    def param(self, name: str) -> str:
        return unquote(self.request.path_params.get(name, ""))

    @cached_property
    def query(self) -> list[tuple[str, str]]:
        # `expand[]=x` and `expand=x` are the same to the Hub.
        pairs = parse_qsl(self.request.url.query, keep_blank_values=True)
        return [(key.removesuffix("[]"), value) for key, value in pairs]

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.query if key == name]

    def value(self, name: str) -> str | None:
        values = self.values(name)
        return values[-1] if values else None

    def flag(self, name: str) -> bool:
        return (self.value(name) or "").lower() in ("1", "true")

    @property
    def origin(self) -> str:
        """Scheme and host as the client wrote them: it compares addresses in answers with its endpoint."""
        return f"{self.request.url.scheme}://{self.request.headers.get('host', self.request.url.netloc)}"

    def json(self) -> dict[str, Any]:
        """The body as a JSON object.

        Raises:
            HubError: 400 if it isn't one.
        """
        try:
            data = parse_json(self.body or b"{}")
        except ValueError:
            raise bad_request("The body isn't JSON.") from None
        if not isinstance(data, dict):
            raise bad_request("The body isn't a JSON object.")
        return data

    @property
    def repo_id(self) -> RepoId:
        kind = self.request.path_params.get("kind", "models")
        return RepoId(RepoType(kind[:-1]), self.param("namespace"), self.param("name"))

    def access(self, repo: OpenRepo) -> Access:
        """What the caller may do with a repository, beside reading what is public."""
        return self.user.access(repo.id, repo.record.owner) if self.user else Access.NONE

    def may_read(self, repo: RepoId, record: RepoRecord) -> bool:
        return not record.private or (self.user is not None and self.user.access(repo, record.owner) >= Access.READ)

    def logged_in(self) -> User:
        """The user.

        Raises:
            HubError: 401 without a token.
        """
        if self.user is None:
            raise HubError(401, "Invalid username or password.")
        return self.user

    def check_contribute(self) -> User:
        """The user, if their token may open discussions and pull requests here and upload for them.

        Raises:
            HubError: 401 without a token, 403 with one that may only read.
        """
        user = self.logged_in()
        if not user.may_contribute(self.repo_id):
            raise HubError(403, "You don't have the rights to write with this token.")
        return user

    def check_write(self, repo: RepoId) -> User:
        """The user, if they may write a repository.

        Raises:
            HubError: 401 without a token, 403 without the right.
        """
        return self._check(repo, self.hub.storage.record(repo).owner, Access.WRITE)

    def check_create(self, repo: RepoId) -> User:
        """The user, if they may make this repository. Errors as in `check_write`."""
        return self._check(repo, None, Access.CONTRIBUTE)

    def _check(self, repo: RepoId, owner: str | None, needed: Access) -> User:
        user = self.logged_in()
        if user.access(repo, owner) < needed:
            raise HubError(
                403, f"You don't have the rights to write to the namespace '{repo.namespace}' with this token."
            )
        return user

    def open(self, repo: RepoId | None = None, *, write: bool = False) -> OpenRepo:
        """The repository of the address, or `repo`.

        Raises:
            HubError: RepoNotFound if it is missing or private to others, 401 or 403 as in `check_write`.
        """
        repo = repo or self.repo_id
        storage = self.hub.storage
        if not storage.exists(repo) or not self.may_read(repo, record := storage.record(repo)):
            raise repo_not_found(anonymous=self.user is None)
        if write:
            self.check_write(repo)
        try:
            return OpenRepo(repo, record, storage.open(repo))
        except GitError:
            if storage.exists(repo):
                raise
            raise repo_not_found(anonymous=self.user is None) from None  # deleted a moment ago

    @contextmanager
    def locked(self, repo: OpenRepo) -> Iterator[OpenRepo]:
        """The repository as it is once nobody else changes it; it may have moved, or be gone, since it was opened."""
        with self.hub.storage.lock(repo.id):
            yield self.open(repo.id)

    def page(self, items: Sequence[Any], size: int) -> tuple[Sequence[Any], dict[str, str]]:
        """One page of a list, and the `Link` header that leads to the next one."""
        start = whole_number(self.value("cursor") or "0") or 0
        end = start + size
        if end >= len(items):
            return items[start:end], {}
        query = [(key, value) for key, value in self.query if key != "cursor"] + [("cursor", str(end))]
        return items[start:end], {"Link": f'<{self.origin}{self.request.scope["path"]}?{urlencode(query)}>; rel="next"'}


def parse_json(text: bytes) -> Any:
    """JSON that can be answered and stored.

    Raises:
        ValueError: it isn't JSON, is nested too deeply to be meant, or has half a surrogate pair, which no file holds.
    """
    try:
        data = json.loads(text)
        if _SURROGATE.search(text):
            json.dumps(data, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return data


def answer(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse(data, status, headers)


def refusal(error: HubError) -> Response:
    """The error contract: a JSON body and the headers that the client reads."""
    headers = {"X-Error-Message": _header_text(error.message), **error.extra}
    if error.code is not None:
        headers["X-Error-Code"] = error.code.value
    body = {"error": error.message} | ({"url": error.url} if error.url else {})
    return JSONResponse(body, error.status, headers)


def _header_text(text: str) -> str:
    latin = text.encode("latin-1", "replace").decode("latin-1")
    return "".join(char if char.isprintable() else " " for char in latin).strip()[:1000]
