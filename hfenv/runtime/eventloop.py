"""The event loop on which authors' coroutines run, in a thread of its own, whatever the caller's thread is doing.

asyncio is imported when it is needed: most environments never wait, and every worker of a pool pays for its imports.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Executor

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def shared_loop() -> asyncio.AbstractEventLoop:
    """The one background loop of this process, started when it is first needed."""
    global _loop  # noqa: PLW0603 - one loop per process is the point
    import asyncio

    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="hfenv-event-loop", daemon=True).start()
        return _loop


def run_blocking(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the background loop and wait for it; works inside a running loop too, which then waits."""
    import asyncio

    future = asyncio.run_coroutine_threadsafe(coroutine, shared_loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


async def run_awaiting(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the background loop while the caller's own loop goes on."""
    import asyncio

    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, shared_loop()))


async def run_in(executor: Executor, coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits in another thread while the caller's loop goes on."""
    import asyncio

    return await asyncio.wrap_future(executor.submit(run_through, coroutine))


def run_through(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits, in this thread and without any loop."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    coroutine.close()
    raise RuntimeError("a coroutine waited where nothing may")


async def settle(value: Awaitable[T]) -> T:
    """An awaitable of any kind as a coroutine; what would end the event loop for everybody becomes a RuntimeError."""
    try:
        return await value
    except (KeyboardInterrupt, SystemExit) as error:
        raise RuntimeError(f"{type(error).__name__} in a coroutine") from error
