"""`hfenv rescore`: recorded rollouts under another reward version."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hfenv.cli.escapes import said
from hfenv.cli.options import FormatOption, HubOption, OfflineOption, TrustOption, new_app
from hfenv.cli.output import Format, Output, table
from hfenv.errors import AuthorCodeError
from hfenv.secret_shapes import redacted

if TYPE_CHECKING:
    from hfenv.rescoring import Rescoring, Tally

app = new_app()


@app.command()
def rescore(
    rollouts: Annotated[Path, typer.Argument(help="A file that hfenv run --out wrote.")],
    ref: Annotated[
        str, typer.Argument(help="The reward: a folder, or org/name with @VERSION, @HASH or @reward=1.2.0.")
    ],
    out: Annotated[Path | None, typer.Option("--out", help="Write the episodes with their new rewards.")] = None,
    hub: HubOption = "hf",
    offline: OfflineOption = False,
    trust_remote_code: TrustOption = False,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Compute every reward of recorded rollouts again under another reward version, without the environment.

    Recorded evidence is used as it is. Spoiled episodes are counted and left out. The reward's code runs in a process
    without network, with limits on time and memory.
    """
    from hfenv.rescoring import rescore_file
    from hfenv.specify import Origin, reward_part

    output = Output(fmt)
    part = reward_part(ref, origin=Origin(hub, offline, trust_remote_code, isolation="process"))
    with output.progress(None, f"{rollouts.name} under reward {part.version}", unit="episode") as advance:
        found = rescore_file(rollouts, part, out=out, progress=advance)
    mean = "" if found.overall.return_after is None else f"{found.overall.return_after:.6g}"
    output.result("rescore", _data(found), lambda: _render(found), quiet=mean)
    if found.overall.return_after is None and found.failed:
        first = _short(found.first_errors[0]) if found.first_errors else "The reward called every turn a fault."
        raise AuthorCodeError(f"No episode could be scored. The first error: {first}", "Correct the reward.")


def _data(found: Rescoring) -> dict[str, Any]:
    data = asdict(found)
    tallies = ("overall", "by_split", "by_policy")
    return {
        **{name: value for name, value in data.items() if name not in ("version", "exact", "revision", *tallies)},
        "reward": {"revision": found.revision, "version": found.version, "exact": found.exact},
        **{name: data[name] for name in tallies},
        "first_errors": [redacted(error) for error in found.first_errors],
        "out": str(found.out) if found.out else None,
    }


def _render(found: Rescoring) -> str:
    under = said(", ".join([*found.recorded_under][:3])) + (", ..." if len(found.recorded_under) > 3 else "")
    lines = [f"{found.episodes} episodes under reward {found.version}, recorded under {under or 'none'}"]
    rows = [_row("all", found.overall)]
    rows += [_row(f"split {name}", tally) for name, tally in found.by_split.items() if len(found.by_split) > 1]
    rows += [_row(f"policy {name}", tally) for name, tally in found.by_policy.items() if len(found.by_policy) > 1]
    heads = ("", "episodes", "of them changed", "turns", "of them changed", "mean return", "u")
    lines += ["", table(heads, rows), ""]
    if found.overall.relabelled_turns:
        lines.append(f"{found.overall.relabelled_turns} more turns kept their reward and have other parts or statuses.")
    if found.groups.groups:
        groups = found.groups
        lines.append(
            f"{groups.reordered} of {groups.groups} groups rank their episodes otherwise; "
            f"without any spread: {groups.flat_before} -> {groups.flat_after}."
        )
    for move in found.moves:
        lines.append(f"  episode {move.index}, task {said(str(move.task_id))}: {move.before:.6g} -> {move.after:.6g}")
    return "\n".join([*lines, *_caveats(found)]).rstrip()


def _caveats(found: Rescoring) -> list[str]:
    lines = []
    if found.masked:
        lines.append(f"{found.masked} episodes were spoiled when they were recorded, and are left out.")
    if found.failed:
        lines.append(f"{found.failed} episodes got no score in some turn, and are left out; {found.errors} errors:")
        lines += [f"  {_short(error)}" for error in found.first_errors]
    if found.unmeasured:
        lines.append(
            f"{found.unmeasured} episodes have no evidence, and this reward has a measure: play them again to know."
        )
    if found.measured_elsewhere:
        lines.append(
            f"{found.measured_elsewhere} episodes have evidence of another reward version. Where its measure differs, "
            "only playing them again tells what this reward gives."
        )
    if found.out:
        lines.append(f"Written to {found.out}.")
    return lines


def _row(name: str, tally: Tally) -> tuple[str, ...]:
    return (
        said(name),
        str(tally.episodes),
        _share(tally.changed_episodes, tally.episodes),
        str(tally.turns),
        _share(tally.changed_turns, tally.turns),
        _pair(tally.return_before, tally.return_after),
        _pair(tally.u_before, tally.u_after),
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def _pair(before: float | None, after: float | None) -> str:
    return "-" if before is None or after is None else f"{before:.4f} -> {after:.4f}"


def _short(error: str) -> str:
    line = said(error.strip().splitlines()[0]) if error.strip() else "no text"
    return line if len(line) <= 200 else line[:197] + "..."
