"""Which definitions a reward's functions may run, by the names that stand in them: rather too many than too few."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import PurePosixPath

from hfenv.components.code.names import FUNCTIONS, FunctionNode, Scope
from hfenv.components.code.walk import is_main
from hfenv.components.meaning.definitions import Defined, header
from hfenv.components.meaning.docstrings import SCRIPT, neutral_origin
from hfenv.components.meaning.written import children, every_statement

# Whoever writes one of these can reach anything by a name that is put together when the code runs.
_DYNAMIC = frozenset(
    {
        "getattr", "getattr_static", "__getattribute__", "globals", "locals", "vars", "dir", "eval", "exec",
        "__import__", "import_module", "exec_module", "load_module", "spec_from_file_location", "find_spec",
        "iter_modules", "walk_packages", "entry_points", "__dict__", "__globals__", "__subclasses__", "__getattr__",
        "modules", "attrgetter", "methodcaller", "getmembers", "f_globals", "f_locals", "_getframe",
        "currentframe", "get_objects", "locate", "resolve_name",
        "import_string", "import_object", "load_object", "instantiate", "run_path",
        "run_module", "pickle", "Unpickler", "cloudpickle", "dill", "joblib",
    }
)  # fmt: skip
_ACCESSORS = frozenset({"setter", "getter", "deleter"})
_LISTING = frozenset({"glob", "iglob", "rglob", "iterdir", "listdir", "scandir", "walk", "files", "contents"})
_FILE_NAME = re.compile(r"[\w.-]{0,100}\.[A-Za-z]\w{0,15}")
_SPACED = re.compile(r"\w\s+\w")
_WORD = re.compile(r"[^\W\d]\w*")
_LONGEST, MOST_FILES = 200, 64
_AS_MODULE = "-m"
Place = tuple[str, str]  # a file's path and a qualified name in it


@dataclass(slots=True)
class _Names:
    """Names and attributes that stand in code of a file, and texts that could be one; names and endings of files."""

    scope: Scope
    found: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)

    def take(self, nodes: Iterable[ast.AST]) -> None:
        pending = list(nodes)
        while pending:
            node = pending.pop()
            if isinstance(node, ast.Name):
                self.found.add(node.id)
            elif isinstance(node, ast.Attribute):
                self.found.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                self.found.update(_in_text(node.value))
                last = node.value[-_LONGEST:].rpartition("/")[2]
                if _FILE_NAME.fullmatch(last):
                    self.files.add(last)
            elif isinstance(node, ast.alias):
                self.found |= {node.name.rpartition(".")[2], *([node.asname] if node.asname else [])}
            pending += [child for child in children(node) if not self._is_harmless(node, child)]

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


def _in_text(text: str) -> Iterator[str]:
    """What a text may name: a name, a dotted one, types in quotes, a script that is run."""
    if text.isidentifier() or text == _AS_MODULE:
        yield text
        return
    yield from SCRIPT.findall(text)
    if len(text) <= _LONGEST and not set("./").issuperset(text) and not _SPACED.search(text):
        yield from _WORD.findall(text)


@dataclass(frozen=True, slots=True)
class Mentions:
    """Which names of a component stand where: `links` leads from each name that is defined to those in its definition,
    and from each file that can be run to those that run then.

    `imported` are the names in what runs when files are imported. `noted` are names that something may write down, to
    be found again without them: what a decorator mentions, and what it decorates; what one statement mentions.
    """

    places: Mapping[Place, frozenset[str]]
    links: Mapping[str, set[str]]
    imported: frozenset[str]
    noted: tuple[tuple[frozenset[str], frozenset[str]], ...]
    active: frozenset[Place]
    files: frozenset[str]  # names and endings of files that are mentioned

    @classmethod
    def of(cls, files: Sequence[Defined], scripts: Mapping[str, str] | None = None) -> Mentions:
        """From what files define; `scripts` are other files that may start them, by name, with their text."""
        places: dict[Place, frozenset[str]] = {}
        links: dict[str, set[str]] = {name: set(SCRIPT.findall(text)) for name, text in (scripts or {}).items()}
        hooked = any(map(_hooks, files))
        named: set[str] = set()
        for file in files:
            for name, nodes in file.nodes.items():
                mentioned = _names(file, chain.from_iterable(map(_mentioning, nodes)), named)
                # By its own name, or with the class around it: whoever gets an object may call its methods.
                places[file.source.path, name] = frozenset(name.split("."))
                for key in name.split("."):
                    links.setdefault(key, set()).update(mentioned)
            for name, bindings in file.scope.names.items():
                made = [binding.value or binding.node for binding in bindings if binding.origin is None]
                values = [node for node in made if not isinstance(node, (*FUNCTIONS, ast.ClassDef))]
                links.setdefault(name, set()).update(_names(file, values))
            for alias in _aliases(file):
                links.setdefault(alias.asname or "", set()).add(alias.name.rpartition(".")[2])
            links.setdefault(_script_of(file), set()).update(
                _names(file, file.loose, named), _names(file, _on_import(file), named)
            )
        imported = frozenset(chain.from_iterable(_names(file, _on_import(file)) for file in files))
        if _AS_MODULE in imported.union(*links.values()):
            for file in files:
                links.setdefault(PurePosixPath(file.source.path).stem, set()).add(_script_of(file))
        noted = tuple(pair for file in files for pair in _noted(file, hooked=hooked))
        active = frozenset((file.source.path, name) for file in files for name in file.active)
        return cls(places, links, imported, noted, active, frozenset(named))

    def by_score(self, starts: Iterable[str]) -> set[Place]:
        """The definitions that may run when functions with these names do, or when the files are imported."""
        known = self._names(self.imported.union(starts, *(names for _, names in self.noted)))
        return self._places(known) | self.active

    def by_measure(self, start: str) -> tuple[set[Place], set[str]]:
        """The definitions that may run when a function does, and the names on the way; what runs on import alone is
        found by what it leaves."""
        known = self._names({start})
        pending = list(self.noted)
        while found := [pair for pair in pending if self._names(pair[0]) & known & self.links.keys()]:
            pending = [pair for pair in pending if pair not in found]
            known |= self._names(frozenset().union(*(names for _, names in found)))
        return self._places(known), known

    def concerning(self, file: Defined, known: set[str]) -> list[ast.stmt]:
        """Statements outside of definitions that may change what functions with these names find."""
        if not known:
            return []
        if known & _DYNAMIC or _script_of(file) in known:
            return [*file.loose, *(part for _, part in file.inner)]
        telling = known & self.links.keys()
        found = []
        for node in (*file.loose, *(part for _, part in file.inner)):
            names = _names(file, node.orelse if isinstance(node, ast.If) and is_main(node.test) else [node])
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = {alias.asname or alias.name.partition(".")[0] for alias in node.names}
            if names & telling or "*" in names or names & _DYNAMIC:
                found.append(node)
        return found

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


def _names(file: Defined, nodes: Iterable[ast.AST], files: set[str] | None = None) -> set[str]:
    """Names in some nodes; those of files go to `files`."""
    names = _Names(file.scope)
    names.take(nodes)
    if files is not None:
        files |= names.files
    return names.found


def _aliases(file: Defined) -> Iterator[ast.alias]:
    """What is imported under another name, wherever that is."""
    for node in every_statement(file.source.tree.body):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias for alias in node.names if alias.asname)


def _script_of(file: Defined) -> str:
    return PurePosixPath(file.source.path).name


def _mentioning(node: FunctionNode | ast.ClassDef) -> list[ast.AST]:
    """Where a definition mentions what it needs; methods stand for themselves."""
    parts: list[ast.AST] = [*node.decorator_list]
    if isinstance(node, ast.ClassDef):
        return [*parts, *_own(node)]
    return [*parts, node.args, *([node.returns] if node.returns else []), *node.body]


def _on_import(file: Defined) -> Iterator[ast.AST]:
    """What mentions names when a file is imported; an import alone runs nothing of what it brings."""
    for node in file.source.tree.body:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)):
            continue
        if isinstance(node, ast.If) and is_main(node.test):
            yield from node.orelse
        else:
            yield node
    for nodes in file.nodes.values():
        for definition in nodes:
            yield from definition.decorator_list
            parts = _own(definition) if isinstance(definition, ast.ClassDef) else header(definition)
            yield from (part for part in parts if not isinstance(part, ast.ClassDef))


def _hooks(file: Defined) -> bool:
    """Whether a file makes classes that learn of each class that is made of them."""
    if any(name.endswith((".__init_subclass__", ".__set_name__")) for name in file.nodes):
        return True
    classes = (node for nodes in file.nodes.values() for node in nodes if isinstance(node, ast.ClassDef))
    return any(
        not neutral_origin(file.scope, part.value) or file.scope.dotted(part.value) == "builtins.type"
        for node in classes
        for part in node.keywords
        if part.arg in (None, "metaclass")
    )


def _noted(file: Defined, *, hooked: bool) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    for statement in file.loose:
        main = isinstance(statement, ast.If) and is_main(statement.test) and not statement.orelse
        if not main and not isinstance(statement, (ast.Import, ast.ImportFrom)):
            names = frozenset(_names(file, [statement]))
            yield names, names
    for owner, statement in file.inner:
        names = frozenset(_names(file, [statement]))
        yield names, names | {owner.rpartition(".")[2]}
    for name, nodes in file.nodes.items():
        for node in nodes:
            accessor = any(isinstance(part, ast.Attribute) and part.attr in _ACCESSORS for part in node.decorator_list)
            if not accessor and not all(neutral_origin(file.scope, part) for part in node.decorator_list):
                yield frozenset(_names(file, node.decorator_list)), frozenset({node.name})
            if name in file.active:
                parts = [*node.bases, *node.keywords] if isinstance(node, ast.ClassDef) else [*header(node)]
                names = frozenset(_names(file, parts))
                yield names, names | {node.name}
            if isinstance(node, ast.ClassDef) and (node.keywords or hooked or not _is_plain(file, node)):
                yield frozenset(_names(file, [*node.bases, *node.keywords])), frozenset({node.name})


def _is_plain(file: Defined, node: ast.ClassDef) -> bool:
    """Whether all bases are made in the component, or come from where nobody notes down which classes there are."""

    def is_own(base: ast.expr) -> bool:
        dotted = file.scope.dotted(base)
        made_here = dotted is None and isinstance(base, ast.Name) and base.id in file.scope.names
        return made_here or (dotted or "").startswith(".")

    return all(neutral_origin(file.scope, base) or is_own(base) for base in node.bases)


def _own(node: ast.ClassDef) -> list[ast.AST]:
    return [*node.bases, *node.keywords, *(part for part in node.body if not isinstance(part, FUNCTIONS))]
