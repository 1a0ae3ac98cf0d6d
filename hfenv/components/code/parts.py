"""The parts of a score, by name: those that the card lists, and those that the reward's code gives."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hfenv.card.declared import Declared
from hfenv.card.guessing import nearest
from hfenv.card.nodes import escape
from hfenv.card.quoting import short
from hfenv.card.reader import Card
from hfenv.components.code.imports import is_test
from hfenv.components.code.names import FUNCTIONS, FunctionNode, Scope, module_scope
from hfenv.components.code.shapes import branches
from hfenv.components.code.source import Parsed, Source
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

PARTS_RULES = ("HFE428",)
_SCORE = ("hfenv.Score", "hfenv.runtime.contracts.Score")
_PARTS = "/environment/reward/parts"
_SHOWN = 8
_MOST_CALLS = 100
_Keys = dict[str, ast.AST]


@dataclass(frozen=True, slots=True)
class _Named:
    """A part in a file: the constant with its name."""

    source: Source
    node: ast.AST


def check_parts(card: Card, declared: Declared, parsed: Parsed) -> Iterator[Finding]:
    """HFE428, where every score of the reward's files names its parts in the file itself."""
    listed = _listed(card)
    if not listed or declared.builtin or declared.reward_entry is None:
        return
    files = [source for path, source in parsed.sources.items() if path.startswith("reward/") and not is_test(path)]
    unread = [*parsed.unclear, *(finding.path for finding in parsed.findings)]
    if declared.reward_entry.path not in parsed.sources or any(path.startswith("reward/") for path in unread):
        return
    given = _given(files)
    if not given:
        return  # parts that are put together at run time, or none at all: then there is nothing to hold them to
    for name, pointer in listed.items():
        if name not in given:
            at = card.place(pointer)
            message = f"reward.parts lists '{short(name)}', which no score gives"
            near = nearest(name, [other for other in given if other not in listed])
            fix = f"The scores give '{short(near)}'." if near else "Take it off the card, or give it in a score."
            yield Finding("HFE428", severity("HFE428"), card.path, message, pointer, at.line, at.column, fix)
    names = ", ".join(short(name) for name in [*listed][:_SHOWN])
    for name, place in given.items():
        if name not in listed:
            message = f"the score's part '{short(name)}' isn't among the card's reward.parts"
            fix = f"Add it to the card, which lists {names}, or give the part one of these names."
            yield place.source.finding("HFE428", place.node, message, fix)


def _listed(card: Card) -> dict[str, str]:
    """Names of parts on the card with their pointers; nothing where they are malformed, or none."""
    reward = card.block.get("reward")
    parts = reward.get("parts") if isinstance(reward, Mapping) else None
    if isinstance(parts, Mapping):
        return {name: f"{_PARTS}/{escape(name)}" for name in parts}
    if isinstance(parts, list) and all(isinstance(name, str) for name in parts):
        return {name: f"{_PARTS}/{index}" for index, name in enumerate(parts)}
    return {}


def _given(files: list[Source]) -> dict[str, _Named]:
    """The names of parts in all calls of hfenv.Score, each with its first place; nothing where one isn't literal."""
    found: dict[str, _Named] = {}
    calls = 0
    for source in files:
        if "Score" not in source.text and "parts" not in source.text:
            continue
        for keys in _calls(source):
            calls += 1
            if keys is None or calls > _MOST_CALLS:
                return {}
            for name, node in keys.items():
                found.setdefault(name, _Named(source, node))
    return found


def _calls(source: Source) -> Iterator[_Keys | None]:
    """For each score that a file makes, the names of its parts; None for what could make others."""
    scope = module_scope(source.tree)
    skipped: set[ast.AST] = set()
    for node, function in _walk(source.tree):
        skipped |= _annotations(node)
        if isinstance(node, ast.Call) and _is_score(node.func, scope):
            skipped |= set(ast.walk(node.func))
            yield _parts_of(node, function)
        elif isinstance(node, ast.Call) and any(keyword.arg == "parts" for keyword in node.keywords):
            yield None  # dataclasses.replace, or a function that makes the score
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            skipped |= {part for argument in node.args[1:] for part in ast.walk(argument)}
        elif node not in skipped and isinstance(node, (ast.Name, ast.Attribute)) and _is_score(node, scope):
            yield None  # passed on, derived from, or given another name
    if scope.names.get("*"):
        yield None


def _walk(tree: ast.AST) -> Iterator[tuple[ast.AST, FunctionNode | None]]:
    """Every node with the function that it stands in, parents first."""
    pending: list[tuple[ast.AST, FunctionNode | None]] = [(tree, None)]
    while pending:
        node, function = pending.pop()
        yield node, function
        inner = node if isinstance(node, FUNCTIONS) else function
        pending += [(child, inner) for child in ast.iter_child_nodes(node)]


def _annotations(node: ast.AST) -> set[ast.AST]:
    """Nodes that only say of which type something is."""
    notes = [getattr(node, name, None) for name in ("annotation", "returns")]
    return {part for note in notes if isinstance(note, ast.AST) for part in ast.walk(note)}


def _is_score(node: ast.expr, scope: Scope) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute)) and scope.dotted(node) in _SCORE


def _parts_of(call: ast.Call, function: FunctionNode | None) -> _Keys | None:
    if any(isinstance(part, ast.Starred) for part in call.args) or any(k.arg is None for k in call.keywords):
        return None
    value = call.args[1] if len(call.args) > 1 else next((k.value for k in call.keywords if k.arg == "parts"), None)
    found: _Keys = {}
    for branch in branches(value):
        local = isinstance(branch, ast.Name) and function is not None
        names = _collected(branch, function, call) if local else _literal(branch)
        if names is None:
            return None
        found |= names
    return found


def _literal(value: ast.expr | None) -> _Keys | None:
    """The names in a dict that is written out; none for no parts at all; None for everything else."""
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return {}
    if isinstance(value, ast.Dict):
        keys = [key for key in value.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
        return {str(key.value): key for key in keys} if len(keys) == len(value.keys) else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict" and not value.args:
        named = {keyword.arg: keyword for keyword in value.keywords if keyword.arg is not None}
        return dict(named) if len(named) == len(value.keywords) else None
    return None


def _collected(value: ast.expr | None, function: FunctionNode | None, call: ast.Call) -> _Keys | None:
    """The names in a dict that a function makes, fills by name, and only reads otherwise; None for everything else."""
    if not isinstance(value, ast.Name) or function is None:
        return None
    name, found, harmless, made = value.id, _Keys(), set[ast.AST](), False
    nodes = list(ast.walk(function))
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            own = [target for target in targets if isinstance(target, ast.Name) and target.id == name]
            names = _literal(node.value) if own else {}
            if names is None:
                return None
            made, found = made or bool(own), found | names
            harmless |= set(own)
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == name:
            key = node.slice
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and isinstance(node.ctx, ast.Store):
                found.setdefault(key.value, key)
            elif not isinstance(node.ctx, ast.Load):
                return None
            harmless.add(node.value)
        else:
            harmless |= _reads(node)
    others = [node for node in nodes if isinstance(node, ast.Name) and node.id == name and node not in harmless]
    passed = {part for node in nodes if isinstance(node, ast.Call) for part in _passed(node, name, call)}
    return found if made and all(node in passed for node in others) else None


def _passed(node: ast.Call, name: str, call: ast.Call) -> list[ast.expr]:
    """Where a call hands the dict on, if it makes a score as `call` does."""
    given = [part for part in (*node.args, *(keyword.value for keyword in node.keywords)) if isinstance(part, ast.Name)]
    own: list[ast.expr] = [part for part in given if part.id == name]
    return own if own and ast.dump(node.func) == ast.dump(call.func) else []


def _reads(node: ast.AST) -> set[ast.AST]:
    """What a node reads of a dict without changing it."""
    if isinstance(node, ast.Attribute) and node.attr in ("values", "items", "keys", "get"):
        return {node.value}
    if isinstance(node, (ast.For, ast.comprehension)):
        return {node.iter}
    return set(node.comparators) if isinstance(node, ast.Compare) else set()
