"""What of a file is more than documentation: docstrings, annotations and text that something may read when it runs."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from hfenv.components.code.names import Scope, module_scope
from hfenv.components.code.source import Source
from hfenv.components.meaning.written import DOCUMENTED, Documented, KeepsDoc, every_statement

TOOL = frozenset({"hfenv.tool", "hfenv.runtime.contracts.tool", "hfenv.runtime.tools.tool"})
# What reads the text of code that runs: then comments and layout are data.
_TEXT_READERS = re.compile(
    r"\b(?:getsource|getsourcelines|getcomments|findsource|linecache|tokenize|get_source|source_to_code)\b"
    r"|\bopen\(\s*__file__|\b__file__\s*\)\s*\.\s*(?:read_|open)"
)
# What reads the annotations of functions, or may.
_TYPE_READERS = re.compile(
    r"\b(?:__annotations__|get_type_hints|get_annotations|signature|getfullargspec|singledispatch|singledispatchmethod"
    r"|pydantic|beartype|typeguard|typechecked|validate_call|msgspec|attrs?|cattrs|dacite|overload|jit)\b"
)
# Files that are run, and what runs modules by name.
SCRIPT = re.compile(r"(?<![\w-])[\w-]{1,100}\.(?:py|sh|bash)\b")
_STARTERS = re.compile(r"['\"\s]-m\b|\b(?:runpy|run_path|run_module|exec_module|execfile|multiprocessing)\b")
_ABOUT = re.compile(r"(?<!\w)__(?:version|author|email|license|copyright|date|maintainer|credits|status)__(?!\w)")
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


@dataclass(frozen=True, slots=True)
class Reads:
    """What code of a component may read of itself when it runs: docstrings, its source text, annotations of functions.

    `about` are names such as `__version__` that are given a value and never read, `scripts` the names of the files that
    may be started as programs, None where that can be any.
    """

    docstrings: bool
    text: bool
    types: bool
    about: frozenset[str]
    scripts: frozenset[str] | None

    @classmethod
    def of(cls, sources: Iterable[Source], scripts: Iterable[str] = ()) -> Reads:
        """From all files of the component; `scripts` are the texts of others that may start them."""
        texts = [source.text for source in sources]
        started = frozenset(name for text in (*texts, *scripts) for name in SCRIPT.findall(text))
        any_started = any(_STARTERS.search(text) for text in texts)
        docstrings, text, types = (
            any(pattern.search(text) for text in texts) for pattern in (_READERS, _TEXT_READERS, _TYPE_READERS)
        )
        counts = Counter(name for text in texts for name in _ABOUT.findall(text))
        return cls(
            docstrings,
            text,
            types,
            frozenset(name for name, count in counts.items() if count == 1),
            None if any_started else started,
        )


def neutral_origin(scope: Scope, expression: ast.expr) -> bool:
    """Whether a decorator or base class comes from where nothing is noted down about what it's given."""
    if isinstance(expression, ast.Call):
        expression = expression.func
    while isinstance(expression, ast.Subscript):
        expression = expression.value
    return (scope.dotted(expression) or "").startswith(NEUTRAL)


def keeper(source: Source, reads: Reads) -> KeepsDoc:
    """What says for a function, class or module of a file whether its docstring is part of how it runs."""
    if reads.docstrings:
        return lambda node: True
    scope = module_scope(source.tree)
    classes = {node.name: node for node in every_statement(source.tree.body) if isinstance(node, ast.ClassDef)}

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
