"""Ranges of versions as advisories name them: `<1.2.0`, `>=1.0.0,<1.2.0`, `^1.2`, several of them with `||`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from semver import Version

from hfenv.components.versions import is_range, matches, parse_version
from hfenv.errors import UsageError

_LONGEST = 1000  # characters: a range comes from cards of other people
_TERM = re.compile(r"(<=|>=|==|=|<|>|!=)?\s*(\S+)")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}
_Test = Callable[[str], bool]


def within(version: str, spec: str) -> bool:
    """Whether a version lies in a range; a pre-release counts where its order puts it, so that none slips through.

    Terms joined by commas or spaces hold together, alternatives are parted by `||`, and `*` is every version. Raises
    UsageError for what is no range or no version.
    """
    parse_version(version)
    return any(all(test(version) for test in alternative) for alternative in _parsed(spec))


def check_spec(spec: str) -> str:
    """The range as it was given; raises UsageError where it is none."""
    _parsed(spec)
    return spec


@lru_cache(maxsize=1024)
def _parsed(spec: str) -> tuple[tuple[_Test, ...], ...]:
    if not isinstance(spec, str) or len(spec) > _LONGEST:
        raise UsageError("This is no range of versions.", _CURE)
    alternatives = tuple(tuple(map(_term, _terms(part))) for part in spec.split("||"))
    if not all(alternatives):
        raise UsageError(f"'{spec}' is no range of versions.", _CURE)
    return alternatives


_CURE = "Write it like '<1.2.0', '>=1.0.0,<1.2.0', '^1.2' or '*'."


def _terms(text: str) -> list[str]:
    # A sign may stand apart from its version.
    return re.sub(r"([<>=!])\s+", r"\1", text.replace(",", " ")).split()


def _term(text: str) -> _Test:
    if text == "*":
        return lambda version: True
    if is_range(text):
        matches("1.0.0", text)  # refuses a malformed one
        return lambda version: _without_candidate(version, text)
    match = _TERM.fullmatch(text)
    sign, name = (match[1] or "=", match[2]) if match else ("=", text)
    bound = _bound(name)
    compare = _COMPARE[sign]
    return lambda version: compare(parse_version(version), bound)


def _without_candidate(version: str, text: str) -> bool:
    """A release candidate counts as the version that it announces."""
    return matches(str(parse_version(version).finalize_version()), text)


def _bound(name: str) -> Version:
    """A version, of which the last numbers may be left out: `<2` is `<2.0.0`."""
    if re.fullmatch(r"\d+(\.\d+)?", name) and len(name) <= 100:
        name += ".0" * (2 - name.count("."))
    return parse_version(name)
