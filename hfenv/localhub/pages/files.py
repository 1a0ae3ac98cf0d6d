"""Files at a revision: the list of a folder, a file as text with numbers on its lines, the history."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

from starlette.responses import Response

from hfenv.components.ownership import Component
from hfenv.localhub import cards
from hfenv.localhub.gitstore import Entry
from hfenv.localhub.names import whole_number
from hfenv.localhub.pages import shown as text
from hfenv.localhub.pages.releases import record_at
from hfenv.localhub.pages.repository import Shown, check_files, frame, missing, opened
from hfenv.localhub.pages.visit import Visit
from hfenv.localhub.rawfiles import BEGINNING, image_type

PAGE = 500
HISTORY_PAGE = 50
LARGEST_TEXT, MOST_LINES, LONGEST_LINE = 512 * 1024, 10_000, 4000
LARGEST_IMAGE = 20 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a folder's list; `link` is None for a name that no address can hold."""

    name: str
    link: str | None
    is_folder: bool
    size: int
    is_large: bool


def folder(visit: Visit) -> Response:
    """What is in a folder."""
    call = visit.call
    shown = opened(visit, call.param("revision"))
    path = call.param("path").strip("/")
    entries = shown.repo.git.entries(shown.commit, path)
    if entries is None:
        raise missing(path)
    entries = sorted(entries, key=lambda entry: (not entry.is_folder, entry.path))
    last = max(1, -(-len(entries) // PAGE))
    number = min(max(1, whole_number(call.value("page") or "") or 1), last)
    rows = [_row(visit, shown, entry) for entry in entries[(number - 1) * PAGE : number * PAGE]]
    return visit.page(
        "folder.html.jinja",
        **frame(visit, shown, "files"),
        **_of_release(shown),
        trail=_trail(visit, shown, path),
        info=shown.repo.git.commit_info(shown.commit),
        rows=rows,
        number=number,
        last=last,
    )


def _row(visit: Visit, shown: Shown, entry: Entry) -> Row:
    pointer = None if entry.is_folder else shown.pointer(entry)
    link = None
    if text.is_unicode(entry.path):
        start = visit.address(shown.id, "tree" if entry.is_folder else "blob", shown.revision or "main")
        link = f"{start}/{text.in_address(entry.path, path=True)}"
    size = pointer.size if pointer else entry.size
    return Row(entry.path.rsplit("/", 1)[-1], link, entry.is_folder, size, pointer is not None)


def _of_release(shown: Shown) -> dict[str, Any]:
    """The record's versions at this commit; a commit after the release still has that release's record."""
    record = record_at(shown.repo.git, shown.commit)
    if record is None:
        return {"release": None, "components": []}
    return {
        "release": record.release,
        "components": [(component.value, record.components[component].version) for component in Component],
    }


def _trail(visit: Visit, shown: Shown, path: str) -> list[tuple[str, str]]:
    """The folders on the way to a path, with their addresses."""
    start = visit.address(shown.id, "tree", shown.revision or "main")
    found, way = [(shown.id.name, start)], ""
    for part in filter(None, path.split("/")):
        way = f"{way}/{text.in_address(part)}"
        found.append((part, f"{start}{way}"))
    return found


def file(visit: Visit) -> Response:
    """One file: its text, its picture, or a link to it."""
    call = visit.call
    shown = opened(visit, call.param("revision"))
    check_files(visit, shown.repo)
    path = call.param("path")
    entry = shown.file(path)
    if entry is None:
        raise missing(path)
    pointer = shown.pointer(entry)
    raw = f"{visit.address(shown.id, 'resolve', shown.commit)}/{text.in_address(path, path=True)}"
    return visit.page(
        "file.html.jinja",
        **frame(visit, shown, "files"),
        **_content(shown, entry),
        trail=_trail(visit, shown, path),
        path=path,
        raw=raw,
        size=pointer.size if pointer else entry.size,
        is_card=path == cards.CARD_PATH,
    )


def _content(shown: Shown, entry: Entry) -> dict[str, Any]:
    nothing: dict[str, Any] = {"kind": "too_large", "lines": [], "cut": False}
    data = shown.read(entry, LARGEST_IMAGE)
    if data is None:
        return nothing
    if image_type(data[:BEGINNING]):
        return nothing | {"kind": "image"}
    if len(data) > LARGEST_TEXT:
        return nothing
    try:
        content = data.decode("utf-8")
    except UnicodeDecodeError:
        return nothing | {"kind": "binary"}
    if "\0" in content:
        return nothing | {"kind": "binary"}
    lines = text.plain_text(content).removesuffix("\n").split("\n")
    lines = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in lines[: MOST_LINES + 1]]
    cut = len(lines) > MOST_LINES
    return {"kind": "text" if content else "empty", "lines": lines[:MOST_LINES], "cut": cut}


def history(visit: Visit) -> Response:
    """The commits that led to a revision."""
    shown = opened(visit, visit.call.param("revision"))
    start = whole_number(visit.call.value("start") or "0") or 0
    found = list(islice(shown.repo.git.history(shown.commit), start, start + HISTORY_PAGE + 1))
    return visit.page(
        "history.html.jinja",
        **frame(visit, shown, "history"),
        commits=found[:HISTORY_PAGE],
        newer=max(0, start - HISTORY_PAGE) if start else None,
        older=start + HISTORY_PAGE if len(found) > HISTORY_PAGE else None,
    )
