"""`hfenv bump`: raise a version on the card and write the changelog entry."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from hfenv.cli.common import environment_folder
from hfenv.cli.options import FormatOption, new_app
from hfenv.cli.output import Format, Output
from hfenv.components.bump import STEPS
from hfenv.components.bump import bump as bump_component
from hfenv.components.ownership import Component
from hfenv.errors import UsageError

app = new_app()


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
    output = Output(fmt)
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
    for raised in bumps:
        if not raised.needed:
            output.warn(
                f"{raised.component.value} is as it was released under {raised.released}; the new version says so."
            )
    human = "\n".join(lines) or "Nothing changed since the last release; nothing to bump."
    output.result("bump", data, human, quiet="\n".join(b.after for b in bumps))


def _parse(words: list[str]) -> tuple[Component | None, str]:
    names = [component.value for component in Component]
    form = "Write hfenv bump [code|tasks|reward] [major|minor|patch|auto|X.Y.Z] -m 'TEXT'; the folder is --path."
    if len(words) > 2:
        raise UsageError(f"'{words[2]}' is one word too many.", form)
    if len(words) == 2 and words[0] not in names:
        raise UsageError(f"'{words[0]}' is no component.", form)
    component = Component(words[0]) if words and words[0] in names else None
    step = words[-1] if len(words) > (component is not None) else "auto"
    if step not in STEPS and not any(char.isdigit() for char in step):
        raise UsageError(f"'{step}' is neither a component nor a step.", form)
    return component, step
