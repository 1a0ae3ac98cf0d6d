"""Checks of an environment's files: what the card names is there, and everything that is there can be stored."""

from __future__ import annotations

import ast
import fnmatch
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from hfenv.card.declared import Declared, Entry
from hfenv.card.reader import Card
from hfenv.card.regular import open_regular
from hfenv.components.code.source import Parsed
from hfenv.components.ownership import CARD_NAME, RECORD_NAME, Component, FileEntry, PathProblem
from hfenv.components.taskfiles import split_files
from hfenv.errors import NotFoundError
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

FILE_RULES = ("HFE203", "HFE204", "HFE206")
_A_CLASS = "a class"
_ENTRIES = (
    (Component.CODE, "env/environment.py", _A_CLASS),
    (Component.REWARD, "reward/reward.py", "a function named score"),
)
TEXT_RULES = ("HFE208", "HFE209")
NAMED_RULES = ("HFE201", "HFE202")
# Files in which a carriage return is an accident, and how much of one is looked at.
_TEXTS = (".py", ".md", ".jsonl", ".json", ".yaml", ".yml", ".toml", ".txt", ".sql", ".cfg", ".ini", ".sh", ".jinja")
_LOOKED_AT = 4 << 20
# Files of no component that have a meaning all the same.
_KNOWN_FOLDERS = frozenset({"changelog", "audit", "tests", "docs", "assets", "scripts", ".github"})
_KNOWN_FILES = (
    CARD_NAME, RECORD_NAME, "LICENSE*", "NOTICE*", "CITATION.cff", "CONTRIBUTING.md", "CHANGELOG.md", "Dockerfile",
    ".dockerignore", ".gitattributes", ".gitignore", ".hfenvignore", ".editorconfig", ".pre-commit-config.yaml",
    "hfenv*.json", "hfenv*.sarif", "hfenv*.xml", "hfenv*.html",  # what hfenv itself writes
    "Makefile", "pyproject.toml", "requirements*.txt", "conftest.py", "pytest.ini",
)  # fmt: skip


def check_files(
    files: Sequence[FileEntry], problems: Sequence[PathProblem], declared: Declared | None
) -> Iterator[Finding]:
    """What the files alone show; `declared` is None where the card can't be read."""
    for problem in problems:
        fix = "Remove it, rename it, or name it in .hfenvignore."
        yield Finding("HFE203", severity("HFE203"), problem.path, problem.message.rstrip("."), fix=fix)
    yield from _unowned(files)
    owners = {file.component for file in files}
    for component in Component:
        if component not in owners and not _is_named(component, declared):
            doubt = " (needed unless the card says reward.builtin)" if component is Component.REWARD else ""
            message = f"there is no file in {component.folder}/, the folder of the {component.value} component{doubt}"
            yield Finding("HFE206", severity("HFE206"), component.folder, message, fix=f"Add the {component.value}.")


def check_without_card(files: Sequence[FileEntry], parsed: Parsed) -> Iterator[Finding]:
    """Where no card names the entries: each folder has a file that could hold one, by its usual name or by what it
    defines."""
    for component, usual, wanted in _ENTRIES:
        own = [file.path for file in files if file.component is component]
        if not own or usual in own or any(_defines(parsed, path, wanted) for path in own):
            continue
        message = f"there is no {usual} and no other file in {component.folder}/ that defines {wanted}"
        fix = f"Add the {component.value}; the card's {component.value}.entry names it."
        yield Finding("HFE206", severity("HFE206"), component.folder, message, fix=fix)


def _defines(parsed: Parsed, path: str, wanted: str) -> bool:
    """Whether a Python file could hold the entry; one that can't be parsed is given the benefit of the doubt."""
    if not path.endswith(".py"):
        return False
    source = parsed.sources.get(path)
    if source is None:
        return True
    kind = ast.ClassDef if wanted == _A_CLASS else ast.FunctionDef
    return any(isinstance(node, kind) and (kind is ast.ClassDef or "score" in node.name) for node in source.tree.body)


def _is_named(component: Component, declared: Declared | None) -> bool:
    """Whether the card names files of a component, so that a missing one is found at its place on the card."""
    if declared is None:
        return False
    if component is Component.REWARD:
        return declared.builtin or declared.reward_entry is not None
    return declared.code_entry is not None if component is Component.CODE else bool(declared.split_patterns)


def _unowned(files: Sequence[FileEntry]) -> Iterator[Finding]:
    counts: dict[str, int] = {}
    for file in files:
        top, slash, _ = file.path.partition("/")
        known = top in _KNOWN_FOLDERS if slash else any(fnmatch.fnmatchcase(top, known) for known in _KNOWN_FILES)
        if file.component is None and not known:
            counts[top + slash] = counts.get(top + slash, 0) + 1
    for top, count in counts.items():
        what = f"the {count} files in {top} belong" if count > 1 else f"{top} belongs"
        fix = "Name it in .hfenvignore if it isn't meant to be pushed."
        yield Finding("HFE204", severity("HFE204"), top.rstrip("/"), f"{what} to no component", fix=fix)


def check_texts(root: Path, files: Sequence[FileEntry]) -> Iterator[Finding]:
    """Names in a form that other systems write differently, and line ends that differ between machines."""
    for file in files:
        composed = unicodedata.normalize("NFC", file.path)
        if composed != file.path:
            message = f"the name {file.path} is in decomposed Unicode, which looks the same and is another name"
            fix = f"Rename it to {composed}, typed anew."
            yield Finding("HFE208", severity("HFE208"), file.path, message, fix=fix)
        if file.component is not None and file.path.endswith(_TEXTS):
            yield from _line_ends(root / file.path, file.path)


def _line_ends(file: Path, path: str) -> Iterator[Finding]:
    try:
        with open_regular(file) as stream:
            content = stream.read(_LOOKED_AT)
    except OSError:
        return  # the walk has hashed it, so that it was there: a file in motion is the walk's matter
    returns = content.count(b"\r\n")
    if returns:
        line = content.count(b"\n", 0, content.find(b"\r\n")) + 1
        some = "some lines end" if returns < content.count(b"\n") else "its lines end"
        message = f"{some} with CRLF, which a checkout elsewhere turns into LF: another digest, and so another version"
        fix = "Save it with LF, and put '* text=auto eol=lf' into .gitattributes."
        yield Finding("HFE209", severity("HFE209"), path, message, line=line, column=1, fix=fix)


def check_named(root: Path, files: Sequence[FileEntry], card: Card, declared: Declared) -> Iterator[Finding]:
    """Files that the card names: entries, policies, splits and resources with a path."""
    stored = {file.path for file in files}
    reward = None if declared.builtin else declared.reward_entry
    entries: list[Entry] = [
        entry for entry in (declared.code_entry, reward, declared.generator, *declared.policies) if entry is not None
    ]
    for pointer, path in [
        *((entry.pointer, entry.path) for entry in entries),
        *((item.pointer, item.path) for item in declared.resources if item.path is not None),
    ]:
        if path not in stored:
            yield _absent(card, "HFE201", pointer, path, exists=(root / path).is_file())
    for item in declared.split_patterns:
        pattern = str(item.path)
        if pattern in stored:
            continue
        try:
            matches = [match.relative_to(root).as_posix() for match in split_files(root, [pattern])]
        except NotFoundError:  # what a link leads to exists, and is no part of the environment
            yield _absent(card, "HFE202", item.pointer, pattern, exists=(root / pattern).exists())
            continue
        for path in matches:
            if path not in stored:
                yield _absent(card, "HFE202", item.pointer, path, exists=True)


def _absent(card: Card, rule: str, pointer: str, path: str, *, exists: bool) -> Finding:
    at = card.place(pointer)
    if exists:
        message = f"{path} is no part of the environment: an ignore file leaves it out, or it can't be stored"
        fix = "Correct .gitignore or .hfenvignore."
    else:
        message = f"{path} matches no file" if set("*?[") & set(path) else f"there is no file {path}"
        fix = "Add it, or correct the path."
    return Finding(rule, severity(rule), card.path, message, pointer, at.line, at.column, fix)
