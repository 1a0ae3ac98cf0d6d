"""Requests of hfenv's own on the client's shared session: bounded in size, and tried again where a fault passes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hfenv.errors import IntegrityError, NetworkError
from hfenv.hub.client import REPO_TYPE, Hub
from hfenv.hub.patience import Patience

if TYPE_CHECKING:
    import httpx2

ENOUGH = 1 << 20  # bytes after which a download counts as going on, and gets all its retries again
LARGEST_ANSWER = 64 << 20  # bytes of one page of a list, or of what is told about one repository
MOST_PAGES = 400  # of one list
_LARGEST_ERROR = 64 * 1024
_LOOK_S = 60.0  # how often it is looked whether an answer still comes at a pace that makes sense
_SLOWEST = 512  # bytes a second; less is a hub that holds its clients


def headers_for(hub: Hub) -> dict[str, str]:
    """The client's headers, the token among them. The client itself drops the token on the way to another origin."""
    from huggingface_hub.utils._headers import build_hf_headers

    return dict(build_hf_headers(token=hub.api.token, library_name="hfenv"))


def timeout() -> float:
    """Seconds without a single byte after which a connection counts as broken: the client's own setting."""
    from huggingface_hub import constants

    return float(constants.HF_HUB_DOWNLOAD_TIMEOUT)


@dataclass(slots=True)
class Pace:
    """Whether a body comes fast enough: a byte now and then satisfies every timeout, and would never end."""

    _since: float = field(default_factory=time.monotonic)
    _came: int = 0

    def came(self, amount: int) -> None:
        """Some bytes came; raises the client's error for a timeout where they are too few for the time."""
        import httpx2

        self._came += amount
        now = time.monotonic()
        if now - self._since < _LOOK_S:
            return
        if self._came < _SLOWEST * (now - self._since):
            raise httpx2.ReadTimeout("It sends too slowly")
        self._since, self._came = now, 0


def check_status(response: httpx2.Response) -> None:
    """Raise the client's error for an answer that isn't a success, with no more than the beginning of its body."""
    import httpx2
    from huggingface_hub.utils._http import hf_raise_for_status

    if response.is_success:
        return
    body, pace = b"", Pace()
    for chunk in response.iter_bytes():
        body = (body + chunk)[:_LARGEST_ERROR]
        pace.came(len(chunk))
        if len(body) == _LARGEST_ERROR:
            break
    headers = [(k, v) for k, v in response.headers.items() if k not in ("content-encoding", "content-length")]
    hf_raise_for_status(httpx2.Response(response.status_code, headers=headers, content=body, request=response.request))
    # The client lets what is neither a success nor an error pass: a redirect that leads nowhere.
    raise httpx2.RemoteProtocolError(f"It answered with {response.status_code}.")


def get_json(hub: Hub, repo: str, path: str, query: str, *, limit: int) -> tuple[Any, str | None]:
    """What `/api/datasets/REPO/PATH?QUERY` holds, of at most `limit` bytes, and the query of its next page, if any."""
    return _get_json(hub, f"/{repo}/{path}" if path else f"/{repo}", query, limit)


def get_items(hub: Hub, path: str, query: str = "") -> Iterator[Any]:
    """The items of the list under `/api/datasets` and `path`, page after page, each asked for when it is needed.

    At most MOST_PAGES; raises IntegrityError for more, NetworkError for what is no list.
    """
    following: str | None = query
    for _ in range(MOST_PAGES):
        page, following = _get_json(hub, path, following, LARGEST_ANSWER)
        if not isinstance(page, list):
            raise _no_hub()
        yield from page
        if following is None:
            return
    raise IntegrityError("The hub answers with a list without end.", "Nothing was written; don't trust this hub.")


def _get_json(hub: Hub, path: str, query: str | None, limit: int) -> tuple[Any, str | None]:
    import json

    url = f"{hub.endpoint}/api/{REPO_TYPE}s{path}" + (f"?{query}" if query else "")
    body, following = get_bytes(hub, url, limit=limit)
    try:
        return json.loads(body), following
    except RecursionError:
        raise IntegrityError("The hub answers with a list nested without end.", "Nothing was written.") from None
    except ValueError:
        raise _no_hub() from None


def _no_hub() -> NetworkError:
    return NetworkError(
        "The hub doesn't answer like one.", "Check the address; a proxy or a login page may stand in between."
    )


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
        body, pace = bytearray(), Pace()
        for chunk in response.iter_bytes():
            body += chunk
            pace.came(len(chunk))
            if len(body) > limit:
                raise IntegrityError(
                    f"The hub answers with more than {limit >> 20} MB where less was asked for.",
                    "Nothing was written; no environment needs that much.",
                )
        # Of the next page's address only the query is taken: it never leads to another host.
        following = response.links.get("next", {}).get("url")
    return bytes(body), urlsplit(following).query if following else None
