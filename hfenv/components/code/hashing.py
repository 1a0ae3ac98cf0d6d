"""What a call of hash() is given: text, whose hash differs from process to process, or what hashes alike everywhere."""

from __future__ import annotations

import ast
import re

from hfenv.components.code.names import Scope
from hfenv.components.code.walk import Use

_MOST_PARTS = 200
_HOPS = 5


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Names whose last word says that they hold text.
_TEXTS = _words("""
text name answer action id word query sql key question prompt completion output message title label string str line
code path url token content letter said reply response solution expected guess char character sentence document
body chunk command keyword language country city email bytes digest hostname filename
""")
# Parts of a task or a turn that hold numbers, by the last word of their names.
_NUMBERS = _words("""
number num count index idx total score reward turn step row col column size length width height seed year month day
hour minute second amount price age position pos x y z n i j k level rank left right sum value weight
""")
_RECORDED = frozenset(("task", "transcript", "turn", "outcome", "evidence"))  # what a score is handed, and parts of it
_MAKES_TEXT = frozenset(
    f"builtins.{name}" for name in ("str", "repr", "ascii", "format", "bytes", "bytearray", "chr", "hex", "bin", "oct")
) | {"json.dumps"}  # fmt: skip
_TEXT_METHODS = _words("""
lower upper strip lstrip rstrip casefold title capitalize join format encode decode replace split rsplit splitlines
removeprefix removesuffix hexdigest digest isoformat read_text read_bytes items keys
""")
_PASSES = frozenset(
    f"builtins.{name}" for name in ("tuple", "frozenset", "sorted", "list", "set", "max", "min", "next", "iter", "zip",
                                    "reversed", "map", "filter", "enumerate")
)  # fmt: skip


def hashes_text(use: Use) -> bool:
    """Whether the argument is text, holds some, or seems to by its name; numbers hash alike in every process."""
    if use.call is None or use.place.function == "__hash__":
        return False
    pending: list[tuple[ast.expr, int]] = [(argument, 0) for argument in use.call.args]
    looked = 0
    while pending and looked < _MOST_PARTS:
        part, hops = pending.pop()
        looked += 1
        if _is_text(part, use.scope):
            return True
        if isinstance(part, ast.Name):
            value = use.scope.literal(part.id) if hops < _HOPS else None
            pending += [(value, hops + 1)] if value is not None else []
        else:
            pending += [(inner, hops) for inner in _parts(part, use.scope)]
    return False


def _parts(part: ast.expr, scope: Scope) -> list[ast.expr]:
    """The expressions of which a value is made; none where they don't tell what it is."""
    if isinstance(part, (ast.Tuple, ast.List, ast.Set)):
        return part.elts
    if isinstance(part, ast.BinOp):
        return [part.left, part.right] if isinstance(part.op, (ast.Add, ast.BitOr)) else [part.left]
    if isinstance(part, ast.BoolOp):
        return part.values
    if isinstance(part, ast.IfExp):
        return [part.body, part.orelse]
    if isinstance(part, (ast.Starred, ast.NamedExpr, ast.Await)):
        return [part.value]
    if isinstance(part, ast.DictComp):
        return [part.key]
    if isinstance(part, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        return [part.elt]
    if isinstance(part, ast.Call) and scope.dotted(part.func) in _PASSES:
        return part.args
    if isinstance(part, ast.Call) and _last(part.func)[:1].isupper():  # an instance hashes as its fields do
        return [*part.args, *(keyword.value for keyword in part.keywords)]
    if isinstance(part, ast.Subscript) and not isinstance(part.slice, ast.Constant):
        return [part.value]
    return []


def _is_text(part: ast.expr, scope: Scope) -> bool:
    if isinstance(part, ast.Constant):
        return isinstance(part.value, (str, bytes))
    if isinstance(part, ast.Name):
        return scope.literal(part.id) is None and not _is_number(part.id, scope) and _last_word(part.id) in _TEXTS
    if isinstance(part, ast.Call):
        return _gives_text(part, scope)
    if isinstance(part, ast.Attribute):
        return _names_text(part.attr, part.value)
    if isinstance(part, ast.Subscript):
        key = part.slice
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return _names_text(key.value, part.value)
        return _is_text(part.value, scope)
    return isinstance(part, ast.JoinedStr) or type(part).__name__ == "TemplateStr"


def _gives_text(call: ast.Call, scope: Scope) -> bool:
    if scope.dotted(call.func) in _MAKES_TEXT:
        return True
    if not isinstance(call.func, ast.Attribute):
        return False
    key = call.args[0] if call.args else None
    if call.func.attr in ("get", "pop") and isinstance(key, ast.Constant) and isinstance(key.value, str):
        return _names_text(key.value, call.func.value)
    return call.func.attr in _TEXT_METHODS


def _names_text(name: str, owner: ast.expr) -> bool:
    """Whether a part of `owner` seems to be text: by its name, or as a part of what is recorded, where that is text."""
    word = _last_word(name)
    while isinstance(owner, (ast.Attribute, ast.Subscript)):
        if isinstance(owner, ast.Attribute) and owner.attr in _RECORDED:
            break
        owner = owner.value
    recorded = isinstance(owner, ast.Attribute) or (isinstance(owner, ast.Name) and owner.id in _RECORDED)
    return word in _TEXTS or (recorded and word not in _NUMBERS)


def _is_number(name: str, scope: Scope) -> bool:
    """Whether an annotation says that a parameter is a number."""
    inside: Scope | None = scope
    while inside is not None and name not in inside.names:
        inside = inside.parent
    nodes = [binding.node for binding in inside.names[name]] if inside is not None else []
    said = [node.annotation for node in nodes if isinstance(node, ast.arg)]
    return any(isinstance(kind, ast.Name) and kind.id in ("int", "float", "bool", "complex") for kind in said)


def _last(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _last_word(name: str) -> str:
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
    word = words[-1].lower() if words else ""
    return word if word in _TEXTS or word in _NUMBERS else word.removesuffix("s")
