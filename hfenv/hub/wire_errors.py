"""The one table from the hub client's exceptions to hfenv's errors."""

from __future__ import annotations

import errno
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from json import JSONDecodeError
from traceback import walk_tb

from hfenv.errors import (
    AccessError,
    ConflictError,
    HfenvError,
    NetworkError,
    NotFoundError,
    StorageError,
    UsageError,
)

_TOKEN = re.compile(r"(?<=Bearer )\S+|\bhf_\w+")
_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM})

EMBEDDED = "the embedded hub"
_FORBIDDEN = "Use a token that may write there, unless the hub says what else stands in the way."


@contextmanager
def translated(endpoint: str, what: str) -> Iterator[None]:
    """Turn what the client raises into hfenv's errors.

    `endpoint` says where, as a URL or as EMBEDDED; `what` names the repository (and revision) at stake.
    """
    import httpx2
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled

    try:
        yield
    except HfenvError:
        raise
    except OfflineModeIsEnabled:
        raise NetworkError(f"{what} isn't in the cache, and offline mode is on.", "Unset HF_HUB_OFFLINE.") from None
    except HFValidationError as error:
        raise UsageError(f"{what}: {_one_line(str(error))}", "Correct the name.") from None
    except HfHubHTTPError as error:
        raise from_response(error, endpoint, what) from error
    except httpx2.TransportError as error:
        raise _from_transport(error, endpoint) from error
    except OSError as error:
        raise from_os_error(error, what) from error
    except (RecursionError, KeyError, TypeError, AttributeError, ValueError) as error:
        if not isinstance(error, JSONDecodeError) and not _stumbled(error):
            raise
        raise NetworkError(
            f"{endpoint} doesn't answer like a hub.", "Check the address; a proxy or a login page may stand in between."
        ) from error
    except RuntimeError as error:
        # The client wraps what stopped one file of an upload, and so hides its kind.
        cause = error.__cause__
        if isinstance(cause, HfHubHTTPError):
            raise from_response(cause, endpoint, what) from error
        if isinstance(cause, (httpx2.TransportError, OSError)):
            said = _one_line(f"{error} {cause}")
            raise NetworkError(f"{what}: {said}", "Nothing was published; push again.") from error
        raise


def _from_transport(error: Exception, endpoint: str) -> NetworkError:
    import httpx2

    if isinstance(error, httpx2.TimeoutException):
        return NetworkError(f"{endpoint} didn't answer in time.", "Try again; check the network.")
    return NetworkError(
        f"{endpoint} can't be reached ({_one_line(str(error)) or type(error).__name__}).",
        "Check the address, that the server runs, and the network; then try again.",
    )


def _stumbled(error: BaseException) -> bool:
    """Whether it was the client that stumbled, over an answer of another form than it knows."""
    names = (frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__))
    return any(name.partition(".")[0] == "huggingface_hub" for name in names)


def from_response(error: Exception, endpoint: str, what: str) -> HfenvError:
    """The hfenv error for an answer of the hub that isn't a success."""
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        RemoteEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    if isinstance(error, GatedRepoError):
        return AccessError(
            f"{what} is gated ({_said(error.server_message) or 'no access'}).",
            f"Ask for access at {endpoint}/datasets/{what.partition('@')[0]}, then {_login(endpoint)}.",
        )
    if isinstance(error, RepositoryNotFoundError):
        if endpoint == EMBEDDED:  # its one user sees everything and has nothing to log in to
            return NotFoundError(
                f"{what} doesn't exist on {EMBEDDED}.", "Check the name; hfenv hub path says where it is."
            )
        return NotFoundError(
            f"{what} doesn't exist on {endpoint}, or this user may not see it.",
            f"Check the name; for a private repository {_login(endpoint)}.",
        )
    if isinstance(error, RevisionNotFoundError):
        return NotFoundError(f"{what} has no such revision.", "Revisions are never replaced by others; check it.")
    if isinstance(error, RemoteEntryNotFoundError):
        return NotFoundError(f"{what} has no such file.", "Check the path and the revision.")
    if not isinstance(error, HfHubHTTPError):
        return NetworkError(f"{what}: {_one_line(str(error))}", "Try again.")
    said = _said(error.server_message)
    if error.response.status_code == 401 and "authorization" not in error.response.request.headers:
        return AccessError(f"{endpoint} wants a token ({said or 'none was sent'}).", f"To get in, {_login(endpoint)}.")
    return _from_status(error.response.status_code, said, endpoint, what)


def _login(endpoint: str) -> str:
    """How to show who one is: a stored login belongs to the Hub, and is never sent elsewhere."""
    from hfenv.hub.client import DEFAULT_ENDPOINT

    return "log in (hf auth login) or set HF_TOKEN" if endpoint == DEFAULT_ENDPOINT else "set HF_TOKEN"


def _said(message: str | None) -> str:
    """What the hub said, to stand in brackets within a sentence."""
    return _one_line(message or "").rstrip(".")


def _from_status(status: int, said: str, endpoint: str, what: str) -> HfenvError:
    if status == 401:
        cure = f"It may have expired or been revoked; with a good one, {_login(endpoint)}."
        return AccessError(f"{endpoint} refused the token ({said or 'invalid credentials'}).", cure)
    if status == 403:
        return AccessError(f"{what}: no right to do this ({said or 'forbidden'}).", _FORBIDDEN)
    if status == 404:  # without the hub's own word for what is missing: perhaps somebody else answers there
        return NotFoundError(
            f"{what}: {endpoint} knows nothing of it ({said or 404}).", "Check the name and the address."
        )
    if status in (409, 412):
        return ConflictError(f"{what} moved or exists already ({said or status}).", "Look at it, then try again.")
    if status == 429:
        return NetworkError(f"{endpoint} asks to slow down (429).", "Wait a few minutes, then try again.")
    if status == 507:
        return StorageError(f"{endpoint} has no space left ({said}).", "Free some space there, then try again.")
    if status >= 500 or status in (408, 416, 425):
        return NetworkError(f"{endpoint} failed with {status} {said}".rstrip() + ".", "Try again later.")
    return UsageError(f"{what}: the hub refused this ({status} {said}).", "Correct what it names.")


def from_os_error(error: OSError, what: str) -> HfenvError:
    """The hfenv error for a disk that is full, or a folder that can't be written."""
    reason = error.strerror or type(error).__name__
    if error.errno in _DISK:
        place = f" at {error.filename}" if error.filename else ""
        return StorageError(f"{what}: writing failed{place} ({reason}).", "Free some space or rights, then try again.")
    if isinstance(error, (ConnectionError, TimeoutError, socket.gaierror)):
        return NetworkError(f"{what}: {reason}.", "Check the network, then try again.")
    place = f"{error.filename}: " if error.filename else ""
    return StorageError(f"{what}: {place}{reason}.", "Check the path and its rights.")


def _one_line(text: str) -> str:
    """A text of the client or a server on one line, without tokens: what either of them repeats isn't ours to judge."""
    return without_tokens(" ".join(text.split()))[:300]


def without_tokens(text: str) -> str:
    """A text with stars in the place of whatever looks like a token."""
    return _TOKEN.sub("***", text)
