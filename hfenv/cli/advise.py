"""`hfenv advise`: publish what is wrong with a range of versions, or withdraw that."""

from __future__ import annotations

from typing import Annotated

import typer

from hfenv.cli.common import component_named
from hfenv.cli.escapes import said
from hfenv.cli.marked import edited_data, repository, tell_folder
from hfenv.cli.options import FormatOption, HubOption, new_app
from hfenv.cli.output import Format, Output
from hfenv.errors import UsageError
from hfenv.hub.client import connect

app = new_app()


@app.command("advise")
def advise_command(
    ref: Annotated[str, typer.Argument(help="org/name")],
    component: Annotated[
        str | None, typer.Option("--component", help="code, tasks or reward; without it the range is of releases.")
    ] = None,
    versions: Annotated[
        str | None, typer.Option("--versions", help="Range such as '<1.2.0' or '>=1.0.0,<1.2.0'.")
    ] = None,
    fixed_in: Annotated[str | None, typer.Option("--fixed-in", help="First version without the problem.")] = None,
    severity: Annotated[str | None, typer.Option("--severity", help="low, moderate, high or critical.")] = None,
    message: Annotated[str | None, typer.Option("-m", "--message", help="What is wrong, in a sentence.")] = None,
    name: Annotated[str | None, typer.Option("--id", help="Its name; an advisory of this name is replaced.")] = None,
    taken_back: Annotated[str | None, typer.Option("--withdraw", metavar="ID", help="Take an advisory back.")] = None,
    hub: HubOption = "hf",
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Tell everybody who uses or locked these versions what is wrong with them, and where it is fixed.

    It stands on the card at the head: no release is made, and nothing stops loading.
    """
    from hfenv.hub.registry.marking import NewAdvisory, advise, affected, withdraw

    output = Output(fmt)
    repo = repository(ref)
    if (taken_back is None) == (message is None):
        raise UsageError("Either an advisory is published or one is withdrawn.", "Write -m TEXT, or --withdraw ID.")
    with connect(hub) as opened:
        if message is None:
            edited = withdraw(opened, repo, taken_back or "")
            about: tuple[str, ...] = ()
            human = f"The advisory {taken_back} on {repo} is withdrawn. Head: {edited.revision}"
            data = edited_data(edited) | {"id": taken_back, "withdrawn": True}
        else:
            part = component_named(component) if component else None
            edited, mark = advise(opened, repo, NewAdvisory(message, part, versions, fixed_in, severity, name))
            about = affected(edited, mark)
            if not about:
                output.warn(f"No released version of {repo} is in {mark.versions}.")
            known = ", ".join(about[-8:]) or "none"
            human = (
                said(f"{repo}: {mark.line}") + f"\nReleased versions that it is about: {known}. Head: {edited.revision}"
            )
            data = edited_data(edited) | {"id": mark.id, "withdrawn": False, "affected": list(about)}
        tell_folder(output, opened, edited)
    output.result("advise", data, human, quiet=str(data["id"]))
