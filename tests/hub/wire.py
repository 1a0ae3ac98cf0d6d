"""The wire between a push and the embedded hub: what was sent, and answers that get lost, come late or refuse."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest import mock

import httpx2

from hfenv.hub import patience
from hfenv.localhub.transport import InProcessTransport

Handle = Callable[[], httpx2.Response]


@dataclass
class Fault:
    """What happens to the requests of one kind: `times` of them, the first of all."""

    method: str
    path: str  # a regular expression, found somewhere in the path
    act: Callable[[Handle], httpx2.Response]
    times: int = 1

    def meets(self, request: httpx2.Request) -> bool:
        return self.times > 0 and request.method == self.method and bool(re.search(self.path, request.url.path))


@dataclass
class Wire:
    """What went over it, and how long was waited."""

    sent: list[tuple[str, str]] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def count(self, method: str, path: str = "") -> int:
        return sum(1 for m, p in self.sent if m == method and re.search(path, p))

    def fault(self, method: str, path: str, act: Callable[[Handle], httpx2.Response], times: int = 1) -> None:
        """From now on; what was sent before doesn't count."""
        self.sent.clear()
        self.faults.append(Fault(method, path, act, times))


def dropped(_: Handle) -> httpx2.Response:
    """The connection breaks before the hub got the request."""
    raise httpx2.WriteError("Broken pipe")


def unanswered(handle: Handle) -> httpx2.Response:
    """The hub does what it was asked to, and the answer is lost."""
    handle().read()
    raise httpx2.ReadError("Connection reset by peer")


def refused(status: int, headers: Mapping[str, str] | None = None) -> Callable[[Handle], httpx2.Response]:
    """The hub does nothing but answer."""
    return lambda _: httpx2.Response(status, headers=dict(headers or {}), json={"error": "as asked for"})


def failing(status: int) -> Callable[[Handle], httpx2.Response]:
    """The hub does what it was asked to, and what stands before it says that it failed."""

    def act(handle: Handle) -> httpx2.Response:
        handle().read()
        return httpx2.Response(status, json={"error": "as asked for"})

    return act


@contextmanager
def watched() -> Iterator[Wire]:
    """Watch the embedded hub in this process; waits are noted down and take no time."""
    wire = Wire()
    handle = InProcessTransport.handle_request

    def handle_request(self: InProcessTransport, request: httpx2.Request) -> httpx2.Response:
        wire.sent.append((request.method, request.url.path))
        for fault in wire.faults:
            if fault.meets(request):
                fault.times -= 1
                return fault.act(lambda: handle(self, request))
        return handle(self, request)

    with (
        mock.patch.object(InProcessTransport, "handle_request", handle_request),
        mock.patch.object(patience.time, "sleep", wire.waited.append),
    ):
        yield wire
