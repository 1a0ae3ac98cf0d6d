"""From a handler to an endpoint of the application: reads the body, turns whatever goes wrong into an answer."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from hfenv.errors import HfenvError
from hfenv.localhub.errors import HubError, bad_request, storage_error
from hfenv.localhub.gitstore import GitError
from hfenv.localhub.wire import Call, Hub, refusal

log = logging.getLogger("hfenv.localhub")

# Bodies that are read into memory: the largest is a preupload of 256 paths with samples.
MAX_BODY = 8 * 1024 * 1024
# How much of a body is read on after its refusal, so that a client that still sends gets to read why.
_MAX_DRAINED = 64 * 1024 * 1024
# Bodies that go to disk first: one commit.
MAX_COMMIT_BODY = 4 * 1024**3

Handler = Callable[[Call], Response]
Endpoint = Callable[[Request], Awaitable[Response]]


def guarded(hub: Hub, work: Callable[[Request], Awaitable[Response]]) -> Endpoint:
    """Turn whatever goes wrong into an answer by the error contract."""

    async def endpoint(request: Request) -> Response:
        try:
            response = await work(request)
        except HubError as error:
            response = refusal(error)
        except ClientDisconnect:
            response = refusal(bad_request("The request ended before its body was complete."))
        except (OSError, GitError) as error:
            log.error("storage error in %s %s: %s", request.method, request.scope["path"], error)
            response = refusal(storage_error(error, hub.storage.root))
        except HfenvError as error:
            log.error("error in %s %s: %s", request.method, request.scope["path"], error)
            response = refusal(HubError(500, "The hub can't use its storage: its log says more."))
        except Exception:
            log.exception("unexpected error in %s %s", request.method, request.scope["path"])
            response = refusal(HubError(500, "Internal error of the hub; its log says more."))
        if response.status_code >= 400:
            await _drain(request)
        response.headers["X-Request-Id"] = secrets.token_hex(8)
        return response

    return endpoint


async def _drain(request: Request) -> None:
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > _MAX_DRAINED:
                return
    except (RuntimeError, ClientDisconnect):
        return  # it was read before, or nobody sends any more


def plain(hub: Hub, handler: Handler) -> Endpoint:
    """An endpoint whose body fits into memory."""

    async def work(request: Request) -> Response:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY:
                raise HubError(413, "The request's body is too large.")
        data = bytes(body)
        return await run_in_threadpool(lambda: handler(open_call(hub, request, data)))

    return guarded(hub, work)


def spooled(
    hub: Hub, check: Callable[[Call], object], handler: Callable[[Call, Path], Response], limit: int = MAX_COMMIT_BODY
) -> Endpoint:
    """An endpoint whose body is kept on disk; `check` refuses what may not be, before the body is read."""

    async def work(request: Request) -> Response:
        call = await run_in_threadpool(lambda: open_call(hub, request))
        await run_in_threadpool(check, call)
        with hub.storage.scratch_folder() as folder:
            path = folder / "body"
            with path.open("wb") as file:
                async for block in blocks(request):
                    if file.tell() + len(block) > limit:
                        raise HubError(413, "The request's body is too large.")
                    await run_in_threadpool(file.write, block)
            return await run_in_threadpool(handler, call, path)

    return guarded(hub, work)


def open_call(hub: Hub, request: Request, body: bytes = b"") -> Call:
    return Call(hub, request, hub.user(request.headers.get("authorization")), body)


async def blocks(request: Request, size: int = 1024 * 1024) -> AsyncIterator[bytes]:
    """The body in pieces of about `size` bytes, so that each is worth a change of thread."""
    block = bytearray()
    async for chunk in request.stream():
        block += chunk
        if len(block) >= size:
            yield bytes(block)
            block.clear()
    if block:
        yield bytes(block)
