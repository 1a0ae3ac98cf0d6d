"""Checks of Python files by their syntax tree: nothing is imported, no code of the author's runs."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hfenv.card.declared import Declared, Entry
from hfenv.card.reader import Card
from hfenv.components.ownership import FileEntry
from hfenv.components.python_shapes import (
    accepts,
    bindings,
    class_methods,
    imports_everything,
    is_decorated,
    takes_keyword,
)
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

SYNTAX_RULES = ("HFE401",)
SHAPE_RULES = ("HFE402", "HFE403", "HFE404", "HFE405")
# Bases whose methods are known: hfenv's own, gymnasium's, and those of the standard library that bring none.
_KNOWN_BASES = frozenset({"Environment", "TaskEnvironment", "ToolEnvironment", "Env", "object", "ABC", "Generic"})
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


def parse_files(root: Path, files: Sequence[FileEntry]) -> tuple[dict[str, ast.Module], list[Finding]]:
    """The syntax trees of all Python files by path, and a finding for each that has none."""
    trees: dict[str, ast.Module] = {}
    findings = []
    for file in files:
        if not file.path.endswith(".py"):
            continue
        try:
            with warnings.catch_warnings():
                # Python warns about odd escapes while parsing; that isn't what is asked here.
                warnings.simplefilter("ignore")
                trees[file.path] = ast.parse((root / file.path).read_bytes())
        except SyntaxError as error:
            message = f"Python can't parse this: {error.msg}"
            line, column = error.lineno or 0, max(error.offset or 0, 1)
            findings.append(_in_file(file.path, "HFE401", message, "Correct the syntax.", line, column))
        except (ValueError, RecursionError, MemoryError, OSError) as error:
            reason = str(error) or "nested too deeply"
            findings.append(_in_file(file.path, "HFE401", f"Python can't parse this: {reason}", "Correct the file."))
    return trees, findings


def check_shapes(card: Card, declared: Declared, trees: Mapping[str, ast.Module]) -> Iterator[Finding]:
    """Entries exist and have the shape that the runtime calls; files without a tree have their finding elsewhere."""
    for entry in (declared.code_entry, None if declared.builtin else declared.reward_entry, *declared.policies):
        if entry is not None and (tree := trees.get(entry.path)) is not None:
            yield from _exists(card, entry, tree)
    if (entry := declared.code_entry) is not None and entry.path in trees:
        tree = trees[entry.path]
        node = bindings(tree).get(entry.name)
        if isinstance(node, ast.ClassDef):
            yield from _environment(entry.path, node, tree)
    if not declared.builtin and (entry := declared.reward_entry) is not None and entry.path in trees:
        yield from _reward(entry, trees[entry.path], declared.scope)


def _exists(card: Card, entry: Entry, tree: ast.Module) -> Iterator[Finding]:
    names = bindings(tree)
    if entry.name in names or imports_everything(tree) or "__getattr__" in names:
        return
    at = card.place(entry.pointer)
    kinds = (ast.ClassDef, *_Function)
    defined = [name for name, node in names.items() if isinstance(node, kinds) and not name.startswith("_")]
    fix = f"Defined there: {', '.join(defined[:8])}." if defined else "Define it there, or correct the entry."
    message = f"{entry.path} defines no '{entry.name}'"
    yield Finding("HFE402", severity("HFE402"), card.path, message, entry.pointer, at.line, at.column, fix)


def _environment(path: str, node: ast.ClassDef, tree: ast.Module) -> Iterator[Finding]:
    methods, roots = class_methods(node, tree)
    if roots - _KNOWN_BASES:
        # A base class from elsewhere may bring what is missing here: only what is written here is judged.
        wanted = []
    elif "ToolEnvironment" in roots:
        wanted = ["start"]
    elif "TaskEnvironment" in roots or (not roots and {"start", "execute"} & methods.keys()):
        wanted = ["start", "execute"]
    else:
        # hfenv's Environment and gymnasium's Env bring close(); a class without a base has to write it.
        wanted = ["reset", "step"] if {"Environment", "Env"} & roots else ["reset", "step", "close"]
    missing = [name for name in wanted if name not in methods]
    if missing:
        message = f"the class {node.name} has no {' and no '.join(f'{name}()' for name in missing)}"
        fix = (
            "Write it; `start` and `execute` belong to hfenv.TaskEnvironment, `reset` and `step` to hfenv.Environment."
        )
        yield _at(path, "HFE403", node, message, fix)
    for name, arguments in (("start", "task, rng"), ("execute", "action"), ("step", "action")):
        method = methods.get(name)
        count = arguments.count(",") + 1
        if isinstance(method, _Function) and not is_decorated(method) and not accepts(method, count + 1):
            call = f"{name}(self, {arguments})"
            yield _at(path, "HFE403", method, f"{name} can't be called as {call}", f"Write def {call}.")
    reset = methods.get("reset")
    if isinstance(reset, _Function) and not is_decorated(reset) and not takes_keyword(reset, "seed"):
        message = "reset takes no seed, so that episodes can't be repeated"
        yield _at(path, "HFE403", reset, message, "Write def reset(self, *, seed=None, task_id=None, options=None).")


def _reward(entry: Entry, tree: ast.Module, scope: str) -> Iterator[Finding]:
    names = bindings(tree)
    path = entry.path
    yield from _function(path, names.get(entry.name), entry.name, "task, transcript")
    group = names.get("score_group")
    if scope == "group" and group is None and not imports_everything(tree):
        message = f"reward.scope is group, but {path} defines no score_group"
        yield _in_file(path, "HFE404", message, "Write def score_group(task, transcripts), a score for each.", 1, 1)
    yield from _function(path, group, "score_group", "task, transcripts")
    measure = names.get("measure")
    if isinstance(measure, _Function) and not is_decorated(measure) and not accepts(measure, 3):
        message = "measure doesn't take (task, transcript, context)"
        yield _at(path, "HFE405", measure, message, "Write def measure(task, transcript, context).")


def _function(path: str, node: ast.AST | None, name: str, arguments: str) -> Iterator[Finding]:
    if isinstance(node, ast.AsyncFunctionDef):
        fix = "Write a plain def; what has to wait for something belongs into measure."
        yield _at(path, "HFE404", node, f"{name} is async, and a score is pure", fix)
    elif isinstance(node, ast.ClassDef):
        yield _at(path, "HFE404", node, f"{name} is a class, not a function", f"Write def {name}({arguments}).")
    elif isinstance(node, ast.FunctionDef) and not is_decorated(node) and not accepts(node, 2):
        yield _at(path, "HFE404", node, f"{name} doesn't take ({arguments})", f"Write def {name}({arguments}).")


def _at(path: str, rule: str, node: ast.stmt, message: str, fix: str) -> Finding:
    return _in_file(path, rule, message, fix, node.lineno, node.col_offset + 1)


def _in_file(path: str, rule: str, message: str, fix: str, *at: int) -> Finding:
    line, column = at or (0, 0)
    return Finding(rule, severity(rule), path, message, line=line, column=column, fix=fix)
