"""Users of the embedded hub and their tokens, of which only hashes are stored."""

from __future__ import annotations

import hashlib
import secrets
import string
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from hfenv.errors import ConflictError, NotFoundError, UsageError
from hfenv.localhub.accounts import Role, Scope, User, check_account
from hfenv.localhub.errors import HubError
from hfenv.localhub.jsonfile import JsonFile
from hfenv.localhub.organisations import Organisations

# The client compares this text to tell a bad token from a missing repository.
INVALID_CREDENTIALS = "Invalid credentials in Authorization header"


@dataclass(frozen=True, slots=True)
class Token:
    """A stored token: a short id to name it by, its owner and the sha256 of its text; times in ISO 8601, UTC."""

    id: str
    user: str
    role: Role
    created: str
    sha256: str
    scopes: tuple[Scope, ...] = ()
    expires: str | None = None

    @classmethod
    def of(
        cls, text: str, user: str, role: Role, scopes: tuple[Scope, ...] = (), life: timedelta | None = None
    ) -> Token:
        digest, now = hashlib.sha256(text.encode("utf-8")).hexdigest(), datetime.now(timezone.utc)
        expires = None if life is None else _iso(now + life)
        return cls(digest[:8], user, role, _iso(now), digest, scopes, expires)

    @classmethod
    def decode(cls, data: dict[str, Any]) -> Token:
        scopes = tuple(Scope.parse(text) for text in data.get("scopes", ()))
        return cls(**{**data, "role": Role(data["role"]), "scopes": scopes})

    def encode(self) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in ("id", "user", "created", "sha256")}
        found |= {"role": self.role.value, "scopes": [str(scope) for scope in self.scopes]}
        return found | ({"expires": self.expires} if self.expires else {})

    @property
    def is_expired(self) -> bool:
        return self.expires is not None and datetime.fromisoformat(self.expires) <= datetime.now(timezone.utc)


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


class TokenStore:
    """The file `tokens.json`, and tokens given to one server for its lifetime (`extra`)."""

    def __init__(self, root: Path, extra: Iterable[Token] = ()) -> None:
        self._file = JsonFile(root, "tokens.json")
        self._organisations = Organisations(root)
        self._extra = tuple(extra)

    @property
    def organisations(self) -> Organisations:
        return self._organisations

    def find(self, text: str) -> User | None:
        """The user a token's text belongs to; a token that was revoked a moment ago is gone.

        Raises:
            HubError: 401 for a token that has expired.
        """
        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        for token in (*self._extra, *self.tokens()):
            if secrets.compare_digest(token.sha256, digest):
                if token.is_expired:
                    message = f"This token has expired on {token.expires}: ask for a new one."
                    raise HubError(401, message, extra={"X-Error-Message": INVALID_CREDENTIALS})
                organisations = self._organisations.of(token.user)
                return User(token.user, token.role, organisations, token.scopes, token.expires)
        return None

    def knows(self, text: str) -> bool:
        """Whether a token is good here."""
        try:
            return self.find(text) is not None
        except HubError:
            return False

    def tokens(self) -> tuple[Token, ...]:
        """The stored tokens.

        Raises:
            UnreadableError: the file isn't what was written.
        """
        return self._decode(self._file.read())

    def _decode(self, data: dict[str, Any]) -> tuple[Token, ...]:
        try:
            return tuple(Token.decode(entry) for entry in data.get("tokens", ()))
        except (ValueError, KeyError, TypeError, UsageError) as error:
            raise self._file.unreadable() from error

    def users(self) -> frozenset[str]:
        """Names of users: whoever has a token or is a member of an organisation."""
        members = {user for found in self._organisations.all().values() for user in found}
        return frozenset(members | {token.user for token in (*self._extra, *self.tokens())})

    def create(self, user: str, role: Role, scopes: Iterable[Scope] = (), life: timedelta | None = None) -> str:
        """Store a new token and return its text, which can't be read again.

        Args:
            user: Whose it is; an unknown name is a new user.
            role: What kind it is.
            scopes: What a fine-grained token may do.
            life: How long it is good; None: until it is revoked.

        Raises:
            UsageError: the name can't be a user's.
            ConflictError: the name is an organisation's.
        """
        check_account(user)
        if user.lower() in {org.lower() for org in self._organisations.all()}:
            raise ConflictError(f"'{user}' is an organisation.", "Make a token for one of its members.")
        alphabet = string.ascii_letters + string.digits
        text = "hf_" + "".join(secrets.choice(alphabet) for _ in range(34))
        fresh = Token.of(text, user, role, tuple(scopes), life)
        with self._file.changed() as data:
            data["tokens"] = [token.encode() for token in (*self._decode(data), fresh)]
        return text

    def revoke(self, token_id: str) -> Token:
        """Delete the token with this id, or this text.

        Raises:
            NotFoundError: there is none.
        """
        digest = hashlib.sha256(token_id.encode("utf-8", "surrogateescape")).hexdigest()
        with self._file.changed() as data:
            tokens = self._decode(data)
            gone = next((token for token in tokens if token.id == token_id or token.sha256 == digest), None)
            if gone is None:
                raise NotFoundError("There is no such token.", "See the ids with: hfenv hub token list")
            data["tokens"] = [token.encode() for token in tokens if token is not gone]
        return gone
