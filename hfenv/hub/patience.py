"""Patience with the way to the hub: what is worth asking again, how often, and how long to wait before it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import TypeVar

from hfenv.errors import NetworkError

# Seconds before each further attempt; after the last one the failure stands.
WAITS = (0.5, 1.0, 2.0, 4.0)
UNREACHED = 2  # attempts more where there isn't even a connection: people wait for the answer that nobody is there
# A hub that asks for more than this many seconds is left alone: the command can be run again later.
LONGEST_WAIT = 60.0
SLOW_DOWN = 429
BUSY = frozenset({SLOW_DOWN, 502, 503, 504})
# A question may be asked again whatever went wrong over there; what changes something may have been carried out.
PASSING = BUSY | {408, 425, 500}

_RESET = re.compile(r"\bt=(\d{1,9})")
_Answer = TypeVar("_Answer")


class Patience:
    """How often one request is tried again, and how long it waits in between.

    `statuses` are the answers that are worth it, `unreached` how often a hub is asked again that can't be reached.
    """

    def __init__(
        self,
        pause: Callable[[float], object] | None = None,
        *,
        statuses: frozenset[int] = PASSING,
        unreached: int = UNREACHED,
    ) -> None:
        self._pause = pause
        self._statuses = statuses
        self._unreached = unreached
        self._failures = 0

    def failed(self, error: Exception) -> None:
        """Wait before the next try, at least what the hub asks for; raises the error where another makes no sense."""
        import httpx2

        cause = cause_of(error)
        most = min(len(WAITS), self._unreached) if isinstance(cause, httpx2.ConnectError) else len(WAITS)
        if self._failures >= most or not self._is_passing(cause):
            raise error
        asked = asked_wait(cause)
        if asked is not None and asked > LONGEST_WAIT:
            if not isinstance(error, NetworkError):
                raise error
            raise NetworkError(error.message, f"It asks to wait {asked:.0f} seconds; then run this again.") from error
        pause = self._pause or time.sleep
        pause(WAITS[self._failures] if asked is None else max(WAITS[self._failures], asked))
        self._failures += 1

    def went_on(self) -> None:
        """Something came through: the next fault is the first again."""
        self._failures = 0

    def _is_passing(self, cause: BaseException | None) -> bool:
        import httpx2

        status = status_of(cause)
        if status is not None:
            return status in self._statuses
        return isinstance(cause, (httpx2.TransportError, ConnectionError, TimeoutError))


def patiently(call: Callable[[], _Answer], *, connects: bool = True) -> _Answer:
    """Call, and call again where the way there failed: a dropped connection, 502, 503, 504, or 429 after its wait.

    Only for calls that may be made twice. Without `connects` a hub that can't be reached at all isn't asked again, so
    that a wrong address is told at once. Any other answer is final.
    """
    patience = Patience(statuses=BUSY, unreached=len(WAITS) if connects else 0)
    while True:
        try:
            return call()
        except NetworkError as error:
            patience.failed(error)


def landing_unknown(error: NetworkError) -> bool:
    """Whether what was sent may have been carried out all the same: the answer got lost, or the server failed."""
    import httpx2

    cause = cause_of(error)
    status = status_of(cause)
    if status is not None:
        return status >= 500
    return isinstance(cause, (httpx2.TransportError, ConnectionError, TimeoutError, ValueError))


def cause_of(error: BaseException) -> BaseException | None:
    """What the client raised, of an error of ours; it wraps what stopped one file of an upload once more."""
    if not isinstance(error, NetworkError):
        return error
    cause = error.__cause__
    return cause.__cause__ if isinstance(cause, RuntimeError) and cause.__cause__ is not None else cause


def status_of(cause: BaseException | None) -> int | None:
    """The status of the answer behind what the client raised, None where there was no answer."""
    status = getattr(getattr(cause, "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def asked_wait(cause: BaseException | None) -> float | None:
    """Seconds that the hub asks to wait, by `Retry-After` or by the reset of its rate limit."""
    response = getattr(cause, "response", None)
    if response is None:
        return None
    asked = str(response.headers.get("retry-after", "")).strip()
    if asked.isascii() and asked.isdigit():
        return float(asked[:9])
    if asked:
        try:
            return max(0.0, parsedate_to_datetime(asked).timestamp() - time.time())
        except (ValueError, TypeError, OverflowError):
            return None
    reset = _RESET.search(str(response.headers.get("RateLimit", ""))) if status_of(cause) == SLOW_DOWN else None
    return float(reset.group(1)) if reset else None
