"""Findings as SARIF 2.1.0, which code scanning services and editors read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hfenv.cli.report.replacements import replacements
from hfenv.cli.report.validated import Checked, Validated, private_lines
from hfenv.components.checks.fingerprint import digests, fingerprints
from hfenv.findings import Finding, Severity, Skipped, Suppressed, SuppressedBy
from hfenv.rules.catalogue import RULES
from hfenv.rules.rule import Example, Group, Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_KINDS = {SuppressedBy.COMMENT: "inSource", SuppressedBy.BASELINE: "external"}
_NUMBERS = {rule: number for number, rule in enumerate(RULES)}


def render(validated: Validated) -> str:
    """One log with one run; positions count from 1 in code points, paths are relative URIs."""
    run = {
        "tool": {"driver": _driver()},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(validated)],
        "results": _results(validated),
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)


def _driver() -> dict[str, Any]:
    return {"name": "hfenv", "version": version("hfenv"), "rules": [_rule(rule) for rule in RULES.values()]}


def _rule(rule: Rule) -> dict[str, Any]:
    text = rule.explanation or rule.title
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": text},
        "help": {"text": text, "markdown": _markdown(rule)},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": [rule.group.value]},
    }


def _markdown(rule: Rule) -> str:
    parts = [f"**{rule.title}**", rule.explanation]
    if rule.group is not Group.SECRETS:  # what looks like a secret would be found in the report too
        parts += [*_example("Wrong", rule.bad), *_example("Right", rule.good)]
    return "\n\n".join(part for part in parts if part)


def _example(word: str, example: Example | None) -> Iterator[str]:
    if example is not None and example.text is not None:
        fence = "`" * max(3, 1 + max((len(run) for run in _ticks(example.text)), default=0))
        yield f"{word} (`{example.path}`):"
        yield f"{fence}\n{example.text.rstrip()}\n{fence}"


def _ticks(text: str) -> Iterator[str]:
    return (run for run in "".join(char if char == "`" else " " for char in text).split() if run)


def _invocation(validated: Validated) -> dict[str, Any]:
    notices = [
        {"level": "error", "message": {"text": f"{one.message} {one.hint}".strip()}, **_at(one.path)}
        for one in validated.unchecked
    ]
    notices += [_skipped(one, each) for one in validated.checked for each in one.report.skipped]
    return {"executionSuccessful": validated.complete, "toolExecutionNotifications": notices}


def _skipped(one: Checked, skipped: Skipped) -> dict[str, Any]:
    text = f"{skipped.rule} did not run: {skipped.reason}"
    notice = {"level": "note", "message": {"text": text}, **_at(one.path)}
    if skipped.rule in _NUMBERS:
        notice["associatedRule"] = {"id": skipped.rule, "index": _NUMBERS[skipped.rule]}
    return notice


def _at(path: str) -> dict[str, Any]:
    return {"locations": [{"physicalLocation": {"artifactLocation": {"uri": uri(path)}}}]}


def uri(path: str) -> str:
    """A path with forward slashes as a URI: relative where the path is, every other sign percent-encoded."""
    encoded = quote(os.fsencode(path), safe="/~")
    return f"file://{encoded}" if path.startswith("/") else encoded


def _results(validated: Validated) -> list[dict[str, Any]]:
    reasons: list[tuple[Finding, Suppressed | None]] = [(finding, None) for finding in validated.findings]
    reasons += [(each.finding, each) for each in validated.suppressed]
    # Numbered in the order of places, so that a finding keeps its fingerprint when it comes to be suppressed.
    reasons.sort(key=lambda pair: (pair[0].path, pair[0].line, pair[0].column, pair[0].rule, pair[0].message))
    findings = [finding for finding, _ in reasons]
    private = private_lines(validated)
    return [
        _result(finding, reason, digest, private)
        for (finding, reason), digest in zip(reasons, digests(fingerprints(findings, Path())), strict=True)
    ]


def _result(
    finding: Finding, reason: Suppressed | None, digest: str, private: frozenset[tuple[str, int]]
) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.told},
        "locations": [_location(finding)],
        "partialFingerprints": {"hfenv/v1": digest},
    }
    if finding.rule in _NUMBERS:
        result["ruleIndex"] = _NUMBERS[finding.rule]
    if changes := replacements(finding, private):
        result["fixes"] = [_fix(finding, changes)]
    if reason is not None:
        result["suppressions"] = [{"kind": _KINDS[reason.by], "justification": reason.reason}]
    return result


def _location(finding: Finding) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": uri(finding.path)}}
    if finding.line and not finding.path.endswith(".parquet"):  # a row of a binary file is no line
        place["region"] = {"startLine": finding.line, **({"startColumn": finding.column} if finding.column else {})}
    location: dict[str, Any] = {"physicalLocation": place}
    if finding.pointer:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.pointer, "kind": "member"}]
    return location


def _fix(finding: Finding, changes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    change = {"artifactLocation": {"uri": uri(finding.path)}, "replacements": list(changes)}
    return {"description": {"text": finding.fix or "Apply the cure."}, "artifactChanges": [change]}
