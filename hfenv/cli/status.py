"""`hfenv status`: what changed since the last release, per component, why it matters, and the smallest legal bump."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hfenv.cli.common import compared_folder, tell_loosened
from hfenv.cli.escapes import said
from hfenv.cli.options import AgainstOption, FormatOption, HubOption, OfflineOption, TrustOption, new_app
from hfenv.cli.output import Format, Output, table
from hfenv.components.ownership import Component
from hfenv.components.status import ComponentStatus, Statuses
from hfenv.components.status import status as folder_states

app = new_app()


@app.command()
def status(
    path: Annotated[Path, typer.Argument(help="The environment's folder.")] = Path(),
    probe: Annotated[bool, typer.Option("--probe", help="Replay the reward's probes; runs its code.")] = False,
    trust_remote_code: TrustOption = False,
    against: AgainstOption = None,
    hub: HubOption = "hf",
    offline: OfflineOption = False,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """What changed since the last release, per component, and which version that needs.

    Compares files and card with release.json, which needs neither network nor git history, or with any revision.
    """
    output = Output(fmt)
    folder = compared_folder(path, against, hub=hub, offline=offline)
    states = folder_states(folder)
    if probe:
        from hfenv.settling import settle

        judged = settle(folder, states, trust_remote_code=trust_remote_code)
        judged.require_reliable()
        states = judged.states
        if judged.report is None and states[Component.REWARD].changed:
            output.note("There are no probes that could be replayed.")
    loosened = tell_loosened(folder.manifest, output)
    changed = [component.value for component, state in states.items() if state.changed]
    data = {
        "components": {component.value: _data(state) for component, state in states.items()},
        "loosened": loosened,
    }
    output.result("status", data, lambda: _render(states, folder.root), quiet="\n".join(changed))


def _data(state: ComponentStatus) -> dict[str, Any]:
    return {
        "released": state.released,
        "declared": state.declared,
        "changed": state.changed,
        "required": state.smallest if state.changed else None,
        "level": state.required.word if state.released else None,
        "satisfied": state.satisfied,
        "files": [{"path": change.path, "kind": change.kind} for change in state.files],
        "changes": _changes(state),
        "unclear": state.unclear.message if state.unclear else None,
        "probed": state.probed or None,
    }


def _changes(state: ComponentStatus) -> list[dict[str, Any]]:
    if not state.changes:
        return []
    from hfenv.components.evidence import change_data

    return [change_data(change) for change in state.changes]


def _render(states: Statuses, root: Path) -> str:
    rows = [(c.value, s.released or "-", s.declared, _verdict(s, root)) for c, s in states.items()]
    parts = [table(("component", "released", "declared", "what to do"), rows)]
    parts += [block for component, state in states.items() if (block := _evidence(component, state))]
    return "\n\n".join(parts)


def _evidence(component: Component, state: ComponentStatus) -> str:
    if state.unclear is not None:
        cause, hint = said(state.unclear.message), said(state.unclear.hint or "")
        return f"{component.value}: what changed can't be told: {cause}\n  {hint}"
    if not state.files:
        return ""
    from hfenv.components.evidence import by_weight, line_of, needs

    lines = [f"{component.value} {needs(state)}" + (f", {state.probed}" if state.probed else "")]
    for change in by_weight(state.changes):
        lines.append(f"  {change.level.word:<5}  {line_of(change)}")
        lines.append(f"         {change.why}")
    told = {change.path for change in state.changes}
    lines += [f"  {change.kind:<7} {said(change.path)}" for change in state.files if change.path not in told]
    return "\n".join(lines)


def _verdict(state: ComponentStatus, root: Path) -> str:
    if state.unclear is not None:
        return "can't be read; correct it first"
    if state.released is None:
        return "not released yet; hfenv push releases it as declared"
    if state.backwards:
        return f"below the released {state.released}; write that or a higher version on the card"
    if not state.satisfied:
        from hfenv.components.evidence import bump_command, needs

        if state.rests_on_probes:
            return f"rests on probes, else {needs(state)}: hfenv status --probe"
        return f"changed; {needs(state)}: {bump_command(state, root)}"
    if not state.moved:
        return "unchanged"
    from hfenv.components.changelog import entry_for, read_changelog

    if entry_for(read_changelog(root, state.component), state.declared) is None:
        return f"needs a changelog entry: hfenv bump {state.component.value} {state.declared} -m '...'"
    back = f"as released; write {state.released} on the card to take the step back"
    return "ready to push" if state.changed else back
