"""The addresses of the pages. None of them is one of the API's or of git's, and none writes to a repository."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from hfenv.localhub.errors import HubError, bad_request
from hfenv.localhub.pages import compare, environment, environments, files, talk, versions
from hfenv.localhub.pages.catalogue import Catalogue
from hfenv.localhub.pages.signin import COOKIE, LIFE_S, Sessions, address_of, is_from_here
from hfenv.localhub.pages.visit import HEADERS, Handler, Site, Visit, failure, local_path, page, stylesheet
from hfenv.localhub.wire import Hub

_REPO = "/datasets/{namespace}/{name}"
# `-` can't be a namespace: these never stand in a repository's way.
_OWN = "/-"
_RAW = "/resolve/{revision}/{path:path}"

_PAGES: tuple[tuple[str, Handler], ...] = (
    ("/", environments.show),
    (_REPO, environment.show),
    (f"{_REPO}/versions", versions.show),
    (f"{_REPO}/compare", versions.choose),
    (f"{_REPO}/compare/{{pair}}", compare.show),
    (f"{_REPO}/tree/{{revision}}", files.folder),
    (f"{_REPO}/tree/{{revision}}/{{path:path}}", files.folder),
    (f"{_REPO}/blob/{{revision}}/{{path:path}}", files.file),
    (f"{_REPO}/commits/{{revision}}", files.history),
    (f"{_REPO}/commit/{{revision}}", compare.commit),
    (f"{_REPO}/discussions", talk.show_all),
    (f"{_REPO}/discussions/{{num}}", talk.show_one),
)


_Unknown = Callable[[Request, Exception], Response | Awaitable[Response]]


def with_pages(hub: Hub, routes: Sequence[Route], unknown: _Unknown) -> tuple[list[Route], _Unknown]:
    """The hub's routes with those of the pages, and what answers where no route fits.

    Whoever is signed in gets raw files too: browsers send the cookie to `resolve`, which alone heeds it.
    """
    site = Site(hub, Sessions(), Catalogue(hub.storage))
    missing = page(site, _missing)

    async def answer(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        if status == 404 and _wants_page(request):
            return await missing(request)
        response = unknown(request, error)
        return response if isinstance(response, Response) else await response

    return [*(_signed_in(site, route) for route in routes), *_page_routes(site)], answer


def _page_routes(site: Site) -> list[Route]:
    routes = [_route(site, path, handler, "GET") for path, handler in _PAGES]
    return [
        *routes,
        _route(site, f"{_OWN}/sign-in", _form, "GET"),
        _route(site, f"{_OWN}/sign-in", _sign_in, "POST"),
        _route(site, f"{_OWN}/sign-out", _sign_out, "POST"),
        Route(f"{_OWN}/style.css", _style, methods=["GET"]),
    ]


def _signed_in(site: Site, route: Route) -> Route:
    """A route of the API as it is; that of raw files also for who is signed in by cookie."""
    if not route.path.endswith(_RAW):
        return route
    endpoint = route.endpoint

    async def with_cookie(request: Request) -> Response:
        token = site.sessions.token(request.cookies.get(COOKIE, ""))
        if token is not None and "authorization" not in request.headers and is_from_here(request):
            headers = [*request.scope["headers"], (b"authorization", f"Bearer {token}".encode())]
            request = Request({**request.scope, "headers": headers}, request.receive)
        response: Response = await endpoint(request)
        return response

    return Route(route.path, with_cookie, methods=["GET"])


def _missing(visit: Visit) -> Response:
    raise HubError(404, "Not found")


def _wants_page(request: Request) -> bool:
    """Whether a browser asks, for an address that isn't the API's."""
    is_api = request.url.path.startswith(("/api/", "/lfs/"))
    return not is_api and "text/html" in request.headers.get("accept", "")


def _route(site: Site, path: str, handler: Handler, method: str) -> Route:
    return Route(path, page(site, handler), methods=[method])


async def _style(request: Request) -> Response:
    headers = {**HEADERS, "Cache-Control": "public, max-age=31536000, immutable"}
    return Response(stylesheet(), headers=headers, media_type="text/css; charset=utf-8")


def _form(visit: Visit) -> Response:
    return _form_page(visit, local_path(visit.call.value("next") or "/"))


def _form_page(visit: Visit, following: str, problem: str | None = None, status: int = 200) -> Response:
    return visit.page("sign_in.html.jinja", http_status=status, following=following, problem=problem)


def _sign_in(visit: Visit) -> Response:
    request, sessions = visit.call.request, visit.site.sessions
    form = parse_qs(visit.call.body.decode("utf-8", "replace"), max_num_fields=10)
    following = local_path(form.get("next", ["/"])[-1])
    if not is_from_here(request):
        return _form_page(visit, following, "elsewhere", 403)
    address = address_of(request)
    if not sessions.may_try(address):
        answer = _form_page(visit, following, "too_often", 429)
        answer.headers["Retry-After"] = "60"
        return answer
    token = form.get("token", [""])[-1].strip()
    try:
        user = visit.site.hub.user(f"Bearer {token}") if token else None
    except HubError:
        user = None
    if user is None:
        sessions.failed(address)
        return _form_page(visit, following, "token_wrong", 401)
    answer = RedirectResponse(following, 303, {**HEADERS})
    answer.set_cookie(
        COOKIE,
        sessions.begin(token),
        max_age=LIFE_S,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


def _sign_out(visit: Visit) -> Response:
    if not is_from_here(visit.call.request):
        return failure(visit, bad_request("The form was sent from another page."))
    visit.site.sessions.end(visit.call.request.cookies.get(COOKIE, ""))
    answer = RedirectResponse("/", 303, {**HEADERS})
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer
