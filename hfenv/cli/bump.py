"""`hfenv bump`: raise a version on the card and write the changelog entry."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from hfenv.cli.common import environment_folder
from hfenv.cli.options import FormatOption
from hfenv.cli.output import Format, Output
from hfenv.components.bump import bump as bump_component
from hfenv.components.ownership import Component
from hfenv.errors import UsageError

app = typer.Typer(rich_markup_mode=None)


@app.command()
def bump(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[COMPONENT] [major|minor|patch|auto|X.Y.Z]", help="Without a component: every changed one."
        ),
    ] = None,
    message: Annotated[str, typer.Option("-m", "--message", help="The changelog entry.")] = "",
    path: Annotated[Path, typer.Option("--path", help="The environment's folder.")] = Path(),
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Raise a component's version and write its changelog, both relative to the last release.

    Bumping twice before a push doesn't climb twice. Examples: `hfenv bump reward minor -m 'Pay for partial rows'`,
    `hfenv bump -m 'Fix typos'` (every changed component, the smallest legal step).
    """
    component, step = _parse(words or [])
    if not message.strip():
        raise UsageError("A bump needs the changelog entry that goes with it.", "Add -m 'what changed for users'.")
    bumps = bump_component(environment_folder(path), component, step, message, today=date.today().isoformat())
    data = {
        "bumps": [
            {"component": b.component.value, "released": b.released, "before": b.before, "version": b.after}
            for b in bumps
        ]
    }
    lines = [f"{b.component.value}: {b.released or 'unreleased'} -> {b.after}" for b in bumps]
    human = "\n".join(lines) or "Nothing changed since the last release; nothing to bump."
    Output(fmt).result("bump", data, human, quiet="\n".join(b.after for b in bumps))


def _parse(words: list[str]) -> tuple[Component | None, str]:
    names = [component.value for component in Component]
    component = Component(words.pop(0)) if words and words[0] in names else None
    step = words.pop(0) if words else "auto"
    if words:
        raise UsageError(f"'{words[0]}' is one word too many.", "Write hfenv bump [COMPONENT] [STEP] -m TEXT.")
    return component, step
