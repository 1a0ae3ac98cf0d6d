"""What is wrong with an environment, as data: findings, their severity, and the report that holds them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum


class Severity(str, Enum):
    """How much a finding matters: an error fails validation, a warning doesn't."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, where it stands, and the cure where it is certain.

    `path` is relative to the environment's folder, with forward slashes; `pointer` a JSON Pointer (RFC 6901) into the
    card's front matter or empty; `line` and `column` count from 1 in code points, 0 where there is no position.
    """

    rule: str
    severity: Severity
    path: str
    message: str
    pointer: str = ""
    line: int = 0
    column: int = 0
    fix: str | None = None

    @property
    def place(self) -> str:
        """`path:line:column`, as far as it is known."""
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path


@dataclass(frozen=True, slots=True)
class Skipped:
    """A rule that did not run, and why: a report never calls clean what it did not check."""

    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of one run, in the order of path, line and column, and how many rules stand behind them."""

    findings: tuple[Finding, ...] = ()
    rules_run: int = 0
    skipped: tuple[Skipped, ...] = field(default=())

    @classmethod
    def of(cls, findings: Iterable[Finding], rules_run: int, skipped: Iterable[Skipped] = ()) -> Report:
        ordered = sorted(findings, key=lambda f: (f.path, f.line, f.column, f.rule, f.message))
        return cls(tuple(ordered), rules_run, tuple(skipped))

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.severity is Severity.ERROR)

    @property
    def ok(self) -> bool:
        """True when no finding is an error."""
        return not self.errors
