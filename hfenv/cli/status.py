"""`hfenv status`: what changed since the last release, per component, and the smallest legal bump."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from hfenv.cli.common import environment_folder, read_manifest
from hfenv.cli.options import FormatOption, new_app
from hfenv.cli.output import Format, Output, table
from hfenv.components.ownership import Component
from hfenv.components.status import ComponentStatus, folder_status

app = new_app()


@app.command()
def status(
    path: Annotated[Path, typer.Argument(help="The environment's folder.")] = Path(),
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """What changed since the last release, per component.

    Compares files and card with release.json; needs neither network nor git history.
    """
    states = folder_status(environment_folder(path), read_manifest(path))
    data = {
        "components": {
            component.value: {
                "released": state.released,
                "declared": state.declared,
                "changed": state.changed,
                "required": state.smallest if state.changed else None,
                "changes": [{"path": change.path, "kind": change.kind} for change in state.changes],
            }
            for component, state in states.items()
        }
    }
    changed = [component.value for component, state in states.items() if state.changed]
    Output(fmt).result("status", data, lambda: _render(states), quiet="\n".join(changed))


def _render(states: Mapping[Component, ComponentStatus]) -> str:
    rows = [(c.value, s.released or "-", s.declared, _verdict(s)) for c, s in states.items()]
    lines = [table(("component", "released", "declared", "what to do"), rows)]
    for component, state in states.items():
        lines.extend(f"  {component.value}: {change.kind} {change.path}" for change in state.changes)
    return "\n".join(lines)


def _verdict(state: ComponentStatus) -> str:
    if state.released is None:
        return "not released yet; hfenv push releases it as declared"
    if not state.satisfied:
        return f"changed; at least {state.smallest}: hfenv bump {state.component.value} {state.required.word} -m '...'"
    if state.moved:
        return "ready to push"
    return "unchanged"
