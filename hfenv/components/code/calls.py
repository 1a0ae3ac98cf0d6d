"""Checks of what a file calls: chance, clocks and the world outside, code run from text, names of hfenv's own."""

from __future__ import annotations

import ast
import pkgutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

from hfenv.components.code.call_rules import (
    ATTRIBUTES,
    ENV_CHANCE,
    NAMES,
    REWARD_RULES,
    TRUST_RULES,
    UseRule,
    entries_for,
)
from hfenv.components.code.project import Project
from hfenv.components.code.reach import Place, reach_of
from hfenv.components.code.source import Source
from hfenv.components.code.walk import Use, uses
from hfenv.findings import Finding

API_RULES = ("HFE412",)
# Arguments of the classes that authors build; the second number is how many they must give.
_ARGUMENTS: Mapping[str, tuple[tuple[str, ...], int]] = {
    "Outcome": (("data", "observation", "output", "terminated", "truncated", "error"), 0),
    "Score": (("total", "parts", "status"), 1),
    "StepResult": (("observation", "reward", "terminated", "truncated", "info"), 5),
}
_STATUSES = ("ok", "agent_fault", "infra_fault")
_UNRECORDED = ("observation", "output", "error")
_NAMES, _ATTRIBUTES = NAMES | {"hfenv"}, ATTRIBUTES | {"outcome"}
_MOST_ALIKE = 60  # uses in one definition that a rule is about: more than a report shows of a file
_FINDS_MODULES = ("importlib.import_module", "builtins.__import__")
_CONTRACTS = "hfenv.runtime.contracts"


@dataclass(frozen=True, slots=True)
class Judged:
    """A use, and the entries of the table that it falls under, by the rules that they are for."""

    use: Use
    rules: Sequence[tuple[str, UseRule]] = ()


def uses_of(project: Project, source: Source, imports: Iterable[ast.AST]) -> list[Judged]:
    """The uses in a file that one of the checks here is about; of more alike than a report shows, only so many."""
    kept: list[Judged] = []
    count: Counter[tuple[str, tuple[str, ...], bool]] = Counter()
    for use in uses(source, project.scope(source), imports, _NAMES, _ATTRIBUTES):
        rules = []
        for rule, entries in entries_for(use.dotted).items():
            alike = (rule, use.place.owners, use.place.is_main)
            if count[alike] < _MOST_ALIKE:
                found = [(rule, entry) for entry in entries if entry.when(use)]
                count[alike] += len(found)
                rules += found
        if rules or use.dotted in _FINDS_MODULES or use.dotted.startswith("hfenv.") or _is_unrecorded(use):
            kept.append(Judged(use, rules))
    return kept


def check_trust(source: Source, found: Iterable[Judged]) -> Iterator[Finding]:
    """What doesn't belong in code that others shall trust."""
    for judged in found:
        for rule, entry in judged.rules:
            if rule in TRUST_RULES:
                yield _finding(source, judged.use, rule, entry, "{}")


def check_chance(source: Source, found: Iterable[Judged]) -> Iterator[Finding]:
    """Generators in the environment's code that no seed reaches."""
    for judged in found:
        for rule, entry in judged.rules:
            if rule == ENV_CHANCE and not judged.use.place.is_main:
                yield _finding(source, judged.use, rule, entry, "{}, so that a seed doesn't repeat an episode")


def check_reward(project: Project, found: Mapping[str, list[Judged]], starts: Iterable[Place]) -> Iterator[Finding]:
    """What a score depends on besides task and transcript. What only `measure` reaches may do all of it."""
    suspects = [
        (project.sources[path], judged.use, rule, entry)
        for path, some in found.items()
        for judged in some
        if not judged.use.place.is_main
        for rule, entry in judged.rules
        if rule in REWARD_RULES
    ]
    if not suspects:
        return
    reach = reach_of(project, starts)
    for source, use, rule, entry in suspects:
        owners = {(source.path, name) for name in use.place.owners}
        if owners & reach.names or (not owners and source.path in reach.files):
            yield _finding(source, use, rule, entry, "{}, and a score is a pure function")


def _finding(source: Source, use: Use, rule: str, entry: UseRule, message: str) -> Finding:
    name = use.dotted.removeprefix("builtins.").removeprefix("?.")
    if use.dotted.startswith("?."):
        name = f".{name}"
    said = entry.says.format(name=f"{name}()" if use.call is not None else name)
    return source.finding(rule, use.node, message.format(said), entry.cure(rule))


def changes_path(found: Iterable[Judged]) -> bool:
    """Whether a file adds folders to those that Python imports from."""
    return any(judged.use.call is not None and judged.use.dotted.startswith("sys.path.") for judged in found)


# hfenv's own names


def check_api(source: Source, project: Project, found: Iterable[Judged]) -> Iterator[Finding]:
    """Names that hfenv doesn't have, arguments that its classes don't take, what an outcome doesn't record."""
    for bindings in project.scope(source).names.values():
        for binding in bindings:
            if binding.origin is not None and isinstance(binding.node, ast.ImportFrom):
                yield from _unknown_name(source, binding.node, binding.origin)
    for use in (judged.use for judged in found):
        if use.dotted.startswith("hfenv."):
            if isinstance(use.node, ast.Attribute):
                yield from _unknown_name(source, use.node, use.dotted)
            if use.call is not None:
                yield from _arguments(source, use, use.call)
        elif source.folder == "reward":
            yield from _unrecorded(source, use)


def _unknown_name(source: Source, node: ast.AST, dotted: str) -> Iterator[Finding]:
    first, _, rest = dotted.partition(".")
    name = rest.partition(".")[0]
    if first != "hfenv" or not name or name == "*" or name.startswith("__"):
        return
    public, modules = _public()
    if name in public or name in modules:
        return
    near = get_close_matches(name, sorted(public), n=1)
    fix = f"Did you mean hfenv.{near[0]}?" if near else f"It has {', '.join(sorted(public))}."
    yield source.finding("HFE412", node, f"this version of hfenv has no '{name}'", fix)


@lru_cache(maxsize=1)
def _public() -> tuple[frozenset[str], frozenset[str]]:
    """The names that hfenv has, and those of its modules."""
    hfenv = sys.modules["hfenv"]
    return frozenset(hfenv.__all__), frozenset(module.name for module in pkgutil.iter_modules(hfenv.__path__))


def _arguments(source: Source, use: Use, call: ast.Call) -> Iterator[Finding]:
    name = use.dotted.removeprefix(f"{_CONTRACTS}.").removeprefix("hfenv.")
    if name not in _ARGUMENTS:
        return
    names, required = _ARGUMENTS[name]
    unknown = [keyword for keyword in call.keywords if keyword.arg is not None and keyword.arg not in names]
    for keyword in unknown:
        near = get_close_matches(str(keyword.arg), names, n=1)
        fix = f"Did you mean {near[0]}?" if near else f"It takes {', '.join(names)}."
        yield source.finding("HFE412", keyword, f"hfenv.{name} takes no argument '{keyword.arg}'", fix)
    open_ended = any(isinstance(part, ast.Starred) for part in call.args) or any(k.arg is None for k in call.keywords)
    given = len(call.args) + len(call.keywords) - len(unknown)
    if len(call.args) > len(names) or (given < required and not open_ended and not unknown):
        message = f"hfenv.{name} can't be called with {given} argument{'' if given == 1 else 's'}"
        yield source.finding("HFE412", call, message, f"It takes {', '.join(names)}.")
    status = next((k.value for k in call.keywords if k.arg == "status"), call.args[2] if len(call.args) > 2 else None)
    if name == "Score" and isinstance(status, ast.Constant) and status.value not in _STATUSES:
        message = f"a score's status can't be {status.value!r}"
        yield source.finding("HFE412", status, message, f"It is one of {', '.join(_STATUSES)}.")


def _is_unrecorded(use: Use) -> bool:
    return use.dotted.startswith("?.") and any(part in _UNRECORDED for part in _attributes(use.node))


def _attributes(node: ast.expr) -> Iterator[str]:
    while isinstance(node, ast.Attribute):
        yield node.attr
        node = node.value


def _unrecorded(source: Source, use: Use) -> Iterator[Finding]:
    """`turn.outcome.error` in a reward: only what a rollout records is there."""
    node = use.node
    if not isinstance(node, ast.Attribute) or not _is_unrecorded(use):
        return
    while isinstance(node.value, ast.Attribute) and node.value.attr != "outcome":
        node = node.value
    base: ast.expr | None = node.value
    if isinstance(base, ast.Name):
        base = use.scope.literal(base.id)
    if isinstance(base, ast.Attribute) and base.attr == "outcome" and node.attr in _UNRECORDED:
        message = f"outcome.{node.attr} isn't recorded, so that reward code can't see it"
        yield source.finding("HFE412", node, message, "Put it into the outcome's data: outcome.data is what is there.")
