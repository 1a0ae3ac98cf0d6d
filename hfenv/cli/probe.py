"""`hfenv probe`: record probes of a reward, bring their expected scores up to date, and check them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hfenv.cli.common import environment_folder
from hfenv.cli.escapes import said
from hfenv.cli.options import FormatOption, TrustOption, new_app
from hfenv.cli.output import Format, Output
from hfenv.errors import ExitCode, NotFoundError
from hfenv.secret_shapes import redacted

if TYPE_CHECKING:
    from hfenv.components.probes import Expected, Probe
    from hfenv.probing import Failure, Flake, Move, ProbeRef
    from hfenv.probing.record import Recorded
    from hfenv.runtime.spec import Part

app = new_app(no_args_is_help=True)
_FILE = "reward/probes.jsonl"
_MOST_LINES = 10
PathArgument = Annotated[Path, typer.Argument(help="The environment's folder.")]


@app.callback()
def _probe() -> None:
    """Probes: turns with the scores that the reward gives them, to see what an edit of the reward does.

    Runs the reward's code in a process without network, with limits on time and memory.
    """


@app.command()
def record(
    rollouts: Annotated[Path, typer.Argument(help="A file that hfenv run --out wrote.")],
    path: PathArgument = Path(),
    most: Annotated[int, typer.Option("--most", min=1, max=1000, help="How many probes to have in the end.")] = 60,
    replace: Annotated[bool, typer.Option("--replace", help="Forget the probes that are there.")] = False,
    trust_remote_code: TrustOption = False,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Add turns of recorded rollouts that differ as much as possible, with the scores that the reward gives now."""
    from hfenv.probing.record import record as record_probes
    from hfenv.probing.record import write_probes
    from hfenv.runtime.rollout import read_rollouts

    if not rollouts.is_file():
        raise NotFoundError(f"There is no file {rollouts}.", "Record one: hfenv run PATH --out rollouts.jsonl")
    part, present = _reward(path, trust_remote_code, read=not replace)
    done = record_probes(part, read_rollouts(rollouts), present, most=most)
    write_probes(part.root, done.probes)
    _tell_written(Output(fmt), "probe record", done)


@app.command()
def update(
    path: PathArgument = Path(), trust_remote_code: TrustOption = False, fmt: FormatOption = Format.HUMAN
) -> None:
    """Let every probe expect the score that the reward gives now; for after a change that is meant."""
    from hfenv.probing.record import rescored, write_probes

    part, present = _reward(path, trust_remote_code)
    done = rescored(part, present)
    if done.updated:
        write_probes(part.root, done.probes)
    _tell_written(Output(fmt), "probe update", done)


@app.command()
def check(
    path: PathArgument = Path(), trust_remote_code: TrustOption = False, fmt: FormatOption = Format.HUMAN
) -> None:
    """Score the probes twice, compare with what they expect, and say what kinds of probes are missing.

    Exits with 1 when a probe expects another score than the reward gives, has two, or has none.
    """
    from hfenv.probing import replay
    from hfenv.probing.quality import judge

    output = Output(fmt)
    part, probes = _reward(path, trust_remote_code)
    if not probes:
        raise NotFoundError(f"There is no {_FILE} in {path}.", "Record some: hfenv probe record ROLLOUTS")
    report = replay(part, probes)
    quality = judge(part, probes)
    data = {
        "probes": report.probes,
        "sound": report.sound,
        "stale": [_move(move) for move in report.stale],
        "flaky": [_flake(flake) for flake in report.flaky],
        "failed": [_failure(failure) for failure in report.failed],
        "enforced": list(report.enforced),
        "attempts": {attempt.name.lower(): count for attempt, count in quality.attempts.items()},
        "statuses": dict(quality.statuses),
        "unused_parts": list(quality.unused_parts),
        "unreached": [{"path": r.path, "first": r.first, "last": r.last} for r in quality.unreached],
        "hints": list(quality.hints),
    }

    def human() -> str:
        lines = [f"{report.soundness[:1].upper()}{report.soundness[1:]}."]  # what follows repeats names of others
        lines += _some(f"  {_place(move.probe)}: {said(move.told)}" for move in report.stale)
        lines += _some(f"  {_place(flake.probe)}: two runs, two scores" for flake in report.flaky)
        lines += _some(f"  {_place(failure.probe)}: {_first_line(failure.error)}" for failure in report.failed)
        if report.stale:
            lines.append("If that is meant: hfenv probe update")
        if "namespaces" not in report.enforced:
            lines.append("This system gives no namespaces: only Python's own sockets were kept from the network.")
        lines += [f"hint: {said(hint)}" for hint in quality.hints]
        return "\n".join(lines)

    output.result("probe check", data, human, quiet="\n".join(move.probe.digest for move in report.stale))
    if not report.sound:
        raise typer.Exit(ExitCode.FINDINGS)


def _reward(path: Path, trusted: bool, *, read: bool = True) -> tuple[Part, tuple[Probe, ...]]:
    """The reward of a folder, whose code may run, and its probes."""
    from hfenv.components.ownership import Component
    from hfenv.components.probes import read_probes
    from hfenv.hub.references import LocalReference
    from hfenv.runtime.scoring import check_scorable
    from hfenv.specify import LocalFolder, Origin

    folder = LocalFolder.read(environment_folder(path))
    part = folder.parts[Component.REWARD]
    check_scorable(part)
    folder.require_trust(LocalReference(path), Origin(trust_remote_code=trusted, isolation="process"))
    return part, read_probes(folder.root, folder.entries) if read else ()


def _tell_written(output: Output, command: str, done: Recorded) -> None:
    data: dict[str, Any] = {
        "probes": len(done.probes),
        "kept": done.kept,
        "added": done.added,
        "updated": done.updated,
        "differed": done.differed,
        "flaky": [_ref(ref) for ref in done.flaky],
        "failed": [{**_ref(ref), "error": redacted(error)} for ref, error in done.failed],
        "turns": done.turns,
        "unfit": done.unfit,
        "secret": done.secret,
    }
    output.result(command, data, lambda: _written(done), quiet=str(len(done.probes)))
    if done.flaky or done.failed:
        output.warn("What isn't a function of task and transcript alone can't be a probe: correct the reward.")
        raise typer.Exit(ExitCode.FINDINGS)


def _written(done: Recorded) -> str:
    lines = [f"{_FILE}: {len(done.probes)} probes, {done.added} new, {done.updated} of the others with another score."]
    if done.differed:
        lines.append(f"{done.differed} of the new ones score otherwise now than when they were recorded.")
    if done.unfit:
        lines.append(f"{done.unfit} turns were left out as too large or too deeply nested.")
    if done.secret:
        lines.append(f"{done.secret} turns were left out, since they hold what looks like a token.")
    lines += _some(f"  {_place(ref)}: two runs, two scores" for ref in done.flaky)
    lines += _some(f"  {_place(ref)}: {_first_line(error)}" for ref, error in done.failed)
    return "\n".join(lines)


def _some(lines: Iterable[str]) -> list[str]:
    found = list(lines)
    more = [f"  and {len(found) - _MOST_LINES} more"] if len(found) > _MOST_LINES else []
    return [*found[:_MOST_LINES], *more]


def _place(ref: ProbeRef) -> str:
    where = f"line {ref.line}" if ref.line else "a new probe"
    return said(f"{where}, task {ref.task_id}" + (f" ({ref.note})" if ref.note else ""))


def _first_line(error: str) -> str:
    line = said(error.strip().splitlines()[0]) if error.strip() else "no score"
    return line if len(line) <= 200 else line[:197] + "..."


def _ref(ref: ProbeRef) -> dict[str, Any]:
    return {"digest": ref.digest, "line": ref.line, "task_id": ref.task_id, "note": ref.note}


def _score(expected: Expected) -> Mapping[str, Any]:
    return {"total": expected.total, "parts": dict(expected.parts), "status": expected.status}


def _move(move: Move) -> dict[str, Any]:
    return {**_ref(move.probe), "before": _score(move.before), "after": _score(move.after), "parts": list(move.parts)}


def _flake(flake: Flake) -> dict[str, Any]:
    return {**_ref(flake.probe), "first": _score(flake.first), "second": _score(flake.second)}


def _failure(failure: Failure) -> dict[str, Any]:
    return {**_ref(failure.probe), "error": redacted(failure.error)}
