"""What one call of `validate` found in all its environments, and the sentence that sums it up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hfenv.cli.report.text import number
from hfenv.findings import Finding, Report, Severity, Suppressed, SuppressedBy
from hfenv.rules.catalogue import RULES

if TYPE_CHECKING:
    from hfenv.components.checks.baseline import Entry

LEVELS = ((Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "note"))


@dataclass(frozen=True, slots=True)
class Checked:
    """One environment or bare card: how it was named, and its report, whose paths start at the folder of the call."""

    path: str
    report: Report


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A path at which nothing could be checked, and why."""

    path: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Validated:
    """Everything the formats print.

    `stale` are entries of the baseline that were looked for and not found any more; `fixed` are findings that `--fix`
    cured, `diff` is what it would change; both are None where nobody asked.
    """

    checked: tuple[Checked, ...]
    unchecked: tuple[Unchecked, ...] = ()
    strict: bool = False
    stale: tuple[Entry, ...] = ()
    fixed: tuple[Finding, ...] | None = None
    diff: str | None = None

    @property
    def findings(self) -> Iterator[Finding]:
        return (finding for one in self.checked for finding in one.report.findings)

    @property
    def suppressed(self) -> Iterator[Suppressed]:
        return (each for one in self.checked for each in one.report.suppressed)

    @property
    def rules_run(self) -> int:
        """Rules that ran, over all environments."""
        return sum(one.report.rules_run for one in self.checked)

    @property
    def complete(self) -> bool:
        """Whether every path could be checked, and every card read."""
        return not self.unchecked and not any(f.rule in RULES and RULES[f.rule].fatal for f in self.findings)

    @property
    def ok(self) -> bool:
        """Whether everything was checked and nothing found that fails."""
        return not self.unchecked and not any(self.fails(finding) for finding in self.findings)

    def fails(self, finding: Finding) -> bool:
        """Whether a finding makes the call fail: an error does, a warning if strict."""
        return finding.severity is Severity.ERROR or (self.strict and finding.severity is Severity.WARNING)


def private_lines(validated: Validated) -> frozenset[tuple[str, int]]:
    """Paths and lines that are never shown, whichever finding stands there: they may hold a secret."""
    found = [*validated.findings, *(each.finding for each in validated.suppressed), *(validated.fixed or ())]
    return frozenset((finding.path, finding.line) for finding in found if finding.private)


def totals(validated: Validated) -> str:
    """One line: what was found where, how many rules ran, what was skipped and why, and what was ignored."""
    places = len(validated.checked)
    where = f" in {places} places" if places != 1 else ""
    left_out = f", {len(validated.unchecked)} not checked" if validated.unchecked else ""
    cured = f"{number(len(validated.fixed), 'finding')} fixed; " if validated.fixed is not None else ""
    return f"{cured}{counted(validated.findings)}{where}{left_out}: {', '.join(_parts(validated))}"


def counted(findings: Iterator[Finding]) -> str:
    """`2 errors, 1 warning`, or that there is nothing."""
    counts = Counter(finding.severity for finding in findings)
    return ", ".join(number(counts[level], word) for level, word in LEVELS if counts[level]) or "nothing found"


def _parts(validated: Validated) -> Iterator[str]:
    yield f"{validated.rules_run} rules run"
    reasons = Counter(skipped.reason for one in validated.checked for skipped in one.report.skipped)
    if reasons:
        why = "; ".join(f"{count} because {reason}" for reason, count in reasons.items())
        yield f"{sum(reasons.values())} skipped ({why})"
    else:
        yield "none skipped"
    ignored = Counter(each.by for each in validated.suppressed)
    if count := ignored[SuppressedBy.COMMENT]:
        yield f"{number(count, 'finding')} ignored by comment"
    if count := ignored[SuppressedBy.BASELINE]:
        yield f"{number(count, 'finding')} covered by the baseline"
    if validated.strict and any(finding.severity is Severity.WARNING for finding in validated.findings):
        yield "warnings fail (--strict)"
