"""Cures that are certain, applied: the card as it would be afterwards, and the files that get their rights back."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hfenv.card.regular import LARGEST_TEXT, read_regular
from hfenv.components.files import write_all
from hfenv.components.ownership import CARD_NAME
from hfenv.components.validation import validate
from hfenv.errors import ConflictError, StorageError, UsageError
from hfenv.findings import Edit, Finding, Report

_ROUNDS = 8  # a cure may uncover the next finding: a header that is read again, for one


@dataclass(frozen=True, slots=True)
class FixPlan:
    """What `--fix` would do to an environment or a bare card.

    `executable` are paths, relative to `root`, of files that get their executable bit back; `report` is what would be
    found afterwards.
    """

    root: Path
    card: Path
    before: bytes
    after: bytes
    executable: tuple[str, ...]
    applied: tuple[Finding, ...]
    report: Report

    @property
    def changes(self) -> bool:
        return self.before != self.after or bool(self.executable)


def plan_fixes(path: Path) -> FixPlan:
    """The cures for an environment's folder or a README.md; writes nothing. Raises what `validate` raises."""
    card = path / CARD_NAME if path.is_dir() else path
    report = validate(path)
    before = after = _content(card) or b""
    applied: list[Finding] = []
    modes = [finding for finding in report.findings if finding.repair is not None and finding.repair.executable]
    for _ in range(_ROUNDS):
        cured = _without_overlaps(f for f in report.findings if f.path == card.name and f.repair and f.repair.edits)
        content = apply_edits(after, [edit for f in cured if f.repair is not None for edit in f.repair.edits])
        if content == after:
            break
        after, report = content, validate(path, card=content)
        applied += cured
    still = tuple(f for f in report.findings if f not in modes)
    left = Report.of(still, report.ran, report.skipped, report.suppressed)
    return FixPlan(path, card, before, after, tuple(f.path for f in modes), (*applied, *modes), left)


def apply_fixes(plan: FixPlan) -> None:
    """Write what was planned.

    Raises ConflictError where the card changed since, UsageError where it is a link, StorageError where it can't.
    """
    if plan.before != plan.after:
        if plan.card.is_symlink():
            raise UsageError(
                f"{plan.card} is a link, and what it leads to may be somebody else's.", "Replace it by the file."
            )
        if _content(plan.card) != plan.before:
            raise ConflictError(f"{plan.card} was changed meanwhile.", "Nothing was written; repeat the command.")
        write_all({plan.card: plan.after})
    for name in plan.executable:
        file = plan.root / name
        try:
            mode = file.stat().st_mode
            file.chmod(mode | (mode & 0o444) >> 2 | stat.S_IXUSR)
        except OSError as error:
            raise StorageError(f"{file} can't be made executable: {error.strerror}.", "Check its rights.") from None


def apply_edits(content: bytes, edits: Sequence[Edit]) -> bytes:
    """The content with edits that don't overlap, whatever their order."""
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
        content = content[: edit.start] + edit.text + content[edit.end :]
    return content


def _content(card: Path) -> bytes | None:
    try:
        return read_regular(card, LARGEST_TEXT)
    except OSError:
        return None  # as a card that can't be read it is a finding, and nothing of it is cured


def _without_overlaps(findings: Iterable[Finding]) -> list[Finding]:
    """Findings whose edits can be applied together, the first ones first; the others come in the next round."""
    taken: list[Edit] = []
    chosen = []
    for finding in findings:
        edits = finding.repair.edits if finding.repair else ()
        if any(_conflict(edit, other) for edit in edits for other in taken):
            continue
        taken += edits
        chosen.append(finding)
    return chosen


def _conflict(one: Edit, other: Edit) -> bool:
    """Whether two edits can't be applied together: edits that only touch can, unless they begin at one place."""
    return one.start == other.start or (one.start < other.end and other.start < one.end)
