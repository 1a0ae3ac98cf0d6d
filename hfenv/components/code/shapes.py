"""What a function may be called with and what it gives back, and what a class and its bases define."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import Enum

from hfenv.components.code.names import FUNCTIONS, FunctionNode, class_scope, own_nodes
from hfenv.components.code.project import Definition, Project
from hfenv.components.code.source import Source

_HFENV = ("hfenv.", "hfenv.runtime.contracts.")
_GYM = frozenset(f"{module}.Env" for module in ("gymnasium", "gymnasium.core", "gym", "gym.core"))
# Bases that bring no method of the contract.
_NEUTRAL = frozenset(
    {"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol", "typing_extensions.Protocol"}
)  # fmt: skip
# Decorators that leave a function's signature as it is.
_TRANSPARENT = frozenset({"typing.override", "typing_extensions.override", "typing.final", "abc.abstractmethod"})


class Kind(str, Enum):
    """What hfenv takes an environment's class for, by the bases that it certainly has."""

    TASK = "hfenv.TaskEnvironment"
    PLAIN = "hfenv.Environment"
    GYM = "gymnasium.Env"
    BARE = "a class without a base"
    UNKNOWN = "a class with bases from elsewhere"


@dataclass(frozen=True, slots=True)
class Method:
    """A method or attribute of a class, in the file that defines it."""

    source: Source
    node: ast.AST

    def function(self, project: Project) -> FunctionNode | None:
        """The function, when no decorator may give it another signature."""
        return self.node if is_plain(project, self.source, self.node) else None  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class ClassView:
    """A class with all that its bases in the environment's files define, and its bases from elsewhere by name."""

    source: Source
    node: ast.ClassDef
    methods: dict[str, Method]
    roots: frozenset[str]

    @property
    def kind(self) -> Kind:
        own = {root.removeprefix(prefix) for root in self.roots for prefix in _HFENV if root.startswith(prefix)}
        if own & {"TaskEnvironment", "ToolEnvironment"}:
            return Kind.TASK
        if "Environment" in own:
            return Kind.PLAIN
        if self.roots & _GYM:
            return Kind.GYM
        return Kind.BARE if self.is_whole else Kind.UNKNOWN

    @property
    def is_whole(self) -> bool:
        """Whether nothing can come from elsewhere: no unknown bases, metaclasses or attributes made on demand."""
        known = {root for root in self.roots if root.startswith(_HFENV)}
        return not (self.roots - known - _GYM - _NEUTRAL) and "__getattr__" not in self.methods


def class_view(project: Project, definition: Definition) -> ClassView | None:
    """The class that a name stands for; None where it isn't one."""
    if not isinstance(definition.node, ast.ClassDef):
        return None
    methods: dict[str, Method] = {}
    roots: set[str] = set()
    pending = [(definition.source, definition.node)]
    seen = {id(definition.node)}
    while pending:
        source, node = pending.pop(0)
        for name, bindings in class_scope(node, project.scope(source)).names.items():
            methods.setdefault(name, Method(source, bindings[-1].node))
        roots.update("?" for keyword in node.keywords if keyword.arg is None or not _is_abc(project, source, keyword))
        for base in node.bases:
            found = project.look_up(source, base)
            if found is None or not isinstance(found.node, ast.ClassDef):
                roots.add(_root(project, source, base))
            elif id(found.node) not in seen:
                seen.add(id(found.node))
                pending.append((found.source, found.node))
    return ClassView(definition.source, definition.node, methods, frozenset(roots))


def _root(project: Project, source: Source, base: ast.expr) -> str:
    while isinstance(base, ast.Subscript):
        base = base.value
    dotted = project.scope(source).dotted(base)
    if dotted is None and isinstance(base, ast.Name) and "hfenv" in project.stars(source):
        return f"hfenv.{base.id}"
    return dotted or "?"


def _is_abc(project: Project, source: Source, keyword: ast.keyword) -> bool:
    return keyword.arg != "metaclass" or project.scope(source).dotted(keyword.value) == "abc.ABCMeta"


def is_plain(project: Project, source: Source, node: ast.AST) -> bool:
    """Whether this is a function whose signature is the one that is written."""
    if not isinstance(node, FUNCTIONS):
        return False
    scope = project.scope(source)
    return all(scope.dotted(decorator) in _TRANSPARENT for decorator in node.decorator_list)


def is_abstract(project: Project, method: Method) -> bool:
    decorators = getattr(method.node, "decorator_list", ())
    return any(project.scope(method.source).dotted(decorator) == "abc.abstractmethod" for decorator in decorators)


# Calls


def accepts(function: FunctionNode, count: int) -> bool:
    """Whether a call with `count` positional arguments, and nothing else, is possible."""
    arguments = function.args
    positional = len(arguments.posonlyargs) + len(arguments.args)
    required = positional - len(arguments.defaults)
    keywords = any(default is None for default in arguments.kw_defaults)
    return required <= count and (count <= positional or arguments.vararg is not None) and not keywords


# Other names that authors give to what hfenv passes; any that isn't here says nothing about a place.
_ALSO = {
    "task": "t row problem sample example",
    "transcript": "traj trajectory tr turns history",
    "transcripts": "trajs trajectories group",
    "context": "ctx measure_context",
    "rng": "random random_state generator prng",
    "split": "split_name",
    "seed": "n index number",
    "observation": "obs",
    "info": "infos",
}
_MEANT = {also: name for name, words in _ALSO.items() for also in (name, *words.split())}


def swapped(function: FunctionNode, wanted: str, *, skip: int = 0) -> str:
    """The parameters as they are written, where they are those of `wanted` ("task, rng") in another order; else ""."""
    order = wanted.split(", ")
    positional = [*function.args.posonlyargs, *function.args.args][skip : skip + len(order)]
    meant = [_MEANT.get(argument.arg.strip("_").lower(), "") for argument in positional]
    known = [(place, name) for place, name in enumerate(meant) if name in order and meant.count(name) == 1]
    moved = [(place, order.index(name)) for place, name in known if order.index(name) != place]
    if not moved or {place for place, _ in moved} != {place for _, place in moved}:
        return ""
    return ", ".join(argument.arg for argument in positional)


def takes_keyword(function: FunctionNode, name: str) -> bool:
    """Whether the keyword argument `name` may be passed."""
    arguments = function.args
    named = (*arguments.args, *arguments.kwonlyargs)
    return arguments.kwarg is not None or any(argument.arg == name for argument in named)


def missing_arguments(function: FunctionNode, given: Collection[str], *, skip: int = 0) -> list[str]:
    """Arguments that a call with the `given` keywords leaves out although they have no default; `skip` is for self."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    needed = positional[skip : len(positional) - len(arguments.defaults)]
    needed += [a for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None]
    return [argument.arg for argument in needed if argument.arg not in given]


# What comes back


@dataclass(frozen=True, slots=True)
class Returns:
    """Every `return` of a function's own body, and its first `yield`."""

    returns: tuple[ast.Return, ...]
    yielded: ast.AST | None

    @property
    def gives_value(self) -> bool:
        return any(not is_none(statement.value) for statement in self.returns)


def returns_of(function: FunctionNode) -> Returns:
    nodes = list(own_nodes(function))
    yielded = (node for node in nodes if isinstance(node, (ast.Yield, ast.YieldFrom)))
    return Returns(tuple(node for node in nodes if isinstance(node, ast.Return)), next(yielded, None))


def is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def literal_kind(value: ast.expr | None) -> str:
    """What an expression certainly is, in words; empty where it may be anything."""
    if value is None or is_none(value):
        return "nothing"
    if isinstance(value, ast.Constant):
        if isinstance(value.value, (int, float)):
            return "a number"
        return "a text" if isinstance(value.value, str) else "a constant"
    kinds: dict[type[ast.AST], str] = {
        ast.Dict: "a mapping",
        ast.DictComp: "a mapping",
        ast.List: "a list",
        ast.ListComp: "a list",
        ast.Set: "a set",
        ast.SetComp: "a set",
        ast.JoinedStr: "a text",
        ast.GeneratorExp: "a generator",
        ast.Lambda: "a function",
    }
    if isinstance(value, ast.Tuple):
        starred = any(isinstance(part, ast.Starred) for part in value.elts)
        return "" if starred else f"a tuple of {len(value.elts)}"
    return kinds.get(type(value), "")


def branches(value: ast.expr | None) -> Iterator[ast.expr | None]:
    """The expressions of which one is what `value` comes to."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, ast.IfExp):
            pending += [part.orelse, part.body]
        else:
            yield part
