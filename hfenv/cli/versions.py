"""`hfenv versions`: a repository's releases, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer

from hfenv.cli.escapes import said
from hfenv.cli.marked import repository
from hfenv.cli.options import FormatOption, HubOption, OfflineOption, new_app
from hfenv.cli.output import Format, Output
from hfenv.hub.client import connect
from hfenv.hub.registry.releases import ReleaseRow, Releases, releases

app = new_app()


@app.command("versions")
def versions_command(
    ref: Annotated[str, typer.Argument(help="org/name")],
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many are printed, the newest first.")] = 50,
    hub: HubOption = "hf",
    offline: OfflineOption = False,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Print every release: date, commit, the three versions, what is known against it, and what it changed."""
    repo = repository(ref)
    with connect(hub, offline=offline) as opened:
        found = releases(opened, repo)
    shown = found.rows[:limit]
    data = {"repo": repo, "count": len(found.rows), "releases": [_data(row) for row in shown]}
    quiet = "\n".join(row.release for row in shown)
    Output(fmt).result("versions", data, lambda: "\n".join(_render(found, limit)), quiet=quiet)


def _data(row: ReleaseRow) -> dict[str, object]:
    own = row.versions
    return {
        "release": row.release,
        "revision": row.revision,
        "date": row.date,
        "versions": {"code": own.code, "tasks": own.tasks, "reward": own.reward} if own else None,
        "yanked": asdict(row.yanked) if row.yanked else None,
        "advisories": [asdict(advisory) for advisory in row.advisories],
        "aliases": list(row.aliases),
        "moved": [asdict(moved) for moved in row.moved],
    }


def _render(found: Releases, limit: int) -> Iterator[str]:
    for row in found.rows[:limit]:
        names = f" ({', '.join(row.aliases)})" if row.aliases else ""
        own = row.versions
        versions = f"code {own.code}, tasks {own.tasks}, reward {own.reward}" if own else "versions unknown"
        yield said(f"{row.release}{names}  {row.date or '----------'}  {row.revision[:12]}  {versions}")
        if row.yanked:
            yield said(f"    YANKED: {row.yanked.reason or 'no reason given'}")
        yield from (said(f"    {advisory.line}") for advisory in row.advisories)
        yield from (said(f"    {moved.component.value}: {moved.line}") for moved in row.moved if moved.line)
    if len(found.rows) > limit:
        yield f"{limit} of {len(found.rows)} releases; --limit shows more."
