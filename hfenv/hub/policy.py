"""An organisation's policy (`hfenv-policy.toml`): which environments may be used at all, whatever flags say.

Found by `HFENV_POLICY`, in the working folder and all folders above it, and in the user's configuration folder. All
that are found hold together: none loosens another, so that one that came along with somebody's files allows nothing.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hfenv import paths
from hfenv.card.regular import MIB, read_regular
from hfenv.errors import HfenvError, PolicyError, UnreadableError
from hfenv.hub.client import hub_key, hub_name

NAME = "hfenv-policy.toml"
VARIABLE = "HFENV_POLICY"
RATINGS = ("A", "B", "C", "D", "E")
ISOLATIONS = ("inline", "process", "venv", "sandbox")  # each keeps code further apart than the one before
_KINDS: Mapping[str, str] = {
    "format": "the number 1",
    "namespaces": "a list of users and organisations",
    "licenses": "a list of licences",
    "endpoints": 'a list of "hf", "local" and URLs',
    "isolation": f"one of {', '.join(ISOLATIONS)}",
    "min_rating": f"one of {', '.join(RATINGS)}",
    "trust_flags": "true or false",
}


@dataclass(frozen=True, slots=True)
class Policy:
    """One file's rules; what isn't set is None and forbids nothing. Names are in lower case, endpoints cache keys."""

    path: Path
    lines: Mapping[str, int]
    namespaces: frozenset[str] | None = None
    licenses: frozenset[str] | None = None
    endpoints: frozenset[str] | None = None
    isolation: str | None = None
    min_rating: str | None = None
    trust_flags: bool = True

    def where(self, key: str) -> str:
        """The file and the line of a rule."""
        return f"{self.path}:{self.lines.get(key, 1)}"


def active() -> tuple[Policy, ...]:
    """The policies that hold here; raises UnreadableError for one that can't be read as one."""
    return tuple(read_policy(path) for path in found())


def found() -> tuple[Path, ...]:
    """The files of the policies that hold here, the one of the variable first."""
    own = [paths.expanded(value)] if (value := os.environ.get(VARIABLE)) else []
    try:
        here = Path.cwd()
        above = [folder / NAME for folder in (here, *here.parents)]
    except FileNotFoundError:  # the working folder is gone
        above = []
    # Whether a file is there is asked with what it stands for: a broken link is a policy that can't be read.
    others = [path for path in (*above, paths.config_root() / NAME) if os.path.lexists(path)]
    return tuple(dict.fromkeys([*own, *others]))


def read_policy(path: Path) -> Policy:
    """Read one file; raises UnreadableError with its line for what isn't known or has another type."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        text = read_regular(path, MIB).decode("utf-8-sig")
        values = tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UnreadableError(
            f"The policy {path} can't be read: {reason}.", "Nothing is loaded until it is; correct it or its rights."
        ) from None
    lines = {key: _line(text, key) for key in values}
    for key, value in values.items():
        if key not in _KINDS:
            raise _wrong(path, lines[key], f"there is no rule '{key}'", f"Rules: {', '.join(_KINDS)}.")
        if not _is_of_kind(key, value):
            raise _wrong(path, lines[key], f"{key} isn't {_KINDS[key]}", "Write it like that.")
    return Policy(
        path,
        lines,
        namespaces=_names(values.get("namespaces")),
        licenses=_names(values.get("licenses")),
        endpoints=_keys(path, lines, values.get("endpoints")),
        isolation=values.get("isolation"),
        min_rating=values.get("min_rating"),
        trust_flags=values.get("trust_flags", True),
    )


def _wrong(path: Path, line: int, what: str, cure: str) -> UnreadableError:
    return UnreadableError(f"{path}:{line}: {what}.", cure)


def _line(text: str, key: str) -> int:
    match = re.search(rf"""^[ \t\[]*["']?{re.escape(key)}["']?[ \t]*[=\].]""", text, re.MULTILINE)
    return text.count("\n", 0, match.start()) + 1 if match else 1


def _is_of_kind(key: str, value: Any) -> bool:
    match key:
        case "format":
            return type(value) is int and value == 1
        case "isolation":
            return value in ISOLATIONS
        case "min_rating":
            return value in RATINGS
        case "trust_flags":
            return isinstance(value, bool)
        case _:
            return isinstance(value, list) and all(isinstance(item, str) and item for item in value)


def _names(values: list[str] | None) -> frozenset[str] | None:
    return None if values is None else frozenset(value.lower() for value in values)


def _keys(path: Path, lines: Mapping[str, int], values: list[str] | None) -> frozenset[str] | None:
    if values is None:
        return None
    try:
        return frozenset(hub_key(hub_name(value)) for value in values)
    except HfenvError as error:
        raise _wrong(path, lines["endpoints"], error.message.rstrip("."), error.hint) from None


def check_source(key: str, repo: str) -> None:
    """Refuse an endpoint or a namespace that a policy doesn't allow; `key` is the endpoint's cache key.

    Raises PolicyError with the policy's file and line.
    """
    namespace = repo.split("/", maxsplit=1)[0].lower()
    for policy in active():
        if policy.endpoints is not None and key not in policy.endpoints:
            raise _refused(policy, "endpoints", f"{repo} is on a hub that this machine may not use")
        if policy.namespaces is not None and namespace not in policy.namespaces:
            raise _refused(policy, "namespaces", f"{repo} is in a namespace that this machine may not use")


def check_licences(repo: str, front_matter: Mapping[str, Any]) -> None:
    """Refuse an environment of which some licence isn't allowed, or none is given where only some are.

    `front_matter` is the card's header; the licences of its components count too. Raises PolicyError.
    """
    for policy in active():
        if policy.licenses is None:
            continue
        names = _licences(front_matter)
        others = [name for name in names if name.lower() not in policy.licenses]
        if others or not names:
            what = f"has the licence {others[0][:60]!r}" if others else "names no licence"
            raise _refused(policy, "licenses", f"{repo} {what}, which this machine may not use")


def least_rating() -> str | None:
    """The lowest rating that all policies accept, None where they accept any."""
    return min((policy.min_rating for policy in active() if policy.min_rating), default=None)


def check_rating(repo: str, grade: str | None) -> None:
    """Refuse an environment whose fresh rating (None for none) is below what a policy wants. Raises PolicyError."""
    for policy in active():
        if policy.min_rating is not None and (grade not in RATINGS or grade > policy.min_rating):
            has = f"is rated {grade}" if grade else "has no fresh rating"
            raise _refused(policy, "min_rating", f"{repo} {has}, and {policy.min_rating} is the least")


def check_run(what: str, isolation: str) -> None:
    """Refuse to run code of others in a way that keeps it less apart than a policy wants. Raises PolicyError."""
    for policy in active():
        if policy.isolation is not None and ISOLATIONS.index(isolation) < ISOLATIONS.index(policy.isolation):
            raise PolicyError(
                f"{what} would be run with isolation '{isolation}', and {policy.where('isolation')} wants "
                f"'{policy.isolation}' at least; nothing was run.",
                "Run it with hfenv run or an EnvironmentPool, which use processes."
                if policy.isolation == "process"
                else f"This version of hfenv can't run code with isolation '{policy.isolation}' yet.",
            )


def flags_allowed() -> bool:
    """Whether a flag may take the place of trust here."""
    return all(policy.trust_flags for policy in active())


def check_flag(what: str) -> None:
    """Refuse trust by a flag where a policy doesn't want it. Raises PolicyError."""
    for policy in active():
        if not policy.trust_flags:
            raise PolicyError(
                f"{what} isn't trusted, and {policy.where('trust_flags')} lets no flag take the place of trust.",
                f"Read it, then trust exactly this code: hfenv trust add {what}",
            )


def _refused(policy: Policy, key: str, what: str) -> PolicyError:
    return PolicyError(f"{what} ({policy.where(key)}).", "No flag overrides this policy; ask who keeps it.")


def _licences(front_matter: Mapping[str, Any]) -> list[str]:
    block = front_matter.get("environment")
    places: list[Any] = [front_matter.get("license")]
    if isinstance(block, Mapping):
        components = [block.get(name) for name in ("code", "tasks", "reward")]
        places += [part.get("license") for part in components if isinstance(part, Mapping)]
    values = [value for place in places for value in (place if isinstance(place, list) else [place])]
    return [str(value) for value in values if value is not None]
