"""The embedded hub as an ASGI application: its table of routes, on the raw path."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from hfenv.localhub import (
    commits,
    githttp,
    routes_access,
    routes_content,
    routes_discussions,
    routes_likes,
    routes_repos,
    uploads,
)
from hfenv.localhub.endpoints import Endpoint, Handler, blocks, guarded, plain, spooled
from hfenv.localhub.errors import HubError, repo_not_found
from hfenv.localhub.names import RepoId
from hfenv.localhub.popularity import DownloadCounter
from hfenv.localhub.quotas import Quotas
from hfenv.localhub.storage import Storage
from hfenv.localhub.users import Token, TokenStore
from hfenv.localhub.wire import Hub, answer, refusal

_KINDS = ("models", "datasets", "spaces")
_API = "/api/{kind}/{namespace}/{name}"
_DISCUSSION = f"{_API}/discussions/{{num}}"


Unknown = Callable[[Request, Exception], Response | Awaitable[Response]]


class _RawPath:
    """Routes on the path as it was sent: a revision such as `feat%2Fx` is one segment until a handler decodes it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope.get("raw_path"):
            scope = {**scope, "path": scope["raw_path"].decode("latin-1").split("?", 1)[0]}
        await self._app(scope, receive, send)


def create_app(
    root: Path, *, in_process_user: str | None = None, tokens: Iterable[Token] = (), pages: bool = False
) -> Starlette:
    """The hub over the storage folder `root`, which is made if it is missing.

    Args:
        root: The storage folder; several processes may use it at once.
        in_process_user: Who makes requests without a token known here. None: such requests are anonymous.
        tokens: Tokens that are good for this application only, beside the stored ones.
        pages: Whether there are web pages for people, too.

    Raises:
        UsageError: the folder can't be used.
    """
    storage = Storage(root)
    hub = Hub(
        storage, TokenStore(storage.root, tokens), DownloadCounter(storage), Quotas(storage.root), in_process_user
    )
    routes, unknown = _with_pages(hub) if pages else (_routes(hub), _http_error)
    app = Starlette(routes=routes, middleware=[Middleware(_RawPath)], exception_handlers={HTTPException: unknown})
    app.router.redirect_slashes = False
    return app


def _with_pages(hub: Hub) -> tuple[list[Route], Unknown]:
    from hfenv.localhub.pages.routes import with_pages

    return with_pages(hub, _routes(hub), _http_error)


def _http_error(request: Request, error: Exception) -> Response:
    # Unknown addresses answer 404 as an object: the client takes a list for what it asked.
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = error.detail if isinstance(error, HTTPException) else "Internal error of the hub."
    return refusal(HubError(status, "Sorry, we can't find what you are looking for." if status == 404 else detail))


def _routes(hub: Hub) -> list[Route]:
    routes: list[Route] = []

    def add(method: str, path: str, endpoint: Endpoint) -> None:
        # `{kind}` is one of three words: any other stays unknown.
        for kind in _KINDS if "{kind}" in path else ("",):
            full = path.replace("{kind}", kind)
            routes.append(Route(full, _with_kind(endpoint, kind) if kind else endpoint, methods=[method]))

    for method, path, handler in _PLAIN:
        add(method, path, plain(hub, handler))
    add("POST", f"{_API}/commit/{{revision}}", spooled(hub, commits.check_commit, commits.commit))
    for prefix in ("", "/datasets", "/spaces"):
        kind = prefix.strip("/") or "models"
        repo = f"{prefix}/{{namespace}}/{{name}}"
        resolve, batch = plain(hub, routes_content.resolve), plain(hub, uploads.lfs_batch)
        routes.append(Route(f"{repo}/resolve/{{revision}}/{{path:path}}", _with_kind(resolve, kind), methods=["GET"]))
        for part, check, talk in (
            (githttp.FETCH, githttp.check_fetch, githttp.upload_pack),
            (githttp.PUSH, githttp.check_push, githttp.receive_pack),
        ):
            rpc = spooled(hub, check, talk, githttp.MAX_PUSH)
            routes.append(Route(f"{repo}/{part}", _with_kind(rpc, kind), methods=["POST"]))
        routes.append(Route(f"{repo}/info/refs", _with_kind(plain(hub, githttp.info_refs), kind), methods=["GET"]))
        ask = plain(hub, routes_access.ask_access)
        routes.append(Route(f"{repo}/ask-access", _with_kind(ask, kind), methods=["POST"]))
        routes.append(Route(f"{repo}.git/info/lfs/objects/batch", _with_kind(batch, kind), methods=["POST"]))
    routes.append(Route("/lfs/{oid}", plain(hub, uploads.lfs_get), methods=["GET"]))
    routes.append(Route("/lfs/{oid}", guarded(hub, lambda request: _lfs_put(hub, request)), methods=["PUT"]))
    routes.append(Route("/lfs/{oid}/verify", guarded(hub, lambda request: _lfs_verify(hub, request)), methods=["POST"]))
    return routes


def _with_kind(endpoint: Endpoint, kind: str) -> Endpoint:
    async def with_kind(request: Request) -> Response:
        request.path_params["kind"] = kind
        return await endpoint(request)

    return with_kind


_PLAIN: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/api/whoami-v2", routes_access.whoami),
    ("POST", "/api/validate-yaml", routes_repos.validate_yaml),
    ("POST", "/api/repos/create", routes_repos.create),
    ("DELETE", "/api/repos/delete", routes_repos.delete),
    ("POST", "/api/repos/move", routes_repos.move),
    ("GET", "/api/{kind}", routes_repos.list_repos),
    ("GET", "/api/{kind}/{name}", routes_repos.info),  # a name without namespace: none is stored
    ("GET", _API, routes_repos.info),
    ("GET", f"{_API}/revision/{{revision}}", routes_repos.info),
    ("GET", f"{_API}/auth-check", routes_repos.auth_check),
    ("PUT", f"{_API}/settings", routes_repos.settings),
    ("GET", f"{_API}/refs", routes_content.refs),
    ("GET", f"{_API}/commits/{{revision}}", routes_content.commits),
    ("GET", f"{_API}/tree/{{revision}}", routes_content.tree),
    ("GET", f"{_API}/tree/{{revision}}/{{path:path}}", routes_content.tree),
    ("POST", f"{_API}/paths-info/{{revision}}", routes_content.paths_info),
    ("POST", f"{_API}/tag/{{revision}}", routes_content.create_tag),
    ("DELETE", f"{_API}/tag/{{revision}}", routes_content.delete_tag),
    ("POST", f"{_API}/branch/{{branch}}", routes_content.create_branch),
    ("DELETE", f"{_API}/branch/{{branch}}", routes_content.delete_branch),
    ("POST", f"{_API}/super-squash/{{branch}}", routes_content.super_squash),
    ("POST", f"{_API}/preupload/{{revision}}", uploads.preupload),
    ("GET", f"{_API}/discussions", routes_discussions.list_discussions),
    ("POST", f"{_API}/discussions", routes_discussions.create),
    ("GET", _DISCUSSION, routes_discussions.details),
    ("POST", f"{_DISCUSSION}/comment", routes_discussions.add_comment),
    ("POST", f"{_DISCUSSION}/comment/{{comment}}/edit", routes_discussions.edit_comment),
    ("POST", f"{_DISCUSSION}/comment/{{comment}}/hide", routes_discussions.hide_comment),
    ("POST", f"{_DISCUSSION}/status", routes_discussions.change_status),
    ("POST", f"{_DISCUSSION}/title", routes_discussions.change_title),
    ("POST", f"{_DISCUSSION}/merge", routes_discussions.merge),
    ("POST", f"{_API}/like", routes_likes.like),
    ("DELETE", f"{_API}/like", routes_likes.unlike),
    ("GET", f"{_API}/likers", routes_likes.likers),
    ("GET", "/api/users/{user}/likes", routes_likes.user_likes),
    ("GET", "/api/users/{user}/overview", routes_access.user_overview),
    ("GET", "/api/organizations/{org}/overview", routes_access.org_overview),
    ("GET", "/api/organizations/{org}/members", routes_access.org_members),
    ("POST", f"{_API}/ask-access", routes_access.ask_access),
    ("POST", f"{_API}/user-access-request/handle", routes_access.handle_request),
    ("POST", f"{_API}/user-access-request/grant", routes_access.grant),
    ("GET", f"{_API}/user-access-request/{{status}}", routes_access.list_requests),
)


async def _lfs_put(hub: Hub, request: Request) -> Response:
    pointer, key = hub.storage.signer.check(request.path_params["oid"], request.query_params)
    repo = RepoId.parse(key)
    if not hub.storage.exists(repo):
        raise repo_not_found(anonymous=False)
    with hub.storage.lfs.receive(pointer) as incoming:
        async for block in blocks(request):
            await run_in_threadpool(incoming.write, block)
        await run_in_threadpool(hub.storage.add_large_file, repo, incoming, pointer.oid)
    return answer({})


async def _lfs_verify(hub: Hub, request: Request) -> Response:
    pointer, key = hub.storage.signer.check(request.path_params["oid"], request.query_params)
    if hub.storage.large_file(RepoId.parse(key), pointer.oid) != pointer.size:
        raise HubError(404, "The object isn't here.")
    return answer({})
