"""Syntax trees in one written form, the same under every Python: no comments, positions, docstrings or empty fields."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
# `ctx` follows from where a node stands, `kind` is the u of u"text", type comments are comments.
_SILENT = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
SHORT = 16  # hexadecimal digits of a digest that only has to tell one definition from another
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
KeepsDoc = Callable[[Documented], bool]
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _no_doc(_: Documented) -> bool:
    return False


def short(text: str) -> str:
    """The first 16 hexadecimal digits of a text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:SHORT]


def written(tree: Any, *, keeps_doc: KeepsDoc = _no_doc, numbers: bool = True) -> str:
    """A node, or a list of nodes and None, as ASCII text: two trees have one text only if they run alike.

    Docstrings are left out but where `keeps_doc` says that something reads them. Without `numbers` every number and
    truth value is written as the same sign, those inside of texts too, so that trees that differ in numbers alone have
    one text.
    """
    return written_twice(tree, keeps_doc=keeps_doc)[0 if numbers else 1]


def written_twice(tree: Any, *, keeps_doc: KeepsDoc = _no_doc) -> tuple[str, str]:
    """What `written` gives with numbers, and without them."""
    pieces: list[str] = []
    masked: dict[int, str] = {}  # what stands in other places without numbers
    pending: list[Any] = [tree]
    while pending:  # not recursive: Python parses deeper trees than it has frames for
        part = pending.pop()
        kind = type(part)
        if kind is str:
            pieces.append(part)
        elif kind is ast.Name:
            pieces.append(f"(Name id:{part.id!a})")
        elif kind is list:
            pieces.append("[")
            pending.append("]")
            pending += _running(part)[::-1]
        elif part is None:
            pieces.append("~")
        elif kind is ast.Constant:
            if (other := _numberless(part.value)) is not part.value:
                masked[len(pieces)] = other
            pieces.append(constant(part.value))
        elif kind is ast.UnaryOp and is_number(part):
            masked[len(pieces)] = "#"
            pieces.append(f"(UnaryOp op:({type(part.op).__name__}) operand:{constant(part.operand.value)})")
        else:
            pieces.append(f"({kind.__name__}")
            pending.append(")")
            pending += _fields(part, keeps_doc)[::-1]
    text = "".join(pieces)
    for place, other in masked.items():
        pieces[place] = other
    return text, "".join(pieces) if masked else text


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly inside of one, in their order; twice as fast as `ast.iter_child_nodes`."""
    found: list[ast.AST] = []
    for name in _names(node._fields):
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [part for part in value if isinstance(part, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def every_statement(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """All statements of a body, those of functions and classes included; handlers and cases are given too."""
    pending = [*body]
    while pending:
        node = pending.pop()
        yield node
        for block in ("body", "handlers", "cases", "orelse", "finalbody"):
            if isinstance(inner := getattr(node, block, None), list):
                pending += inner


def _fields(node: ast.AST, keeps_doc: KeepsDoc) -> list[Any]:
    found: list[Any] = []
    if isinstance(node, DOCUMENTED) and (doc := doc_of(node)) is not None and keeps_doc(node):
        found.append(f" doc:{doc!a}")
    for name in _names(node._fields):
        value = getattr(node, name, None)
        # Newer Pythons have fields that older ones lack; they're empty where the code could run under both.
        if value is None or value == []:
            continue
        if isinstance(value, (ast.AST, list)):
            value = _normal(node, name, value)
            if value is not None:
                found += (f" {name}:", value)
        else:
            found.append(f" {name}:{constant(value)}")
    return found


@cache
def _names(fields: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in fields if name not in _SILENT)


def _normal(node: ast.AST, name: str, value: Any) -> Any:
    """A field's value in the form that all Pythons share, None where it says nothing."""
    if isinstance(node, ast.JoinedStr):
        return pieces_of(value) or None
    if isinstance(node, ast.Set):
        return _members(value)
    if name == "format_spec" and isinstance(value, ast.JoinedStr) and not pieces_of(value.values):
        return None
    return value


def _running(parts: Sequence[Any]) -> list[Any]:
    """A list without statements that do nothing: pass, and texts or other constants that stand alone."""
    return [part for part in parts if not is_idle(part)]


def is_idle(part: Any) -> bool:
    """Whether a statement does nothing: pass, a docstring, a constant that stands alone."""
    kind = type(part)
    return kind is ast.Pass or (kind is ast.Expr and type(part.value) is ast.Constant)


def pieces_of(values: Sequence[ast.expr]) -> list[ast.expr]:
    """The parts of an f-string with neighbouring texts joined: Pythons cut them in different places."""
    joined: list[ast.expr] = []
    for value in values:
        last = joined[-1] if joined else None
        if isinstance(value, ast.Constant) and isinstance(last, ast.Constant):
            joined[-1] = ast.Constant(str(last.value) + str(value.value))
        elif not (isinstance(value, ast.Constant) and value.value == ""):
            joined.append(value)
    return joined


def _members(values: list[ast.expr]) -> list[ast.expr]:
    """The members of a set, in an order of their own where all are constants."""
    if all(isinstance(value, ast.Constant) for value in values):
        return sorted(values, key=written)
    return values


def constant(value: object) -> str:
    """A constant as text. Not by `repr`: which letters it escapes depends on a Python's Unicode tables."""
    if isinstance(value, str):
        return ascii(value)
    if type(value) is int:
        return f"{value:#x}" if abs(value) >= 1 << 64 else str(value)  # decimals of very large numbers are refused
    return repr(value)  # bytes, floats, complex numbers, truth values, None, ...


def numbers_in_text(value: object) -> list[str]:
    """The numbers that stand in a text or in bytes, as `"0.5"`, `"{:.2f}"` or a weight in code that is run later."""
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    return [ascii(number)[1:-1] for number in _NUMBER.findall(value)] if isinstance(value, str) else []


def _numberless(value: object) -> Any:
    """What is written for a constant where numbers don't count; the constant itself where it holds none."""
    if isinstance(value, (int, float, complex)):
        return "#"
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    if not isinstance(text, str) or not _NUMBER.search(text):
        return value
    return ascii(_NUMBER.sub("#", text))


def is_number(node: Any) -> bool:
    """A number or truth value as written in code, with or without a sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        node = node.operand
        return is_number(node) and not isinstance(node, ast.UnaryOp)
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float, complex))


def doc_of(node: Documented) -> str | None:
    """A docstring without the indentation that comes from where it stands; None without one."""
    first = node.body[0] if node.body else None
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
        return None
    text = first.value.value
    if not isinstance(text, str):
        return None
    head, *rest = text.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip(" ")) for line in rest if line.strip(" ")), default=0)
    return "\n".join(line.rstrip(" ") for line in (head.lstrip(" "), *(line[margin:] for line in rest))).strip("\n")
