"""`hfenv validate`: check cards, layout, tasks, reward and versions of environments, without running their code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Annotated, Any

import typer

from hfenv.cli.options import FormatOption, new_app
from hfenv.cli.output import Format, Output
from hfenv.errors import ExitCode, NotFoundError
from hfenv.findings import Finding, Report, Severity

app = new_app()

PathsArgument = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[PATH]...", help="Folders of environments, or README.md files. Default: this folder."),
]


@app.command()
def validate(paths: PathsArgument = None, fmt: FormatOption = Format.HUMAN) -> None:
    """Check card, layout, tasks, reward signature and versions. Runs no code of the environment.

    Exit code 0: no errors; 1: errors; 3: a card can't be read.
    """
    from hfenv.components.validation import is_unreadable, validate

    chosen = paths or [Path()]
    for path in chosen:
        if not path.exists():
            raise NotFoundError(f"There is nothing at {path}.", "Name the folder of an environment, or a README.md.")
    reports = [(path, validate(path)) for path in chosen]
    findings = [_from_here(path, finding) for path, report in reports for finding in report.findings]
    Output(fmt).result(
        "validate",
        _data(reports, findings),
        human=lambda: _text(reports, findings),
        quiet="\n".join(f"{finding.place} {finding.rule}" for finding in findings),
    )
    if any(is_unreadable(report) for _, report in reports):
        raise typer.Exit(ExitCode.UNREADABLE)
    if not all(report.ok for _, report in reports):
        raise typer.Exit(ExitCode.FINDINGS)


def _from_here(path: Path, finding: Finding) -> Finding:
    """The finding with a path that starts where the command was called, so that editors and CI can open it."""
    shown = path / finding.path if path.is_dir() else path
    return replace(finding, path=PurePath(shown).as_posix())


def _data(reports: Sequence[tuple[Path, Report]], findings: Sequence[Finding]) -> dict[str, Any]:
    return {
        "findings": [
            {
                "rule": finding.rule,
                "severity": finding.severity.value,
                "path": finding.path,
                "pointer": finding.pointer,
                "line": finding.line or None,
                "column": finding.column or None,
                "message": finding.message,
                "fix": finding.fix,
            }
            for finding in findings
        ],
        "summary": {
            "rules_run": sum(report.rules_run for _, report in reports),
            "skipped": [
                {"rule": skipped.rule, "path": path.as_posix(), "reason": skipped.reason}
                for path, report in reports
                for skipped in report.skipped
            ],
        },
    }


def _text(reports: Sequence[tuple[Path, Report]], findings: Sequence[Finding]) -> str:
    lines = []
    for finding in findings:
        lines.append(f"{finding.place}: {finding.severity.value} {finding.rule} {finding.message}")
        if finding.fix:
            lines.append(f"    {finding.fix}")
    return "\n".join([*lines, _totals(reports, findings)])


def _totals(reports: Sequence[tuple[Path, Report]], findings: Sequence[Finding]) -> str:
    counts = Counter(finding.severity for finding in findings)
    words = [(Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "note")]
    found = ", ".join(f"{counts[level]} {word}{'s' * (counts[level] != 1)}" for level, word in words if counts[level])
    where = f" in {len(reports)} places" if len(reports) > 1 else ""
    skipped = Counter(skipped.reason for _, report in reports for skipped in report.skipped)
    reasons = "; ".join(f"{count} because {reason}" for reason, count in skipped.items())
    left_out = f", {sum(skipped.values())} skipped ({reasons})" if skipped else ", none skipped"
    return f"{found or 'nothing found'}{where}: {sum(report.rules_run for _, report in reports)} rules run{left_out}"
