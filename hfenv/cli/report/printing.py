"""Prints findings in the format that was asked for; each format is imported only where it is printed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hfenv.cli.output import FindingsFormat, Output, coloured, width

if TYPE_CHECKING:
    from hfenv.cli.report.validated import Validated


def print_findings(validated: Validated, fmt: FindingsFormat, out: Output, command: str = "validate") -> None:
    """Print what a command found; `command` is its name in JSON and in summaries."""
    if fmt is FindingsFormat.JSON:
        from hfenv.cli.report.data import data

        out.result(command, data(validated), human="")
    elif fmt is FindingsFormat.GITHUB:
        from hfenv.cli.report import github

        out.document(github.render(validated))
        _append_summary(github.summary(validated, command), out)
    elif fmt in (FindingsFormat.SARIF, FindingsFormat.JUNIT):
        _print_document(validated, fmt, out, command)
    elif fmt is FindingsFormat.QUIET:
        from hfenv.cli.report import quiet

        out.document(quiet.render(validated))
    else:
        from hfenv.cli.report import human

        out.document(human.render(validated, colour=coloured(), width=width()))


def _print_document(validated: Validated, fmt: FindingsFormat, out: Output, command: str) -> None:
    """A file for a program; people still get the totals."""
    from hfenv.cli.report.validated import totals

    if fmt is FindingsFormat.SARIF:
        from hfenv.cli.report import sarif

        out.document(sarif.render(validated))
    else:
        from hfenv.cli.report import junit

        out.document(junit.render(validated, command))
    out.note(totals(validated))


def _append_summary(text: str, out: Output) -> None:
    """Where GitHub shows a page per step, the findings stand there too."""
    if file := os.environ.get("GITHUB_STEP_SUMMARY"):
        try:
            with Path(file).open("a", encoding="utf-8", errors="replace", newline="\n") as stream:
                stream.write(text + "\n")
        except OSError as error:
            out.warn(f"The summary can't be written to {file}: {error.strerror}.")
