"""What differs between two environments as plain JSON; `schemas/diff-v1.yaml` describes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hfenv.components.evidence import change_data
from hfenv.components.probes import Expected
from hfenv.components.tasks.diff import TaskDifference
from hfenv.diffing.comparing import as_counts
from hfenv.diffing.probes import Probed
from hfenv.diffing.result import (
    CardDifference,
    Comparability,
    ComponentDifference,
    EnvironmentDifference,
    FileDifference,
    PackageDifference,
)
from hfenv.probing.report import ProbeRef
from hfenv.secret_shapes import redacted


def data(found: EnvironmentDifference, shown: Sequence[TaskDifference], written: str | None) -> dict[str, Any]:
    """The JSON; `shown` are the first rows, `written` is the file to which all were written."""
    counts = as_counts(found.tasks)
    total = sum(sum(kinds.values()) for kinds in counts.values())
    return {
        "old": _side(found, 0),
        "new": _side(found, 1),
        "comparable": _comparable(found.comparable),
        "components": {name.value: _component(one) for name, one in found.components.items()},
        "rows": {
            "counts": counts,
            "total": total,
            "shown": [row_data(row) for row in shown],
            "written": written,
        },
        "card": _card(found.card),
        "packages": [_package(one) for one in found.packages],
        "probes": None if found.probes is None else _probes(found.probes),
    }


def _side(found: EnvironmentDifference, place: int) -> dict[str, Any]:
    side = found.sides[place]
    return {
        "ref": side.name,
        "repo": side.repo,
        "release": side.release,
        "note": side.note or None,
        "components": {
            name.value: {"version": one.versions[place], "revision": one.commits[place]}
            for name, one in found.components.items()
        },
    }


def _comparable(found: Comparability) -> dict[str, Any]:
    return {
        "verdict": found.verdict.value,
        "line": redacted(found.line),
        "reasons": [redacted(reason) for reason in found.reasons],
        "splits": {
            one.split: {
                "comparable": one.comparable,
                "evaluation": one.evaluation,
                "on_both": one.on_both,
                "reason": redacted(one.reason),
            }
            for one in found.splits
        },
    }


def _component(found: ComponentDifference) -> dict[str, Any]:
    return {
        "before": found.versions[0],
        "after": found.versions[1],
        "same": found.same,
        "level": None if found.same or found.problem else found.level.word,
        "problem": redacted(found.problem) or None,
        "changes": [_redacted(change_data(change)) for change in found.changes],
        "files": [_file(file) for file in found.files],
    }


def _file(found: FileDifference) -> dict[str, Any]:
    return {
        "kind": found.kind.value,
        "path": found.path,
        "before_path": found.before_path or None,
        "patch": redacted(found.patch) or None,
        "unseen": found.unseen or None,
    }


def row_data(row: TaskDifference) -> dict[str, Any]:
    """A task that differs."""
    return {
        "kind": row.kind.value,
        "split": row.split,
        "id": row.id,
        "before_split": row.before_split or None,
        "before_id": row.before_id or None,
        "fields": [
            {
                "name": field.name,
                "role": field.role,
                "before": None if field.before is None else redacted(field.before),
                "after": None if field.after is None else redacted(field.after),
            }
            for field in row.fields
        ],
    }


def _card(found: CardDifference) -> dict[str, Any]:
    return {
        "keys": [_redacted({"key": key.key, "before": key.before, "after": key.after}) for key in found.keys],
        "sections": [
            {"kind": one.kind, "title": one.title, "lines_before": one.lines[0], "lines_after": one.lines[1]}
            for one in found.sections
        ],
        "files": [_file(file) for file in found.files],
    }


def _package(found: PackageDifference) -> dict[str, Any]:
    return {
        "name": found.name,
        "required_before": found.required[0],
        "required_after": found.required[1],
        "resolved_before": found.resolved[0],
        "resolved_after": found.resolved[1],
    }


def _probes(found: Probed) -> dict[str, Any]:
    report = found.report
    if report is None:
        return {"verdict": None, "sentence": None, "problem": redacted(found.problem), "probes": 0, "compared": 0,
                "moved": [], "flaky": [], "failed": []}  # fmt: skip
    return {
        "verdict": report.verdict.value,
        "sentence": redacted(report.sentence),
        "problem": None,
        "probes": report.probes,
        "compared": report.compared,
        "moved": [
            {
                **_probe(move.probe),
                "before": _score(move.before),
                "after": _score(move.after),
                "parts": list(move.parts),
            }
            for move in report.moved
        ],
        "flaky": [{**_probe(flake.probe), "side": flake.side.value} for flake in report.flaky],
        "failed": [
            {**_probe(one.probe), "side": one.side.value, "error": redacted(one.error)} for one in report.failed
        ],
    }


def _probe(ref: ProbeRef) -> dict[str, Any]:
    return {"task_id": ref.task_id, "line": ref.line, "note": redacted(ref.note)}


def _score(expected: Expected) -> dict[str, Any]:
    return {"total": expected.total, "parts": dict(expected.parts), "status": expected.status}


def _redacted(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: redacted(value) if isinstance(value, str) else value for key, value in values.items()}
