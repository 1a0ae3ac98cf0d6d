"""The connection to a hub: which one, with which token, through which transport, and its process-wide switches."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hfenv import paths
from hfenv.errors import NetworkError, UsageError
from hfenv.hub.wire_errors import EMBEDDED, translated, without_tokens

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from huggingface_hub import HfApi

# The Hub knows no environment type; a dataset repository gives the viewer and `load_dataset` for free.
REPO_TYPE = "dataset"
DEFAULT_ENDPOINT = "https://huggingface.co"

# The client's factory, session and Xet constant are process-wide: one change at a time, nested ones in one thread.
_SWITCHES = threading.RLock()


@dataclass(slots=True)
class Hub:
    """One open connection. `key` names the endpoint's cache folder, `requests` counts what was sent so far."""

    name: str
    endpoint: str
    key: str
    offline: bool = False
    requests: int = 0
    _api: HfApi | None = field(default=None, repr=False)

    @property
    def api(self) -> HfApi:
        """The client; raises NetworkError when offline, so that nothing can be asked by accident."""
        if self._api is None:
            raise NetworkError("This needs the hub, and offline mode is on.", "Turn it off.")
        return self._api

    def url(self, repo: str, revision: str | None) -> str:
        """Where people find a repository: its page, or the plain git repository of an embedded hub without a server."""
        if self.name == "local":
            return (paths.local_hub_root().resolve() / f"{REPO_TYPE}s" / f"{repo}.git").as_uri()
        return f"{self.endpoint}/{REPO_TYPE}s/{repo}" + (f"/tree/{revision}" if revision else "")

    def translated(self, what: str) -> AbstractContextManager[None]:
        """Context in which the client's exceptions become hfenv's; `what` names the repository."""
        return translated(EMBEDDED if self.name == "local" else self.endpoint, what)


def hub_name(hub: str | None) -> str:
    """`hf`, `local` or a URL: the argument, else `HFENV_HUB`, else `hf`."""
    name = hub or os.environ.get("HFENV_HUB") or "hf"
    if name in ("hf", "local"):
        return name
    return _checked_url(name, "Write hf, local, or a URL that starts with http:// or https://.")


def checked_hub(url: str) -> str:
    """A hub's URL as `connect` takes it; raises UsageError for what is none, or holds a secret."""
    return _checked_url(url, "Write a URL that starts with http:// or https://.")


def _checked_url(url: str, cure: str) -> str:
    """An endpoint's URL without a slash at its end; raises UsageError, and never repeats a secret in it."""
    if "@" in url:
        raise UsageError("The hub's URL holds a user or a password.", "Leave them out, and set HF_TOKEN to a token.")
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 0) >= 0
        known = known and not parts.query and not parts.fragment
    except ValueError:  # a port out of range, half an IPv6 address
        known = False
    if not known:
        # What stands behind a question mark is where secrets stand in URLs.
        raise UsageError(f"'{without_tokens(re.split('[?#]', url)[0])}' is no hub.", cure)
    return url.rstrip("/")


def offline_wanted(offline: bool) -> bool:
    """The argument, or `HF_HUB_OFFLINE` set to a true value."""
    return offline or os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")


def hub_at(endpoint: str) -> str:
    """What to call a hub for people: `local` for the embedded one, whose endpoint leads nowhere."""
    return "local" if endpoint == _endpoint("local")[0] else endpoint


def hub_key(name: str) -> str:
    """Name of an endpoint's part of the cache and of the trust store."""
    return _endpoint(name)[1]


@contextmanager
def connect(
    hub: str | None = None, *, offline: bool = False, anonymous: bool = False, bars: bool = True
) -> Iterator[Hub]:
    """Open a hub; the process-wide switches of the client are restored when the context ends.

    Threads of one process take turns, since they share the client's session and its switches. An `anonymous`
    connection sends no token, whatever is set. Without `bars`, a terminal gets none either.
    """
    name = hub_name(hub)
    endpoint, key = _endpoint(name)
    if offline_wanted(offline):
        yield Hub(name, endpoint, key, offline=True)
        return
    from huggingface_hub import HfApi

    with _SWITCHES, ExitStack() as stack:
        if name == "local":
            if os.name == "nt":
                raise UsageError("The embedded hub runs on Linux and macOS.", "Name a served one: --hub http://...")
            stack.enter_context(_in_process())
        if endpoint != DEFAULT_ENDPOINT:
            # With Xet on, the client sends large files there and doesn't fall back; only the Hub itself has it.
            stack.enter_context(_without_xet())
        token = False if anonymous else _token(name)
        opened = Hub(name, endpoint, key, _api=HfApi(endpoint=endpoint, token=token, library_name="hfenv"))
        stack.enter_context(_counting(opened))
        stack.enter_context(_bars_for_people(wanted=bars))
        yield opened


def _token(name: str) -> str | bool:
    """What to send as token, False for nothing; raises UsageError, without repeating it, for what can't be one."""
    from huggingface_hub import get_token

    # A stored login belongs to the Hub and is never sent elsewhere; HF_TOKEN is set for what one calls.
    stored = get_token() if name == "hf" else None if name == "local" else os.environ.get("HF_TOKEN")
    token = (stored or "").strip()
    if not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            "The token holds characters that no token has.", "Set HF_TOKEN anew, or log in again: hf auth login"
        )
    return token or False


def _endpoint(name: str) -> tuple[str, str]:
    if name == "local":
        from hfenv.localhub.transport import ENDPOINT

        storage = paths.local_hub_root().resolve()
        return ENDPOINT, f"local-{sha256(str(storage).encode()).hexdigest()[:12]}"
    endpoint = name
    if name == "hf":
        endpoint = os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT
        endpoint = _checked_url(endpoint, "Set HF_ENDPOINT to a URL that starts with http:// or https://, or unset it.")
    parts = urlsplit(endpoint)
    readable = f"{parts.hostname}-{parts.port or ''}".strip("-")
    return endpoint, f"{readable}-{sha256(endpoint.encode()).hexdigest()[:12]}"


@contextmanager
def _in_process() -> Iterator[None]:
    """Answer the embedded hub's endpoint by the app itself, without a socket; other addresses go out as ever."""
    import httpx2
    from huggingface_hub import set_client_factory
    from huggingface_hub.utils import _http

    from hfenv.localhub.app import create_app
    from hfenv.localhub.transport import ENDPOINT, InProcessTransport

    def client() -> httpx2.Client:
        hooks: dict[str, list[Callable[..., Any]]] = {"request": [_http.hf_request_event_hook]}
        return httpx2.Client(event_hooks=hooks, follow_redirects=True, timeout=None, mounts={ENDPOINT: transport})

    transport = InProcessTransport(create_app(paths.local_hub_root(), in_process_user="local"))
    before = _http._GLOBAL_CLIENT_FACTORY
    set_client_factory(client)
    try:
        yield
    finally:
        set_client_factory(before)
        transport.close()


@contextmanager
def _without_xet() -> Iterator[None]:
    from huggingface_hub import constants

    before = constants.HF_HUB_DISABLE_XET
    constants.HF_HUB_DISABLE_XET = True
    try:
        yield
    finally:
        constants.HF_HUB_DISABLE_XET = before


@contextmanager
def _bars_for_people(*, wanted: bool) -> Iterator[None]:
    """The client's own bars (large uploads) only on a terminal, and where they are wanted: in a log they are noise."""
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    quiet = not (wanted and sys.stderr is not None and sys.stderr.isatty()) and not are_progress_bars_disabled()
    if quiet:
        disable_progress_bars()
    try:
        yield
    finally:
        if quiet:
            enable_progress_bars()


@contextmanager
def _counting(hub: Hub) -> Iterator[None]:
    from huggingface_hub import get_session

    lock = threading.Lock()

    def count(request: object) -> None:
        with lock:  # downloads run in several threads
            hub.requests += 1

    client = get_session()
    hooks = client.event_hooks
    client.event_hooks = {**hooks, "request": [*hooks.get("request", []), count]}
    try:
        yield
    finally:
        client.event_hooks = hooks
