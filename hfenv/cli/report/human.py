"""Findings for people: by environment and file, each with the line that it stands on and the cure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

import typer

from hfenv.cli.escapes import unlike_a_command
from hfenv.cli.report.text import excerpt, visible
from hfenv.cli.report.validated import LEVELS, Checked, Validated, counted, private_lines, totals
from hfenv.components.checks.source_lines import read_lines
from hfenv.findings import Finding, Severity

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}
_WORDS = dict(LEVELS)
Lines = Mapping[str, Mapping[int, str]]


def render(validated: Validated, *, colour: bool, width: int) -> str:
    """The whole report; `width` is in cells of a terminal."""
    lines = _source_lines(validated)
    blocks = [_fixed(validated.fixed)] if validated.fixed else []
    for one in validated.checked:
        files = [_file(findings, lines, colour, width) for findings in _by_file(one.report.findings)]
        if len(validated.checked) > 1 and files:
            blocks.append(_heading(one, colour))
        blocks += files
    blocks += [_stale(validated)] if validated.stale else []
    return "\n\n".join([*blocks, totals(validated)])


def _source_lines(validated: Validated) -> Lines:
    wanted: dict[str, set[int]] = defaultdict(set)
    private = private_lines(validated)
    for finding in validated.findings:
        if finding.line and (finding.path, finding.line) not in private:
            wanted[finding.path].add(finding.line)
    return {path: read_lines(Path(path), numbers) for path, numbers in wanted.items()}


def _by_file(findings: Sequence[Finding]) -> list[list[Finding]]:
    grouped: dict[str, list[Finding]] = {}
    for finding in findings:
        grouped.setdefault(finding.path, []).append(finding)
    return list(grouped.values())


def _heading(one: Checked, colour: bool) -> str:
    text = f"{visible(one.path)}: {counted(iter(one.report.findings))}"
    return typer.style(text, bold=True) if colour else text


def _file(findings: Sequence[Finding], lines: Lines, colour: bool, width: int) -> str:
    parts: list[str] = []
    for finding, following in zip_longest(findings, findings[1:]):
        # What differs in its message alone shares the line that is shown, and the cure.
        shared = following is not None and _shown_below(finding) == _shown_below(following)
        parts += _finding(finding, lines, colour, None if shared else width)
    return "\n".join(parts)


def _shown_below(finding: Finding) -> tuple[str, int, int, str | None]:
    return finding.rule, finding.line, finding.column, finding.fix


def _finding(finding: Finding, lines: Lines, colour: bool, width: int | None) -> Iterator[str]:
    """The lines about a finding; those below its first are left out without a width."""
    word = _WORDS[finding.severity]
    if colour:
        word = typer.style(word, fg=_COLOURS[finding.severity], bold=True)
    yield f"{unlike_a_command(visible(finding.place))}: {word} {finding.rule} {visible(finding.message)}"
    if width is None:
        return
    source = lines.get(finding.path, {}).get(finding.line)
    if source is not None:
        yield from excerpt(source, finding.line, finding.column, width)
    if finding.fix:
        yield f"    {visible(finding.fix)}"


def _fixed(findings: Sequence[Finding]) -> str:
    return "\n".join(["Fixed:", *(f"    {visible(f'{f.place} {f.rule} {f.message}')}" for f in findings)])


def _stale(validated: Validated) -> str:
    listed = [
        f"    {visible(entry.fingerprint.path)} {entry.fingerprint.rule} {visible(entry.fingerprint.at)}"
        + (f" ({entry.count} times)" if entry.count > 1 else "")
        for entry in validated.stale
    ]
    return "\n".join(["The baseline covers what isn't found any more; write it again to let it shrink:", *listed])
