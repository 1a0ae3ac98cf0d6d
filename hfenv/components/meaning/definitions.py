"""What a Python file defines, for a component's shape: functions, classes, constants, and the rest as a digest."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hfenv.components.code.names import (
    FUNCTIONS,
    FunctionNode,
    Scope,
    bindings_of,
    module_scope,
    parameters,
    statements,
)
from hfenv.components.code.source import Source
from hfenv.components.code.walk import is_main
from hfenv.components.meaning.docstrings import Reads, neutral_origin
from hfenv.components.meaning.numbers import number_digest, numbers_in
from hfenv.components.meaning.shape import Definition, Form, Parameter, ParameterKind, Signature
from hfenv.components.meaning.values import alternatives, flattened, value_text, word
from hfenv.components.meaning.written import Documented, KeepsDoc, doc_of, is_idle, short, written, written_twice

SPACES = ("action_space", "observation_space")
_PROPERTIES = frozenset({"builtins.property", "functools.cached_property"})
_TYPES = ("typing.", "typing_extensions.", "collections.abc.", "types.")
_GENERICS = frozenset(f"builtins.{name}" for name in ("dict", "list", "tuple", "set", "frozenset", "type"))
_CALLS = (ast.Call, ast.Await, ast.NamedExpr)
# Expressions whose value may depend on when they run.
_TIMED = (*_CALLS, ast.Attribute, ast.Subscript)
_TYPE_NODES = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.List, ast.BinOp, ast.BitOr, ast.expr_context,
)  # fmt: skip
MOST_ORDERED = 300


@dataclass(slots=True)
class Defined:
    """What stands in one file. `nodes` are the statements behind each definition, by qualified name; `constants` maps
    names to lines and values, `loose` is what else runs when the file is imported, `inner` the same of classes.

    `active` are the definitions with a default, decorator or body that runs something on import. What annotations say
    is part of a definition where `reads` says so, or where they may do more than name a type.
    """

    source: Source
    scope: Scope
    keeps_doc: KeepsDoc
    reads: Reads
    nodes: dict[str, list[FunctionNode | ast.ClassDef]] = field(default_factory=dict)
    constants: dict[str, tuple[int, str]] = field(default_factory=dict)
    loose: list[ast.stmt] = field(default_factory=list)
    inner: list[tuple[str, ast.stmt]] = field(default_factory=list)
    active: set[str] = field(default_factory=set)
    _silent: set[int] = field(default_factory=set)
    _typed: set[int] = field(default_factory=set)
    _order: list[str] = field(default_factory=list)
    _rests: dict[int, list[Any]] = field(default_factory=dict)
    _numbers: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, source: Source, keeps_doc: KeepsDoc, reads: Reads) -> Defined:
        found = cls(source, module_scope(source.tree), keeps_doc, reads)
        found.loose = found._read(source.tree.body, "", types=reads.types)
        return found

    def top(self, *, numbers: bool = True) -> str:
        """Digest of what stands on the top level and is no definition or constant, with or without its numbers."""
        doc = self._doc(self.source.tree) + (self.source.text if self.reads.text else "")
        if self.reads.types:
            given = [part for part in self.source.tree.body if isinstance(part, ast.AnnAssign)]
            doc += written([_named(part) for part in given])
        return short(doc + written(self.loose, keeps_doc=self.keeps_doc, numbers=numbers))

    def part(self, statements_: Sequence[ast.stmt]) -> str:
        """Digest of some of the file's statements."""
        return short(written(list(statements_), keeps_doc=self.keeps_doc))

    @property
    def order(self) -> tuple[str, ...]:
        """Words for what has to stand in its order; one digest where they are too many."""
        words = tuple(self._order)
        return words if len(words) <= MOST_ORDERED else (f"#{short(' '.join(words))}",)

    def running(self, reached: Collection[tuple[str, str]]) -> Iterator[str]:
        """The numbers in what runs of the file when it is imported, and in the definitions among `reached`."""
        body = (node for node in self.source.tree.body if id(node) not in self._silent)
        yield from numbers_in(node for node in body if not isinstance(node, (*FUNCTIONS, ast.ClassDef)))
        for name in self.nodes:
            if (self.source.path, name) in reached:
                yield from self.numbers(name)

    def numbers(self, name: str) -> list[str]:
        """The numbers in a definition, a class's without those of its methods."""
        if name not in self._numbers:
            parts: list[ast.AST] = []
            for node in self.nodes[name]:
                outer = (
                    [*node.decorator_list, *node.bases, *node.keywords] if isinstance(node, ast.ClassDef) else [node]
                )
                inner = node.body if isinstance(node, ast.ClassDef) else []
                parts += [*outer, *(part for part in inner if not isinstance(part, (*FUNCTIONS, ast.ClassDef)))]
            self._numbers[name] = list(numbers_in(parts))
        return self._numbers[name]

    def definition(self, name: str, *, numberless: bool) -> Definition:
        """The definition behind a name; of several, as in if and else, the digest is of all."""
        nodes = self.nodes[name]
        last = nodes[-1]
        texts, masked = zip(*(self._written(node) for node in nodes), strict=True)
        return Definition(
            form=self._form(last),
            digest=short("\n".join(texts)),
            signature=self.signature(last, method="." in name) if isinstance(last, FUNCTIONS) else None,
            numberless=short("\n".join(masked)) if numberless else "",
            numbers=number_digest(self.numbers(name)) if numberless else "",
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

    def _read(self, body: Sequence[ast.stmt], prefix: str, *, types: bool) -> list[ast.stmt]:
        """Note what a body defines; returns the statements that are neither definitions nor constants."""
        bound = bindings_of(body)
        once = {name for name, bindings in bound.items() if len(bindings) == 1}
        rest: list[ast.stmt] = []
        for node in body:
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                self._define(node, prefix, once=node.name in once, types=types)
            elif pairs := self._constants(node, once):
                for name, value in pairs:
                    leaves = list(flattened(prefix + name, value))
                    self.constants |= {key: (node.lineno, text) for key, text in leaves}
                    if prefix or len(leaves) > 1 or _holds(value, _TIMED):
                        self._order += [word(key) for key, _ in leaves]
            elif not prefix and self._is_silent(node):
                self._silent.add(id(node))
            else:
                rest.append(node)
                if not is_idle(node):
                    self._order.append(short(written(node, keeps_doc=self.keeps_doc))[:8])
                for inner in statements([node]):
                    if isinstance(inner, (*FUNCTIONS, ast.ClassDef)):
                        self._define(inner, prefix, once=True, types=types)
        return rest

    def _define(self, node: FunctionNode | ast.ClassDef, prefix: str, *, once: bool, types: bool) -> None:
        name = prefix + node.name
        self.nodes.setdefault(name, []).append(node)
        plain = all(neutral_origin(self.scope, decorator) for decorator in node.decorator_list)
        if isinstance(node, ast.ClassDef):
            plain = plain and not node.keywords and all(neutral_origin(self.scope, base) for base in node.bases)
            loose = self._read(node.body, f"{name}.", types=types or not plain)
            self.inner += [(name, part) for part in loose]
            rest: list[Any] = [*loose]
            # Fields of data classes and members of enumerations have an order, and fields a type.
            rest += [_named(part) for part in node.body if isinstance(part, (ast.Assign, ast.AnnAssign))]
            self._rests[id(node)] = rest
            self._assigned_spaces(node, name)
            runs = any(_holds(part, _CALLS) for part in (*node.bases, *node.keywords)) or any(map(_acts, loose))
        else:
            runs = any(_holds(part, _CALLS) for part in header(node))
            if types or not plain or not all(map(self._is_plain_type, annotations_of(node))):
                self._typed.add(id(node))
        if runs:
            self.active.add(name)
        if runs or not plain or not once:
            self._order.append(word(name))

    def _assigned_spaces(self, node: ast.ClassDef, name: str) -> None:
        """`self.action_space = ...` in a method is as good as a constant of the class."""
        for method in node.body:
            for part in ast.walk(method) if isinstance(method, FUNCTIONS) else ():
                for target, value in _assigned(part):
                    if isinstance(target, ast.Attribute) and target.attr in SPACES:
                        before = self.constants.get(f"{name}.{target.attr}", (0, ""))[1]
                        text = value_text(value)
                        self.constants[f"{name}.{target.attr}"] = (
                            target.lineno,
                            f"{before}; {text}" if before else text,
                        )

    def _constants(self, node: ast.stmt, once: set[str]) -> list[tuple[str, ast.expr]]:
        """The names that a statement gives a value each, and no other statement does; empty for other statements."""
        pairs = _assigned(node)
        named = [(target.id, value) for target, value in pairs if isinstance(target, ast.Name)]
        plain = all(name in once and not name.startswith("__") and not self._is_type(value) for name, value in named)
        return named if plain and len(named) == len(pairs) else []

    def _is_silent(self, node: ast.stmt) -> bool:
        """Whether a statement only says something like `__version__`, or is for a file that is started, and isn't."""
        if isinstance(node, ast.If) and is_main(node.test) and not node.orelse:
            scripts = self.reads.scripts
            return scripts is not None and self.source.path.rpartition("/")[2] not in scripts
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        return isinstance(target, ast.Name) and target.id in self.reads.about and isinstance(node.value, ast.Constant)  # type: ignore[attr-defined]

    def _is_plain_type(self, annotation: ast.expr) -> bool:
        """Whether an annotation does nothing but name types that are there."""
        names = (part.id for part in ast.walk(annotation) if isinstance(part, ast.Name))
        known = all(name in self.scope.names or self.scope.origin(name) is not None for name in names)
        return known and all(isinstance(part, _TYPE_NODES) for part in ast.walk(annotation))

    def _is_type(self, value: ast.expr) -> bool:
        root = value
        while isinstance(root, ast.Subscript):
            root = root.value
        dotted = self.scope.dotted(root) if root is not value else None
        return dotted is not None and (dotted.startswith(_TYPES) or dotted in _GENERICS)

    def _written(self, node: FunctionNode | ast.ClassDef) -> tuple[str, str]:
        """A definition in its written form, with numbers and without."""
        outside: list[Any] = [*node.decorator_list, *getattr(node, "type_params", ())]
        if isinstance(node, ast.ClassDef):
            inside = self._rests[id(node)]
            outside += [*node.bases, *node.keywords]
        else:
            inside = [*(annotations_of(node) if id(node) in self._typed else ()), *node.body]  # parameters are compared
        parts = zip(*(written_twice(part, keeps_doc=self.keeps_doc) for part in (outside, inside)), strict=True)
        with_numbers, without = (f"{type(node).__name__} {self._doc(node)}{''.join(texts)}" for texts in parts)
        return with_numbers, without

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


def _assigned(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """What a statement assigns to what; empty for other statements."""
    if isinstance(node, ast.Assign):
        return [pair for target in node.targets for pair in _unpacked(target, node.value)]
    return [(node.target, node.value)] if isinstance(node, ast.AnnAssign) and node.value is not None else []


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


def header(node: FunctionNode) -> Iterator[ast.expr]:
    """What of a function runs where it is defined: defaults and annotations, without decorators."""
    yield from (default for default in (*node.args.defaults, *node.args.kw_defaults) if default is not None)
    yield from annotations_of(node)


def annotations_of(node: FunctionNode) -> Iterator[ast.expr]:
    """The annotations of a function, its result's last."""
    yield from (part.annotation for part in parameters(node.args) if part.annotation is not None)
    if node.returns is not None:
        yield node.returns


def _holds(node: ast.AST, kinds: tuple[type[ast.AST], ...]) -> bool:
    return any(isinstance(part, kinds) for part in ast.walk(node))


def _acts(node: ast.stmt) -> bool:
    """Whether a statement in a class does more than name a value."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    names = bool(targets) and all(isinstance(target, ast.Name) for target in targets)
    return not is_idle(node) and (not names or _holds(node, _CALLS))
