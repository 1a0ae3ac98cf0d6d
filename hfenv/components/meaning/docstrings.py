"""Which docstrings are more than documentation: those that something may read when the code runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from hfenv.components.code.names import Scope, module_scope
from hfenv.components.code.source import Source
from hfenv.components.meaning.written import DOCUMENTED, Documented, KeepsDoc

TOOL = frozenset({"hfenv.tool", "hfenv.runtime.contracts.tool", "hfenv.runtime.tools.tool"})
# The whole component is taken to read its docstrings where any of this is written.
_READERS = re.compile(r"\b(?:__doc__|getdoc|cleandoc|get_docstring)\b")
# Decorators and base classes from here leave docstrings alone and note nothing down; others, from packages that nobody
# looked into, may make prompts or schemas of docstrings.
NEUTRAL = tuple(
    f"{module}."
    for module in (
        "builtins", "abc", "argparse", "ast", "asyncio", "atexit", "collections", "contextlib", "dataclasses", "enum",
        "functools", "gym", "gymnasium", "hfenv", "html", "http", "io", "json", "logging", "numba", "numpy", "random",
        "socketserver", "string", "threading", "torch", "types", "typing", "typing_extensions", "unittest", "warnings",
    )
)  # fmt: skip


def reads_docstrings(sources: Iterable[Source]) -> bool:
    """Whether code of a component may read docstrings of its own."""
    return any(_READERS.search(source.text) for source in sources)


def keeper(source: Source, *, all_read: bool) -> KeepsDoc:
    """What says for a function, class or module of a file whether its docstring is part of how it runs."""
    if all_read:
        return lambda node: True
    scope = module_scope(source.tree)
    classes = {node.name: node for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef)}

    def neutral(expression: ast.expr, hops: int = 5) -> bool:
        if isinstance(expression, ast.Call):
            expression = expression.func
        while isinstance(expression, ast.Subscript):
            expression = expression.value
        dotted = scope.dotted(expression)
        if dotted is not None:
            return dotted not in TOOL and dotted.startswith(NEUTRAL)
        # Made in this file: nothing here reads docstrings, but a base class may come from elsewhere itself.
        local = classes.get(expression.id) if isinstance(expression, ast.Name) else None
        return local is None or (hops > 0 and all(neutral(base, hops - 1) for base in local.bases))

    def keeps(node: Documented) -> bool:
        if isinstance(node, ast.Module):
            return False
        bases = node.bases if isinstance(node, ast.ClassDef) else []
        return not all(neutral(expression) for expression in (*node.decorator_list, *bases))

    return keeps


def is_tool(scope: Scope, node: ast.AST) -> bool:
    """Whether a function is marked `@hfenv.tool`."""
    if not isinstance(node, DOCUMENTED) or isinstance(node, ast.Module):
        return False
    functions = (part.func if isinstance(part, ast.Call) else part for part in node.decorator_list)
    return any(scope.dotted(function) in TOOL for function in functions)
