"""Users of the embedded hub and their tokens, of which only hashes are stored."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import string
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from enum import Enum
from pathlib import Path

from hfenv.errors import NotFoundError, UnreadableError, UsageError
from hfenv.localhub.locks import locked
from hfenv.localhub.names import RESERVED_NAMESPACES, is_name

ADMINISTRATOR = "local"


class Role(str, Enum):
    """What a token may do."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class User:
    """Who makes a request. The user `local` is the administrator and may write any namespace."""

    name: str
    role: Role

    @property
    def is_administrator(self) -> bool:
        return self.name == ADMINISTRATOR

    def may_read(self, namespace: str) -> bool:
        """Whether private repositories of the namespace are theirs to see."""
        return self.is_administrator or self.name == namespace

    def may_write(self, namespace: str) -> bool:
        return self.role is Role.WRITE and self.may_read(namespace)


@dataclass(frozen=True, slots=True)
class Token:
    """A stored token: a short id to name it by, its owner and the sha256 of its text."""

    id: str
    user: str
    role: Role
    created: str
    sha256: str

    @classmethod
    def of(cls, text: str, user: str, role: Role) -> Token:
        digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
        return cls(digest[:8], user, role, datetime.now(timezone.utc).isoformat(timespec="seconds"), digest)


def check_user(name: str) -> str:
    """Return `name` if it can be a user's name.

    Raises:
        UsageError: it can't.
    """
    if not is_name(name) or name.lower() in RESERVED_NAMESPACES:
        raise UsageError(
            f"'{name}' can't be a user's name.",
            "Use letters, digits, '-', '_' and '.', and none of the Hub's own words.",
        )
    return name


class TokenStore:
    """The file `tokens.json`, and tokens given to one server for its lifetime (`extra`)."""

    def __init__(self, root: Path, extra: Iterable[Token] = ()) -> None:
        self._path = root / "tokens.json"
        self._lock = root / "locks" / "tokens.lock"
        self._extra = tuple(extra)

    def find(self, text: str) -> User | None:
        """The user a token's text belongs to; a token that was revoked a moment ago is gone."""
        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        for token in (*self._extra, *self.tokens()):
            if secrets.compare_digest(token.sha256, digest):
                return User(token.user, token.role)
        return None

    def tokens(self) -> tuple[Token, ...]:
        """The stored tokens.

        Raises:
            UnreadableError: the file isn't what was written.
        """
        try:
            data = json.loads(self._path.read_bytes())
            return tuple(Token(**{**entry, "role": Role(entry["role"])}) for entry in data["tokens"])
        except FileNotFoundError:
            return ()
        except (ValueError, KeyError, TypeError) as error:
            raise UnreadableError(
                f"{self._path} isn't a list of tokens.", "Delete the file and create the tokens again."
            ) from error

    def create(self, user: str, role: Role) -> str:
        """Store a new token and return its text, which can't be read again."""
        check_user(user)
        alphabet = string.ascii_letters + string.digits
        text = "hf_" + "".join(secrets.choice(alphabet) for _ in range(34))
        with locked(self._lock):
            self._write((*self.tokens(), Token.of(text, user, role)))
        return text

    def revoke(self, token_id: str) -> Token:
        """Delete the token with this id, or this text.

        Raises:
            NotFoundError: there is none.
        """
        digest = hashlib.sha256(token_id.encode("utf-8", "surrogateescape")).hexdigest()
        with locked(self._lock):
            tokens = self.tokens()
            gone = next((token for token in tokens if token.id == token_id or token.sha256 == digest), None)
            if gone is None:
                raise NotFoundError("There is no such token.", "See the ids with: hfenv hub token list")
            self._write(tuple(token for token in tokens if token is not gone))
        return gone

    def _write(self, tokens: tuple[Token, ...]) -> None:
        handle, name = tempfile.mkstemp(prefix="tokens-", dir=self._path.parent)  # mode 0600
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                json.dump({"format": 1, "tokens": [asdict(token) for token in tokens]}, file, indent=2)
            Path(name).replace(self._path)
        finally:
            Path(name).unlink(missing_ok=True)
