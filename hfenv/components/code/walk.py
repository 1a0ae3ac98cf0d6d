"""Where a Python file uses names that matter: every use with the dotted name behind it, found without a full walk."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache

from hfenv.components.code.names import (
    COMPREHENSIONS,
    FUNCTIONS,
    Comprehension,
    FunctionNode,
    Scope,
    class_scope,
    comprehension_scope,
    function_scope,
)
from hfenv.components.code.source import Source, occurrences

_ANNOTATIONS = ("annotation", "returns", "type_params")


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a file something stands. `owners` are the top-level names whose definition it belongs to."""

    owners: tuple[str, ...] = ()
    function: str = ""
    is_main: bool = False


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a name. `dotted` is what it stands for, or `?.attribute` for an attribute of something unknown.

    `call` is the call whose function it is; None where the name is only passed on.
    """

    dotted: str
    node: ast.expr
    call: ast.Call | None
    place: Place
    scope: Scope


_Task = tuple[ast.AST, Scope, Place]


def uses(
    source: Source, scope: Scope, imports: Iterable[ast.AST], names: Set[str], attributes: Set[str]
) -> Iterator[Use]:
    """Uses of `names` (as dotted names begin: `random`, `builtins.eval`) and `attributes` in a file.

    `imports` are all import statements of the file. Annotations and what stands under TYPE_CHECKING never run and are
    left out.
    """
    tops = _tops(frozenset(names))
    written = {name.removeprefix("builtins.") for name in names if name.startswith("builtins.")} | attributes
    written |= _imported(imports, tops)
    aliases = _assigned(source.text, written)
    lines = source.lines_with(written | aliases) if aliases is not None else source.all_lines()
    if not lines.numbers:
        return
    pending: list[_Task] = [(node, scope, Place()) for node in reversed(source.tree.body)]
    while pending:
        node, inside, place = pending.pop()
        if isinstance(node, ast.stmt):
            if lines.touch(node):
                pending += _statement(node, inside, place, top=inside is scope)[::-1]
        elif isinstance(node, (ast.Name, ast.Attribute)):
            yield from _name(node, None, inside, place, pending)
        elif isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            pending += [(part, inside, place) for part in (*node.args, *node.keywords)][::-1]
            yield from _name(node.func, node, inside, place, pending)
        elif isinstance(node, ast.Lambda):
            pending += [(default, inside, place) for default in _defaults(node.args)]
            pending.append((node.body, function_scope(node, inside), replace(place, function="<lambda>")))
        elif isinstance(node, COMPREHENSIONS):
            pending += _comprehension(node, inside, place)
        else:
            pending += [(child, inside, place) for child in ast.iter_child_nodes(node)][::-1]


@lru_cache(maxsize=4)
def _tops(names: frozenset[str]) -> frozenset[str]:
    return frozenset(name.partition(".")[0] for name in names)


def _imported(imports: Iterable[ast.AST], tops: Set[str]) -> set[str]:
    """What the file calls the modules in `tops` and what it takes from them, wherever it imports that."""
    found = set()
    for node in dict.fromkeys(imports):  # a statement comes once for each name that it imports
        if isinstance(node, ast.Import):
            found |= {a.asname or a.name.partition(".")[0] for a in node.names if a.name.partition(".")[0] in tops}
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] in tops:
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def _assigned(text: str, names: Set[str]) -> set[str] | None:
    """Second names: what stands in front of `= np.random`; None where there are too many to search for."""
    found = set()
    for name in names:
        for place in occurrences(text, name):
            before = text[max(0, place - 80) : place].rstrip(" \t")
            if before.endswith("=") and not _CALL.match(text, place) and (match := _LAST_NAME.search(before[:-1])):
                found.add(match[1])
                if len(found) > _MOST_ALIASES:
                    return None
    return found


_MOST_ALIASES = 20
_CALL = re.compile(r"[\w.]{1,200}\(")
_LAST_NAME = re.compile(r"(\w+)[ \t]*(?::[^=\n]*)?$")


def _name(
    node: ast.Name | ast.Attribute, call: ast.Call | None, scope: Scope, place: Place, pending: list[_Task]
) -> Iterator[Use]:
    """The use of a whole chain of attributes; what the chain begins with is looked at when it is no name."""
    base: ast.expr = node
    while isinstance(base, ast.Attribute):
        base = base.value
    if not isinstance(node.ctx, ast.Load):
        if base is not node:
            pending.append((base, scope, place))
        return
    dotted = scope.dotted(node) if isinstance(base, ast.Name) else None
    if not isinstance(base, ast.Name):
        pending.append((base, scope, place))
    if dotted is not None:
        yield Use(dotted, node, call, place, scope)
    elif isinstance(node, ast.Attribute):
        yield Use(f"?.{node.attr}", node, call, place, scope)


def _statement(node: ast.stmt, scope: Scope, place: Place, *, top: bool) -> list[_Task]:
    """What a statement consists of, each part with the scope that it runs in."""
    if isinstance(node, FUNCTIONS):
        return _function(node, scope, replace(place, owners=(node.name,)) if top else place)
    if isinstance(node, ast.ClassDef):
        where = replace(place, owners=(node.name,)) if top else place
        outer: list[_Task] = [(part, scope, where) for part in (*node.decorator_list, *node.bases, *node.keywords)]
        inner = class_scope(node, scope)
        return outer + [(part, inner, where) for part in node.body]
    if isinstance(node, ast.If) and top:
        if is_type_checking(node.test, scope):
            return [(part, scope, place) for part in node.orelse]
        if is_main(node.test):
            main = replace(place, is_main=True)
            return [*((part, scope, main) for part in node.body), *((part, scope, place) for part in node.orelse)]
    if top and isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        place = replace(place, owners=tuple(n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)))
    return [(child, scope, place) for child in _children(node)]


def _children(node: ast.AST) -> Iterator[ast.AST]:
    for name in node._fields:
        if name in _ANNOTATIONS:
            continue
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            yield value
        elif isinstance(value, list):
            yield from (part for part in value if isinstance(part, ast.AST))


def _function(node: FunctionNode, scope: Scope, place: Place) -> list[_Task]:
    outer: list[_Task] = [(part, scope, place) for part in (*node.decorator_list, *_defaults(node.args))]
    inner = function_scope(node, scope)
    within = replace(place, function=node.name)
    return outer + [(part, inner, within) for part in node.body]


def _defaults(arguments: ast.arguments) -> Sequence[ast.expr]:
    return [*arguments.defaults, *(default for default in arguments.kw_defaults if default is not None)]


def _comprehension(node: Comprehension, scope: Scope, place: Place) -> list[_Task]:
    first = node.generators[0].iter  # the one part that runs outside
    inner = comprehension_scope(node, scope)
    parts: list[ast.expr] = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    for generator in node.generators:
        parts += [*generator.ifs, *([generator.iter] if generator.iter is not first else ())]
    return [*((part, inner, place) for part in parts), (first, scope, place)]


def is_type_checking(test: ast.expr, scope: Scope) -> bool:
    """Whether this is `TYPE_CHECKING`, which is never true when the code runs."""
    return scope.dotted(test) in ("typing.TYPE_CHECKING", "typing_extensions.TYPE_CHECKING")


def is_main(test: ast.expr) -> bool:
    """Whether this is `__name__ == "__main__"`, which is never true for an imported file."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = (test.left, test.comparators[0])
    return any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
