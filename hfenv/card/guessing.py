"""Which known word an author probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_CLOSE = 0.7
_LONGEST = 64  # a longer word is no misspelling of anything


def folded(word: str) -> str:
    """The word without what is a matter of style: letter case, dashes, underscores and spaces."""
    return word.strip().lower().replace("-", "").replace("_", "").replace(" ", "")


def same(word: str, known: Iterable[str]) -> str | None:
    """The one known word that differs in style alone; None where there is none, or several."""
    alike = [other for other in known if folded(other) == folded(word)]
    return alike[0] if len(alike) == 1 else None


def nearest(word: str, known: Iterable[str], cutoff: float = _CLOSE) -> str | None:
    """The known word that was probably meant, the likeliest first; None where none is close."""
    found = nearest_few(word, known, 1, cutoff)
    return found[0] if found else None


def nearest_few(word: str, known: Iterable[str], count: int = 2, cutoff: float = 0.0) -> Sequence[str]:
    """Up to `count` known words by how close they are; with a cutoff of 0, some in any case."""
    import difflib

    by_fold = {folded(other): other for other in known}
    close = difflib.get_close_matches(folded(word)[:_LONGEST], list(by_fold), n=count, cutoff=cutoff)
    return [by_fold[other] for other in close]
