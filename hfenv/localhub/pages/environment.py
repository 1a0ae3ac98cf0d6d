"""An environment's own page: its card with charts, what is known of it, and how to load exactly this."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from starlette.responses import Response

from hfenv.card import preview_facts as facts
from hfenv.card.preview import card_values
from hfenv.card.preview_body import render_body
from hfenv.card.preview_images import LARGEST, Pictures
from hfenv.card.problem import CardError
from hfenv.card.reader import Card, parse_card
from hfenv.components.marks import Marks, marks_of
from hfenv.localhub import cards
from hfenv.localhub.describe import repo_info
from hfenv.localhub.pages import shown as text
from hfenv.localhub.pages.freshness import freshness
from hfenv.localhub.pages.releases import record_at
from hfenv.localhub.pages.repository import Shown, frame, may_see_files, opened
from hfenv.localhub.pages.visit import Visit
from hfenv.localhub.pages.words import words

_LARGEST_CARD = 1024 * 1024


def show(visit: Visit) -> Response:
    """The card at the head, or at `?revision=`."""
    shown = opened(visit, visit.call.value("revision") or None)
    raw = shown.content(cards.CARD_PATH, _LARGEST_CARD)
    allowed = may_see_files(visit, shown.repo)
    card, problem = _read(raw, visit) if raw is not None else (None, None)
    if card is not None:
        values = _of_card(visit, shown, card, allowed=allowed)
    else:
        values = _of_text(shown, raw if allowed else None)
    info = repo_info(shown.repo, shown.commit, full=False)
    record = record_at(shown.repo.git, shown.commit)
    marks, release = head_marks(shown), record.release if record else None
    return visit.page(
        "environment.html.jinja",
        **frame(visit, shown, "card"),
        **values,
        has_card=card is not None,
        has_text=raw is not None,
        problem=problem,
        allowed=allowed,
        likes=info["likes"],
        downloads=info["downloads"],
        changed=shown.repo.git.commit_info(shown.commit).when,
        yank=marks.yank_of(release),
        # The card itself lists those that it knows; one of an older release knows less than the head.
        warned=marks.advisories_on(record.versions, release) if record and shown.revision else (),
        snippets=_snippets(visit.call.origin, shown),
        script=True,
    )


def _read(raw: bytes, visit: Visit) -> tuple[Card | None, str | None]:
    try:
        return parse_card(_without_signs(raw)), None
    except CardError as error:
        return None, text.name(error.message)


def _without_signs(raw: bytes) -> bytes:
    # Before it is parsed, so that neither the header's values nor the Markdown turn text around.
    try:
        return text.plain_text(raw.decode("utf-8").removeprefix("\ufeff")).encode()
    except UnicodeDecodeError:
        return raw


def _of_card(visit: Visit, shown: Shown, card: Card, *, allowed: bool) -> dict[str, Any]:
    values = card_values(card, visit.language, _pictures(shown), follow=_follow(visit, shown), with_text=allowed)
    block = card.block
    audit = facts.mapping(block.get("audit"))
    note = words(visit.language)[freshness(audit, record_at(shown.repo.git, shown.commit))] if audit else ""
    return {
        **values,
        "t": words(visit.language),
        "inner": "div",
        "rating_note": note,
        "below_tiles": "snippets.html.jinja",
        "markdown": None,
    }


def _of_text(shown: Shown, raw: bytes | None) -> dict[str, Any]:
    """A README.md that is no card: its Markdown without the header, if it has one."""
    markdown = _without_signs(raw).decode("utf-8", "replace") if raw else ""
    header = cards.front_matter(markdown)
    if header is not None:
        markdown = markdown[markdown.index(header) + len(header) :].partition("\n")[2]
    body = render_body(markdown, "", _pictures(shown))
    return {"title": shown.id.full, "summary": "", "body": body, "markdown": body.html}


def _pictures(shown: Shown) -> Pictures:
    return Pictures(None, lambda path: shown.content(path, LARGEST))


def _follow(visit: Visit, shown: Shown) -> Callable[[str], str | None]:
    """Links from the card to files and folders of the same commit."""
    revision = shown.revision or "main"

    def follow(address: str) -> str | None:
        place, _, _ = address.partition("#")
        path = unquote(place.partition("?")[0]).removeprefix("./").strip("/")
        entry = shown.repo.git.entry(shown.commit, path) if path else None
        if entry is None:
            return None
        start = visit.address(shown.id, "tree" if entry.is_folder else "blob", revision)
        return f"{start}/{text.in_address(path, path=True)}"

    return follow


def head_marks(shown: Shown) -> Marks:
    """The marks of the card at the head, which alone knows those on older releases."""
    head = shown.repo.git.resolve("main")
    data = repo_info(shown.repo, head, full=False)["cardData"] if head else {}
    return marks_of(facts.mapping(data.get("environment")))


def _snippets(origin: str, shown: Shown) -> dict[str, str]:
    repo, commit = shown.id.full, shown.commit
    where = origin if origin.isascii() and origin.isprintable() and not set(origin) & set("'\"`$\\ ") else ""
    python = (
        f"import hfenv\n\nenv = hfenv.load(\n    {json.dumps(repo)},\n    revision={json.dumps(commit)},\n"
        f"    hub={json.dumps(where)},\n    trust_remote_code=True,\n)"
    )
    ask = f'curl -X POST -H "Authorization: Bearer $HF_TOKEN" {where}/{shown.id.url_path}/ask-access'
    return {"python": python, "shell": f"hfenv pull {repo}@{commit} --hub {where}", "ask": ask}
