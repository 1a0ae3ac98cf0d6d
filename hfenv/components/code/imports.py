"""Imports of an environment's Python files: siblings that are there, and packages that the card asks for."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

from hfenv.components.code.distributions import NEWER_OR_OLDER_STDLIB, brings, distribution_for, unaccounted
from hfenv.components.code.names import Scope
from hfenv.components.code.namespaces import is_shared, parts
from hfenv.components.code.project import Module, Project
from hfenv.components.code.source import Source
from hfenv.components.code.walk import Use, is_main, is_type_checking
from hfenv.findings import Finding

IMPORT_RULES = ("HFE413", "HFE414", "HFE415")
FOLDERS = ("env", "reward", "audit", "tasks")
# Policies are imported beside the code; the others see nothing but themselves.
_SEES: Mapping[str, tuple[str, ...]] = {
    "env": ("env",), "reward": ("reward",), "audit": ("audit", "env"), "tasks": ("tasks",),
}  # fmt: skip
_STDLIB = sys.stdlib_module_names | NEWER_OR_OLDER_STDLIB
_MOST_GUESSES = 500
_MOST_ALIKE = 60  # imports of a file that say the same: more than a report shows
_CATCHING = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


@dataclass(frozen=True, slots=True)
class Imported:
    """One import. `names` are those of `from module import names`; `level` counts the dots.

    `is_optional` says that the code goes on without it, `by_version` that a look at Python's version decides about it;
    what never runs when the file is imported is left out.
    """

    node: ast.AST
    module: str
    level: int = 0
    names: tuple[str, ...] = ()
    is_optional: bool = False
    by_version: bool = False


def imports_of(source: Source, scope: Scope) -> list[Imported]:
    """All imports of a file, those inside of functions included; of many that say the same, the first ones."""
    found: list[Imported] = []
    count: Counter[tuple[tuple[str, int, tuple[str, ...]], _When]] = Counter()
    lines = source.lines_with(("import",))
    if not lines.numbers:
        return found
    pending: list[tuple[ast.AST, _When]] = [(node, _ALWAYS) for node in reversed(source.tree.body)]
    while pending:
        node, when = pending.pop()
        if isinstance(node, ast.stmt) and not lines.touch(node):
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alike in _written(node):
                count[alike, when] += 1
                if count[alike, when] <= _MOST_ALIKE:
                    found.append(Imported(node, *alike, *when))
        else:
            pending += _inside(node, when, scope)[::-1]
    return found


def _written(node: ast.Import | ast.ImportFrom) -> list[tuple[str, int, tuple[str, ...]]]:
    """Module, level and names of what a statement imports."""
    if isinstance(node, ast.Import):
        return [(alias.name, 0, ()) for alias in node.names]
    return [(node.module or "", node.level, tuple(alias.name for alias in node.names))]


class _When(NamedTuple):
    """What decides whether an import takes place."""

    is_optional: bool = False
    by_version: bool = False


_ALWAYS = _When()


def _inside(node: ast.AST, when: _When, scope: Scope) -> Sequence[tuple[ast.AST, _When]]:
    body = getattr(node, "body", [])
    rest = [part for block in ("handlers", "orelse", "finalbody", "cases") for part in getattr(node, block, ())]
    if isinstance(node, ast.If) and (is_type_checking(node.test, scope) or is_main(node.test)):
        body = []
    elif isinstance(node, ast.If) and _asks_version(node.test, scope):
        when = when._replace(by_version=True)
    if isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
        guarded = any(_catches(handler) for handler in getattr(node, "handlers", ()))
        maybe = when._replace(is_optional=True) if guarded else when
        return [(part, maybe) for part in body] + [
            (part, maybe if isinstance(part, ast.ExceptHandler) else when) for part in rest
        ]
    with_items = node.items if isinstance(node, (ast.With, ast.AsyncWith)) else []
    if any(_suppresses(item.context_expr, scope) for item in with_items):
        when = when._replace(is_optional=True)
    if not isinstance(body, list):  # a lambda or a conditional expression
        return []
    return [(part, when) for part in (*body, *rest)]


def _asks_version(test: ast.expr, scope: Scope) -> bool:
    """Whether a condition looks at sys.version_info, by itself or by a name that is assigned such a look."""
    for part in ast.walk(test):
        if isinstance(part, (ast.Name, ast.Attribute)):
            if scope.dotted(part) in ("sys.version_info", "sys.hexversion", "platform.python_version_tuple"):
                return True
            value = scope.literal(part.id) if isinstance(part, ast.Name) else None
            looks = [one for one in ast.walk(value) if isinstance(one, (ast.Name, ast.Attribute))] if value else []
            if any(scope.dotted(one) == "sys.version_info" for one in looks):
                return True
    return False


def _catches(handler: ast.ExceptHandler) -> bool:
    caught = handler.type
    kinds = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id in _CATCHING) for kind in kinds)


def _suppresses(call: ast.expr, scope: Scope) -> bool:
    if not isinstance(call, ast.Call) or scope.dotted(call.func) != "contextlib.suppress":
        return False
    return any(isinstance(kind, ast.Name) and kind.id in _CATCHING for kind in call.args)


def dynamic_import(use: Use) -> Imported | None:
    """`importlib.import_module("numpy")` as the import that it is."""
    if use.dotted not in ("importlib.import_module", "builtins.__import__") or use.call is None or not use.call.args:
        return None
    name = use.call.args[0]
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str) or name.value.startswith("."):
        return None
    return Imported(use.node, name.value)


def reached_files(project: Project, imported: Mapping[str, list[Imported]], entries: Iterable[str]) -> set[str]:
    """Files that the entries import, whether relatively or, by mistake, absolutely; the entries included."""
    reached: set[str] = set()
    pending = [path for path in entries if path in project.sources]
    while pending:
        path = pending.pop()
        if path in reached:
            continue
        reached.add(path)
        for one in imported.get(path, ()):
            modules = [_module(project, path, one)] if one.level else [_sibling(project, path, one.module)]
            for module in filter(None, modules):
                names = [(*module, name) for name in one.names]
                parents = [module[:end] for end in range(1, len(module))]
                files = [project.file_of(name) or "" for name in (module, *names, *parents)]
                pending += [file for file in files if file in project.sources]
    return reached


def check_relative(project: Project, source: Source, imported: Iterable[Imported]) -> Iterator[Finding]:
    """Relative imports that certainly fail: a module that isn't there, or a name that it doesn't have."""
    for one in imported:
        if one.level and not one.is_optional:
            yield from _relative(project, source, one)


def _relative(project: Project, source: Source, one: Imported) -> Iterator[Finding]:
    written = "." * one.level + one.module
    module = _module(project, source.path, one)
    if module is None:
        message = f"'from {written} import' goes beyond the environment's folder"
        yield source.finding("HFE413", one.node, message, "Import from the file's own folder.")
        return
    sees = _SEES.get(source.folder, (source.folder,))
    for part in [module] if module else [(name,) for name in one.names]:
        if part[0] not in sees:
            yield source.finding("HFE413", one.node, *_out_of_sight(source.folder, part[0]))
        elif not project.exists(part) and not _makes_modules(project, part):
            path = "/".join(part)
            message = f"'from {written} import' finds no {path}.py"
            yield source.finding("HFE413", one.node, message, _near(part[-1], _siblings(project, part[:-1]), "module"))
        elif module and project.exists(part):
            yield from _names(project, source, one, module)


def _makes_modules(project: Project, module: Module) -> bool:
    """Whether a package around a module may put it into sys.modules itself."""
    files = [project.file_of(module[:end]) or "" for end in range(1, len(module))]
    return any("sys.modules" in project.sources[file].text for file in files if file in project.sources)


def _names(project: Project, source: Source, one: Imported, module: Module) -> Iterator[Finding]:
    path = project.file_of(module)
    target = project.sources.get(path) if path else None
    if path is not None and target is None:
        return  # it has its own finding
    bound = set(project.scope(target).names) if target is not None else set()
    if "*" in bound or "__getattr__" in bound:
        return
    for name in one.names:
        if name == "*" or name in bound or project.exists((*module, name)):
            continue
        if target is not None and (re.fullmatch(r"__\w+__", name) or _may_bind(target, name)):
            continue
        where = path or f"{'/'.join(module)}/"
        fix = _near(name, [*bound, *_siblings(project, module)], "name")
        yield source.finding("HFE413", one.node, f"{where} defines no '{name}'", fix)


def _may_bind(target: Source, name: str) -> bool:
    """Whether a file may give itself a name in a way that its statements don't show."""
    if "globals()" in target.text or "sys.modules" in target.text:
        return True
    return re.search(rf"\bglobal\b[^\n]*\b{re.escape(name)}\b|\b{re.escape(name)}\s*:=", target.text) is not None


def check_siblings(
    project: Project, source: Source, imported: Iterable[Imported], declared: Iterable[str]
) -> Iterator[Finding]:
    """Absolute imports of the environment's own modules, which nothing can find when it is loaded."""
    known = set(declared)
    for one in imported:
        if one.level or one.is_optional:
            continue
        module = _sibling(project, source.path, one.module)
        top = one.module.partition(".")[0]
        if module is None or brings(top, one.module, known):
            continue
        if module[0] not in _SEES.get(source.folder, (source.folder,)):
            yield source.finding("HFE414", one.node, *_out_of_sight(source.folder, module[0]))
            continue
        message = (
            f"'{one.module}' is a file of the environment, which an absolute import doesn't find when it is loaded"
        )
        yield source.finding("HFE414", one.node, message, f"Write '{_relatively(source.path, module, one)}'.")


def _relatively(path: str, module: Module, one: Imported) -> str:
    package = tuple(path.split("/")[:-1])
    common = next((n for n in range(min(len(package), len(module)), -1, -1) if package[:n] == module[:n]), 0)
    dots = "." * (len(package) - common + 1)
    rest = module[common:]
    if one.names:
        return f"from {dots}{'.'.join(rest)} import {', '.join(one.names)}"
    if not rest:
        return f"from {dots}. import {module[-1]}"
    return f"from {dots}{'.'.join(rest[:-1])} import {rest[-1]}"


def _out_of_sight(folder: str, other: str) -> tuple[str, str]:
    if other in FOLDERS and folder in FOLDERS:
        message = f"{folder}/ is imported without {other}/, since the two are versioned apart"
        return message, f"Copy what is needed into {folder}/, or hand it over in the outcome's data."
    return f"'{other}' isn't in {folder}/, and nothing else of the environment is imported", f"Move it into {folder}/."


def check_declared(
    project: Project, imported: Mapping[str, list[Imported]], declared: frozenset[str]
) -> Iterator[Finding]:
    """The first import of each package that the card doesn't ask for."""
    first: dict[str, tuple[str, Imported]] = {}
    count: Counter[str] = Counter()
    modules: set[str] = set()
    for path, one in [(path, one) for path, found in sorted(imported.items()) for one in found]:
        top = one.module.partition(".")[0]
        if one.level or not top or top in _STDLIB or top == "hfenv" or _sibling(project, path, one.module) is not None:
            continue
        for name in parts(one.module, one.names) if is_shared(top) else (top,):
            modules.add(name)
            if not one.is_optional and not brings(top, name if is_shared(top) else one.module, declared):
                first.setdefault(name, (path, one))
                count[name] += 1
    left = unaccounted(modules, declared)
    asked: set[str] = set()
    for name, (path, one) in first.items():
        if (distribution := distribution_for(name, left)) is None or distribution in asked:
            continue
        asked.add(distribution)
        more = count[name] - 1
        times = f"{more} more time{'s' if more > 1 else ''}" if more < _MOST_ALIKE - 1 else "many more times"
        also = f" and {times}" if more else ""
        message = f"'{name}' is imported here{also}, and the card doesn't ask for it"
        fix = f"Add {distribution} to environment.requires.packages, with the version that you use."
        yield project.sources[path].finding("HFE415", one.node, message, fix)


def _module(project: Project, path: str, one: Imported) -> Module | None:
    return project.absolute(path, one.level, one.module)


def _sibling(project: Project, path: str, module: str) -> Module | None:
    """The environment's own module that an absolute import means: beside the file, or in a folder above it."""
    top, *rest = module.split(".")
    if top not in project.parts or top in _STDLIB or top == "hfenv":
        return None
    folders = path.split("/")[:-1]
    for depth in range(len(folders), -1, -1):
        found = (*folders[:depth], top)
        file = project.file_of(found)
        if file is None and not (project.is_package(found) and (depth or top in FOLDERS or rest)):
            continue
        # `import chess` in a file named chess.py means the package.
        if file != path and (depth or top in FOLDERS or project.exists((*found, *rest[:1]))):
            return (*found, *rest)
    return None


def _siblings(project: Project, package: Module) -> list[str]:
    prefix = "".join(f"{part}/" for part in package)
    below = (path[len(prefix) :].split("/")[0] for path in project.paths if path.startswith(prefix))
    return sorted({name.removesuffix(".py") for name in below} - {"__init__"})


def _near(name: str, known: Iterable[str], what: str) -> str:
    near = get_close_matches(name, sorted(set(known))[:_MOST_GUESSES], n=1)
    return f"Did you mean '{near[0]}'?" if near else f"Correct the {what}'s name, or add it."


def is_test(path: str) -> bool:
    """Whether a file is a test by its name: hfenv never imports it unless another file does."""
    *folders, name = path.split("/")
    return name == "conftest.py" or name.startswith("test_") or name.endswith("_test.py") or "tests" in folders
