"""Expressions in code as short texts, for records and messages: literals and annotations as written, else digests."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

from hfenv.components.meaning.written import constant, is_number, short, written

LONGEST = 60
MOST_LEAVES = 64
_ATOM = re.compile(r"[!-~\u00a1-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd]+")  # one word: no spaces, no control characters
_UNIONS = frozenset({"Optional", "Union"})


def value_text(expression: ast.expr) -> str:
    """A literal, a name or a call of them as one line of at most 60 characters; `#` and a digest for all else."""
    text = _text(expression)
    return text if text is not None and len(text) <= LONGEST else f"#{short(written(expression))}"


def word(text: str) -> str:
    """A text that can stand in a recorded signature: without spaces, commas or brackets; else its digest."""
    return text if _ATOM.fullmatch(text) and not set(text) & set(",()|=:") else f"#{short(text)}"


def flattened(name: str, expression: ast.expr) -> Iterator[tuple[str, str]]:
    """What a constant holds: name and value, or one pair for each leaf of a mapping with plain keys: WEIGHTS.exact."""
    found: list[tuple[str, str]] = []
    pending = [(name, expression)]
    while pending:
        path, part = pending.pop()
        keys = [_key(key) for key in part.keys] if isinstance(part, ast.Dict) else []
        if isinstance(part, ast.Dict) and keys and None not in keys and len(set(keys)) == len(keys):
            pending += [(f"{path}.{key}", value) for key, value in zip(keys, part.values, strict=True)][::-1]
        else:
            found.append((path, value_text(part)))
        if len(found) + len(pending) > MOST_LEAVES:
            return iter([(name, value_text(expression))])
    if len(dict(found)) < len(found):  # {"a.b": 1, "a": {"b": 2}}
        return iter([(name, value_text(expression))])
    return iter(found)


def _key(key: ast.expr | None) -> str | None:
    """A key of a mapping as text, None where it isn't plain."""
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        return key.value if len(key.value) <= LONGEST else None
    text = _text(key) if isinstance(key, (ast.Constant, ast.Name, ast.Attribute)) else None
    return f"<{text}>" if text is not None else None


def alternatives(annotation: ast.expr | None) -> tuple[str, ...]:
    """The types that an annotation allows, sorted: each one of `int | None`, `Optional[int]`, `Literal["a", "b"]`."""
    if annotation is None:
        return ("Any",)
    found: set[str] = set()
    pending = [annotation]
    while pending:
        part = pending.pop()
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            part = _quoted(part)
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitOr):
            pending += [part.left, part.right]
        elif isinstance(part, ast.Subscript) and (name := _last(part.value)) in ("Annotated", *_UNIONS):
            inner = list(part.slice.elts) if isinstance(part.slice, ast.Tuple) else [part.slice]
            pending += inner if name in _UNIONS else inner[:1]
            found |= {"None"} if name == "Optional" else set()
        elif isinstance(part, ast.Subscript) and _last(part.value) == "Literal":
            members = list(part.slice.elts) if isinstance(part.slice, ast.Tuple) else [part.slice]
            found |= {word(value_text(member)) for member in members}
        else:
            found.add("None" if _is_none(part) else word(value_text(part)))
    return tuple(sorted(found))


def _quoted(text: ast.Constant) -> ast.expr:
    """The annotation inside of quotes."""
    try:
        return ast.parse(str(text.value).strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Name(word(str(text.value)), ast.Load())


def _last(expression: ast.expr) -> str:
    if isinstance(expression, ast.Attribute):
        return expression.attr
    return expression.id if isinstance(expression, ast.Name) else ""


def _is_none(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Constant) and expression.value is None


def _text(node: ast.expr, depth: int = 0) -> str | None:
    if depth > 8:
        return None
    if isinstance(node, ast.Constant):
        return _constant(node.value)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return _joined("{}." + node.attr, [node.value], depth)
    if is_number(node) and isinstance(node, ast.UnaryOp):
        return _joined("-{}" if isinstance(node.op, ast.USub) else "+{}", [node.operand], depth)
    if isinstance(node, ast.Subscript):
        return _joined("{}[{}]", [node.value, node.slice], depth)
    if isinstance(node, (ast.Tuple, ast.List)):
        marks = ("(", ")") if isinstance(node, ast.Tuple) else ("[", "]")
        return _joined(marks[0] + ", ".join(["{}"] * len(node.elts)) + marks[1], node.elts, depth)
    if isinstance(node, ast.Call) and all(keyword.arg for keyword in node.keywords):
        forms = ["{}"] * len(node.args) + [f"{keyword.arg}={{}}" for keyword in node.keywords]
        values = [node.func, *node.args, *(keyword.value for keyword in node.keywords)]
        return _joined(f"{{}}({', '.join(forms)})", values, depth)
    return None


def _joined(form: str, parts: list[ast.expr], depth: int) -> str | None:
    texts = [_text(part, depth + 1) for part in parts[:20]]
    if len(parts) > 20 or any(text is None for text in texts):
        return None
    pieces = form.split("{}")
    return "".join(piece + (text or "") for piece, text in zip(pieces, [*texts, ""], strict=True))


def _constant(value: object) -> str | None:
    if isinstance(value, str):
        if len(value) > LONGEST or any("\ud800" <= letter <= "\udfff" for letter in value):
            return None
        return json.dumps(value, ensure_ascii=False)
    return constant(value)
