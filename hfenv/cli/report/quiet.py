"""Findings as a list of places: one line each, for other programs' eyes."""

from __future__ import annotations

from hfenv.cli.escapes import unlike_a_command, visible
from hfenv.cli.report.validated import Validated


def render(validated: Validated) -> str:
    """`path:line:column RULE` for each finding; nothing where there is none."""
    return "\n".join(unlike_a_command(f"{visible(finding.place)} {finding.rule}") for finding in validated.findings)
