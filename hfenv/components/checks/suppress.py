"""Comments that make findings not count: `hfenv: ignore[HFE012] reason` on a card or in a Python file."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from hfenv.card.nodes import MappingNode, Node, ScalarNode, SequenceNode
from hfenv.card.reader import Card
from hfenv.components.ownership import FileEntry
from hfenv.findings import Finding, Suppressed, SuppressedBy
from hfenv.rules.catalogue import RULES, severity

RULE = "HFE016"
_MARK = b"hfenv:"
_COMMENT = re.compile(r"#\s*hfenv:\s*ignore\b(?:\s*\[([^\]\r\n]*)\])?[ \t:]*([^\r\n]*)")
_IN_BODY = re.compile(r"<!--\s*hfenv:\s*ignore\b(?:\s*\[([^\]\r\n]*)\])?[ \t:]*(.*?)\s*-->", re.DOTALL)
_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*\r?$|\Z)", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment: where it stands, the line whose findings it covers, the rules it names, and why."""

    path: str
    line: int
    column: int
    covers: int
    rules: tuple[str, ...]
    reason: str


def find_comments(root: Path | None, files: Sequence[FileEntry], card: Card | None) -> list[Comment]:
    """All comments of a card and of the Python files of an environment."""
    found = list(_on_card(card)) if card is not None and "hfenv:" in card.text else []
    for file in files if root is not None else ():
        if root is not None and file.path.endswith(".py"):
            found += _in_python(root / file.path, file.path)
    return found


def suppress(
    findings: Iterable[Finding], comments: Sequence[Comment], ran: Iterable[str]
) -> tuple[list[Finding], list[Suppressed]]:
    """Findings that count, those of comments that do nothing included, and findings that don't.

    A comment covers the findings of its rules on its line; the card's also those in files that can't hold comments.
    """
    used: set[tuple[Comment, str]] = set()
    kept: list[Finding] = []
    suppressed = []
    for finding in findings:
        comment = next((comment for comment in comments if _covers(comment, finding)), None)
        if comment is None:
            kept.append(finding)
        else:
            used.add((comment, finding.rule))
            suppressed.append(Suppressed(finding, SuppressedBy.COMMENT, comment.reason))
    known = set(ran)
    for comment in comments:
        kept += _faults(comment, used, known)
    return kept, suppressed


def _covers(comment: Comment, finding: Finding) -> bool:
    if finding.rule not in comment.rules or not comment.reason or RULES[finding.rule].fatal:
        return False
    if finding.path == comment.path:
        return finding.line == comment.covers
    # Task files, images and the like can't hold comments, so that the card speaks for them.
    return comment.path.endswith(".md") and not finding.path.endswith((".py", ".md"))


def _faults(comment: Comment, used: set[tuple[Comment, str]], ran: set[str]) -> Iterator[Finding]:
    example = "Write it as: hfenv: ignore[HFE012] the reason."
    if not comment.rules:
        yield _fault(comment, "the comment names no rule", example)
    for rule in comment.rules:
        if rule not in RULES:
            near = get_close_matches(rule.upper(), RULES, n=1)
            fix = f"Did you mean {near[0]}?" if near else "`hfenv rule` lists them."
            yield _fault(comment, f"there is no rule {rule[:40]}", fix)
        elif RULES[rule].fatal:
            yield _fault(comment, f"{rule} can't be ignored: without a readable card nothing works", "Remove it.")
        elif comment.reason and (comment, rule) not in used and rule in ran:
            yield _fault(comment, f"the comment ignores {rule}, which isn't found here", "Remove it.")
    if comment.rules and not comment.reason:
        yield _fault(comment, "the comment gives no reason, so that it ignores nothing", example)


def _fault(comment: Comment, message: str, fix: str) -> Finding:
    return Finding(RULE, severity(RULE), comment.path, message, line=comment.line, column=comment.column, fix=fix)


def _on_card(card: Card) -> Iterator[Comment]:
    header = card.text[card.header.start : card.header.end]
    spans = list(_spans(card.root))
    for match in _COMMENT.finditer(header):
        start = card.header.start + match.start()
        if not any(low <= start < high for low, high in spans):
            yield _comment(card, match, start)
    body = without_code(card.text[card.header.body :])
    for match in _IN_BODY.finditer(body):
        yield _comment(card, match, card.header.body + match.start())


def _spans(node: Node) -> Iterator[tuple[int, int]]:
    """Where scalars stand: a sign in them starts no comment."""
    if isinstance(node, ScalarNode):
        yield node.start, node.end
    elif isinstance(node, SequenceNode):
        for item in node.items:
            yield from _spans(item)
    elif isinstance(node, MappingNode):
        for entry in node.entries:
            yield from _spans(entry.key)
            yield from _spans(entry.value)


def without_code(body: str) -> str:
    """The body with code replaced by blanks: what is shown there as an example means nothing."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\r\n]", " ", match.group())

    return _INLINE.sub(blank, _FENCED.sub(blank, body))


def _comment(card: Card, match: re.Match[str], start: int) -> Comment:
    at = card.lines.position(start)
    line_start = card.lines.starts[at.line - 1]
    alone = not card.text[line_start:start].strip()
    rest = card.text[start + len(match.group()) :]
    covers = at.line
    if alone and not re.split(r"[\r\n]", rest, maxsplit=1)[0].strip():
        covers = _next_line([line.strip() for line in re.split(r"\r\n|\n|\r", card.text)], at.line)
    return Comment(card.path, at.line, at.column, covers, _names(match[1]), match[2].strip())


def _next_line(lines: Sequence[str], line: int) -> int:
    """The number of the first line behind a line (counted from 1) that is neither blank nor another such comment."""
    later = range(line, len(lines))
    meant = (n for n in later if lines[n] and not _COMMENT.match(lines[n]) and not _IN_BODY.match(lines[n]))
    return next(meant, line - 1) + 1


def _names(listed: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (listed or "").split(",") if name.strip())


def _in_python(file: Path, path: str) -> Iterator[Comment]:
    try:
        raw = file.read_bytes()
        if _MARK not in raw:
            return
        tokens = list(tokenize.tokenize(io.BytesIO(raw).readline))
    except (OSError, SyntaxError, tokenize.TokenError, ValueError):
        return  # what can't be read has its own finding
    lines = [""] * (tokens[-1].end[0] + 1)
    for token in tokens:
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.ENCODING):
            lines[token.start[0] - 1] = "code"
    for token in tokens:
        match = _COMMENT.match(token.string) if token.type == tokenize.COMMENT else None
        if match is None:
            continue
        line, column = token.start
        covers = line if lines[line - 1] else _next_line(lines, line)
        yield Comment(path, line, column + 1, covers, _names(match[1]), match[2].strip())
