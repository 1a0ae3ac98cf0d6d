"""Findings as JSON, in the shape that schemas/validation-v1.yaml defines."""

from __future__ import annotations

from typing import Any

from hfenv.cli.report.validated import Validated
from hfenv.components.checks.baseline import Entry
from hfenv.findings import Finding, Severity, Suppressed


def data(validated: Validated) -> dict[str, Any]:
    """What `Output.result` prints for `validate`; `fixed` and `diff` only where they were asked for."""
    asked: dict[str, Any] = {}
    if validated.fixed is not None:
        asked["fixed"] = [_finding(finding) for finding in validated.fixed]
    if validated.diff is not None:
        asked["diff"] = validated.diff
    return {
        "findings": [_finding(finding) for finding in validated.findings],
        "suppressed": [_suppressed(each) for each in validated.suppressed],
        **asked,
        "summary": _summary(validated),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "path": finding.path,
        "pointer": finding.pointer,
        "line": finding.line or None,
        "column": finding.column or None,
        "message": finding.message,
        "fix": finding.fix,
        "fixable": finding.repair is not None,
    }


def _suppressed(each: Suppressed) -> dict[str, Any]:
    return {**_finding(each.finding), "by": each.by.value, "reason": each.reason}


def _summary(validated: Validated) -> dict[str, Any]:
    found = [finding.severity for finding in validated.findings]
    return {
        "ok": validated.ok,
        "strict": validated.strict,
        "checked": [one.path for one in validated.checked],
        "unchecked": [{"path": one.path, "reason": one.message} for one in validated.unchecked],
        "errors": found.count(Severity.ERROR),
        "warnings": found.count(Severity.WARNING),
        "notes": found.count(Severity.INFO),
        "rules_run": validated.rules_run,
        "skipped": [
            {"rule": skipped.rule, "path": one.path, "reason": skipped.reason}
            for one in validated.checked
            for skipped in one.report.skipped
        ],
        "stale": [_stale(entry) for entry in validated.stale],
    }


def _stale(entry: Entry) -> dict[str, Any]:
    one = entry.fingerprint
    return {"path": one.path, "rule": one.rule, "at": one.at, "count": entry.count}
