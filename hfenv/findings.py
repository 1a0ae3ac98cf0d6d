"""What is wrong with an environment, as data: findings, their severity, their cure, and the report that holds them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

from hfenv.secret_shapes import redacted

MOST = 100  # findings of one rule in one file that are listed


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

    @property
    def told(self) -> str:
        """What is wrong and the cure, as sentences in one text."""
        if not self.fix:
            return self.message
        end = "" if self.message.endswith((".", "!", "?", "。")) else "."
        return f"{self.message}{end} {self.fix}"

    def without_secrets(self) -> Finding:
        """The same without what looks like a token, which a message may name as it names every other value."""
        texts = (self.path, self.message, self.pointer, self.fix or "")
        path, message, pointer, fix = (redacted(text) for text in texts)
        if (path, message, pointer, fix) == texts:
            return self
        # By a name that isn't written out, nothing can be cured.
        repair = self.repair if path == self.path else None
        fix_or_none = None if self.fix is None else fix
        return replace(self, path=path, message=message, pointer=pointer, fix=fix_or_none, repair=repair)


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
        """A report that shows no secrets, whatever its parts say."""
        return cls(
            tuple(_ordered(finding.without_secrets() for finding in findings)),
            tuple(sorted(set(ran))),
            tuple(replace(each, reason=redacted(each.reason)) for each in skipped),
            tuple(
                replace(each, finding=each.finding.without_secrets(), reason=redacted(each.reason))
                for each in suppressed
            ),
        )

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


def capped(findings: Iterable[Finding]) -> Iterator[Finding]:
    """At most 100 findings of one rule in one file, in order; the last of them says how many more there are."""
    ordered = _ordered(findings)
    groups: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in ordered:
        groups[finding.path, finding.rule].append(finding)
    if all(len(group) <= MOST for group in groups.values()):
        yield from ordered
        return
    listed: Counter[tuple[str, str]] = Counter()
    for finding in ordered:
        key = (finding.path, finding.rule)
        listed[key] += 1
        if listed[key] < MOST or len(groups[key]) == MOST == listed[key]:
            yield finding
        elif listed[key] == MOST:
            more = sum(left.count for left in groups[key][MOST:])
            yield replace(finding, message=f"{finding.message}; and {more:,} more like it", count=finding.count + more)


def _ordered(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(
        findings, key=lambda finding: (finding.path, finding.line, finding.column, finding.rule, finding.message)
    )
