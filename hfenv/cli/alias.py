"""`hfenv alias`: names such as stable for a release, recorded on the card."""

from __future__ import annotations

from typing import Annotated

import typer

from hfenv.cli.marked import edited_data, repository, tell_folder
from hfenv.cli.options import FormatOption, HubOption, new_app
from hfenv.cli.output import Format, Output, table
from hfenv.errors import UsageError
from hfenv.hub.client import connect

app = new_app()


@app.command("alias")
def alias_command(
    ref: Annotated[str, typer.Argument(help="org/name")],
    name: Annotated[str | None, typer.Argument(help="The alias, such as stable.")] = None,
    version: Annotated[str | None, typer.Argument(help="The release that it means from now on.")] = None,
    remove: Annotated[str | None, typer.Option("--remove", metavar="NAME", help="Take an alias away.")] = None,
    hub: HubOption = "hf",
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Let org/name@stable mean a release; without a name, print the aliases that there are.

    An alias is resolved to a commit once, when something is loaded by it. A branch or a tag of its name would win.
    """
    from hfenv.hub.registry.edits import read_head
    from hfenv.hub.registry.marking import remove_alias, set_alias

    output = Output(fmt)
    repo = repository(ref)
    if (name is None) != (version is None) or (name is not None and remove is not None):
        raise UsageError("An alias has a name and a version.", "Write hfenv alias REF NAME VERSION, or --remove NAME.")
    with connect(hub) as opened:
        if name is None and remove is None:
            head = read_head(opened, repo)
            aliases = dict(head.marks.aliases)
            human = table(("alias", "release"), sorted(aliases.items())) if aliases else f"{repo} has no aliases."
            output.result("alias", {"repo": repo, "aliases": aliases}, human, quiet="\n".join(sorted(aliases)))
            return
        if name is not None and version is not None:
            edited = set_alias(opened, repo, name, version)
            human = f"{repo}@{name} means {version}. Head: {edited.revision}"
        else:
            edited = remove_alias(opened, repo, remove or "")
            human = f"{repo}@{remove} is no alias any more. Head: {edited.revision}"
        tell_folder(output, opened, edited)
    output.result("alias", edited_data(edited) | {"aliases": dict(edited.marks.aliases)}, human, quiet=edited.revision)
