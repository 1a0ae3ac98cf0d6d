"""What a finding is known by when lines move: its rule, its file, and what it stands on."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hfenv.components.checks.source_lines import read_lines
from hfenv.findings import Finding


@dataclass(frozen=True, slots=True, order=True)
class Fingerprint:
    """`at` is a JSON Pointer, or the digest of a line's text, or that of a message where there is no line to read.

    Behind a line stand the names that the message puts in quotes: another name on that line is another mistake.
    Findings with equal fingerprints are told apart by counting them.
    """

    path: str
    rule: str
    at: str

    def digest(self, occurrence: int) -> str:
        """64 hex digits for the finding that has this fingerprint as the `occurrence`-th, from 1."""
        return hashlib.sha256("\0".join((self.rule, self.path, self.at, str(occurrence))).encode(*_CODEC)).hexdigest()


_QUOTED = re.compile(r"(?<!\w)'([^'\r\n]+)'(?!\w)")
_LONGEST_NAMES = 80
_CODEC = ("utf-8", "surrogatepass")  # a file's name on disk need not be valid UTF-8


def fingerprints(findings: Sequence[Finding], folder: Path) -> tuple[Fingerprint, ...]:
    """One for each finding; their paths are relative to `folder`."""
    lines = _lines(findings, folder)
    return tuple(Fingerprint(f.path, f.rule, _at(f, lines.get(f.path, {}))) for f in findings)


def digests(prints: Sequence[Fingerprint]) -> Iterator[str]:
    """A digest for each fingerprint; equal ones are numbered in their order."""
    seen: Counter[Fingerprint] = Counter()
    for one in prints:
        seen[one] += 1
        yield one.digest(seen[one])


def _lines(findings: Sequence[Finding], folder: Path) -> dict[str, Mapping[int, str]]:
    wanted = defaultdict(set)
    for finding in findings:
        if not finding.pointer and not finding.private and finding.line:
            wanted[finding.path].add(finding.line)
    return {path: read_lines(folder / path, numbers) for path, numbers in wanted.items()}


def _at(finding: Finding, lines: Mapping[int, str]) -> str:
    if finding.pointer:
        return finding.pointer
    # The digest of a line with a secret would let others test their guesses.
    text = "" if finding.private else lines.get(finding.line, "").strip()
    if text:
        return f"line {_short(text)}{_names(finding)}"
    return f"message {_short(re.sub(r'[0-9]+', '#', finding.message))}"


def _names(finding: Finding) -> str:
    """What a message puts in quotes."""
    shown = "".join(f" '{name}'" for name in _QUOTED.findall(finding.message))
    return shown if len(shown) <= _LONGEST_NAMES else f" names {_short(shown)}"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode(*_CODEC)).hexdigest()[:16]
