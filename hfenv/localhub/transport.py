"""The embedded hub without a socket: a transport for the Hub client that runs the application in this process."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from typing import Any

import httpx2
from starlette.types import ASGIApp

# `.localhost` never leaves the machine, should a request go round the transport.
ENDPOINT = "http://hfenv.localhost"

_QUEUED_CHUNKS = 8
_BLOCK = 256 * 1024


class _Loop:
    """An event loop on a thread of its own, started when it is first needed."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._pid = 0

    def submit(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        with self._guard:
            # A forked child has the object but not the thread.
            loop = self._loop if self._loop is not None and self._pid == os.getpid() else self._start()
            return asyncio.run_coroutine_threadsafe(work, loop)

    def _start(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.new_event_loop()
        self._loop, self._pid = loop, os.getpid()
        self._thread = threading.Thread(target=self._run, args=(loop,), name="hfenv-hub", daemon=True)
        self._thread.start()
        return loop

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            pending = asyncio.all_tasks(loop)
            for task in pending:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_default_executor())
        finally:
            loop.close()

    def stop(self) -> None:
        with self._guard:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
            if loop is not None and thread is not None and self._pid == os.getpid():
                loop.call_soon_threadsafe(loop.stop)
                thread.join()


class _Exchange:
    """One request: feeds its body to the application as it asks for it, hands the answer over as it comes."""

    def __init__(self, app: ASGIApp, request: httpx2.Request, loop: _Loop) -> None:
        self._app = app
        self._request = request
        self._loop = loop
        self._chunks: Iterator[bytes] = iter(request.stream)  # type: ignore[arg-type]
        self._body_sent = False
        self._failure: BaseException | None = None
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue(_QUEUED_CHUNKS)
        self._started: Future[tuple[int, list[tuple[bytes, bytes]]]] = Future()
        self._running: Future[Any] | None = None

    def start(self) -> tuple[int, list[tuple[bytes, bytes]]]:
        """Status and headers of the answer."""
        self._running = self._loop.submit(self._run())
        return self._started.result()

    def chunks(self) -> Iterator[bytes]:
        while (chunk := self._loop.submit(self._next()).result()) is not None:
            yield chunk
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        if self._running is not None:
            self._running.cancel()

    async def _next(self) -> bytes | None:
        return await self._queue.get()

    async def _run(self) -> None:
        try:
            await self._app(self._scope(), self._receive, self._send)
        except asyncio.CancelledError:
            self._failure = self._failure or httpx2.ReadError("The hub was closed during the answer.")
            self._fail()
            raise
        except BaseException as error:
            self._failure = self._failure or error
        self._fail()
        await self._queue.put(None)

    def _fail(self) -> None:
        if not self._started.done():
            self._started.set_exception(self._failure or httpx2.RemoteProtocolError("The hub gave no answer."))

    def _scope(self) -> dict[str, Any]:
        url, headers = self._request.url, self._request.headers.raw
        return {
            "type": "http",
            # From 2.4 on the application learns from `send`, not from `receive`, that nobody listens any more.
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": self._request.method,
            "headers": [(key.lower(), value) for key, value in headers],
            "scheme": url.scheme,
            "path": url.path,
            "raw_path": url.raw_path.split(b"?", 1)[0],
            "query_string": url.query,
            "server": (url.host, url.port or 80),
            "client": ("127.0.0.1", 0),
            "root_path": "",
        }

    async def _receive(self) -> dict[str, Any]:
        if self._body_sent:
            return {"type": "http.disconnect"}
        try:
            block, more = await asyncio.to_thread(self._pull)
        except BaseException as error:
            # The caller's own stream failed: that is what it must hear of, not of a broken upload.
            self._failure = error
            self._fail()
            return {"type": "http.disconnect"}
        self._body_sent = not more
        return {"type": "http.request", "body": block, "more_body": more}

    def _pull(self) -> tuple[bytes, bool]:
        block = bytearray()
        for chunk in self._chunks:
            block += chunk
            if len(block) >= _BLOCK:
                return bytes(block), True
        return bytes(block), False

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            if not self._started.done():
                self._started.set_result((message["status"], list(message.get("headers", []))))
        elif self._request.method != "HEAD" and (body := message.get("body")):
            await self._queue.put(bytes(body))


class _Body(httpx2.SyncByteStream):
    """The answer's body, read from the application piece by piece."""

    def __init__(self, exchange: _Exchange) -> None:
        self._exchange = exchange

    def __iter__(self) -> Iterator[bytes]:
        return self._exchange.chunks()

    def close(self) -> None:
        self._exchange.close()


class InProcessTransport(httpx2.BaseTransport):
    """Answers requests with an ASGI application, from any thread, without opening a socket.

    Bodies are streamed both ways, so that a large file is never in memory as a whole. `close` ends the event loop; a
    request after it starts another one, so that one transport can serve several clients in turn.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._loop = _Loop()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange = _Exchange(self._app, request, self._loop)
        try:
            status, headers = exchange.start()
        except BaseException:
            exchange.close()
            raise
        return httpx2.Response(status, headers=headers, stream=_Body(exchange))

    def close(self) -> None:
        self._loop.stop()
