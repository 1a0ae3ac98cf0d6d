"""Numbers as they are written in code, those inside of texts too: what a weight is, wherever it stands."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hfenv.components.meaning.written import children, is_idle, numbers_in_text, pieces_of, short, written

MOST_NUMBERS = 200
# Indices, neutral elements, full marks: they come and go with every loop and every condition that is turned round.
TRIVIAL = frozenset({"0", "1", "-1", "2", "0.0", "1.0", "-1.0"})


def numbers_in(trees: Iterable[ast.AST]) -> Iterator[str]:
    """Every number, with its sign, as text, in the order of the code; truth values and docstrings are left out."""
    pending: list[ast.AST] = [*trees][::-1]
    while pending:
        node = pending.pop()
        sign = "-" if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else ""
        inner = node.operand if isinstance(node, ast.UnaryOp) else node
        if isinstance(inner, ast.Constant):
            if isinstance(inner.value, (int, float, complex)) and not isinstance(inner.value, bool):
                yield sign + written(inner)
            else:
                yield from numbers_in_text(inner.value)
        elif isinstance(node, ast.JoinedStr):
            pending += pieces_of(node.values)[::-1]
        elif not (isinstance(node, ast.stmt) and is_idle(node)):
            pending += children(node)[::-1]


def number_digest(found: Sequence[str]) -> str:
    """Numbers of one definition: how many there are, a digest of which, and one of their order; empty for none.

    Trivial ones count, but aren't in the digests.
    """
    telling = [number for number in found if number not in TRIVIAL]
    if not found:
        return ""
    return ".".join((str(len(found)), short(" ".join(sorted(telling)))[:8], short(" ".join(telling))[:8]))


def all_numbers(numbers: Iterable[str]) -> tuple[str, ...]:
    """All numbers of a component, sorted, each as often as it stands; one digest where they are too many."""
    found = tuple(sorted(numbers))
    return found if len(found) <= MOST_NUMBERS else (f"#{short(' '.join(found))}",)


def replaced(old: Iterable[str], new: Iterable[str]) -> tuple[list[str], list[str]] | None:
    """The numbers that went and those that came for them, None where that looks like no replacement.

    Trivial numbers come and go with any edit: beside others they only count where those are gone for good, or new.
    """
    before, after = Counter(old), Counter(new)
    gone, come = before - after, after - before
    if not gone or not come:
        return None
    lost, won = _telling(gone), _telling(come)
    vanished, appeared = set(gone) - set(after), set(come) - set(before)
    if (lost and won) or vanished & lost or appeared & won or (vanished and appeared):
        return sorted(gone), sorted(come)
    return None


def _telling(numbers: Mapping[str, int]) -> set[str]:
    return set(numbers) - TRIVIAL
