"""What a function reaches: top-level definitions of a component that it, or what it uses, may call."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from hfenv.components.code.names import Scope, bindings_of
from hfenv.components.code.project import Project
from hfenv.components.code.source import Source
from hfenv.components.code.walk import is_main

Place = tuple[str, str]  # a file's path and a top-level name in it


@dataclass(frozen=True, slots=True)
class Reach:
    """Top-level definitions that are reached, and files of which any is: those run as a whole when imported."""

    names: set[Place] = field(default_factory=set)
    files: set[str] = field(default_factory=set)


def reach_of(project: Project, starts: Iterable[Place]) -> Reach:
    """Follow every name that a definition mentions, whether it calls it or passes it on; classes count as wholes."""
    reach = Reach()
    pending = list(starts)
    while pending:
        place = pending.pop()
        source = project.sources.get(place[0])
        if source is None or place in reach.names:
            continue
        reach.names.add(place)
        if source.path not in reach.files:
            reach.files.add(source.path)
            pending += [other for node in _side_effects(source) for other in _mentioned(project, source, node)]
        for binding in project.scope(source).names.get(place[1], ()):
            if binding.origin is not None:
                pending += _behind(project, source, binding.origin)
            elif isinstance(binding.node, (ast.ExceptHandler, ast.match_case)):
                continue
            else:
                pending += _mentioned(project, source, binding.node)
        if place[1] not in project.scope(source).names:
            pending += [(path, place[1]) for path in _starred(project, source)]
    return reach


def _mentioned(project: Project, source: Source, node: ast.AST) -> Iterator[Place]:
    nodes = list(ast.walk(node))
    # Imports inside of functions: what they bind there is looked at as if it were bound on the top level.
    local = bindings_of(part for part in nodes if isinstance(part, (ast.Import, ast.ImportFrom)))
    scope = Scope(local, project.scope(source)) if local else project.scope(source)
    for part in nodes:
        if isinstance(part, ast.Name):
            if part.id in local:
                yield from _behind(project, source, scope.origin(part.id) or "")
            elif part.id in project.scope(source).names or "*" in project.scope(source).names:
                yield source.path, part.id
        elif isinstance(part, ast.Attribute):
            yield from _behind(project, source, scope.dotted(part) or "")


def _behind(project: Project, source: Source, dotted: str) -> Iterator[Place]:
    target = project.target(source.path, dotted) if dotted.startswith(".") else None
    file = project.file_of(target[0]) if target is not None else None
    if target is not None and file is not None and target[1] is not None:
        yield file, target[1]


def _starred(project: Project, source: Source) -> Iterator[str]:
    for origin in project.stars(source):
        target = project.target(source.path, origin) if origin.startswith(".") else None
        if target is not None and (file := project.file_of(target[0])) is not None:
            yield file


def _side_effects(source: Source) -> Iterator[ast.stmt]:
    """Statements of the top level that bind nothing that could be asked for: they run in any case."""
    for node in source.tree.body:
        if isinstance(node, ast.Expr) or (isinstance(node, (ast.If, ast.For, ast.While)) and not _is_main(node)):
            yield node


def _is_main(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and is_main(node.test)
