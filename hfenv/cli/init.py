"""`hfenv init`: scaffold an environment from a template, or list the templates."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from hfenv.cli.options import FormatOption, new_app
from hfenv.cli.output import Format, Output, table
from hfenv.errors import UsageError
from hfenv.scaffold import DEFAULT_TEMPLATE, Scaffolded, scaffold, templates

app = new_app()


@app.command()
def init(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Name of the environment, or the path of its folder.")
    ] = None,
    template: Annotated[str, typer.Option("--template", "-t", help="What to start from.")] = DEFAULT_TEMPLATE,
    list_: Annotated[bool, typer.Option("--list", help="List the templates.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Write into a folder that isn't empty; replaces files of the same name.")
    ] = False,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Scaffold an environment from a template. It passes its own tests and validation as it is."""
    output = Output(fmt)
    if list_:
        _list(output)
        return
    if not name:
        raise UsageError("The environment needs a name.", "hfenv init NAME, or hfenv init --list for the templates.")
    made = scaffold(Path(name), template, force=force)
    output.result(
        "init",
        {
            "name": made.name,
            "path": str(made.path),
            "template": made.template,
            "files": list(made.files),
            "replaced": list(made.replaced),
        },
        human=lambda: _text(made),
        quiet=str(made.path),
    )


def _list(output: Output) -> None:
    found = templates()
    output.result(
        "init",
        {"templates": [{"name": template.name, "summary": template.summary} for template in found]},
        human=lambda: table(("template", "makes"), [(template.name, template.summary) for template in found]),
        quiet="\n".join(template.name for template in found),
    )


def _text(made: Scaffolded) -> str:
    here = Path.cwd()
    shown = shlex.quote(str(made.path.relative_to(here) if made.path.is_relative_to(here) else made.path))
    lines = [f"{made.name}: {len(made.files)} files from the template {made.template} in {made.path}"]
    if made.replaced:
        lines.append(f"replaced: {', '.join(made.replaced)}")
    return "\n".join(
        [
            *lines,
            "",
            "Next:",
            f"  hfenv validate {shown}",
            f"  hfenv run {shown} --policy oracle",
            f"  hfenv push local/{made.name} {shown} --hub local    # the embedded hub on this machine",
            f"  hfenv push YOUR-NAME/{made.name} {shown}    # the Hugging Face Hub",
        ]
    )
