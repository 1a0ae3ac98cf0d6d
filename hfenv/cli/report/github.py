"""Findings as GitHub's workflow commands, which become annotations, and as Markdown for the summary of a step."""

from __future__ import annotations

import os
import re
from pathlib import Path

from hfenv.cli.report.text import visible
from hfenv.cli.report.validated import LEVELS, Validated, totals
from hfenv.findings import Finding, Severity
from hfenv.rules.catalogue import RULES

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_ORDER = list(_COMMANDS)
_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>|~#!&@$()]")
_MOST_ROWS = 200  # a summary may have 1 MiB, and nobody reads more


def render(validated: Validated) -> str:
    """One command per finding, errors first: of each kind only about ten become annotations. Then the totals."""
    lines = [
        f"::error title=not checked::{_escaped(f'{one.message} {one.hint}'.strip())}" for one in validated.unchecked
    ]
    ordered = sorted(validated.findings, key=lambda finding: _ORDER.index(finding.severity))
    return "\n".join([*lines, *map(_command, ordered), visible(totals(validated))])


def summary(validated: Validated, command: str = "validate") -> str:
    """The same as a Markdown section under the command's name."""
    ordered = sorted(validated.findings, key=lambda finding: _ORDER.index(finding.severity))
    words = dict(LEVELS)
    rows = [f"| {words[f.severity]} | {f.rule} | {_plain(f.place)} | {_plain(f.told)} |" for f in ordered[:_MOST_ROWS]]
    table = ["| | Rule | Place | What is wrong |", "| --- | --- | --- | --- |", *rows] if rows else []
    more = [f"and {len(ordered) - _MOST_ROWS} more"] if len(ordered) > _MOST_ROWS else []
    missed = [f"- not checked: {_plain(one.message)}" for one in validated.unchecked]
    parts = [f"### hfenv {command}", _plain(totals(validated)), "\n".join(missed), "\n".join(table), *more]
    return "\n\n".join(part for part in parts if part) + "\n"


def _command(finding: Finding) -> str:
    title = f"{finding.rule} {RULES[finding.rule].title.rstrip('.')}" if finding.rule in RULES else finding.rule
    properties = {"file": _from_workspace(finding.path), "title": title}
    if finding.line:
        properties["line"] = str(finding.line)
    if finding.column:
        properties["col"] = str(finding.column)
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {listed}::{_escaped(finding.told)}"


def _from_workspace(path: str) -> str:
    """Annotations need paths from the top of the checkout, wherever in it the command was called."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    if workspace:
        place = Path(os.path.abspath(path))  # noqa: PTH100 - a link is annotated itself, not its target
        for top in (Path(workspace), Path(workspace).resolve()):
            if place.is_relative_to(top):
                return place.relative_to(top).as_posix()
    return path


def _escaped(text: str) -> str:
    """On one line: what would end a command is an escape already."""
    return visible(text).replace("%", "%25")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _MARKDOWN.sub(r"\\\g<0>", visible(text))
