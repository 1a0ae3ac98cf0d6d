"""Validate an environment's folder or a bare card: every check that can run, and a reason for each that can't."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hfenv.card.checks import CARD_RULES, check_card
from hfenv.card.declared import Declared
from hfenv.card.problem import CardError
from hfenv.card.reader import Card, parse_card, read_bytes
from hfenv.components.checks.layout import (
    FILE_RULES,
    NAMED_RULES,
    TEXT_RULES,
    check_files,
    check_named,
    check_texts,
    check_without_card,
)
from hfenv.components.checks.links import LINK_RULES, check_links
from hfenv.components.checks.nearby import environments_below, is_environment
from hfenv.components.checks.publishing import PUBLISHING_RULES, check_published
from hfenv.components.checks.suppress import RULE as COMMENT_RULE
from hfenv.components.checks.suppress import Comment, find_comments, suppress
from hfenv.components.checks.unmerged import UNMERGED_RULES, check_unmerged
from hfenv.components.code.checks import (
    CODE_RULES,
    REQUIRES_RULES,
    SYNTAX_RULES,
    check_code,
    check_requires,
    oldest_python,
    parse_files,
)
from hfenv.components.code.parts import PARTS_RULES, check_parts
from hfenv.components.journal import finish
from hfenv.components.ownership import CARD_NAME, FileEntry, scan
from hfenv.components.probes import PROBE_RULES, check_probes
from hfenv.components.tasks.checks import ROW_RULES, TASK_RULES, check_rows, check_tasks
from hfenv.errors import FindingsError, HfenvError, NotFoundError, UnreadableError, UsageError
from hfenv.findings import Finding, Report, Skipped, capped
from hfenv.rules.catalogue import RULES, severity

if TYPE_CHECKING:
    from hfenv.components.release import ReleaseRecord

_FATAL = tuple(rule.id for rule in RULES.values() if rule.fatal)
_VERSIONS = tuple(rule for rule in RULES if rule.startswith("HFE5") or rule == "HFE207")
_FOLDER_RULES = (
    *FILE_RULES, *TEXT_RULES, *NAMED_RULES, *LINK_RULES, *PUBLISHING_RULES, *UNMERGED_RULES, *TASK_RULES,
    *SYNTAX_RULES, *CODE_RULES, *PARTS_RULES, *PROBE_RULES, *_VERSIONS,
)  # fmt: skip


@dataclass(slots=True)
class _Run:
    """What one validation found so far, which rules ran, and which could not."""

    findings: list[Finding] = field(default_factory=list)
    ran: set[str] = field(default_factory=set)
    skipped: dict[str, str] = field(default_factory=dict)
    comments: list[Comment] = field(default_factory=list)
    read: bool = False

    def add(self, rules: Iterable[str], findings: Iterable[Finding]) -> None:
        self.ran.update(rules)
        self.findings.extend(findings)

    def skip(self, rules: Iterable[str], reason: str) -> None:
        for rule in rules:
            self.skipped.setdefault(rule, reason)

    def report(self) -> Report:
        if self.read:
            self.ran.add(COMMENT_RULE)
        kept, suppressed = suppress(self.findings, self.comments, self.ran)
        self.ran.update(finding.rule for finding in kept)  # comments in Python files are read without a card, too
        skipped = [Skipped(rule, self.skipped[rule]) for rule in sorted(self.skipped) if rule not in self.ran]
        return Report.of(capped(kept), self.ran, skipped, suppressed)


def validate(path: Path, *, card: bytes | None = None, released: ReleaseRecord | None = None) -> Report:
    """Check an environment's folder, or a README.md by itself; no code of the author's runs.

    With `card`, that content is judged in the place of the card's file, and with `released` versions are held to that
    release instead of the folder's last one. Raises NotFoundError where there is nothing at
    `path`, UsageError for a file that is no card and for a folder that only holds environments. A card that can't be
    read is a finding of a rule that is `fatal` (see `is_unreadable`); the checks that don't need it run all the same.
    """
    cure = "Name the folder of an environment, or a README.md."
    if not path.exists():
        raise NotFoundError(f"There is nothing at {path}.", cure)
    if not path.is_dir() and path.suffix.lower() != ".md":
        raise UsageError(f"{path} is neither a folder nor a card.", cure)
    if path.is_dir() and not is_environment(path) and (below := environments_below(path)):
        names = " ".join(each.as_posix() for each in below)
        raise UsageError(f"{path} is no environment, but there are some below it.", f"hfenv validate {names}")
    if path.is_dir():
        finish(path)
    run = _Run()
    read = _card(path / CARD_NAME if path.is_dir() else path, card, run)
    files: Sequence[FileEntry] = ()
    if path.is_dir():
        files = _folder(path, read, run, released)
    else:
        run.skip(_FOLDER_RULES, "only the card was given, not its environment")
    run.comments = find_comments(path, files, read)
    return run.report()


def require_valid(root: Path) -> Report:
    """The report of an environment's folder; raises FindingsError with the first errors when there are some."""
    report = validate(root)
    if report.ok:
        return report
    if is_unreadable(report):
        fatal = next(f for f in report.findings if f.rule in _FATAL)
        raise UnreadableError(f"{fatal.place}: {fatal.message.rstrip('.')}.", fatal.fix or "")
    told = [f"{f.place} {f.rule} {f.told}" for f in report.errors[:10]]
    lines = ["\\n".join(line.splitlines()) for line in told]  # a name with a line break in it starts none here
    more = [f"and {len(report.errors) - 10} more"] if len(report.errors) > 10 else []
    number = len(report.errors)
    stand = "1 finding stands" if number == 1 else f"{number} findings stand"
    raise FindingsError(f"{stand} in the way.", "\n  ".join([*lines, *more]))


def is_unreadable(report: Report) -> bool:
    """Whether the card could not be read, which is exit 3 on the command line."""
    return any(finding.rule in _FATAL for finding in report.findings)


def _card(target: Path, content: bytes | None, run: _Run) -> Card | None:
    try:
        card = parse_card(read_bytes(target, target.name) if content is None else content, target.name)
    except CardError as error:
        # Reading stops at the first thing that makes a card unreadable: only that rule is known to have run.
        run.add([error.rule], [error.finding()])
        run.skip((*CARD_RULES, *REQUIRES_RULES, COMMENT_RULE), "the card can't be read")
        return None
    run.read = True
    run.add(CARD_RULES, check_card(card))
    run.add(REQUIRES_RULES, check_requires(card))
    return card


def _folder(root: Path, card: Card | None, run: _Run, released: ReleaseRecord | None) -> Sequence[FileEntry]:
    declared = Declared.of(card) if card is not None else None
    try:
        files, problems = scan(root)
    except UnreadableError as error:
        run.add(["HFE203"], [Finding("HFE203", severity("HFE203"), CARD_NAME, error.message, fix=error.hint)])
        run.skip(_FOLDER_RULES, "the folder can't be read")
        return ()
    run.add(FILE_RULES, check_files(files, problems, declared))
    run.add(TEXT_RULES, check_texts(root, files))
    run.add(PUBLISHING_RULES, check_published(root, files))
    run.add(UNMERGED_RULES, check_unmerged(root, files))
    run.add(PROBE_RULES, check_probes(root, files))
    known = [file.path for file in files]
    oldest = oldest_python(card) if card is not None else None
    parsed = parse_files(root, files, oldest)
    if parsed.unclear and not parsed.findings:
        run.skip(SYNTAX_RULES, parsed.reason(oldest))
    else:
        run.add(SYNTAX_RULES, parsed.findings)
    if card is None or declared is None:
        run.add(FILE_RULES, check_without_card(files, parsed))
        run.add(ROW_RULES, check_rows(root, known))
        run.skip(_FOLDER_RULES, "the card can't be read")
        return files
    run.add(NAMED_RULES, check_named(root, files, card, declared))
    run.add(LINK_RULES, check_links(files, card))
    if declared.split_patterns:
        run.add(TASK_RULES, check_tasks(root, card, declared, known))
    else:
        run.add(ROW_RULES, check_rows(root, known))
        run.skip(TASK_RULES, "the card names no splits")
    for rules, findings in check_code(card, declared, parsed, files):
        run.add(rules, findings)
    run.add(PARTS_RULES, check_parts(card, declared, parsed))
    run.skip(CODE_RULES, "the entry's file is missing or can't be parsed")
    if problems:
        run.skip(_VERSIONS, "some files can't be part of an environment")
    else:
        _versions(root, card, files, run, released)
    return files


def _versions(root: Path, card: Card, files: Sequence[FileEntry], run: _Run, released: ReleaseRecord | None) -> None:
    from hfenv.card.schema import manifest_of
    from hfenv.components.gate import GATE_RULES, check_versions
    from hfenv.components.release import read_record, with_recorded_modes
    from hfenv.components.snapshot import Snapshot

    try:
        manifest = manifest_of(card)
    except UnreadableError:
        run.skip(_VERSIONS, "the card's block breaks the schema")
        return
    try:
        record = released or read_record(root)
        folder = Snapshot(root, card, manifest, with_recorded_modes(files, record), record)
        run.add(GATE_RULES, check_versions(folder, files))
    except HfenvError as error:
        run.add(["HFE504"], [Finding("HFE504", severity("HFE504"), "release.json", error.message, fix=error.hint)])
        run.skip(_VERSIONS, "the release record or a changelog can't be read")
    else:
        run.add(["HFE504"], ())
