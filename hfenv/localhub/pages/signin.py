"""Who looks at a page: a token in a header, or one that was given to the sign-in form and stays on the server."""

from __future__ import annotations

import base64
import binascii
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from starlette.requests import Request

from hfenv.localhub.accounts import User
from hfenv.localhub.errors import HubError
from hfenv.localhub.wire import Hub

COOKIE = "hfenv_session"
LIFE_S = 12 * 3600
_MOST = 1000  # sessions, and addresses whose failures are remembered
_FAILURES, _WINDOW_S = 10, 60.0


@dataclass(frozen=True, slots=True)
class _Session:
    token: str
    ends: float


class Sessions:
    """Tokens by the random name that a cookie has; they are gone when the server ends, and leave it never."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._failures: OrderedDict[str, list[float]] = OrderedDict()

    def begin(self, token: str) -> str:
        """Keep a token, and return the name to find it by."""
        session = secrets.token_urlsafe(32)
        with self._guard:
            self._sessions[session] = _Session(token, time.monotonic() + LIFE_S)
            while len(self._sessions) > _MOST:
                self._sessions.popitem(last=False)
        return session

    def token(self, session: str) -> str | None:
        with self._guard:
            found = self._sessions.get(session)
            if found is not None and found.ends < time.monotonic():
                del self._sessions[session]
                return None
            return found.token if found else None

    def end(self, session: str) -> None:
        with self._guard:
            self._sessions.pop(session, None)

    def may_try(self, address: str) -> bool:
        """Whether an address may send a token: not after ten wrong ones within a minute."""
        with self._guard:
            recent = [when for when in self._failures.get(address, ()) if when > time.monotonic() - _WINDOW_S]
            return len(recent) < _FAILURES

    def failed(self, address: str) -> None:
        with self._guard:
            self._failures[address] = [*self._failures.pop(address, [])[1 - _FAILURES :], time.monotonic()]
            while len(self._failures) > _MOST:
                self._failures.popitem(last=False)


def visitor(hub: Hub, sessions: Sessions, request: Request) -> User | None:
    """Who sent a request: by `Authorization: Bearer` or `Basic` (the token as password), else by the cookie.

    Raises:
        HubError: 401 for a token in a header that isn't known; a cookie that isn't is none.
    """
    header = request.headers.get("authorization")
    if header is not None:
        return hub.user(_bearer(header))
    if (token := sessions.token(request.cookies.get(COOKIE, ""))) is None:
        return hub.user(None)
    try:
        return hub.user(f"Bearer {token}")
    except HubError:
        return hub.user(None)  # revoked since


def _bearer(header: str) -> str:
    scheme, _, text = header.partition(" ")
    if scheme.lower() != "basic":
        return header
    try:
        user, _, password = base64.b64decode(text.strip(), validate=True).decode("utf-8").partition(":")
    except (binascii.Error, ValueError):
        raise HubError(401, "Invalid credentials in Authorization header") from None
    return f"Bearer {password or user}"


def is_from_here(request: Request) -> bool:
    """Whether a form was sent from a page of this hub: another site must not sign anybody in."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None and site not in ("same-origin", "none"):
        return False
    return origin is None or origin.partition("://")[2] == request.headers.get("host")


def address_of(request: Request) -> str:
    return request.client.host if request.client else ""
