"""Comments that make findings not count: `hfenv: ignore[HFE012] reason` on a card or in a Python file."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from hfenv.card.nodes import MappingNode, Node, ScalarNode, SequenceNode
from hfenv.card.prose import without_code
from hfenv.card.reader import Card
from hfenv.card.regular import LARGEST_TEXT, read_regular
from hfenv.card.sections import is_empty
from hfenv.components.ownership import FileEntry
from hfenv.findings import Finding, Suppressed, SuppressedBy
from hfenv.rules.catalogue import RULES, nearest_rule, severity

RULE = "HFE016"
_MARK = re.compile(rb"hfenv\s*(?::|\xef\xbc\x9a)")
_MARKED = re.compile(r"hfenv\s*[:：]")
# Full-width signs are read too: whoever wrote them takes a comment for a mark, which it is not.
_IGNORE = r"hfenv\s{0,9}[:：]\s{0,9}ignore"
_WORDS = (
    r"\s{0,9}hfenv\s{0,9}(?P<colon>[:：])\s{0,9}ignore\b"
    r"(?:\s{0,9}(?P<open>[\[［【])(?P<rules>[^\]］】\r\n]{0,999})(?P<close>[\]］】]))?[ \t:：]{0,9}"
)
# A mark may stand behind other words of a comment, and another one behind it.
_COMMENT = re.compile(
    rf"(?:#|(?<![\w-])(?={_IGNORE}\s*[\[［【])){_WORDS}(?P<reason>[^\r\n]{{0,399}}?)(?=#\s{{0,9}}{_IGNORE}|[\r\n]|\Z)"
)
_IN_BODY = re.compile(rf"<!--{_WORDS}(?P<reason>.{{0,399}}?)-->", re.DOTALL)
_WIDE = frozenset("：［］【】，、")
# More marks in one file than anybody writes on purpose: the rest of them is left alone.
_MOST = 500
_LISTED = 5  # unknown rules of one mark that are told


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment: where it stands, the line whose findings it covers, the rules it names, and why."""

    path: str
    line: int
    column: int
    covers: int
    rules: tuple[str, ...]
    reason: str
    wide: str = ""  # the first full-width sign in the mark, with which it is none


def find_comments(root: Path | None, files: Sequence[FileEntry], card: Card | None) -> list[Comment]:
    """All comments of a card and of the Python files of an environment."""
    found = list(_on_card(card)) if card is not None and _MARKED.search(card.text) else []
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
    if finding.rule not in comment.rules or not comment.reason or comment.wide or RULES[finding.rule].fatal:
        return False
    if finding.path == comment.path:
        return finding.line == comment.covers
    # Task files, images and the like can't hold comments, so that the card speaks for them.
    return comment.path.endswith(".md") and not finding.path.endswith((".py", ".md"))


def _faults(comment: Comment, used: set[tuple[Comment, str]], ran: set[str]) -> Iterator[Finding]:
    example = "Write it as: hfenv: ignore[HFE012] the reason."
    if comment.wide:
        right = f"Write it as: hfenv: ignore[{', '.join(comment.rules) or 'HFE012'}] {comment.reason or 'the reason'}"
        yield _fault(comment, f"the full-width '{comment.wide}' makes this comment no mark of hfenv's", right)
        return
    if not comment.rules:
        yield _fault(comment, "the comment names no rule", example)
    unknown = [rule for rule in comment.rules if rule not in RULES]
    for rule in [*unknown[:_LISTED], *(rule for rule in dict.fromkeys(comment.rules) if rule in RULES)]:
        if rule not in RULES:
            near = nearest_rule(rule)
            fix = f"Did you mean {near}?" if near else "`hfenv rule` lists them."
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
    following = _following(re.split(r"\r\n|\n|\r", card.text))
    for match in islice(_COMMENT.finditer(header), _MOST):
        start = card.header.start + match.start()
        if not any(low <= start < high for low, high in spans):
            yield _comment(card, match, start, following)
    body = without_code(card.text[card.header.body :])
    empty = [section for section in card.sections if is_empty(section.body)]
    for match in islice(_IN_BODY.finditer(body), _MOST):
        start = card.header.body + match.start()
        comment = _comment(card, match, start, following)
        # In a section that holds nothing else, it can only be the section that is spoken of.
        above = next((section for section in empty if section.end <= start < section.stop), None)
        yield comment if above is None else replace(comment, covers=above.line)


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


def _comment(card: Card, match: re.Match[str], start: int, following: Sequence[int]) -> Comment:
    at = card.lines.position(start)
    line_start = card.lines.starts[at.line - 1]
    before = card.text[line_start:start].strip()
    rest = re.split(r"[\r\n]", card.text[start + len(match.group()) :], maxsplit=1)[0].strip()
    covers = at.line
    if start < card.header.end:  # where other comments may share the line
        before, rest = before.split("#")[0], rest.split("#")[0]
    if not before and not rest:
        covers = following[at.line]
    return _read(match, card.path, at.line, at.column, covers)


def _read(match: re.Match[str], path: str, line: int, column: int, covers: int) -> Comment:
    """The comment that was matched; further marks behind its reason are no part of it."""
    listed = match["rules"] or ""
    signs = f"{match['colon']}{match['open'] or ''}{listed}{match['close'] or ''}"
    wide = next((sign for sign in signs if sign in _WIDE), "")
    return Comment(path, line, column, covers, _names(listed), match["reason"].strip(), wide)


def _following(lines: Sequence[str]) -> list[int]:
    """By line (from 0): the number of the first line from there on that is neither blank nor another such mark.

    Where there is none, the number of the line before. One more entry stands for the end.
    """
    found = [len(lines)] * (len(lines) + 1)
    for index in range(len(lines) - 1, -1, -1):
        line = lines[index].strip()
        mark = line.startswith(("#", "<!--")) and (_COMMENT.match(line) or _IN_BODY.match(line))
        found[index] = index + 1 if line and not mark else found[index + 1]
    return found


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in re.split("[,，、]", listed) if name.strip())


def _in_python(file: Path, path: str) -> Iterator[Comment]:
    try:
        raw = read_regular(file, LARGEST_TEXT)
        if not _MARK.search(raw):
            return
        tokens = list(tokenize.tokenize(io.BytesIO(raw).readline))
    except (OSError, SyntaxError, tokenize.TokenError, ValueError):
        return  # what can't be read has its own finding
    lines = [""] * (tokens[-1].end[0] + 1)
    for token in tokens:
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.ENCODING):
            lines[token.start[0] - 1] = "code"
    following = _following(lines)
    comments = (token for token in tokens if token.type == tokenize.COMMENT and _MARKED.search(token.string))
    for token in islice(comments, _MOST):
        line, column = token.start
        covers = line if lines[line - 1] else following[line]
        for match in islice(_COMMENT.finditer(token.string), _MOST):
            yield _read(match, path, line, column + 1 + match.start(), covers)
