"""Behind a proxy: scheme, host and client of a request as the proxy saw them, from proxies that are trusted only."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from starlette.types import ASGIApp, Receive, Scope, Send

from hfenv.errors import UsageError

_HOST = re.compile(rb"[A-Za-z0-9._-]{1,253}(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:[0-9]{1,5})?")
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def networks(texts: Iterable[str]) -> tuple[_Network, ...]:
    """Addresses and networks of proxies.

    Raises:
        UsageError: a text is neither.
    """
    found = []
    for text in texts:
        try:
            found.append(ipaddress.ip_network(text))
        except ValueError:
            raise UsageError(
                f"'{text}' isn't the address of a proxy.", "Write an IP address or a network such as 10.0.0.0/8."
            ) from None
    return tuple(found)


class TrustedProxies:
    """Takes X-Forwarded-Proto, -Host and -For from requests that come from one of `trusted`; ignores them otherwise."""

    def __init__(self, app: ASGIApp, trusted: tuple[_Network, ...]) -> None:
        self._app = app
        self._trusted = trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope.get("client") and self._is_trusted(scope["client"][0]):
            scope = self._forwarded(scope)
        await self._app(scope, receive, send)

    def _is_trusted(self, text: str) -> bool:
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return False
        return any(address in network for network in self._trusted)

    def _forwarded(self, scope: Scope) -> Scope:
        # Of several values the last one is the nearest proxy's own; the others a client may have made up.
        told = {key: value.rsplit(b",", 1)[-1].strip() for key, value in scope["headers"]}
        found = dict(scope)
        if (scheme := told.get(b"x-forwarded-proto")) in (b"http", b"https"):
            found["scheme"] = scheme.decode()
        if (host := told.get(b"x-forwarded-host")) and _HOST.fullmatch(host):
            found["headers"] = [(key, value) for key, value in scope["headers"] if key != b"host"] + [(b"host", host)]
        if client := told.get(b"x-forwarded-for"):
            found["client"] = (client.decode("latin-1"), 0)
        return found
