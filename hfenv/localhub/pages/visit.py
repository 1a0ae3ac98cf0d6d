"""One look at a page: who looks, in which language, and the answer with the headers that keep it harmless."""

from __future__ import annotations

import base64
import hashlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response

from hfenv.errors import HfenvError
from hfenv.localhub.errors import HubError, storage_error
from hfenv.localhub.gitstore import GitError
from hfenv.localhub.names import RepoId, RepoType
from hfenv.localhub.pages import shown
from hfenv.localhub.pages.catalogue import Catalogue
from hfenv.localhub.pages.signin import Sessions, visitor
from hfenv.localhub.pages.words import LANGUAGES, preferred, words
from hfenv.localhub.wire import Call, Hub

if TYPE_CHECKING:
    from jinja2 import Environment

log = logging.getLogger("hfenv.localhub")

LANGUAGE_COOKIE = "hfenv_lang"
_YEAR_S = 365 * 24 * 3600
_MAX_FORM = 16 * 1024
_FOLDER = Path(__file__).parent
_COPY = (_FOLDER / "copy.js").read_text(encoding="utf-8").strip()
_COPY_HASH = base64.b64encode(hashlib.sha256(_COPY.encode()).digest()).decode()
# Nothing but the hub's own style and pictures, and the one script by its digest.
POLICY = (
    f"default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'sha256-{_COPY_HASH}'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not `no-referrer`: browsers then send forms from nowhere.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
    "Vary": "Accept-Language, Cookie, Authorization",
}


@dataclass(frozen=True)
class Site:
    """What all pages share."""

    hub: Hub
    sessions: Sessions
    catalogue: Catalogue


@dataclass(frozen=True)
class Visit:
    """One request for a page. `call` has the visitor, and with it the rights that the API gives them."""

    site: Site
    call: Call
    language: str

    @property
    def chosen_language(self) -> str | None:
        """The language that the address asks for, which is then kept."""
        asked = self.call.value("lang")
        return asked if asked in LANGUAGES else None

    def page(self, template: str, *, http_status: int = 200, **values: Any) -> Response:
        """A page from a template."""
        request = self.call.request
        here = local_path(request.scope["path"])
        kept = [(key, value) for key, value in self.call.query if key != "lang"]
        html = _templates().get_template(template).render(
            {
                "t": words(self.language),
                "lang": self.language,
                "language_links": [(code, name, f"{here}?{urlencode([*kept, ('lang', code)])}")
                              for code, name in LANGUAGES.items()],
                "user": self.call.user.name if self.call.user else None,
                "here": f"{here}?{urlencode(kept)}" if kept else here,
                "style": style_address(),
                "script": None,
                **values,
            }
        )  # fmt: skip
        response = HTMLResponse(html.encode("utf-8", "replace"), http_status, HEADERS)
        if self.chosen_language:
            response.set_cookie(
                LANGUAGE_COOKIE, self.chosen_language, max_age=_YEAR_S, httponly=True, samesite="strict"
            )
        return response

    def address(self, repo: RepoId, *parts: str) -> str:
        """The path of a repository's page; a part is quoted, its slashes too."""
        return "/".join([f"/{repo.url_path}", *(shown.in_address(part) for part in parts)])


Handler = Callable[[Visit], Response]


def page(site: Site, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that answers with a page, also where something goes wrong."""

    async def endpoint(request: Request) -> Response:
        body = bytearray()
        try:
            async for chunk in request.stream():
                body += chunk
                if len(body) > _MAX_FORM:
                    return Response("Too large.", 413, HEADERS)
        except ClientDisconnect:
            return Response(status_code=400)
        return await run_in_threadpool(_answer, site, handler, request, bytes(body))

    return endpoint


def _answer(site: Site, handler: Handler, request: Request, body: bytes) -> Response:
    request.path_params["kind"] = RepoType.DATASET.plural  # which all environments are
    visit = Visit(site, Call(site.hub, request, None, body), _language(request))
    try:
        call = Call(site.hub, request, visitor(site.hub, site.sessions, request), body)
        visit = Visit(site, call, visit.chosen_language or visit.language)
        return handler(visit)
    except HubError as error:
        return failure(visit, error)
    except (OSError, GitError) as error:
        log.error("storage error in a page: %s", error)
        return failure(visit, storage_error(error, site.hub.storage.root))
    except HfenvError as error:
        log.error("error in a page: %s", error)
        return failure(visit, HubError(500, "The hub can't use its storage: its log says more."))
    except Exception:
        log.exception("unexpected error in a page")
        return failure(visit, HubError(500, "Internal error of the hub; its log says more."))


def failure(visit: Visit, error: HubError) -> Response:
    """A page that says what went wrong. What is private is not found, for people as for clients."""
    hidden = error.status == 401 and error.code is not None and error.code.value == "RepoNotFound"
    status = 404 if hidden else error.status
    t = words(visit.language)
    title = t["not_found"] if status == 404 else t["refused"] if status in (401, 403) else t["wrong"]
    text = t["not_found_text"] if status == 404 else shown.name(error.message)
    return visit.page("failure.html.jinja", http_status=status, title=title, text=text, status_code=status)


def _language(request: Request) -> str:
    kept = request.cookies.get(LANGUAGE_COOKIE)
    return kept if kept in LANGUAGES else preferred(request.headers.get("accept-language", ""))


@cache
def _templates() -> Environment:
    import jinja2

    from hfenv.card import preview

    loader = jinja2.FileSystemLoader([_FOLDER / "templates", Path(preview.__file__).parent])
    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {
        "shown": shown.name, "size": shown.size, "part": shown.in_address, "date": day, "moment": moment,
        "plain": shown.plain_text,
        "path": lambda text: shown.in_address(text, path=True),
    }  # fmt: skip
    environment.globals["copy_script"] = _COPY
    return environment


def local_path(address: str) -> str:
    """An address on this hub, or the list where it would lead elsewhere."""
    return address if address.startswith("/") and address[1:2] not in ("/", "\\") else "/"


def day(seconds: float) -> str:
    return _utc(seconds).strftime("%Y-%m-%d")


def moment(seconds: float) -> str:
    return _utc(seconds).strftime("%Y-%m-%d %H:%M UTC")


def _utc(seconds: float) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, timezone.utc)
    except (ValueError, OverflowError, OSError):  # a commit may claim any date
        return datetime.fromtimestamp(0, timezone.utc)


@cache
def stylesheet() -> bytes:
    """The style of all pages: that of a card, and what surrounds it."""
    from hfenv.card import preview

    card = (Path(preview.__file__).parent / "preview.css").read_bytes()
    return card + (_FOLDER / "pages.css").read_bytes()


@cache
def style_address() -> str:
    return f"/-/style.css?v={hashlib.sha256(stylesheet()).hexdigest()[:16]}"
