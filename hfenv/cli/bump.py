"""`hfenv bump`: raise a version on the card and write the changelog entry."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hfenv.cli.common import compared_folder, tell_loosened
from hfenv.cli.options import AgainstOption, FormatOption, HubOption, OfflineOption, TrustOption, new_app
from hfenv.cli.output import Format, Output
from hfenv.components.bump import STEPS, Bump
from hfenv.components.bump import bump as bump_component
from hfenv.components.ownership import Component
from hfenv.components.snapshot import Snapshot
from hfenv.components.status import status
from hfenv.errors import AuthorCodeError, MissingPackagesError, TrustError, UsageError

if TYPE_CHECKING:
    from hfenv.probing.judge import Judged

app = new_app()


@app.command()
def bump(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[COMPONENT] [major|minor|patch|auto|X.Y.Z]", help="Without a component: every changed one."
        ),
    ] = None,
    message: Annotated[
        str, typer.Option("-m", "--message", help="The changelog entry; drafted from what changed without it.")
    ] = "",
    path: Annotated[Path, typer.Option("--path", help="The environment's folder.")] = Path(),
    trust_remote_code: TrustOption = False,
    against: AgainstOption = None,
    hub: HubOption = "hf",
    offline: OfflineOption = False,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Raise a component's version and write its changelog, both relative to the last release.

    `auto` is the smallest step that what changed allows. Bumping twice before a push doesn't climb twice. Examples:
    `hfenv bump reward minor -m 'Pay for partial rows'`, `hfenv bump` (every changed component, auto).
    """
    output = Output(fmt)
    component, step = _parse(words or [])
    folder = compared_folder(path, against, hub=hub, offline=offline)
    judged = settled(folder, component, output, trust_remote_code=trust_remote_code)
    probes = judged.refreshed()
    bumps = bump_component(
        folder,
        judged.states,
        component,
        step=step,
        message=message,
        today=date.today().isoformat(),
        probes=probes,
    )
    if probes is not None and any(raised.component is Component.REWARD and raised.covers for raised in bumps):
        output.note("reward/probes.jsonl expects the scores of the present reward now.")
    tell_loosened(folder.manifest, output)
    _warn(output, bumps)
    human = "\n".join(map(told, bumps)) or "Nothing changed since the last release; nothing to bump."
    output.result("bump", {"bumps": [_data(b) for b in bumps]}, human, quiet="\n".join(b.after for b in bumps))


def _warn(output: Output, bumps: Sequence[Bump]) -> None:
    for raised in bumps:
        if not raised.state.changed:
            output.warn(
                f"{raised.component.value} is as it was released under {raised.released}; the new version says so."
            )
        elif raised.state.released and not raised.covers:
            output.warn(
                f"{raised.component.value} {raised.after} is below what the change needs, {raised.state.smallest} "
                f"({raised.state.required.word}); see hfenv status."
            )


def settled(folder: Snapshot, component: Component | None, output: Output, *, trust_remote_code: bool) -> Judged:
    """Where the components stand; of what can't be run, a warning says so."""
    from hfenv.probing.judge import Judged
    from hfenv.settling import settle

    states = status(folder)
    try:
        return settle(folder, states, component, trust_remote_code=trust_remote_code)
    except (MissingPackagesError, AuthorCodeError, TrustError) as error:
        output.warn(f"Probes and samples weren't looked at: {error.message}")
        return Judged(states)


def _data(raised: Bump) -> dict[str, object]:
    return {
        "component": raised.component.value,
        "released": raised.released,
        "before": raised.before,
        "version": raised.after,
        "required": raised.state.required.word,
        "entry": [{"group": item.group, "text": item.text} for item in raised.entry],
        "drafted": raised.drafted,
        "probed": raised.state.probed or None,
    }


def told(raised: Bump) -> str:
    """One step, and the entry where hfenv drafted it."""
    step = f"{raised.component.value}: {raised.released or 'unreleased'} -> {raised.after}"
    if not raised.drafted:
        return step
    items = "\n".join(f"  - {item.text}" for item in raised.entry)
    return f"{step}, drafted in changelog/{raised.component.value}.md:\n{items}"


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
