"""Checks of Python files by their syntax tree: nothing is imported, no code of the author's runs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from hfenv.card.declared import Declared, Entry
from hfenv.card.reader import Card
from hfenv.components.code.call_rules import ENV_CHANCE, REWARD_RULES, TRUST_RULES
from hfenv.components.code.calls import (
    API_RULES,
    Judged,
    changes_path,
    check_api,
    check_chance,
    check_reward,
    check_trust,
    uses_of,
)
from hfenv.components.code.contract import check_environment
from hfenv.components.code.functions import check_generator, check_policies, check_reward_functions
from hfenv.components.code.imports import (
    FOLDERS,
    IMPORT_RULES,
    Imported,
    check_declared,
    check_relative,
    check_siblings,
    dynamic_import,
    imports_of,
    is_test,
    reached_files,
)
from hfenv.components.code.project import Project
from hfenv.components.code.requires import (
    REQUIRES_RULES,
    allowed_pythons,
    check_requires,
    declared_names,
    oldest_python,
)
from hfenv.components.code.shapes import class_view
from hfenv.components.code.source import SYNTAX_RULES, Parsed, Source, parse_files, without_collector
from hfenv.components.code.stdlib import STDLIB_RULES, check_stdlib
from hfenv.components.ownership import FileEntry
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

__all__ = [
    "CODE_RULES", "REQUIRES_RULES", "SYNTAX_RULES", "Parsed", "check_code", "check_requires", "oldest_python",
    "parse_files",
]  # fmt: skip

# Rules about an entry need its tree; those about files are about all that hfenv may import.
_ENVIRONMENT_RULES = ("HFE403", "HFE409", "HFE410", "HFE417")
_SCORE_RULES = ("HFE404", "HFE405")
_BOTH_RULES = ("HFE402", "HFE408", "HFE416")
_FILE_RULES = (*API_RULES, *IMPORT_RULES, ENV_CHANCE, *TRUST_RULES, *STDLIB_RULES)
CODE_RULES = (*_BOTH_RULES, *_ENVIRONMENT_RULES, *_SCORE_RULES, "HFE411", "HFE430", *REWARD_RULES, *_FILE_RULES)
_MOST = 50  # findings of one kind in a file
_DEFINING = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class _Files:
    """The files that hfenv may import, with what each imports and uses."""

    project: Project
    sources: Sequence[Source]
    imports: dict[str, list[Imported]]
    uses: dict[str, list[Judged]]


def check_code(
    card: Card, declared: Declared, parsed: Parsed, files: Iterable[FileEntry]
) -> Iterator[tuple[tuple[str, ...], list[Finding]]]:
    """Findings by the rules that stand behind them; rules whose entry has no tree to look at are not among those."""
    with without_collector():
        yield from _check_code(card, declared, parsed, files)


def _check_code(
    card: Card, declared: Declared, parsed: Parsed, files: Iterable[FileEntry]
) -> Iterator[tuple[tuple[str, ...], list[Finding]]]:
    project = Project.of(parsed.sources, (file.path for file in files))
    known = _files(project, declared)
    code = declared.code_entry if declared.code_entry and declared.code_entry.path in project.sources else None
    reward = declared.reward_entry if declared.reward_entry and not declared.builtin else None
    reward = reward if reward is not None and reward.path in project.sources else None
    if code is not None:
        definition = project.definition(project.sources[code.path], code.name)
        found = list(_some(check_environment(card, declared, project, definition))) if definition is not None else []
        yield _ENVIRONMENT_RULES, found
    if reward is not None or declared.builtin:
        yield _SCORE_RULES, list(_some(_reward(project, reward, declared)))
        yield REWARD_RULES, list(_pure(known, reward))
    yield ("HFE411",), list(_some(check_policies(card, declared, project)))
    yield ("HFE430",), list(_some(check_generator(declared, project)))
    exists = [finding for entry in _entries(declared) for finding in _exists(card, project, entry)]
    judged = code is not None and (reward is not None or declared.builtin)
    yield _BOTH_RULES if judged else (), exists
    yield _FILE_RULES, list(_all_files(card, known))


def _entries(declared: Declared) -> Iterator[Entry]:
    reward = None if declared.builtin else declared.reward_entry
    for entry in (declared.code_entry, reward, declared.generator, *declared.policies):
        if entry is not None:
            yield entry


def _files(project: Project, declared: Declared) -> _Files:
    """All of env/ and reward/ but their tests, the files of policies and generator, and whatever these import."""
    imports = {
        path: imports_of(source, project.scope(source))
        for path, source in project.sources.items()
        if source.folder in FOLDERS and "/" in path
    }
    chosen = [path for path in imports if path.startswith(("env/", "reward/")) and not is_test(path)]
    reached = reached_files(project, imports, [*chosen, *(entry.path for entry in _entries(declared))])
    sources = [project.sources[path] for path in sorted(reached) if path in imports]
    uses = {source.path: uses_of(project, source, [one.node for one in imports[source.path]]) for source in sources}
    for path, found in uses.items():
        imports[path] += [one for judged in found if (one := dynamic_import(judged.use)) is not None]
    return _Files(project, sources, {source.path: imports[source.path] for source in sources}, uses)


def _all_files(card: Card, known: _Files) -> Iterator[Finding]:
    project, names, pythons = known.project, declared_names(card), allowed_pythons(card)
    # Where a file adds folders to import from, absolute imports may work: that has a finding of its own.
    patched = {source.folder for source in known.sources if changes_path(known.uses[source.path])}
    seeded = card.block.get("determinism") != "stochastic"
    for source in known.sources:
        imported, uses = known.imports[source.path], known.uses[source.path]
        yield from _some(check_relative(project, source, imported))
        if source.folder not in patched:
            yield from _some(check_siblings(project, source, imported, names))
        yield from _some(check_stdlib(source, imported, pythons, names))
        yield from _some(check_api(source, project, uses))
        yield from _each(TRUST_RULES, check_trust(source, uses))
        # Tasks are drawn from their seeds even where episodes aren't.
        if (seeded and source.folder == "env") or source.folder == "tasks":
            yield from _some(check_chance(source, uses))
    yield from _some(check_declared(project, known.imports, names))


def _reward(project: Project, entry: Entry | None, declared: Declared) -> Iterator[Finding]:
    if entry is not None:
        found = project.definition(project.sources[entry.path], entry.name)
        yield from check_reward_functions(project, entry, declared, found)


def _pure(known: _Files, entry: Entry | None) -> Iterator[Finding]:
    if entry is not None:
        uses = {path: found for path, found in known.uses.items() if path.startswith("reward/")}
        starts = [(entry.path, entry.name), (entry.path, "score_group")]
        yield from _each(REWARD_RULES, check_reward(known.project, uses, starts))


def _each(rules: Iterable[str], findings: Iterable[Finding]) -> Iterator[Finding]:
    """The first findings of each rule: many of one hide none of another."""
    found = list(findings)
    for rule in rules:
        yield from _some(finding for finding in found if finding.rule == rule)


def _some(findings: Iterator[Finding]) -> Iterator[Finding]:
    """The first findings of a kind, so that a file of nothing else can't fill a report, or take all day."""
    last = None
    for count, finding in enumerate(findings):
        if count == _MOST:
            last = None if last is None else replace(last, message=f"{last.message}, and more follow")
            break
        if last is not None:
            yield last
        last = finding
    if last is not None:
        yield last


def _exists(card: Card, project: Project, entry: Entry) -> Iterator[Finding]:
    """The entry's name is there, and is no mere constant."""
    source = project.sources.get(entry.path)
    if source is None:
        return  # a missing file, or one without a tree, has its own finding
    names = project.scope(source).names
    found = names.get(entry.name, [])
    if not found and (not project.sees_all(source) or project.definition(source, entry.name) is not None):
        return
    if not found:
        defined = [
            name
            for name, bindings in names.items()
            if isinstance(bindings[-1].node, _DEFINING) and not name.startswith("_")
        ]
        fix = f"Defined there: {', '.join(defined[:8])}." if defined else "Define it there, or correct the entry."
        yield _on_card(card, entry, f"{entry.path} defines no '{entry.name}'", fix)
    elif len(found) == 1 and _is_not_callable(project, source, found[0].value):
        message = f"'{entry.name}' in {entry.path} is neither a class nor a function"
        yield _on_card(card, entry, message, "Name a class or a function.")
    if "." in entry.path.removesuffix(".py"):
        message = f"{entry.path} can't be imported, since its path has a dot before .py"
        yield _on_card(card, entry, message, "Rename the file or folder.")


def _is_not_callable(project: Project, source: Source, value: ast.expr | None) -> bool:
    """Whether this is data, or an instance of a class that has no __call__."""
    if isinstance(value, ast.Call):
        made = project.look_up(source, value.func)
        view = class_view(project, made) if made is not None else None
        return view is not None and view.is_whole and "__call__" not in view.methods
    return isinstance(value, (ast.Constant, ast.Dict, ast.List, ast.Tuple, ast.JoinedStr))


def _on_card(card: Card, entry: Entry, message: str, fix: str) -> Finding:
    at = card.place(entry.pointer)
    return Finding("HFE402", severity("HFE402"), card.path, message, entry.pointer, at.line, at.column, fix)
