"""`hfenv cache`: look after what was fetched."""

from __future__ import annotations

from typing import Annotated

import typer

from hfenv.cli.options import FormatOption, new_app
from hfenv.cli.output import Format, Output
from hfenv.errors import ExitCode
from hfenv.hub.cache import verify_all

app = new_app(no_args_is_help=True)


@app.callback()
def _cache() -> None:
    """What was fetched from hubs: verify and repair it."""


@app.command()
def verify(
    repair: Annotated[
        bool, typer.Option("--repair", help="Remove damaged files, so that they are fetched anew.")
    ] = False,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Check every cached file against its commit."""
    checked, damaged = verify_all(repair=repair)
    data = {
        "checked": checked,
        "damaged": [{"repo": d.repo, "revision": d.commit, "path": d.path} for d in damaged],
        "repaired": repair,
    }
    lines = [f"damaged: {d.path} of {d.repo}@{d.commit}" for d in damaged]
    ending = "; removed, the next load fetches them" if repair and damaged else ""
    lines.append(f"{checked} files checked, {len(damaged)} damaged{ending}.")
    Output(fmt).result("cache verify", data, "\n".join(lines), quiet=str(len(damaged)))
    if damaged and not repair:
        raise typer.Exit(ExitCode.FINDINGS)
