"""A card as one self-contained HTML page: nothing in it runs, nothing is fetched, whatever the card says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hfenv.card import preview_facts as facts
from hfenv.card.preview_body import Follow, Heading, render_body
from hfenv.card.preview_images import Pictures
from hfenv.card.preview_words import page_language, words
from hfenv.card.reader import Card

if TYPE_CHECKING:
    from jinja2 import Template

# How every page begins: `is_preview` knows a file by it that may be written anew.
_BEGINNING = b"<!doctype html>\n<!-- hfenv card preview -->\n"
_TEMPLATE = "preview.html.jinja"
_ENTRIES = 40  # headings in the table of contents
_BAR_HEIGHT = 40  # pixels that one grade takes up in the chart, its name and number above its bar


def render_preview(card: Card, *, folder: Path | None = None, grades: Mapping[str, int] | None = None) -> bytes:
    """The page as UTF-8. Works on every card that could be read; what is malformed is shown as it stands or left out.

    `folder` is the environment's, whose pictures come along; `grades` are numbers of tasks by grade, used where the
    card gives none.
    """
    language = page_language(card)
    values = card_values(card, language, Pictures(folder), grades=grades)
    page = _template().render(**values, lang=language, inner="main")
    return _BEGINNING + page.encode("utf-8", "replace")


def card_values(
    card: Card,
    language: str,
    pictures: Pictures,
    *,
    grades: Mapping[str, int] | None = None,
    follow: Follow | None = None,
    with_text: bool = True,
) -> dict[str, Any]:
    """What `preview_card.html.jinja` shows of a card, in the words of `language`.

    `follow` says where links to files lead, as in `render_body`; without `with_text` the card's Markdown is left out.
    The page that includes the template also sets `inner`, the name of the element around the text, and may set
    `rating_note`, a text behind the rating, and `below_tiles`, a template of its own.
    """
    title = card_title(card)
    body = render_body(card.text[card.header.body :] if with_text else "", title, pictures, follow)
    return {
        **_header(card),
        "t": words(language),
        "card_lang": page_language(card),
        "title": title,
        "body": body,
        "contents": _contents(body.headings),
        "bars": facts.bars(facts.declared_grades(card) or grades),
        "bar_height": _BAR_HEIGHT,
        "rating_note": "",
        "below_tiles": None,
    }


def is_preview(beginning: bytes) -> bool:
    """True if a file that begins so was written by `render_preview`."""
    return beginning.startswith(_BEGINNING)


@cache
def _template() -> Template:
    import jinja2

    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    return jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    ).get_template(_TEMPLATE)


def card_title(card: Card) -> str:
    """What a card calls its environment; its path where it doesn't."""
    pretty = facts.text(card.front_matter.get("pretty_name"))
    heading = next((section.title for section in card.sections if section.level == 1), "")
    return pretty or facts.text(heading) or facts.text(card.block.get("name")) or card.path


def _contents(headings: tuple[Heading, ...]) -> tuple[Heading, ...]:
    """Headings for the table of contents: those of the second level, or of the first where there are none."""
    level = 2 if any(heading.level == 2 for heading in headings) else 1
    return tuple(heading for heading in headings if heading.level == level and heading.text)[:_ENTRIES]


def _header(card: Card) -> dict[str, Any]:
    block, tasks = card.block, facts.mapping(card.block.get("tasks"))
    components = [
        (name, facts.text(facts.mapping(block.get(name)).get("version"))) for name in ("code", "tasks", "reward")
    ]
    lifecycle = facts.mapping(block.get("lifecycle"))
    status = lifecycle.get("status")
    return {
        "summary": facts.text(block.get("summary")),
        "spec": facts.text(block.get("spec")),
        "licences": facts.listed(card.front_matter.get("license")),
        "languages": facts.listed(card.front_matter.get("language")),
        "tags": facts.listed(card.front_matter.get("tags")),
        "release": facts.text(block.get("release")),
        "components": components,
        "rating": facts.rating(card),
        "status": status if status in ("deprecated", "archived") else "",
        "lifecycle": {key: facts.text(lifecycle.get(key)) for key in ("reason", "since", "successor")},
        "advisories": facts.rows(block.get("advisories"), ("id", "component", "versions", "fixed_in", "summary")),
        "groups": tuple(facts.groups(card)),
        "splits": facts.splits(tasks),
        "fields": facts.fields_by_role(card),
        "benchmarks": facts.results(card),
    }  # fmt: skip
