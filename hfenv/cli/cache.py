"""`hfenv cache`: look after what was fetched."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated

import typer

from hfenv.cli.common import age_seconds
from hfenv.cli.escapes import said
from hfenv.cli.options import FormatOption, HubOption, OfflineOption, new_app
from hfenv.cli.output import Format, Output, table
from hfenv.cli.report.text import number
from hfenv.errors import ExitCode

app = new_app(no_args_is_help=True)


@app.callback()
def _cache() -> None:
    """What was fetched from hubs: list it, verify and repair it, make room."""


@app.command(name="ls")
def list_(fmt: FormatOption = Format.HUMAN) -> None:
    """What the cache holds, by hub and repository."""
    from hfenv.hub.client import hub_at
    from hfenv.hub.upkeep import list_cache

    found = list_cache()
    data = {
        "repositories": [
            {
                "repo": each.repo,
                "endpoint": each.endpoint,
                "revisions": list(each.commits),
                "releases": list(each.releases),
                "bytes": each.bytes,
                "last_used": _iso(each.used),
            }
            for each in found
        ],
        "bytes": sum(each.bytes for each in found),
    }
    rows = [
        (
            said(each.repo),
            said(hub_at(each.endpoint)),
            len(each.commits),
            ", ".join(each.releases) or "-",
            _size(each.bytes),
            (_iso(each.used) or "-")[:10],
        )
        for each in found
    ]
    headers = ("repository", "hub", "revisions", "releases", "size", "last used")
    lines = [table(headers, rows)] if rows else []
    lines.append(f"{number(len(found), 'repository')}, {_size(sum(each.bytes for each in found))}.")
    Output(fmt).result("cache ls", data, "\n".join(lines), quiet="\n".join(each.repo for each in found))


@app.command()
def verify(
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Fetch damaged files anew; where their hub isn't the one named, remove them."),
    ] = False,
    hub: HubOption = "hf",
    offline: OfflineOption = False,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Check every cached file against its commit."""
    from hfenv.hub.client import connect
    from hfenv.hub.upkeep import verify_all

    checked, damaged = verify_all(repair=False)
    if repair and damaged:
        with connect(hub, offline=offline) as opened:
            checked, damaged = verify_all(repair=True, hub=opened)
    data = {
        "checked": checked,
        "damaged": [{"repo": d.repo, "revision": d.commit, "path": d.path, "cure": d.cure} for d in damaged],
        "repaired": repair,
    }
    cures = {"": "damaged", "removed": "removed", "fetched": "fetched again"}
    lines = [said(f"{cures[d.cure]}: {d.path} of {d.repo}{f'@{d.commit}' if d.commit else ''}") for d in damaged]
    removed = any(d.cure == "removed" and d.commit for d in damaged)
    ending = "; the next load fetches what was removed" if removed else ""
    lines.append(f"{number(checked, 'file')} checked, {len(damaged)} damaged{ending}.")
    Output(fmt).result("cache verify", data, "\n".join(lines), quiet=str(len(damaged)))
    if damaged and not repair:
        raise typer.Exit(ExitCode.FINDINGS)


@app.command()
def prune(
    older_than: Annotated[
        str | None, typer.Option("--older-than", metavar="AGE", help="Revisions not used for so long: 12h, 30d, 8w.")
    ] = None,
    repo: Annotated[str | None, typer.Option("--repo", help="Revisions of this repository only.")] = None,
    keep_locked: Annotated[
        Path | None, typer.Option("--keep-locked", metavar="FILE", help="Keep what this hfenv.lock pins.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and leave it.")] = False,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Make room: old revisions, content that no revision needs, and what killed downloads left."""
    from hfenv.hub.prune import Wanted, commits_in_lock
    from hfenv.hub.prune import prune as prune_cache
    from hfenv.hub.references import check_repo_id

    keep = commits_in_lock(keep_locked) if keep_locked else frozenset()
    wanted = Wanted(check_repo_id(repo) if repo else None, age_seconds(older_than) if older_than else None, keep)
    done = prune_cache(wanted, dry_run=dry_run)
    data = {
        "revisions": [{"repo": name, "revision": commit} for name, commit in done.commits],
        "blobs": done.blobs,
        "leftovers": done.leftovers,
        "bytes": done.bytes,
        "in_use": [{"repo": name, "revision": commit} for name, commit in done.in_use],
        "dry_run": dry_run,
    }
    verb = "would go" if dry_run else "removed"
    lines = [said(f"{verb}: {name}@{commit}") for name, commit in done.commits]
    lines += [said(f"in use: {name}@{commit}") for name, commit in done.in_use]
    if done.commits or done.blobs or done.leftovers:
        lines.append(
            f"{number(len(done.commits), 'revision')}, {number(done.blobs, 'content')} that no revision needs and "
            f"{number(done.leftovers, 'leftover')} of killed downloads {verb}: {_size(done.bytes)}."
        )
    else:
        lines.append("Nothing to remove.")
    Output(fmt).result("cache prune", data, "\n".join(lines), quiet=str(done.bytes))


def _iso(seconds: float) -> str | None:
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%dT%H:%M:%SZ}" if seconds else None


def _size(amount: int) -> str:
    return f"{amount / 1e6:.1f} MB"
