"""What a Python file defines, read from its syntax tree: names, methods along base classes, what a call may pass."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef


def bindings(tree: ast.Module) -> dict[str, ast.AST]:
    """Every name that the module's top level binds, with the statement that binds it last."""
    found: dict[str, ast.AST] = {}
    for statement in _statements(tree.body):
        for name in _bound(statement):
            found[name] = statement
    return found


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run when the module is imported, those in if, try and with included."""
    for statement in body:
        yield statement
        for block in ("body", "orelse", "finalbody"):
            if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                yield from _statements(getattr(statement, block, ()))
        for handler in getattr(statement, "handlers", ()):
            yield from _statements(handler.body)
        for case in getattr(statement, "cases", ()):
            yield from _statements(case.body)


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.With)):
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def imports_everything(tree: ast.Module) -> bool:
    """`from x import *` may bind any name."""
    return any(
        isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
        for node in _statements(tree.body)
    )


def class_methods(node: ast.ClassDef, tree: ast.Module) -> tuple[dict[str, ast.AST], set[str]]:
    """What a class and its bases in the same file define, and the names of the bases from elsewhere."""
    names = bindings(tree)
    methods: dict[str, ast.AST] = {}
    roots: set[str] = set()
    pending, seen = [node], {node.name}
    while pending:
        current = pending.pop(0)
        for name, statement in bindings(ast.Module(body=current.body, type_ignores=[])).items():
            methods.setdefault(name, statement)
        for base in current.bases:
            name = _last_name(base)
            local = names.get(name)
            if isinstance(base, ast.Name) and isinstance(local, ast.ClassDef):
                if name not in seen:
                    seen.add(name)
                    pending.append(local)
            else:
                roots.add(_original(name, local))
    return methods, roots


def _last_name(base: ast.expr) -> str:
    if isinstance(base, ast.Subscript):
        return _last_name(base.value)
    if isinstance(base, ast.Attribute):
        return base.attr
    return base.id if isinstance(base, ast.Name) else "?"


def _original(name: str, binding: ast.AST | None) -> str:
    """The name under which an import brings a base: `from hfenv import TaskEnvironment as Base`."""
    if isinstance(binding, ast.ImportFrom):
        return next((alias.name for alias in binding.names if (alias.asname or alias.name) == name), name)
    return name


def is_decorated(function: Function) -> bool:
    """A decorator may give a function another signature."""
    return bool(function.decorator_list)


def accepts(function: Function, count: int) -> bool:
    """Whether a call with `count` positional arguments, and nothing else, is possible."""
    arguments = function.args
    positional = len(arguments.posonlyargs) + len(arguments.args)
    required = positional - len(arguments.defaults)
    keywords = any(default is None for default in arguments.kw_defaults)
    return required <= count and (count <= positional or arguments.vararg is not None) and not keywords


def takes_keyword(function: Function, name: str) -> bool:
    """Whether the keyword argument `name` may be passed."""
    arguments = function.args
    named = (*arguments.args, *arguments.kwonlyargs)
    return arguments.kwarg is not None or any(argument.arg == name for argument in named)
