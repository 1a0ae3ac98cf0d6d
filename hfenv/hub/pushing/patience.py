"""Patience with the way to the hub: what is worth asking again, how often, and how long to wait before it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from hfenv.errors import NetworkError

# Seconds before each further attempt; after the last one the failure stands.
WAITS = (0.5, 1.0, 2.0, 4.0)
# A hub that asks for more than this many seconds is left alone: the push can be run again later.
LONGEST_WAIT = 60.0

_BUSY = frozenset({502, 503, 504})
_SLOW_DOWN = 429

_Answer = TypeVar("_Answer")


def patiently(call: Callable[[], _Answer], *, connects: bool = True) -> _Answer:
    """Call, and call again where the way there failed: a dropped connection, 502, 503, 504, or 429 after its wait.

    Only for calls that may be made twice. Without `connects` a hub that can't be reached at all isn't asked again, so
    that a wrong address is told at once. Any other answer is final.
    """
    for wait in WAITS:
        try:
            return call()
        except NetworkError as error:
            pause(error, wait, connects=connects)
    return call()


def pause(error: NetworkError, wait: float, *, connects: bool = True) -> None:
    """Wait before another attempt, at least what the hub asks for; raises the error where that makes no sense."""
    if not passing(error, connects=connects):
        raise error
    asked = asked_wait(error)
    if asked is not None and asked > LONGEST_WAIT:
        raise NetworkError(
            error.message, f"It asks to wait {asked:.0f} seconds; then push again, nothing is sent twice."
        ) from error
    time.sleep(max(wait, asked or 0.0))


def passing(error: NetworkError, *, connects: bool = True) -> bool:
    """Whether an error is one of the way, which may be gone the next time."""
    import httpx2

    cause, status = _cause(error), status_of(error)
    if status is not None:
        return status in _BUSY or status == _SLOW_DOWN
    if isinstance(cause, httpx2.ConnectError):
        return connects
    return isinstance(cause, (httpx2.TransportError, ConnectionError, TimeoutError))


def landing_unknown(error: NetworkError) -> bool:
    """Whether what was sent may have been carried out all the same: the answer got lost, or the server failed."""
    import httpx2

    status = status_of(error)
    if status is not None:
        return status >= 500
    return isinstance(_cause(error), (httpx2.TransportError, ConnectionError, TimeoutError, ValueError))


def status_of(error: NetworkError) -> int | None:
    """The status of the answer behind an error, None where there was no answer."""
    status = getattr(getattr(_cause(error), "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def asked_wait(error: NetworkError) -> float | None:
    """Seconds that the hub asks to wait, by `Retry-After` or by the reset of its rate limit."""
    from huggingface_hub.utils._http import parse_ratelimit_headers

    headers = getattr(getattr(_cause(error), "response", None), "headers", None)
    if headers is None:
        return None
    value = str(headers.get("retry-after", "")).strip()
    if value.isdecimal() and len(value) < 10:
        return float(value)
    info = parse_ratelimit_headers(headers) if status_of(error) == _SLOW_DOWN else None
    return float(info.reset_in_seconds) if info is not None else None


def _cause(error: NetworkError) -> BaseException | None:
    """What the client raised; it wraps what stopped one file of an upload once more."""
    cause = error.__cause__
    return cause.__cause__ if isinstance(cause, RuntimeError) and cause.__cause__ is not None else cause
