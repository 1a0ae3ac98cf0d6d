"""Syntax that only newer Pythons have: which Python that is, and where it stands, for what a parser says about it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Version = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Newer:
    """Syntax that Python has `since` a version; `line` and `column` count from 1, 0 where the parser's are right."""

    what: str
    since: Version
    line: int = 0
    column: int = 0

    @property
    def cure(self) -> str:
        python = f"{self.since[0]}.{self.since[1]}"
        return f'Write it otherwise, or ask for that Python on the card: requires: {{python: ">={python}"}}.'


_SAID = re.compile(r"^(.*?) (?:is|are) only supported in Python (\d+)\.(\d+)")
# What the parser calls it, what it is called here, and the nodes that are it.
_FEATURES: tuple[tuple[str, str, Callable[[ast.AST], ast.AST | None]], ...] = (
    ("Exception groups", "except*", lambda node: _first(node, "TryStar", "handlers")),
    ("Pattern matching", "match", lambda node: _first(node, "Match", "")),
    ("Type statement", "a type statement", lambda node: _first(node, "TypeAlias", "")),
    ("Type parameter lists", "a list of type parameters", lambda node: _first(node, "", "type_params")),
    ("Type parameter defaults", "a default of a type parameter", lambda node: getattr(node, "default_value", None)),
    ("Parenthesized context managers", "a with of several parts in parentheses", lambda node: None),
    ("except expressions without", "except with several types and no parentheses", lambda node: None),
    ("t-strings", "a t-string", lambda node: _first(node, "TemplateStr", "")),
)
# Lines on which a Python that has never heard of it says "invalid syntax" or the like.
_LINES: tuple[tuple[str, str, Version], ...] = (
    (r"^\s*except\s*\*\s*[\w(].*:", "except*", (3, 11)),
    (r"^\s*type\s+\w+\s*(\[.*\]\s*)?=(?!=)", "a type statement", (3, 12)),
    (r"^\s*(?:async\s+def|def|class)\s+\w+\s*\[[^=\]]*=", "a default of a type parameter", (3, 13)),
    (r"^\s*(?:async\s+def|def|class)\s+\w+\s*\[", "a list of type parameters", (3, 12)),
    (r"^\s*except\s+[\w.]+\s*(,\s*[\w.]+\s*)+,?\s*:", "except with several types and no parentheses", (3, 14)),
    (r"(?<![\w'\"])(?:[tT][rR]?|[rR][tT])['\"]", "a t-string", (3, 14)),
)
_IN_F_STRING = ("f-string expression part cannot include a backslash", "f-string expression part cannot include '#'")


def newer_syntax(error: SyntaxError, text: str, tree: ast.Module | None) -> Newer | None:
    """The newer syntax that an error is about; None where it is a mistake in any Python, or that can't be told.

    `tree` is that of this Python, if it can parse the file that the older one can't.
    """
    message = str(error.msg)
    if match := _SAID.match(message):
        since = (int(match[2]), int(match[3]))
        for said, what, pick in _FEATURES:
            if match[1].startswith(said):
                return _placed(what, since, pick, tree)
        return Newer(match[1], since)
    if message.startswith(_IN_F_STRING):
        return Newer("a backslash or a comment inside of an f-string's braces", (3, 12))
    lines = text.split("\n")
    line = lines[error.lineno - 1] if error.lineno and error.lineno <= len(lines) else ""
    if message.startswith("f-string") and _nests_quotes(line):
        return Newer("the same quotes inside of an f-string's braces", (3, 12))
    if "invalid syntax" not in message and "expected '('" not in message and "parenthesized" not in message:
        return None
    found = ((what, since) for pattern, what, since in _LINES if re.search(pattern, line[:_LONGEST]))
    what, since = next(found, ("", (0, 0)))
    return Newer(what, since) if what else None


_LONGEST = 500  # characters of a line that are looked at


def _nests_quotes(line: str) -> bool:
    return any(re.search(rf"[fF][rR]?{q}[^{q}]{{0,200}}\{{[^{q}}}]{{0,200}}{q}", line[:_LONGEST]) for q in "'\"")


def _placed(what: str, since: Version, pick: Callable[[ast.AST], ast.AST | None], tree: ast.Module | None) -> Newer:
    """With the first place in the file: a parser speaks up only when it has read a whole block."""
    places = sorted(_places(pick, tree)) if tree is not None else []
    return Newer(what, since, *(places[0] if places else (0, 0)))


def _places(pick: Callable[[ast.AST], ast.AST | None], tree: ast.Module) -> Iterator[tuple[int, int]]:
    for node in ast.walk(tree):
        found = pick(node)
        if isinstance(found, (ast.stmt, ast.expr, ast.excepthandler)):
            yield found.lineno, found.col_offset + 1
        elif found is not None:  # a type parameter
            yield getattr(found, "lineno", 1), getattr(found, "col_offset", 0) + 1


def _first(node: ast.AST, kind: str, part: str) -> ast.AST | None:
    """The node, or the first of one of its lists, where it is of a kind that this Python may not have."""
    if kind and type(node).__name__ != kind:
        return None
    return next(iter(getattr(node, part, ())), None) if part else node
