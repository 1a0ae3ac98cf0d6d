"""What `hfenv validate` does before it prints: many paths, each checked once, cured, and held to a baseline."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from hfenv.cli.report.validated import Checked, Unchecked, Validated
from hfenv.components.checks.nearby import environments_of
from hfenv.components.ownership import CARD_NAME
from hfenv.components.validation import validate
from hfenv.errors import HfenvError, StorageError, UnreadableError, UsageError
from hfenv.findings import Finding, Report
from hfenv.secret_shapes import redacted

if TYPE_CHECKING:  # only some calls need them: see the functions below
    from hfenv.components.checks.baseline import Baseline, Entry
    from hfenv.components.checks.fixing import FixPlan
    from hfenv.components.release import ReleaseRecord


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for. `diff` alone wins over `fix`; `changed` says that `paths` are files of environments.

    `against` is the revision that versions are held to, on `hub`; None stands for each folder's last release.
    """

    paths: tuple[Path, ...]
    strict: bool = False
    baseline: Path | None = None
    write_baseline: Path | None = None
    fix: bool = False
    diff: bool = False
    changed: bool = False
    against: str | None = None
    hub: str | None = None
    offline: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found; why some paths could not be checked; and with `diff`, what would be cured and what left."""

    validated: Validated
    errors: tuple[HfenvError, ...]
    cures: tuple[Finding, ...] = ()
    left: tuple[Finding, ...] = ()


@dataclass(slots=True)
class _Run:
    reports: dict[Path, Report] = field(default_factory=dict)
    errors: dict[Path, HfenvError] = field(default_factory=dict)
    fixed: list[Finding] = field(default_factory=list)
    plans: dict[Path, FixPlan] = field(default_factory=dict)


def check(request: Request) -> Outcome:
    """Check every path of a request. What stops one path doesn't stop the others; a bad baseline stops all.

    Raises UsageError for wishes that don't go together and for a baseline that would replace something else,
    NotFoundError and UnreadableError for a baseline to read.
    """
    if request.diff and request.write_baseline:
        raise UsageError("--diff writes nothing, and --write-baseline does.", "Leave one of them out.")
    before = _baseline_before(request)
    run = _Run()
    for path in environments_of(request.paths) if request.changed else _distinct(request.paths):
        try:
            _one(path, request, run)
        except HfenvError as error:
            run.errors[path] = error
        except OSError as error:
            run.errors[path] = StorageError.of(error)
    stale = _hold_to_baseline(request, before, run)
    return _outcome(request, run, stale)


def _baseline_before(request: Request) -> Baseline | None:
    """The baseline to hold findings to; one that is to be written is only asked whether it may be."""
    if request.write_baseline:
        from hfenv.components.checks.baseline import require_replaceable

        require_replaceable(request.write_baseline)
        return None
    if request.baseline:
        from hfenv.components.checks.baseline import read_baseline

        return read_baseline(request.baseline)
    return None


def _hold_to_baseline(request: Request, baseline: Baseline | None, run: _Run) -> tuple[Entry, ...]:
    """Take what the baseline covers out of the reports; entries that it no longer needs."""
    if baseline is None and not request.write_baseline:
        return ()
    from hfenv.components.checks.baseline import covered, write_baseline

    if request.write_baseline:
        if run.errors:
            # Written now, it would forget what it knows of the environments that could not be checked.
            raise next(iter(run.errors.values()))
        baseline = write_baseline(request.write_baseline, run.reports)
    if baseline is None:
        return ()
    run.reports, stale = covered(baseline, run.reports)
    return stale


def _distinct(paths: Iterable[Path]) -> Sequence[Path]:
    """Each path once, by the first name that it was given; a card whose environment is there too isn't listed apart."""
    named: dict[str, Path] = {}
    for path in paths:
        named.setdefault(os.path.realpath(path), path)
    folders = {name for name, path in named.items() if path.is_dir()}
    return [
        path
        for name, path in named.items()
        if not (path.name == CARD_NAME and os.path.dirname(name) in folders)  # noqa: PTH120 - a real path's folder
    ]


def _one(path: Path, request: Request, run: _Run) -> None:
    if request.fix or request.diff:
        from hfenv.components.checks.fixing import apply_fixes, plan_fixes

        plan = plan_fixes(path)
        if request.diff:
            run.plans[path] = plan
        elif plan.changes:
            apply_fixes(plan)
            run.fixed += _from_here(path, plan.applied)
    run.reports[path] = validate(path, released=_released(path, request))


def _released(path: Path, request: Request) -> ReleaseRecord | None:
    """The release that versions are held to; None for the folder's own."""
    if request.against is None or not path.is_dir():
        return None
    from hfenv.against import against
    from hfenv.components.snapshot import Snapshot

    try:
        folder = Snapshot.of(path)
    except UnreadableError:
        return None  # which is a finding
    return against(folder, request.against, hub=request.hub, offline=request.offline).record


def _outcome(request: Request, run: _Run, stale: tuple[Entry, ...]) -> Outcome:
    checked = tuple(Checked(PurePath(path).as_posix(), _shown(path, report)) for path, report in run.reports.items())
    unchecked = tuple(
        Unchecked(path.as_posix(), redacted(e.message), redacted(e.hint)) for path, e in run.errors.items()
    )
    validated = Validated(
        checked,
        unchecked,
        request.strict,
        tuple(map(_without_secrets, stale)),
        fixed=tuple(run.fixed) if request.fix and not request.diff else None,
        diff=_diff(run.plans, run.reports) if request.diff else None,
    )
    cures = tuple(finding for path, plan in run.plans.items() for finding in _from_here(path, plan.applied))
    left = tuple(finding for plan in run.plans.values() for finding in plan.report.findings)
    return Outcome(validated, tuple(run.errors.values()), cures, left)


def _without_secrets(entry: Entry) -> Entry:
    """An entry of a baseline as it may be shown: somebody else may have written it."""
    one = entry.fingerprint
    return replace(
        entry, fingerprint=replace(one, path=redacted(one.path), rule=redacted(one.rule), at=redacted(one.at))
    )


def _diff(plans: Mapping[Path, FixPlan], reports: Mapping[Path, Report]) -> str:
    from hfenv.cli.report import patch

    parts = []
    for path, plan in plans.items():
        found = [*reports[path].findings, *(each.finding for each in reports[path].suppressed), *plan.applied]
        private = {finding.line for finding in found if finding.private and finding.path == plan.card.name}
        executable = tuple(_path_from_here(path, name) for name in plan.executable)
        parts.append(patch.render(plan, plan.card.as_posix(), executable, private))
    return "\n".join(part for part in parts if part)


def _shown(path: Path, report: Report) -> Report:
    suppressed = tuple(
        replace(each, finding=replace(each.finding, path=_path_from_here(path, each.finding.path)))
        for each in report.suppressed
    )
    return replace(report, findings=_from_here(path, report.findings), suppressed=suppressed)


def _from_here(path: Path, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Findings with paths that start where the command was called, so that editors and CI can open them."""
    return tuple(replace(finding, path=_path_from_here(path, finding.path)) for finding in findings)


def _path_from_here(path: Path, name: str) -> str:
    return PurePath(path / name if path.is_dir() else path).as_posix()
