"""`hfenv changelog`: print what changed, per component and version."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hfenv.cli.common import component_named, environment_folder
from hfenv.cli.options import FormatOption, new_app
from hfenv.cli.output import Format, Output
from hfenv.components.changelog import entries, read_changelog
from hfenv.components.ownership import Component

app = new_app()


@app.command()
def changelog(
    component: Annotated[str | None, typer.Argument(help="code, tasks or reward; all three without it.")] = None,
    path: Annotated[Path, typer.Option("--path", help="The environment's folder.")] = Path(),
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Print a component's changelog, or all three."""
    chosen = [component_named(component)] if component else list(Component)
    root = environment_folder(path)
    texts = {c: read_changelog(root, c) for c in chosen}
    data = {
        "components": {
            c.value: [{"version": e.version, "date": e.date, "text": e.body} for e in entries(text)]
            for c, text in texts.items()
        }
    }
    human = "\n\n".join(text.strip() or f"({c.value} has no changelog yet)" for c, text in texts.items())
    Output(fmt).result("changelog", data, human, quiet=human)
