"""What a name in a Python file stands for: followed through imports, aliases and scopes, without running anything."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_ALIAS_HOPS = 5
_MANY = 8
_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class Binding:
    """One statement that gives a name a meaning.

    `origin` is the dotted name that an import brings; a leading dot is that of a relative import. `value` is the
    expression where the name alone is assigned one.
    """

    node: ast.AST
    origin: str | None = None
    value: ast.expr | None = None

    @property
    def is_fallback(self) -> bool:
        """`np = None` where an import failed."""
        return isinstance(self.value, ast.Constant) and self.value.value is None


Bindings = Mapping[str, list[Binding]]


@dataclass(frozen=True, slots=True)
class Scope:
    """Names bound by a module, class, function or comprehension, and the scope around it."""

    names: Bindings
    parent: Scope | None = None
    is_class: bool = False

    def origin(self, name: str, hops: int = _ALIAS_HOPS) -> str | None:
        """The dotted name behind a name: `builtins.open`, `numpy.random`, `.words.ASK`; None for what is made here."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names and (scope is self or not scope.is_class):
                return scope._pick(name, hops)
            scope = scope.parent
        return f"builtins.{name}" if name in _BUILTINS else None

    def dotted(self, expression: ast.expr, hops: int = _ALIAS_HOPS) -> str | None:
        """The dotted name behind a name with attributes; None for any other expression."""
        rest = []
        while isinstance(expression, ast.Attribute):
            rest.append(expression.attr)
            expression = expression.value
        if not isinstance(expression, ast.Name):
            return None
        origin = self.origin(expression.id, hops)
        return None if origin is None else ".".join((origin, *reversed(rest)))

    def literal(self, name: str) -> ast.expr | None:
        """The expression that a name is assigned, where that is its only binding."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.parent
        found = scope.names[name] if scope is not None else []
        return found[0].value if len(found) == 1 else None

    def _pick(self, name: str, hops: int) -> str | None:
        found = [binding for binding in self.names[name] if not binding.is_fallback]
        if not found:
            return None
        imports = [binding.origin for binding in found if binding.origin]
        if imports and (len(imports) == len(found) or found[-1].origin):
            return imports[0] if len(imports) == len(found) else found[-1].origin
        value = found[-1].value
        if value is None or hops == 0 or (isinstance(value, ast.Name) and value.id == name):
            return None
        return self.dotted(value, hops - 1)


@dataclass(slots=True)
class _Collector:
    names: dict[str, list[Binding]] = field(default_factory=dict)

    def add(self, name: str, binding: Binding) -> None:
        found = self.names.setdefault(name, [])
        if len(found) == _MANY:  # a name that is bound all over: what it was first and is last will do
            found.pop()
        found.append(binding)

    def statement(self, node: ast.stmt) -> None:
        """What a statement binds by itself, without the statements inside of it."""
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            self.add(node.name, Binding(node))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self.imported(node)
        elif isinstance(node, ast.Assign):
            single = len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
            for target in node.targets:
                self.target(target, node, node.value if single else None)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self.target(node.target, node, node.value)
        elif isinstance(node, (ast.AugAssign, ast.For, ast.AsyncFor)):
            self.target(node.target, node)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                if item.optional_vars is not None:
                    self.target(item.optional_vars, node)
        elif type(node).__name__ == "TypeAlias":  # Python 3.12 and newer
            self.target(node.name, node)  # type: ignore[attr-defined]

    def imported(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                self.add(alias.asname or top, Binding(node, alias.name if alias.asname else top))
            return
        base = "." * node.level + (node.module or "")
        dot = "" if base.endswith(".") else "."
        for alias in node.names:
            self.add(alias.asname or alias.name, Binding(node, f"{base}{dot}{alias.name}"))

    def target(self, target: ast.expr, node: ast.AST, value: ast.expr | None = None) -> None:
        pending = [target]
        while pending:
            part = pending.pop()
            if isinstance(part, ast.Name):
                self.add(part.id, Binding(node, value=value))
            elif isinstance(part, (ast.Tuple, ast.List)):
                pending += part.elts
            elif isinstance(part, ast.Starred):
                pending.append(part.value)

    def part(self, node: ast.AST) -> None:
        """What something that is no statement binds: handlers and patterns."""
        if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            if node.name:
                self.add(node.name, Binding(node))
        elif isinstance(node, ast.MatchMapping) and node.rest:
            self.add(node.rest, Binding(node))


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt | ast.ExceptHandler | ast.match_case]:
    """Statements that run with a body, those in if, try, with, match and loops included, in the order of the text.

    What holds statements and is none (handlers, cases) is given too; functions and classes are not entered.
    """
    pending: list[ast.stmt | ast.ExceptHandler | ast.match_case] = [*body]
    pending.reverse()
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            continue
        inner: list[ast.stmt | ast.ExceptHandler | ast.match_case] = []
        for block in ("body", "handlers", "cases", "orelse", "finalbody"):
            inner += getattr(node, block, ())
        pending += inner[::-1]


def module_scope(tree: ast.Module) -> Scope:
    """What a module's top level binds."""
    return Scope(bindings_of(tree.body))


def class_scope(node: ast.ClassDef, parent: Scope) -> Scope:
    return Scope(bindings_of(node.body), parent, is_class=True)


def bindings_of(body: Iterable[ast.stmt]) -> Bindings:
    """What statements bind when they run, those inside of them included; `:=` isn't looked for."""
    collector = _Collector()
    for node in statements(body):
        if isinstance(node, ast.stmt):
            collector.statement(node)
        else:
            collector.part(node)
            if isinstance(node, ast.match_case):
                for part in ast.walk(node.pattern):
                    collector.part(part)
    return collector.names


def function_scope(node: FunctionNode | ast.Lambda, parent: Scope) -> Scope:
    """Parameters and whatever the function's own body binds; `global` and `nonlocal` names stay outside."""
    names: dict[str, list[Binding]] = {}
    for argument in parameters(node.args):
        names.setdefault(argument.arg, []).append(Binding(argument))
    if not isinstance(node, ast.Lambda):
        for name, found in bindings_of(node.body).items():
            names[name] = names.get(name, []) + found
        for part in statements(node.body):
            if isinstance(part, (ast.Global, ast.Nonlocal)):
                for name in part.names:
                    names.pop(name, None)
    return Scope(names, parent)


def comprehension_scope(node: Comprehension, parent: Scope) -> Scope:
    collector = _Collector()
    for generator in node.generators:
        collector.target(generator.target, node)
    return Scope(collector.names, parent)


def parameters(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None)


def own_nodes(function: FunctionNode) -> Iterator[ast.AST]:
    """All nodes of a function's body; functions, lambdas and classes inside are given, not entered."""
    pending: list[ast.AST] = [*function.body]
    pending.reverse()
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            pending += list(ast.iter_child_nodes(node))[::-1]
