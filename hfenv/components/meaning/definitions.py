"""What a Python file defines, for a component's shape: functions, classes, constants, and the rest as a digest."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hfenv.components.code.names import (
    FUNCTIONS,
    FunctionNode,
    Scope,
    bindings_of,
    module_scope,
    statements,
)
from hfenv.components.code.source import Source
from hfenv.components.meaning.shape import Definition, Form, Parameter, ParameterKind, Signature
from hfenv.components.meaning.values import alternatives, flattened, value_text, word
from hfenv.components.meaning.written import Documented, KeepsDoc, doc_of, short, written

SPACES = ("action_space", "observation_space")
_PROPERTIES = frozenset({"builtins.property", "functools.cached_property"})
_TYPES = ("typing.", "typing_extensions.", "collections.abc.", "types.")


@dataclass(slots=True)
class Defined:
    """What stands in one file. `nodes` are the statements behind each definition, by qualified name; `constants` maps
    names to lines and values, `loose` is what else runs when the file is imported."""

    source: Source
    scope: Scope
    keeps_doc: KeepsDoc
    nodes: dict[str, list[FunctionNode | ast.ClassDef]] = field(default_factory=dict)
    constants: dict[str, tuple[int, str]] = field(default_factory=dict)
    loose: list[ast.stmt] = field(default_factory=list)
    _rests: dict[int, list[Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, source: Source, keeps_doc: KeepsDoc) -> Defined:
        found = cls(source, module_scope(source.tree), keeps_doc)
        found.loose = found._read(source.tree.body, "")
        return found

    def top(self, *, numbers: bool = True) -> str:
        """Digest of what stands on the top level and is no definition or constant, with or without its numbers."""
        doc = self._doc(self.source.tree)
        return short(doc + written(self.loose, keeps_doc=self.keeps_doc, numbers=numbers))

    def running(self, reached: Collection[tuple[str, str]]) -> Iterator[ast.AST]:
        """What runs of the file when it is imported, and the definitions among `reached`."""
        yield from (node for node in self.source.tree.body if not isinstance(node, (*FUNCTIONS, ast.ClassDef)))
        for name, nodes in self.nodes.items():
            for node in nodes if (self.source.path, name) in reached else ():
                parts = [node] if isinstance(node, FUNCTIONS) else node.body
                yield from (part for part in parts if part is node or not isinstance(part, (*FUNCTIONS, ast.ClassDef)))

    def definition(self, name: str, *, numberless: bool) -> Definition:
        """The definition behind a name; of several, as in if and else, the digest is of all."""
        nodes = self.nodes[name]
        last = nodes[-1]
        texts = [self._written(node, numbers=True) for node in nodes]
        masked = [self._written(node, numbers=False) for node in nodes] if numberless else []
        return Definition(
            form=self._form(last),
            digest=short("\n".join(texts)),
            signature=self.signature(last, method="." in name) if isinstance(last, FUNCTIONS) else None,
            numberless=short("\n".join(masked)) if numberless else "",
            line=last.lineno,
        )

    def signature(self, node: FunctionNode, *, method: bool, types: bool = False) -> Signature:
        """A function's parameters, a method's without the one that it is called on."""
        arguments = node.args
        plain = [*arguments.posonlyargs, *arguments.args]
        gap = len(plain) - len(arguments.defaults)
        pairs: list[tuple[ast.arg, ParameterKind, ast.expr | None]] = []
        for index, argument in enumerate(plain):
            kind = ParameterKind.POSITIONAL if index < len(arguments.posonlyargs) else ParameterKind.PLAIN
            pairs.append((argument, kind, arguments.defaults[index - gap] if index >= gap else None))
        if method and pairs and not self._is_static(node):
            pairs.pop(0)
        if arguments.vararg:
            pairs.append((arguments.vararg, ParameterKind.STAR, None))
        named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        pairs += [(argument, ParameterKind.KEYWORD, default) for argument, default in named]
        if arguments.kwarg:
            pairs.append((arguments.kwarg, ParameterKind.STARS, None))
        return tuple(
            Parameter(
                name=argument.arg,
                kind=kind,
                default=None if default is None else word(value_text(default)),
                types=alternatives(argument.annotation) if types else (),
            )
            for argument, kind, default in pairs
        )

    def _read(self, body: Sequence[ast.stmt], prefix: str) -> list[ast.stmt]:
        """Note what a body defines; returns the statements that are neither definitions nor constants."""
        once = {name for name, bindings in bindings_of(body).items() if len(bindings) == 1}
        rest: list[ast.stmt] = []
        for node in body:
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                self._define(node, prefix)
            elif pairs := self._constants(node, once):
                for name, value in pairs:
                    self.constants |= {key: (node.lineno, text) for key, text in flattened(prefix + name, value)}
            else:
                rest.append(node)
                for inner in statements([node]):
                    if isinstance(inner, (*FUNCTIONS, ast.ClassDef)):
                        self._define(inner, prefix)
        return rest

    def _define(self, node: FunctionNode | ast.ClassDef, prefix: str) -> None:
        self.nodes.setdefault(prefix + node.name, []).append(node)
        if isinstance(node, ast.ClassDef):
            rest: list[Any] = [*self._read(node.body, f"{prefix}{node.name}.")]
            # Fields of data classes and members of enumerations have an order, and fields a type.
            rest += [_named(part) for part in node.body if isinstance(part, (ast.Assign, ast.AnnAssign))]
            self._rests[id(node)] = rest
            self._assigned_spaces(node, prefix + node.name)

    def _assigned_spaces(self, node: ast.ClassDef, name: str) -> None:
        """`self.action_space = ...` in a method is as good as a constant of the class."""
        for method in node.body:
            for part in ast.walk(method) if isinstance(method, FUNCTIONS) else ():
                target = part.targets[0] if isinstance(part, ast.Assign) and len(part.targets) == 1 else None
                if isinstance(part, ast.Assign) and isinstance(target, ast.Attribute) and target.attr in SPACES:
                    before = self.constants.get(f"{name}.{target.attr}", (0, ""))[1]
                    text = value_text(part.value)
                    self.constants[f"{name}.{target.attr}"] = (part.lineno, f"{before}; {text}" if before else text)

    def _constants(self, node: ast.stmt, once: set[str]) -> list[tuple[str, ast.expr]]:
        """The names that a statement gives a value each, and no other statement does; empty for other statements."""
        if isinstance(node, ast.Assign):
            pairs = [pair for target in node.targets for pair in _unpacked(target, node.value)]
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            pairs = [(node.target, node.value)]
        else:
            return []
        named = [(target.id, value) for target, value in pairs if isinstance(target, ast.Name)]
        plain = all(name in once and not name.startswith("__") and not self._is_type(value) for name, value in named)
        return named if plain and len(named) == len(pairs) else []

    def _is_type(self, value: ast.expr) -> bool:
        root = value
        while isinstance(root, ast.Subscript):
            root = root.value
        dotted = self.scope.dotted(root) if root is not value else None
        return dotted is not None and dotted.startswith(_TYPES)

    def _written(self, node: FunctionNode | ast.ClassDef, *, numbers: bool) -> str:
        outside: list[Any] = [*node.decorator_list, *getattr(node, "type_params", ())]
        if isinstance(node, ast.ClassDef):
            inside = self._rests[id(node)]
            outside += [*node.bases, *node.keywords]
        else:
            inside = node.body  # parameters are compared one by one, and annotations do nothing when they're called
        parts = (written(part, keeps_doc=self.keeps_doc, numbers=numbers) for part in (outside, inside))
        return f"{type(node).__name__} {self._doc(node)}{''.join(parts)}"

    def _doc(self, node: Documented) -> str:
        doc = doc_of(node)
        return ascii(doc) if doc is not None and self.keeps_doc(node) else ""

    def _form(self, node: FunctionNode | ast.ClassDef) -> Form:
        if isinstance(node, ast.ClassDef):
            return Form.CLASS
        if any(self._is_property(decorator) for decorator in node.decorator_list):
            return Form.PROPERTY
        return Form.ASYNC if isinstance(node, ast.AsyncFunctionDef) else Form.FUNCTION

    def _is_property(self, decorator: ast.expr) -> bool:
        accessor = isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "getter", "deleter")
        return accessor or self.scope.dotted(decorator) in _PROPERTIES

    def _is_static(self, node: FunctionNode) -> bool:
        return any(self.scope.dotted(decorator) == "builtins.staticmethod" for decorator in node.decorator_list)


def _unpacked(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """`A, B = 1, 2` as two assignments."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _named(node: ast.Assign | ast.AnnAssign) -> ast.stmt:
    """An assignment without its value."""
    if isinstance(node, ast.AnnAssign):
        return ast.AnnAssign(node.target, node.annotation, None, node.simple)
    return ast.Assign(node.targets, ast.Name("value", ast.Load()))


def numbers_in(trees: Iterable[ast.AST]) -> Iterator[str]:
    """Every number that is written in code, with its sign, as text."""
    pending: list[ast.AST] = list(trees)
    while pending:
        node = pending.pop()
        sign = "-" if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else ""
        inner = node.operand if isinstance(node, ast.UnaryOp) else node
        if isinstance(inner, ast.Constant):
            if isinstance(inner.value, (int, float, complex)) and not isinstance(inner.value, bool):
                yield sign + written(inner)
        else:
            pending += ast.iter_child_nodes(node)
