"""`hfenv search`: environments on the hub that fit."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from hfenv.card.manifest import LifecycleStatus
from hfenv.cli.escapes import said
from hfenv.cli.options import FormatOption, HubOption, new_app
from hfenv.cli.output import Format, Output, cells, table, width
from hfenv.cli.report.text import number
from hfenv.hub.client import connect
from hfenv.hub.registry.entry import Entry
from hfenv.hub.registry.search import Found, Query, Sort, search

app = new_app()
_HEADERS = ("environment", "summary", "action", "tasks", "rating*", "likes", "downloads", "updated")


@app.command("search")
def search_command(
    text: Annotated[list[str] | None, typer.Argument(help="Words in the name, the summary or the tags.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be given several times.")] = None,
    framework: Annotated[str | None, typer.Option("--framework", help="One that it can be exported to.")] = None,
    action: Annotated[str | None, typer.Option("--action", help="Type of action, such as sql or text.")] = None,
    licence: Annotated[str | None, typer.Option("--license", help="Licence, such as apache-2.0.")] = None,
    min_rating: Annotated[str | None, typer.Option("--min-rating", help="A, B, C, D or E: this or better.")] = None,
    grade: Annotated[str | None, typer.Option("--grade", help="A grade of difficulty that it has tasks of.")] = None,
    author: Annotated[str | None, typer.Option("--author", help="A user or an organisation.")] = None,
    sort: Annotated[Sort, typer.Option("--sort", help="What comes first.")] = Sort.LIKES,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many are printed.")] = 20,
    hub: HubOption = "hf",
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Find environments on the hub: one line each, the best first. Ratings are the authors' own."""
    rating = min_rating.upper() if min_rating else None
    query = Query(
        " ".join(text or ()), tuple(tag or ()), framework, action, licence, rating, grade, author, sort, limit
    )
    with connect(hub) as opened:
        found = search(opened, query)
        where = opened.name if opened.name == "local" else opened.endpoint
    data = {
        "environments": [_data(entry) for entry in found.entries],
        "looked_at": found.looked_at,
        "fitting": found.fitting,
        "complete": found.complete,
        "query": query.asked,
        "without": dict(found.without),
    }
    quiet = "\n".join(entry.repo for entry in found.entries)
    Output(fmt).result("search", data, lambda: _render(found, query, where), quiet=quiet)


def _data(entry: Entry) -> dict[str, object]:
    return asdict(entry) | {"rating_is": "self-reported", "lifecycle": entry.lifecycle.status.value}


def _render(found: Found, query: Query, where: str) -> str:
    if not found.entries:
        return "\n".join(_nothing(found, query, where))
    rows = [_row(entry) for entry in found.entries]
    # The summary gets what the other columns leave of the line.
    rest = sum(max(cells(row[i]) for row in [_HEADERS, *rows]) + 2 for i in range(len(_HEADERS)) if i != 1)
    room = max(24, width() - rest)
    rows = [(row[0], _cut(row[1], room), *row[2:]) for row in rows]
    more = "" if found.complete else " or more"
    shown = f"{len(rows)} of {found.fitting}{more}; --limit shows others." if found.fitting > len(rows) or more else ""
    return "\n".join([table(_HEADERS, rows), *([shown] if shown else []), "* the authors' own rating (self-reported)"])


def _row(entry: Entry) -> tuple[str, ...]:
    state = entry.lifecycle.status
    mark = f"[{state.value}] " if state is not LifecycleStatus.ACTIVE else ""
    grades = ", ".join(f"{name} {many}" for name, many in list(entry.grades.items())[:4]) or "-"
    rating = entry.rating or "-"
    counts = (f"{entry.likes:,}", f"{entry.downloads:,}")
    row = (entry.repo, mark + entry.summary, entry.action or "-", grades, rating, *counts, entry.updated or "-")
    return tuple(said(cell) for cell in row)


def _cut(text: str, room: int) -> str:
    if cells(text) <= room:
        return text
    kept = text
    while cells(kept) > room - 1:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def _nothing(found: Found, query: Query, where: str) -> list[str]:
    what = f" for {' '.join(query.asked)}" if query.asked else ""
    lines = [said(f"Nothing found on {where}{what}; {number(found.looked_at, 'environment')} looked at.")]
    lines += [f"Without {option} there would be {many:,}." for option, many in found.without]
    if not found.without and query.asked:
        lines.append("Leave out a filter or a word to see more; hfenv search alone lists all.")
    if not query.asked:
        lines.append("Push an environment there (hfenv push), or name another hub with --hub.")
    return lines
