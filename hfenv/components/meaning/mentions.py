"""Which definitions a reward's functions may run, by the names that stand in them: rather too many than too few."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from hfenv.components.code.names import FUNCTIONS, Scope
from hfenv.components.code.walk import is_main
from hfenv.components.meaning.definitions import Defined
from hfenv.components.meaning.docstrings import NEUTRAL

# Whoever writes one of these can reach anything by a name that is put together when the code runs.
_DYNAMIC = frozenset(
    {
        "getattr", "globals", "locals", "vars", "dir", "eval", "exec", "__import__", "import_module", "__dict__",
        "__subclasses__", "__getattr__", "modules", "attrgetter", "methodcaller", "getmembers",
    }
)  # fmt: skip
_ACCESSORS = frozenset({"setter", "getter", "deleter"})
_LISTING = frozenset({"glob", "iglob", "rglob", "iterdir", "listdir", "scandir", "walk", "files", "contents"})
Place = tuple[str, str]  # a file's path and a qualified name in it


@dataclass(slots=True)
class _Names:
    """Names and attributes that stand in code of a file, and texts that could be one."""

    scope: Scope
    found: set[str] = field(default_factory=set)

    def take(self, nodes: Iterable[ast.AST]) -> None:
        pending = list(nodes)
        while pending:
            node = pending.pop()
            if isinstance(node, ast.Name):
                self.found.add(node.id)
            elif isinstance(node, ast.Attribute):
                self.found.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                self.found.add(node.value)
            elif isinstance(node, ast.alias):
                self.found |= {node.name.rpartition(".")[2], *([node.asname] if node.asname else [])}
            pending += [child for child in ast.iter_child_nodes(node) if not self._is_harmless(node, child)]

    def _is_harmless(self, node: ast.AST, child: ast.AST) -> bool:
        """The `getattr` of a call where the name that is asked for is written out, or asked of a package."""
        if not isinstance(node, ast.Call) or child is not node.func or len(node.args) < 2:
            return False
        owner = self.scope.dotted(node.args[0]) or "."
        imported = not owner.startswith((".", "builtins.", "sys.", "importlib."))
        return (
            isinstance(child, ast.Name)
            and child.id == "getattr"
            and (imported or isinstance(node.args[1], ast.Constant))
        )


@dataclass(frozen=True, slots=True)
class Mentions:
    """Which names of a component stand where: `links` leads from each name that is defined to those in its definition.

    `imported` are the names in what runs when files are imported. `noted` are names that something may write down, to
    be found again without them: what a decorator mentions, and what it decorates; what one statement mentions.
    """

    places: Mapping[Place, frozenset[str]]
    links: Mapping[str, set[str]]
    imported: frozenset[str]
    noted: tuple[tuple[frozenset[str], frozenset[str]], ...]

    @classmethod
    def of(cls, files: Sequence[Defined]) -> Mentions:
        places: dict[Place, frozenset[str]] = {}
        links: dict[str, set[str]] = {}
        hooked = any(name.endswith(".__init_subclass__") for file in files for name in file.nodes)
        for file in files:
            for name, nodes in file.nodes.items():
                parts = ([node.args, *node.body] if isinstance(node, FUNCTIONS) else _own(node) for node in nodes)
                mentioned = _names(file, chain.from_iterable(parts))
                # By its own name, or with the class around it: whoever gets an object may call its methods.
                places[file.source.path, name] = frozenset(name.split("."))
                for key in name.split("."):
                    links.setdefault(key, set()).update(mentioned)
            for name, bindings in file.scope.names.items():
                made = [binding.value or binding.node for binding in bindings if binding.origin is None]
                values = [node for node in made if not isinstance(node, (*FUNCTIONS, ast.ClassDef))]
                links.setdefault(name, set()).update(_names(file, values))
            for alias in (node for node in ast.walk(file.source.tree) if isinstance(node, ast.alias) and node.asname):
                links.setdefault(alias.asname or "", set()).add(alias.name.rpartition(".")[2])
        imported = (_names(file, _runs_on_import(file)) for file in files)
        noted = (pair for file in files for pair in _noted(file, hooked=hooked))
        return cls(places, links, frozenset(chain.from_iterable(imported)), tuple(noted))

    def by_score(self, starts: Iterable[str]) -> set[Place]:
        """The definitions that may run when functions with these names do, or when the files are imported."""
        return self._places(self._names(self.imported.union(starts, *(names for _, names in self.noted))))

    def by_measure(self, start: str) -> set[Place]:
        """The definitions that may run when a function does; what runs on import alone is found by what it leaves."""
        known = self._names({start})
        pending = list(self.noted)
        while found := [pair for pair in pending if self._names(pair[0]) & known & self.links.keys()]:
            pending = [pair for pair in pending if pair not in found]
            known |= self._names(frozenset().union(*(names for _, names in found)))
        return self._places(known)

    @property
    def lists_folders(self) -> bool:
        """Whether code looks at which files there are, so that a file that nobody names may matter."""
        return bool(_LISTING & self.imported.union(*self.links.values()))

    def _places(self, known: set[str]) -> set[Place]:
        everything = bool(known & _DYNAMIC)
        return {place for place, names in self.places.items() if everything or names & known}

    def _names(self, names: Iterable[str]) -> set[str]:
        known: set[str] = set()
        pending = list(names)
        while pending:
            name = pending.pop()
            if name not in known:
                known.add(name)
                pending += self.links.get(name, ())
        return known


def _names(file: Defined, nodes: Iterable[ast.AST]) -> set[str]:
    names = _Names(file.scope)
    names.take(nodes)
    return names.found


def _runs_on_import(file: Defined) -> Iterator[ast.AST]:
    """What mentions names when a file is imported; an import alone runs nothing of what it brings."""
    for node in file.source.tree.body:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            continue
        if not isinstance(node, (ast.Import, ast.ImportFrom)) and not (isinstance(node, ast.If) and is_main(node.test)):
            yield node
    for nodes in file.nodes.values():
        for definition in nodes:
            yield from definition.decorator_list


def _noted(file: Defined, *, hooked: bool) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    for statement in file.loose:
        main = isinstance(statement, ast.If) and is_main(statement.test)
        if not main and not isinstance(statement, (ast.Import, ast.ImportFrom)):
            names = frozenset(_names(file, [statement]))
            yield names, names
    for nodes in file.nodes.values():
        for node in nodes:
            decorators = [part.func if isinstance(part, ast.Call) else part for part in node.decorator_list]
            known = all((file.scope.dotted(decorator) or "").startswith(NEUTRAL) for decorator in decorators)
            accessor = any(isinstance(part, ast.Attribute) and part.attr in _ACCESSORS for part in decorators)
            if not known and not accessor:
                yield frozenset(_names(file, node.decorator_list)), frozenset({node.name})
            if isinstance(node, ast.ClassDef) and (node.keywords or hooked):
                yield frozenset(_names(file, [*node.bases, *node.keywords])), frozenset({node.name})


def _own(node: ast.ClassDef) -> list[ast.AST]:
    return [*node.bases, *node.keywords, *(part for part in node.body if not isinstance(part, FUNCTIONS))]
