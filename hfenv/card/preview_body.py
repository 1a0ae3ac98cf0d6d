"""The card's Markdown as HTML that is safe to open: no raw HTML, no script, no request, links that can't mislead."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from hfenv.card.preview_images import Pictures, is_elsewhere

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

LONGEST = 256 * 1024  # characters of Markdown that are rendered; brackets alone take a second for each 20,000
# Only these leave the page when clicked; a path or //host would lead somewhere else from wherever the page is opened.
_FOLLOWED = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f]+", re.IGNORECASE)
_NOT_IN_SLUG = re.compile(r"[^\w\- ]")
_ID = "s-"  # before every id made from a heading, so that none equals an id of the page's own
_ALIGNED = re.compile(r"text-align:(left|right|center)")

# Where a place inside the environment leads on the page, None where it leads nowhere.
Follow = Callable[[str], "str | None"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the body: its level, plain text, and id on the page."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Body:
    """Rendered Markdown. `html` is safe to place into a page as it is; `cut` says that the end was left out."""

    html: str
    headings: tuple[Heading, ...]
    cut: bool


def render_body(markdown: str, title: str, pictures: Pictures, follow: Follow | None = None) -> Body:
    """Render the Markdown below a card's header. A first heading that repeats `title` is left out.

    `follow` says where links to files of the environment lead; without it, they are shown and lead nowhere.
    """
    renderer = _parser()
    tokens = renderer.parse(markdown[:LONGEST])
    headings = _name_headings(tokens)
    if headings and headings[0].level == 1 and headings[0].text == title and tokens[0].type == "heading_open":
        tokens, headings = tokens[3:], headings[1:]
    anchors = {heading.anchor.removeprefix(_ID) for heading in headings}
    for token in tokens:
        _make_safe(token.children or (), anchors, pictures, follow)
        _lay_out(token)
    rendered = renderer.renderer.render(tokens, renderer.options, {})
    return Body(rendered, tuple(headings), len(markdown) > LONGEST)


def render_note(markdown: str) -> str:
    """Render a short text that stands inside a page of other texts: its headings are bold lines and have no ids."""
    renderer = _parser()
    tokens = renderer.parse(markdown[:LONGEST])
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = "p"
            if token.type == "heading_open":
                token.attrs = {"class": "heading"}
        _make_safe(token.children or (), set(), Pictures(None), None)
        _lay_out(token)
    return str(renderer.renderer.render(tokens, renderer.options, {}))


def _lay_out(token: Token) -> None:
    """Tables scroll by themselves, and a column's alignment is a class: pages of a strict policy refuse styles."""
    if token.type == "table_open":
        token.type, token.content = "html_block", '<div class="scroll" tabindex="0"><table>'
    elif token.type == "table_close":
        token.type, token.content = "html_block", "</table></div>\n"
    elif token.type in ("th_open", "td_open"):
        aligned = _ALIGNED.fullmatch(str(token.attrs.pop("style", "")))
        if aligned:
            token.attrs["class"] = f"to-{aligned[1]}"


def is_followed(address: str) -> bool:
    """True for an address that the page makes a link of: http, https or mailto, without spaces."""
    return _FOLLOWED.fullmatch(address) is not None


def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 30}).enable(["table", "strikethrough"])
    # Raw HTML is shown as text, but a comment is what its author wanted to hide.
    parser.block.ruler.before(
        "html_block", "comment", _block_comment, {"alt": ["paragraph", "reference", "blockquote"]}
    )
    parser.inline.ruler.before("html_inline", "comment", _inline_comment)
    return parser


def _block_comment(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    begin = state.bMarks[start] + state.tShift[start]
    if state.is_code_block(start) or not state.src.startswith("<!--", begin):
        return False
    for line in range(start, end):
        if "-->" in state.src[(begin + 4 if line == start else state.bMarks[line]) : state.eMarks[line]]:
            break
    else:
        line = end - 1
    if not silent:
        state.line = line + 1
    return True


def _inline_comment(state: StateInline, silent: bool) -> bool:
    if not state.src.startswith("<!--", state.pos) or (close := state.src.find("-->", state.pos + 4)) < 0:
        return False
    state.pos = close + 3
    return True


def _name_headings(tokens: Sequence[Token]) -> list[Heading]:
    """Give every heading an id as GitHub and the Hub make them, with a number where one stands twice."""
    found: list[Heading] = []
    used: dict[str, int] = {}
    for token, inline in pairwise(tokens):
        if token.type != "heading_open":
            continue
        text = "".join(_plain(inline.children or ())).strip()
        slug = _NOT_IN_SLUG.sub("", text.lower()).replace(" ", "-")[:100]
        number = used[slug] = used.get(slug, -1) + 1
        anchor = f"{_ID}{slug}-{number}" if number else f"{_ID}{slug}"
        token.attrSet("id", anchor)
        found.append(Heading(int(token.tag[1:]), text, anchor))
    return found


def _plain(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            yield " "
        elif token.type == "image":
            yield from _plain(token.children or ())
        else:
            yield token.content


def _make_safe(tokens: Sequence[Token], anchors: set[str], pictures: Pictures, follow: Follow | None) -> None:
    """Links that the page doesn't follow become text, pictures come along or become a link."""
    linked = followed = False
    for token in tokens:
        if token.type == "link_open":
            linked, followed = True, _point(token, anchors, follow)
        elif token.type == "link_close":
            token.tag = "a" if followed else "span"
            linked = False
        elif token.type == "image":
            token.type, token.content = "html_inline", _picture(token, pictures, linked)


def _point(link: Token, anchors: set[str], follow: Follow | None) -> bool:
    address = str(link.attrs.get("href", ""))
    title = link.attrs.get("title")
    attributes: dict[str, Any]
    if address.startswith("#") and (anchor := unquote(address[1:]).lower()) in anchors:
        attributes = {"href": f"#{_ID}{anchor}"}
    elif is_followed(address):
        attributes = {"href": address, "rel": "noopener noreferrer nofollow"}
    elif follow is not None and not is_elsewhere(address) and (place := follow(address)):
        attributes = {"href": place}
    else:
        link.tag = "span"
        attributes = {"class": "place", "title": unquote(address)}
        title = None
    link.attrs = {**attributes, **({"title": title} if title else {})}
    return link.tag == "a"


def _picture(image: Token, pictures: Pictures, linked: bool) -> str:
    """HTML of a picture: inlined, or a link to where it is (plain text inside another link), or its description."""
    source = str(image.attrs.get("src", ""))
    text = "".join(_plain(image.children or ())).strip()
    if data := pictures.inline(source):
        return f'<img src="{data}" alt="{html.escape(text)}">'
    shown = html.escape(text or unquote(source)[:100] or "?")
    if is_followed(source) and not linked:
        return f'<a class="picture" href="{html.escape(source)}" rel="noopener noreferrer nofollow">{shown}</a>'
    place = "" if is_elsewhere(source) else f' title="{html.escape(unquote(source)[:200])}"'
    return f'<span class="picture"{place}>{shown}</span>'
