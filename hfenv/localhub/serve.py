"""The embedded hub on a socket: in the foreground until a signal comes, or on a thread beside tests."""

from __future__ import annotations

import errno
import ipaddress
import json
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from hfenv.errors import NetworkError, UsageError
from hfenv.localhub.app import create_app
from hfenv.localhub.proxies import TrustedProxies, networks
from hfenv.localhub.users import Token, TokenStore

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8177
_STOP_S = 5
_BACKLOG = 128
_ADDRESS_FILE = "server.json"


class _Server(uvicorn.Server):
    """Calls `on_ready` once requests are accepted, and not before."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()


def serve(
    root: Path,
    *,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    tokens: Iterable[Token] = (),
    proxies: Iterable[str] = (),
    on_ready: Callable[[str], None],
) -> None:
    """Answer requests until SIGINT or SIGTERM, then finish the ones under way.

    Args:
        root: The storage folder.
        host: The address to listen on.
        port: The port; 0 picks a free one.
        tokens: Tokens that are good as long as this server runs.
        proxies: Addresses or networks whose X-Forwarded headers are believed.
        on_ready: Called with the server's URL once it accepts requests.

    Raises:
        UsageError: storage folder, host, port or a proxy's address can't be used, or other machines could reach a hub
            that has no users.
    """
    tokens = tuple(tokens)
    if not is_loopback(host) and not tokens and not TokenStore(root).tokens():
        raise UsageError(
            f"Listening on {host} needs a user: without a token nobody could write.",
            "Make one first with: hfenv hub token create NAME",
        )
    server, listener = _prepare(root, (host, port), tokens, proxies, on_ready)
    with listener, _quiet_signals(), _address_file(root, _url(listener)):
        server.run(sockets=[listener])


class BackgroundServer:
    """A server on a thread of this process, on a free port of 127.0.0.1. Use as a context manager."""

    def __init__(self, root: Path, tokens: Iterable[Token] = (), proxies: Iterable[str] = ()) -> None:
        self._ready = threading.Event()
        address = (DEFAULT_HOST, 0)
        self._server, self._listener = _prepare(root, address, tokens, proxies, lambda _: self._ready.set())
        self._thread = threading.Thread(target=self._run, name="hfenv-hub-server", daemon=True)
        self.url = _url(self._listener)

    def _run(self) -> None:
        self._server.run(sockets=[self._listener])

    def __enter__(self) -> BackgroundServer:
        self._thread.start()
        if not self._ready.wait(30):
            raise NetworkError("The embedded hub didn't start within 30 seconds.", "Try again on a less busy machine.")
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._listener.close()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server on `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _prepare(
    root: Path,
    address: tuple[str, int],
    tokens: Iterable[Token],
    proxies: Iterable[str],
    on_ready: Callable[[str], None],
) -> tuple[_Server, socket.socket]:
    trusted = networks(proxies)
    app: ASGIApp = create_app(root, tokens=tokens, pages=True)
    app = TrustedProxies(app, trusted) if trusted else app
    listener = _listen(*address)
    # No access log: addresses of uploads carry signatures.
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,  # uvicorn would believe whoever is on this machine
        timeout_graceful_shutdown=_STOP_S,
    )
    return _Server(config, lambda: on_ready(_url(listener))), listener


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # With the protocol named, asyncio turns Nagle's algorithm off: it would hold each answer back for 40 ms.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    except (OSError, OverflowError, UnicodeError) as error:
        raise _cannot_listen(host, port, error) from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            raise UsageError(
                f"Port {port} of {host} is in use by another program.",
                "Choose another one with --port N; --port 0 picks a free one.",
            ) from None
        raise _cannot_listen(host, port, error) from None
    return listener


def _cannot_listen(host: str, port: int, error: Exception) -> UsageError:
    reason = (getattr(error, "strerror", None) or str(error)).rstrip(".")
    return UsageError(f"Can't listen on '{host}' port {port}: {reason}.", "Check --host and --port.")


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def _quiet_signals() -> Iterator[None]:
    """uvicorn raises the signal that stopped it once more at the end; stopping on request is no failure."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _address_file(root: Path, url: str) -> Iterator[None]:
    """Leave the address where `running_server` finds it, for as long as the server runs."""
    path = root / _ADDRESS_FILE
    fresh = root / f"{_ADDRESS_FILE}.{os.getpid()}"
    with suppress(OSError):  # a full disk doesn't keep a hub from being read
        fresh.write_text(json.dumps({"url": url, "pid": os.getpid()}), encoding="utf-8")
        fresh.replace(path)
    try:
        yield
    finally:
        if running_server(root) == url:
            path.unlink(missing_ok=True)


def running_server(root: Path) -> str | None:
    """The URL of the server that was started last over this storage folder, None if it doesn't run any more."""
    try:
        data = json.loads((root / _ADDRESS_FILE).read_bytes())
        url, pid = str(data["url"]), int(data["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    try:
        os.kill(pid, 0)
    except PermissionError:
        return url  # it runs, as another user
    except OSError:
        return None
    return url
