"""`hfenv validate`: check cards, layout, tasks, reward and versions of environments, without running their code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hfenv.cli.options import AgainstOption, FindingsFormatOption, HubOption, OfflineOption, new_app
from hfenv.cli.output import FindingsFormat, Output
from hfenv.cli.report.printing import print_findings
from hfenv.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from hfenv.cli.checking import Outcome

app = new_app()

PathsArgument = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[PATH]...", help="Folders of environments, or README.md files. Default: this folder."),
]
StrictOption = Annotated[bool, typer.Option("--strict", help="Warnings fail too.")]
FixOption = Annotated[bool, typer.Option("--fix", help="Cure what has a certain cure, then report what is left.")]
DiffOption = Annotated[bool, typer.Option("--diff", help="Print what --fix would change; write nothing.")]
BaselineOption = Annotated[
    Path | None, typer.Option("--baseline", metavar="FILE", help="Findings that this file lists don't count.")
]
WriteBaselineOption = Annotated[
    Path | None, typer.Option("--write-baseline", metavar="FILE", help="List what is found now in a baseline.")
]
ChangedOption = Annotated[
    bool, typer.Option("--changed", help="PATHs are any files: check the environments that they belong to.")
]


@app.command()
def validate(
    paths: PathsArgument = None,
    strict: StrictOption = False,
    fix: FixOption = False,
    diff: DiffOption = False,
    baseline: BaselineOption = None,
    write_baseline: WriteBaselineOption = None,
    changed: ChangedOption = False,
    against: AgainstOption = None,
    hub: HubOption = "hf",
    offline: OfflineOption = False,
    fmt: FindingsFormatOption = FindingsFormat.HUMAN,
) -> None:
    """Check card, layout, tasks, reward signature and versions. Runs no code of the environment.

    Exit code 0: no errors; 1: errors; 3: a card can't be read; 2 or 4: a path can't be checked at all.
    """
    from hfenv.cli.checking import Request, check

    out = Output(fmt.plain)
    if diff and fmt not in (FindingsFormat.HUMAN, FindingsFormat.JSON, FindingsFormat.QUIET):
        raise UsageError(f"--diff can't be printed as {fmt.value}.", "Use --format human or json.")
    request = Request(
        tuple(paths or [Path()]), strict, baseline, write_baseline, fix, diff, changed, against, hub, offline
    )
    outcome = check(request)
    if outcome.validated.checked or not outcome.errors:
        _print(outcome, fmt, out)
    for error in outcome.errors:
        out.error(error)
    if write_baseline is not None and not outcome.errors:
        out.note(f"Wrote the baseline {write_baseline}: {_in_baseline(outcome)}.")
    if changed and not outcome.validated.checked and not outcome.errors:
        out.note("None of these files belongs to an environment.")
    if code := _exit_code(outcome):
        raise typer.Exit(code)


def _in_baseline(outcome: Outcome) -> str:
    from hfenv.findings import SuppressedBy

    count = sum(each.by is SuppressedBy.BASELINE for each in outcome.validated.suppressed)
    return f"{count} finding{'s' * (count != 1)} that don't count from now on" if count else "there is nothing to list"


def _exit_code(outcome: Outcome) -> ExitCode:
    """What could not be checked counts most, then cards that can't be read, then findings and pending changes."""
    if outcome.errors:
        return outcome.errors[0].exit_code
    if not outcome.validated.complete:
        return ExitCode.UNREADABLE
    return ExitCode.OK if outcome.validated.ok and not outcome.validated.diff else ExitCode.FINDINGS


def _print(outcome: Outcome, fmt: FindingsFormat, out: Output) -> None:
    validated = outcome.validated
    if validated.diff is not None and fmt is not FindingsFormat.JSON:
        _print_diff(outcome, validated.diff, out)
    else:
        print_findings(validated, fmt, out)


def _print_diff(outcome: Outcome, diff: str, out: Output) -> None:
    from hfenv.cli.report.validated import counted

    out.document(diff)
    if outcome.cures:
        left = counted(iter(outcome.left))
        out.note(f"--fix would cure {len(outcome.cures)}; afterwards: {left}. Nothing was written.")
    else:
        out.note(f"--fix would change nothing: {counted(outcome.validated.findings)}.")
