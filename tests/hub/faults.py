"""A proxy between client and hub that misbehaves as it is told: per request, by method, path and which one it is.

    with FaultProxy(hfenv_hub.endpoint) as proxy:
        monkeypatch.setenv("HFENV_HUB", proxy.url)
        proxy.script(Rule(status(429, retry_after=0), "GET", "*/resolve/*"), Rule(lost_answer(), "POST", "*/commit/*"))
        ...
        assert proxy.fired == 2
        assert proxy.count("GET", "*/resolve/*") == 13

Paths are patterns of `fnmatch` against path and query. A rule counts the requests that match it; it holds for the
`nth` of them and the `times - 1` that follow (None: for all that follow). The first rule that holds wins.
"""

from __future__ import annotations

import contextlib
import fnmatch
import http.client
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

_OF_ONE_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "proxy-connection", "te", "upgrade"}


@dataclass(frozen=True)
class Answer:
    """A whole answer: status, headers in order, body."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True)
class Seen:
    """A request as it came, and the status that was answered (0: the connection was closed instead)."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    status: int
    sent: int = 0  # bytes of the body that were sent back

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name), None)


Forward = Callable[[], Answer]


@dataclass(frozen=True)
class Fault:
    """What happens to a request. `answer` gets the way to the hub and returns what to answer, None to hang up.

    `cut` is the part of the body that is sent before the connection is closed, with the whole length announced, and
    `stall` how many seconds pass before it is.
    """

    name: str
    answer: Callable[[Forward], Answer | None] = field(repr=False)
    cut: float | None = None
    stall: float = 0

    def __str__(self) -> str:
        return self.name


def drop() -> Fault:
    """The hub never hears of the request; the connection is closed."""
    return Fault("drop", lambda forward: None)


def lost_answer() -> Fault:
    """The hub does what it was asked; the connection is closed before its answer comes."""

    def answer(forward: Forward) -> None:
        forward()

    return Fault("lost answer", answer)


def delay(seconds: float) -> Fault:
    """The answer comes late."""

    def answer(forward: Forward) -> Answer:
        time.sleep(seconds)
        return forward()

    return Fault(f"delay of {seconds} s", answer)


def duplicate() -> Fault:
    """The hub gets the request twice, as from a proxy that retries; the second answer comes back."""

    def answer(forward: Forward) -> Answer:
        forward()
        return forward()

    return Fault("duplicate", answer)


def truncate(part: float = 0.5) -> Fault:
    """A part of the body, announced as if it were all of it."""

    def answer(forward: Forward) -> Answer:
        whole = forward()
        return Answer(whole.status, whole.headers, whole.body[: int(len(whole.body) * part)])

    return Fault("truncate", answer)


def cut(part: float = 0.5) -> Fault:
    """A part of the body, then the connection is closed."""
    return Fault("cut", lambda forward: forward(), part)


def stall(seconds: float, part: float = 0.5) -> Fault:
    """A part of the body, then nothing for a while."""
    return Fault(f"stall of {seconds} s", lambda forward: forward(), part, seconds)


def other_bytes(content: bytes | None = None) -> Fault:
    """Another file's bytes; by default as many as the right ones."""

    def answer(forward: Forward) -> Answer:
        right = forward()
        wrong = content if content is not None else bytes(byte ^ 1 for byte in right.body)
        return Answer(right.status, right.headers, wrong)

    return Fault("other bytes", answer)


def status(code: int, *, retry_after: int | str | None = None, body: bytes = b"", headers: dict | None = None) -> Fault:
    """A status of the proxy's own; the hub never hears of the request."""
    found = {"Content-Type": "text/plain", **(headers or {})}
    if retry_after is not None:
        found["Retry-After"] = str(retry_after)
    return Fault(str(code), lambda forward: Answer(code, tuple(found.items()), body or f"made up: {code}".encode()))


def status_after(code: int) -> Fault:
    """A status of the proxy's own, though the hub did what it was asked: a gateway that gave up waiting."""

    def answer(forward: Forward) -> Answer:
        forward()
        return Answer(code, (("Content-Type", "text/plain"),), f"made up: {code}".encode())

    return Fault(f"{code} after it was done", answer)


@dataclass(frozen=True)
class Rule:
    """A fault and the requests that it is for."""

    fault: Fault
    method: str = "*"
    path: str = "*"
    nth: int = 1
    times: int | None = 1

    def matches(self, method: str, path: str) -> bool:
        return fnmatch.fnmatchcase(method, self.method) and fnmatch.fnmatchcase(path, self.path)


class FaultProxy:
    """Listens on a free port of 127.0.0.1 and hands on to `upstream`. Use as a context manager."""

    def __init__(self, upstream: str) -> None:
        parts = urlsplit(upstream)
        self.host, self.port = parts.hostname or "", parts.port or 80
        self.fired = 0
        self.requests: list[Seen] = []
        self.ignore_range = False  # as servers do that always send the whole file
        self._rules: list[tuple[Rule, list[int]]] = []
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), type("Bound", (_Handler,), {"proxy": self}))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def script(self, *rules: Rule) -> None:
        """Replace the rules, and forget what was counted so far."""
        with self._lock:
            self._rules = [(rule, [0]) for rule in rules]
            self.fired = 0
            self.requests.clear()

    def count(self, method: str = "*", path: str = "*") -> int:
        """Requests that came since the last script."""
        return len(self.seen(method, path))

    def seen(self, method: str = "*", path: str = "*") -> list[Seen]:
        """The requests themselves, in the order in which they were answered."""
        with self._lock:
            return [seen for seen in self.requests if Rule(drop(), method, path).matches(seen.method, seen.path)]

    def fault_for(self, method: str, path: str) -> Fault | None:
        with self._lock:
            held = None
            for rule, counted in self._rules:
                if rule.matches(method, path):
                    counted[0] += 1
                    past = counted[0] - rule.nth
                    if held is None and past >= 0 and (rule.times is None or past < rule.times):
                        held = rule.fault
            self.fired += held is not None
            return held

    def note(self, seen: Seen) -> None:
        with self._lock:
            self.requests.append(seen)

    def __enter__(self) -> FaultProxy:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed is no error of the proxy's."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    proxy: FaultProxy

    def handle(self) -> None:
        self.upstream = http.client.HTTPConnection(self.proxy.host, self.proxy.port, timeout=60)
        with contextlib.closing(self.upstream):
            super().handle()

    def exchange(self) -> None:
        body = b"".join(self._body())
        fault = self.proxy.fault_for(self.command, self.path)
        answer = fault.answer(lambda: self._forward(body)) if fault else self._forward(body)
        sent = len(answer.body) if answer else 0
        if fault is not None and fault.cut is not None:
            sent = int(sent * fault.cut)
        headers = tuple(self.headers.items())
        # Noted before the client can go on: who counts must not be quicker than the counter.
        self.proxy.note(Seen(self.command, self.path, headers, answer.status if answer else 0, sent))
        if answer is None:
            self._hang_up()
            return
        self.send_response_only(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value)
        if self.command != "HEAD":
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body[:sent])
        if sent < len(answer.body):
            self._stall(fault.stall if fault else 0)
            self._hang_up()

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = exchange

    def _body(self) -> Iterator[bytes]:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            while size := int(self.rfile.readline().split(b";")[0], 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
        else:
            yield self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _forward(self, body: bytes) -> Answer:
        drops = _OF_ONE_HOP | ({"range", "if-range"} if self.proxy.ignore_range else set())
        self.upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in drops:
                self.upstream.putheader(name, value)
        if body or self.command in ("POST", "PUT", "PATCH"):
            self.upstream.putheader("Content-Length", str(len(body)))
        self.upstream.endheaders(body)
        answer = self.upstream.getresponse()
        kept = _OF_ONE_HOP - ({"content-length"} if self.command == "HEAD" else set())
        headers = tuple((name, value) for name, value in answer.getheaders() if name.lower() not in kept)
        return Answer(answer.status, headers, answer.read())

    def _stall(self, seconds: float) -> None:
        """Send nothing for so long, or until the client has gone."""
        self.wfile.flush()
        if seconds:
            select.select([self.connection], [], [], seconds)

    def _hang_up(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *args: object) -> None:
        """Nothing is printed."""
