"""Checks of the functions that hfenv calls: the reward's, the policies', and what each of the contract gives back."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hfenv.card.declared import Declared, Entry
from hfenv.card.reader import Card
from hfenv.components.code.names import FUNCTIONS, FunctionNode
from hfenv.components.code.project import Definition, Project
from hfenv.components.code.shapes import (
    accepts,
    branches,
    class_view,
    is_plain,
    literal_kind,
    missing_arguments,
    returns_of,
    swapped,
)
from hfenv.components.code.source import Source
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

POLICY_FOLDERS = ("audit", "env")
_POLICY = "task, observation, info, rng"
_MEASURE = "task, transcript, context"
_GENERATE = "split, seed, rng"


@dataclass(frozen=True, slots=True)
class Expected:
    """What hfenv takes from a function: in words, and whether an expression that is certainly of a kind will do."""

    words: str
    takes: Callable[[str], bool]
    needs_value: bool = True


EXPECTED = {
    "start": Expected("the first observation", lambda kind: kind != "a generator", needs_value=False),
    "execute": Expected("an hfenv.Outcome", lambda kind: False),
    "reset": Expected("(observation, info)", lambda kind: kind == "a tuple of 2"),
    "step": Expected(
        "(observation, reward, terminated, truncated, info)", lambda kind: kind == "a tuple of 5"
    ),
    "close": Expected("nothing", lambda kind: True, needs_value=False),
    "score": Expected("an hfenv.Score or a number", lambda kind: kind == "a number"),
    "score_group": Expected("a list of scores", lambda kind: kind == "a list" or kind.startswith("a tuple")),
    "measure": Expected("plain JSON data", lambda kind: kind not in ("a generator", "a set"), needs_value=False),
    "generate": Expected("a task as a dict", lambda kind: kind == "a mapping"),
    "policy": Expected("an action", lambda kind: kind != "a generator", needs_value=False),
}  # fmt: skip


def check_returns(source: Source, function: FunctionNode, role: str) -> Iterator[Finding]:
    """A function that yields, that never returns, or that returns what certainly isn't the right thing."""
    expected = EXPECTED[role]
    found = returns_of(function)
    fix = f"Return {expected.words}."
    name = function.name
    if found.yielded is not None:
        message = f"{name} has a yield, so that calling it gives a generator, and hfenv expects {expected.words}"
        yield source.finding("HFE408", found.yielded, message, fix)
        return
    if expected.needs_value and not found.gives_value:
        message = f"{name} never returns anything, and hfenv expects {expected.words}"
        yield source.finding("HFE408", function, message, fix)
        return
    for statement in found.returns:
        for value in branches(statement.value):
            kind = literal_kind(value)
            if not kind or expected.takes(kind) or (kind == "nothing" and not expected.needs_value):
                continue
            message = f"{name} returns {kind} here, and hfenv expects {expected.words}"
            yield source.finding("HFE408", value or statement, message, fix)


def check_reward_functions(
    project: Project, entry: Entry, declared: Declared, definition: Definition | None
) -> Iterator[Finding]:
    """score, and beside it score_group and measure where they are."""
    source = project.sources[entry.path]
    if definition is not None:
        yield from _scoring(project, definition, entry.name, "score", "task, transcript")
    group = project.definition(source, "score_group")
    if declared.scope == "group" and group is None and not any(True for _ in project.stars(source)):
        message = f"reward.scope is group, but {entry.path} defines no score_group"
        fix = "Write def score_group(task, transcripts), a score for each."
        yield source.finding("HFE404", source.tree, message, fix)
    if group is not None:
        yield from _scoring(project, group, "score_group", "score_group", "task, transcripts")
    yield from _measure(project, source, definition)


def _scoring(project: Project, found: Definition, name: str, role: str, arguments: str) -> Iterator[Finding]:
    source, node = found.source, found.node
    write = f"Write def {name}({arguments})."
    if isinstance(node, ast.AsyncFunctionDef):
        fix = "Write a plain def; what has to wait for something belongs into measure."
        yield source.finding("HFE404", node, f"{name} is async, and a score is pure", fix)
    elif isinstance(node, ast.ClassDef):
        yield source.finding("HFE404", node, f"{name} is a class, not a function", write)
    elif isinstance(node, ast.FunctionDef) and is_plain(project, source, node):
        if not accepts(node, 2):
            yield source.finding("HFE404", node, f"{name} doesn't take ({arguments})", write)
        yield from _in_order("HFE404", source, node, arguments)
        yield from check_returns(source, node, role)


def _in_order(rule: str, source: Source, node: FunctionNode, wanted: str, *, skip: int = 0) -> Iterator[Finding]:
    if written := swapped(node, wanted, skip=skip):
        message = f"{node.name} takes ({written}), and hfenv calls it by position, with ({wanted})"
        fix = f"Write def {node.name}({'self, ' if skip else ''}{wanted})."
        yield source.finding(rule, node, message, fix)


def _measure(project: Project, source: Source, score: Definition | None) -> Iterator[Finding]:
    """measure is looked for in the module in which score was defined."""
    home = score.source if score is not None and isinstance(score.node, FUNCTIONS) else source
    here, there = project.definition(source, "measure"), project.definition(home, "measure")
    if here is not None and there is None and isinstance(here.node, FUNCTIONS):
        message = f"hfenv looks for measure in {home.path}, where score is defined, and never calls this one"
        yield here.source.finding("HFE416", here.node, message, f"Import or define measure in {home.path}.")
    if there is None or not isinstance(there.node, FUNCTIONS) or not is_plain(project, there.source, there.node):
        return
    if not accepts(there.node, 3):
        fix = f"Write def measure({_MEASURE})."
        yield there.source.finding("HFE405", there.node, f"measure doesn't take ({_MEASURE})", fix)
    yield from _in_order("HFE405", there.source, there.node, _MEASURE)
    yield from check_returns(there.source, there.node, "measure")


def check_policies(card: Card, declared: Declared, project: Project) -> Iterator[Finding]:
    """Policies stand where they can be imported and can be called with their four arguments."""
    for entry in declared.policies:
        folder = entry.path.partition("/")[0]
        if folder not in POLICY_FOLDERS or "/" not in entry.path:
            at = card.place(entry.pointer)
            message = f"policies are imported from audit/ and env/ alone, not from {entry.path}"
            fix = "Move the file into audit/."
            yield Finding("HFE411", severity("HFE411"), card.path, message, entry.pointer, at.line, at.column, fix)
        elif (source := project.sources.get(entry.path)) is not None:
            found = project.definition(source, entry.name)
            if found is not None:
                yield from _policy(project, found, entry.name)


def check_generator(declared: Declared, project: Project) -> Iterator[Finding]:
    """HFE430: what makes the tasks is a function that takes a split, a seed and a generator of random numbers."""
    entry = declared.generator
    source = project.sources.get(entry.path) if entry is not None else None
    found = project.definition(source, entry.name) if entry is not None and source is not None else None
    if entry is None or found is None:
        return
    source, node, write = found.source, found.node, f"Write def {entry.name}({_GENERATE})."
    if isinstance(node, (ast.AsyncFunctionDef, ast.ClassDef)):
        kind = "a class" if isinstance(node, ast.ClassDef) else "async"
        yield source.finding("HFE430", node, f"the generator {entry.name} is {kind}, not a plain function", write)
    elif isinstance(node, ast.FunctionDef) and is_plain(project, source, node):
        if not accepts(node, 3):
            yield source.finding("HFE430", node, f"the generator {entry.name} doesn't take ({_GENERATE})", write)
        yield from _in_order("HFE430", source, node, _GENERATE)
        yield from check_returns(source, node, "generate")


def _policy(project: Project, found: Definition, name: str) -> Iterator[Finding]:
    source, node = found.source, found.node
    skip = 0
    if (view := class_view(project, found)) is not None:
        built, called = view.methods.get("__init__"), view.methods.get("__call__")
        if built is not None and (init := built.function(project)) and not accepts(init, 1):
            missing = ", ".join(missing_arguments(init, (), skip=1))
            message = f"the policy {name} is built without arguments, and __init__ needs {missing}"
            yield built.source.finding("HFE411", init, message, "Give every argument a default.")
        if called is None:
            if view.is_whole:
                message = f"the policy {name} is a class without __call__"
                yield source.finding("HFE411", node, message, f"Write def __call__(self, {_POLICY}).")
            return
        source, node, skip = called.source, called.node, 1
    if not isinstance(node, FUNCTIONS) or not is_plain(project, source, node):
        return
    if not accepts(node, 4 + skip):
        call = f"{'self, ' if skip else ''}{_POLICY}"
        message = f"the policy {name} doesn't take ({_POLICY})"
        yield source.finding("HFE411", node, message, f"Write def {node.name}({call}).")
    yield from _in_order("HFE411", source, node, _POLICY, skip=skip)
    yield from check_returns(source, node, "policy")
