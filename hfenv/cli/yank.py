"""`hfenv yank`: mark a release as one that nobody should start to use, or take that back."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from hfenv.cli.marked import edited_data, tell_folder
from hfenv.cli.options import FormatOption, HubOption, new_app
from hfenv.cli.output import Format, Output
from hfenv.errors import UsageError
from hfenv.hub.client import connect
from hfenv.hub.registry.edits import Edited

app = new_app()


@app.command("yank")
def yank_command(
    ref: Annotated[str, typer.Argument(help="org/name@VERSION")],
    reason: Annotated[str | None, typer.Option("-m", "--message", help="Why, in a sentence.")] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take the mark back.")] = False,
    hub: HubOption = "hf",
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Mark a release on the card at the head: bare names and ranges pass it over from now on.

    Nothing is deleted, and no version moves. Who named the release exactly or locked it still gets it, with the reason.
    """
    from hfenv.hub.registry.marking import meant_now, release_of, unyank, yank

    output = Output(fmt)
    repo, release = release_of(ref)
    if undo == (reason is not None):
        raise UsageError("Either a reason is given or the mark is taken back.", "Write -m REASON, or --undo.")
    with connect(hub) as opened:
        if reason is None:
            edited = unyank(opened, repo, release)
        else:
            edited = yank(opened, repo, release, reason, time.strftime("%Y-%m-%d", time.gmtime()))
        newest = meant_now(edited)
        for name in edited.marks.aliases_of(release) if not undo else ():
            output.warn(f"{repo}@{name} is this release, and is refused now: hfenv alias {repo} {name} VERSION")
        tell_folder(output, opened, edited)
    data = edited_data(edited) | {"release": release, "yanked": not undo, "newest": newest}
    output.result("yank", data, lambda: _render(edited, release, newest, undo=undo), quiet=edited.revision)


def _render(edited: Edited, release: str, newest: str | None, *, undo: bool) -> str:
    state = (
        "isn't yanked any more" if undo else "is yanked" if edited.changed else "was yanked already, for this reason"
    )
    means = f"now means {newest}" if newest else "has no release left that could be loaded"
    return f"{edited.repo}@{release} {state}; {edited.repo} {means}. Head: {edited.revision}"
