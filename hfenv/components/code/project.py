"""The Python files of an environment as hfenv imports them: which module a relative import finds, where a name is made.

Every top folder is a package of its own: code sees env/ alone, the reward reward/ alone, policies audit/ and env/.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from hfenv.components.code.names import Binding, Scope, module_scope
from hfenv.components.code.source import Source

Module = tuple[str, ...]  # path of a module below the environment's folder: ("env", "words")
_MOST_HOPS = 200  # names looked at on the way to a definition


@dataclass(frozen=True, slots=True)
class Definition:
    """Where a name is made: its file, its name there, and the statement."""

    source: Source
    name: str
    binding: Binding

    @property
    def node(self) -> ast.AST:
        return self.binding.node


@dataclass(frozen=True, slots=True)
class Project:
    """Sources by path, and the paths of all Python files, those without a tree included.

    `parts` are the names of all files and folders among those, without `.py`.
    """

    sources: Mapping[str, Source]
    paths: Collection[str]
    folders: Collection[str]
    parts: Collection[str]
    _scopes: dict[str, Scope] = field(default_factory=dict)

    @classmethod
    def of(cls, sources: Mapping[str, Source], paths: Iterable[str]) -> Project:
        """From the trees there are, and the paths of all files of the environment."""
        python = frozenset(path for path in paths if path.endswith(".py"))
        folders = frozenset(str(folder) for path in python for folder in PurePosixPath(path).parents)
        parts = frozenset(part.removesuffix(".py") for path in python for part in path.split("/"))
        return cls(sources, python, folders, parts)

    def scope(self, source: Source) -> Scope:
        """What a file's top level binds; made once."""
        if source.path not in self._scopes:
            self._scopes[source.path] = module_scope(source.tree)
        return self._scopes[source.path]

    def file_of(self, module: Module) -> str | None:
        """The file of a module: `words.py` or `words/__init__.py`."""
        path = "/".join(module)
        return next((file for file in (f"{path}/__init__.py", f"{path}.py") if module and file in self.paths), None)

    def is_package(self, module: Module) -> bool:
        """Whether modules can be inside: a folder with Python files, or the environment's own."""
        return "/".join(module) in self.folders or not module

    def exists(self, module: Module) -> bool:
        return self.file_of(module) is not None or self.is_package(module)

    def absolute(self, path: str, level: int, module: str) -> Module | None:
        """The module that `from ..module` names in the file at `path`; None beyond the top."""
        package = tuple(path.split("/")[:-1])
        if level - 1 > len(package):
            return None
        base = package[: len(package) - (level - 1)]
        return (*base, *(part for part in module.split(".") if part))

    def target(self, path: str, dotted: str) -> tuple[Module, str | None] | None:
        """The module, and the name in it, that a dotted name with leading dots stands for in the file at `path`."""
        rest = dotted.lstrip(".")
        module = self.absolute(path, len(dotted) - len(rest), "")
        if module is None:
            return None
        for part in filter(None, rest.split(".")):
            if not self.exists((*module, part)):
                return module, part
            module = (*module, part)
        return module, None

    def definition(self, source: Source, name: str) -> Definition | None:
        """Where a top-level name of a file is made, followed through relative imports; None where that isn't seen."""
        return self._definition(source, name, set())

    def _definition(self, source: Source, name: str, seen: set[tuple[str, str]]) -> Definition | None:
        if (source.path, name) in seen or len(seen) > _MOST_HOPS:
            return None
        seen.add((source.path, name))
        found = self.scope(source).names.get(name)
        if not found:
            return self._starred(source, name, seen)
        last = next((binding for binding in reversed(found) if not binding.is_fallback), found[-1])
        if last.origin is None:
            alias = last.value
            if isinstance(alias, ast.Name) and alias.id in self.scope(source).names and alias.id != name:
                return self._definition(source, alias.id, seen)
            return Definition(source, name, last)
        return self._at(source, last.origin, seen)

    def look_up(self, source: Source, expression: ast.expr) -> Definition | None:
        """Where a name or a module's attribute on the top level of a file is made."""
        if isinstance(expression, ast.Name):
            return self.definition(source, expression.id)
        dotted = self.scope(source).dotted(expression)
        return self._at(source, dotted, set()) if dotted is not None else None

    def _at(self, source: Source, dotted: str, seen: set[tuple[str, str]]) -> Definition | None:
        target = self.target(source.path, dotted) if dotted.startswith(".") else None
        other = self.sources.get(self.file_of(target[0]) or "") if target is not None else None
        if target is None or target[1] is None or other is None:
            return None
        return self._definition(other, target[1], seen)

    def _starred(self, source: Source, name: str, seen: set[tuple[str, str]]) -> Definition | None:
        for other in self._star_files(source):
            if other is not None and (found := self._definition(other, name, seen)):
                return found
        return None

    def sees_all(self, source: Source) -> bool:
        """Whether a file's names are all known: it imports everything only from files of the environment's own."""
        pending: list[Source | None] = [source]
        seen: set[str] = set()
        while pending:
            one = pending.pop()
            if one is None or "__getattr__" in self.scope(one).names:
                return False
            if one.path not in seen:
                seen.add(one.path)
                pending += self._star_files(one)
        return True

    def _star_files(self, source: Source) -> Iterator[Source | None]:
        """Files of which one imports everything; None for what isn't the environment's own or has no tree."""
        for origin in self.stars(source):
            target = self.target(source.path, origin) if origin.startswith(".") else None
            yield self.sources.get(self.file_of(target[0]) or "") if target is not None else None

    def stars(self, source: Source) -> Iterator[str]:
        """Modules of which a file imports everything, as `json` or `.words`."""
        for binding in self.scope(source).names.get("*", ()):
            if binding.origin:
                yield binding.origin.removesuffix("*").rstrip(".") or binding.origin.removesuffix("*")
