"""Requests of hfenv's own on the client's shared session: bounded in size, and tried again where a fault passes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hfenv.errors import IntegrityError, NetworkError
from hfenv.hub.client import REPO_TYPE, Hub

if TYPE_CHECKING:
    import httpx2

RETRIES = 4  # after the first try, without anything coming through
RETRIES_UNREACHED = 2  # where there isn't even a connection: people wait for the answer that nobody is there
PAUSE_S = 0.3  # before the first of them; each next one waits twice as long
LONGEST_PAUSE_S = 60.0  # a hub that asks for more gets no second try
ENOUGH = 1 << 20  # bytes after which a download counts as going on, and gets all its retries again
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_LARGEST_ERROR = 64 * 1024
_RESET = re.compile(r"\bt=(\d{1,9})")


class Patience:
    """How often one request is tried again, and how long it waits in between."""

    def __init__(self, pause: Callable[[float], object] = time.sleep) -> None:
        self._pause = pause
        self._failures = 0

    def failed(self, error: Exception) -> None:
        """Wait before the next try; raises the error where another wouldn't help or there were enough of them."""
        import httpx2

        self._failures += 1
        wait = _asked_for(error)
        most = RETRIES_UNREACHED if isinstance(error, httpx2.ConnectError) else RETRIES
        if not is_passing(error) or self._failures > most or (wait or 0) > LONGEST_PAUSE_S:
            raise error
        self._pause(PAUSE_S * 2 ** (self._failures - 1) if wait is None else wait)

    def went_on(self) -> None:
        """Something came through: the next fault is the first again."""
        self._failures = 0


def is_passing(error: Exception) -> bool:
    """Whether a fault is one of the transport, so that the same request may succeed later."""
    import httpx2
    from huggingface_hub.errors import HfHubHTTPError

    if isinstance(error, HfHubHTTPError):
        return error.response.status_code in _PASSING
    return isinstance(error, httpx2.TransportError)


def _asked_for(error: Exception) -> float | None:
    """Seconds that the hub asks to wait, by `Retry-After` or by the reset of its rate limit."""
    response = getattr(error, "response", None)
    if response is None:
        return None
    asked = response.headers.get("Retry-After", "").strip()
    if asked.isascii() and asked.isdigit():
        return float(asked[:9])
    if asked:
        try:
            return max(0.0, parsedate_to_datetime(asked).timestamp() - time.time())
        except (ValueError, TypeError, OverflowError):
            return None
    reset = _RESET.search(response.headers.get("RateLimit", "")) if response.status_code == 429 else None
    return float(reset.group(1)) if reset else None


def headers_for(hub: Hub) -> dict[str, str]:
    """The client's headers, the token among them. The client itself drops the token on the way to another origin."""
    from huggingface_hub.utils._headers import build_hf_headers

    return dict(build_hf_headers(token=hub.api.token, library_name="hfenv"))


def timeout() -> float:
    """Seconds without a single byte after which a connection counts as broken: the client's own setting."""
    from huggingface_hub import constants

    return float(constants.HF_HUB_DOWNLOAD_TIMEOUT)


def check_status(response: httpx2.Response) -> None:
    """Raise the client's error for an answer that isn't a success, with no more than the beginning of its body."""
    import httpx2
    from huggingface_hub.utils._http import hf_raise_for_status

    if response.is_success:
        return
    body = b""
    for chunk in response.iter_bytes():
        body = (body + chunk)[:_LARGEST_ERROR]
        if len(body) == _LARGEST_ERROR:
            break
    headers = [(k, v) for k, v in response.headers.items() if k not in ("content-encoding", "content-length")]
    hf_raise_for_status(httpx2.Response(response.status_code, headers=headers, content=body, request=response.request))
    # The client lets what is neither a success nor an error pass: a redirect that leads nowhere.
    raise httpx2.RemoteProtocolError(f"It answered with {response.status_code}.")


def get_json(hub: Hub, repo: str, path: str, query: str, *, limit: int) -> tuple[Any, str | None]:
    """What `/api/datasets/REPO/PATH?QUERY` holds, of at most `limit` bytes, and the query of its next page, if any."""
    import json

    url = f"{hub.endpoint}/api/{REPO_TYPE}s/{repo}/{path}" + (f"?{query}" if query else "")
    body, following = get_bytes(hub, url, limit=limit)
    try:
        return json.loads(body), following
    except RecursionError:
        raise IntegrityError("The hub answers with a list nested without end.", "Nothing was written.") from None
    except ValueError:
        raise NetworkError(
            "The hub doesn't answer like one.", "Check the address; a proxy or a login page may stand in between."
        ) from None


def get_bytes(hub: Hub, url: str, *, limit: int) -> tuple[bytes, str | None]:
    """What stands under a URL, of at most `limit` bytes, and the query of its next page, if there is any."""
    import httpx2
    from huggingface_hub.errors import HfHubHTTPError

    patience, headers = Patience(), headers_for(hub)
    while True:
        try:
            return _get_bytes(url, headers, limit)
        except (httpx2.TransportError, HfHubHTTPError) as error:
            patience.failed(error)


def _get_bytes(url: str, headers: Mapping[str, str], limit: int) -> tuple[bytes, str | None]:
    from huggingface_hub import get_session

    with get_session().stream("GET", url, headers=headers, timeout=timeout()) as response:
        check_status(response)
        body = bytearray()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > limit:
                raise IntegrityError(
                    f"The hub answers with more than {limit >> 20} MB where less was asked for.",
                    "Nothing was written; no environment needs that much.",
                )
        # Of the next page's address only the query is taken: it never leads to another host.
        following = response.links.get("next", {}).get("url")
    return bytes(body), urlsplit(following).query if following else None
