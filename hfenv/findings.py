"""What is wrong with an environment, as data: findings, their severity, their cure, and the report that holds them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Severity(str, Enum):
    """How much a finding matters: an error fails validation, a warning doesn't unless asked to."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes `start` up to `end` of a finding's file become `text`; equal offsets insert."""

    start: int
    end: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Repair:
    """A cure that is certain: edits of the finding's own file in ascending order, or its executable bit."""

    edits: tuple[Edit, ...] = ()
    executable: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, where it stands, and the cure where there is one.

    `path` is relative to the environment's folder, with forward slashes; `pointer` a JSON Pointer (RFC 6901) into the
    card's front matter or empty; `line` and `column` count from 1 in code points, 0 where there is no position.
    `fix` is the cure in words, `repair` the same for a machine. One finding may stand for `count` places of which it
    names the first. A `private` finding is about something that may be a
    secret: the line that it stands on is never shown.
    """

    rule: str
    severity: Severity
    path: str
    message: str
    pointer: str = ""
    line: int = 0
    column: int = 0
    fix: str | None = None
    repair: Repair | None = None
    private: bool = False
    count: int = 1

    @property
    def place(self) -> str:
        """`path:line:column`, as far as it is known."""
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path


@dataclass(frozen=True, slots=True)
class Skipped:
    """A rule that did not run, and why: a report never calls clean what it did not check."""

    rule: str
    reason: str


class SuppressedBy(str, Enum):
    """What keeps a finding from counting."""

    COMMENT = "comment"
    BASELINE = "baseline"


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A finding that doesn't count, and why its author says so."""

    finding: Finding
    by: SuppressedBy
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """What one run found, in the order of path, line and column, and which rules stand behind it (`ran`, sorted)."""

    findings: tuple[Finding, ...] = ()
    ran: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()

    @classmethod
    def of(
        cls,
        findings: Iterable[Finding],
        ran: Iterable[str],
        skipped: Iterable[Skipped] = (),
        suppressed: Iterable[Suppressed] = (),
    ) -> Report:
        ordered = sorted(findings, key=lambda f: (f.path, f.line, f.column, f.rule, f.message))
        return cls(tuple(ordered), tuple(sorted(set(ran))), tuple(skipped), tuple(suppressed))

    @property
    def rules_run(self) -> int:
        return len(self.ran)

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.severity is Severity.ERROR)

    @property
    def ok(self) -> bool:
        """True when no finding is an error."""
        return not self.errors
