"""Reads the shape of code or reward from an environment's folder, for the release record and for comparing with one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hfenv.card.regular import read_regular
from hfenv.components.code.names import FUNCTIONS
from hfenv.components.code.project import Project
from hfenv.components.code.shapes import ClassView, class_view
from hfenv.components.code.source import Source, without_collector
from hfenv.components.digest import card_slice
from hfenv.components.meaning.data import MOST_PARSED, NoValueError, leaves, parse_data
from hfenv.components.meaning.definitions import Defined
from hfenv.components.meaning.digest import decoded, meanings, parts_of, python_sources
from hfenv.components.meaning.docstrings import Reads, is_tool, keeper
from hfenv.components.meaning.mentions import MOST_FILES, Mentions
from hfenv.components.meaning.numbers import all_numbers
from hfenv.components.meaning.shape import FileShape, Shape, Tool
from hfenv.components.meaning.written import SHORT, doc_of, short
from hfenv.components.ownership import Component, FileEntry
from hfenv.errors import UnreadableError

SCORE, GROUP, MEASURE = "score", "score_group", "measure"  # what hfenv calls, whatever the card's entry is called


def shape_of(
    component: Component,
    root: Path,
    files: Iterable[FileEntry],
    block: Mapping[str, Any],
    *,
    sources: Mapping[str, Source] | None = None,
    known: Mapping[str, str] | None = None,
) -> Shape:
    """The shape of code or reward as it lies in a folder; `files` is its walk, `block` the card's `environment` block.

    `sources` are the trees of its Python files and `known` the meanings of all of them, where they're there already.
    Raises UnreadableError, with file and line, for Python that this Python can't parse, and ValueError for tasks.
    """
    if component is Component.TASKS:
        raise ValueError("tasks have no shape: their rows are compared")
    with without_collector():
        entries = parts_of(component, files)
        sources = python_sources(root, entries) if sources is None else sources
        known = meanings(root, entries, sources) if known is None else known
        return _shape_of(component, root, entries, block, (sources, known))


def _shape_of(
    component: Component,
    root: Path,
    entries: Sequence[FileEntry],
    block: Mapping[str, Any],
    read: tuple[Mapping[str, Source], Mapping[str, str]],
) -> Shape:
    sources, known = read
    scripts = _scripts(root, entries)
    reads = Reads.of(sources.values(), scripts.values())
    defined = {path: Defined.of(source, keeper(source, reads), reads) for path, source in sources.items()}
    found = {
        entry.path: _file(component, root, entry, meaning, defined.get(entry.path))
        for entry, meaning in zip(entries, known.values(), strict=True)
    }
    card = card_slice(component, block)
    reward = block.get("reward")
    shape = Shape(component, card, found, builtin=isinstance(reward, Mapping) and reward.get("builtin") is True)
    if component is Component.REWARD:
        return _with_reach(shape, sources, defined, scripts)
    return _with_surface(shape, sources, defined)


def entry_of(shape: Shape) -> tuple[str, str]:
    """File and name that the card calls the component's entry; empty texts where it names none."""
    path, _, name = str(shape.card.get(f"{shape.component.value}/entry", "")).rpartition(":")
    return path, name


def _file(component: Component, root: Path, entry: FileEntry, meaning: str, defined: Defined | None) -> FileShape:
    kind, _, digest = meaning.partition(" ")
    meaning = f"{kind} {digest[:SHORT]}"
    if defined is None:
        values = _values(root, entry, kind) if component is Component.REWARD else None
        return FileShape(meaning, values=values)
    numberless = component is Component.REWARD
    return FileShape(
        meaning=meaning,
        top=defined.top(),
        top_numberless=defined.top(numbers=False) if numberless else "",
        definitions={name: defined.definition(name, numberless=numberless) for name in defined.nodes},
        constants={name: value for name, (_, value) in defined.constants.items()},
        order=defined.order,
        lines={name: line for name, (line, _) in defined.constants.items()},
    )


def _scripts(root: Path, entries: Iterable[FileEntry]) -> dict[str, str]:
    """Shell scripts by name, with their text: they may start files of Python."""
    wanted = [entry for entry in entries if entry.path.endswith((".sh", ".bash")) and entry.size <= MOST_PARSED]
    return {entry.path.rpartition("/")[2]: _read(root, entry).decode("utf-8", "replace") for entry in wanted}


def _values(root: Path, entry: FileEntry, kind: str) -> dict[str, str] | None:
    if kind not in ("json", "yaml", "toml") or entry.size > MOST_PARSED:
        return None
    try:
        return leaves(parse_data(kind, decoded(_read(root, entry))))
    except NoValueError:
        return None


def _read(root: Path, entry: FileEntry) -> bytes:
    try:
        return read_regular(root / entry.path, MOST_PARSED)
    except OSError as error:
        raise UnreadableError(f"{entry.path} can't be read: {error.strerror}.", "Check its permissions.") from error


def _with_reach(
    shape: Shape, sources: Mapping[str, Source], defined: Mapping[str, Defined], scripts: Mapping[str, str]
) -> Shape:
    """With what hfenv calls, what that may run, and the numbers and names of files that are written there."""
    files = list(defined.values())
    members = _called(shape, Project.of(sources, shape.files))
    names = {role: place.rpartition(":")[2] for role, place in members.items()}
    starts = {name for role, name in names.items() if role != MEASURE}
    mentions = Mentions.of(files, scripts)
    by_score = mentions.by_score(starts | {SCORE, entry_of(shape)[1]})
    by_measure, known = mentions.by_measure(names[MEASURE]) if MEASURE in names else (set(), set())
    found = {}
    for path, file in shape.files.items():
        definitions = {
            name: replace(d, by_score=(path, name) in by_score, by_measure=(path, name) in by_measure)
            for name, d in file.definitions.items()
        }
        found[path] = replace(file, definitions=definitions)
        if path in defined and (concerning := mentions.concerning(defined[path], known)):
            found[path] = replace(found[path], top_measure=defined[path].part(concerning))
    reached = by_score | by_measure
    return replace(
        shape,
        files=found,
        members=members,
        numbers=all_numbers(number for file in files for number in file.running(reached)),
        lists_folders=mentions.lists_folders or len(mentions.files) > MOST_FILES,
        file_names=tuple(sorted(mentions.files)) if len(mentions.files) <= MOST_FILES else (),
    )


def _called(shape: Shape, project: Project) -> dict[str, str]:
    """The functions that hfenv calls by what it calls them for, with the place of each."""
    path, name = entry_of(shape)
    source = project.sources.get(path)
    if source is None:
        return {}
    score, group = project.definition(source, name), project.definition(source, GROUP)
    # measure is looked for in the module in which score was defined.
    measure = project.definition(score.source if score is not None else source, MEASURE)
    roles = {SCORE: score, GROUP: group, MEASURE: measure}
    return {
        role: f"{found.source.path}:{found.name}"
        for role, found in roles.items()
        if found is not None and isinstance(found.node, FUNCTIONS)
    }


def _with_surface(shape: Shape, sources: Mapping[str, Source], defined: Mapping[str, Defined]) -> Shape:
    """With what the entry's class has, its own or from bases in the environment, and its tools."""
    path, name = entry_of(shape)
    project = Project.of(sources, shape.files)
    source = sources.get(path)
    found = project.definition(source, name) if source is not None else None
    view = class_view(project, found) if found is not None else None
    if view is None:
        return shape
    tools = {}
    members = {}
    for member, place, qualified in _members(view, defined):
        members[member] = f"{place.source.path}:{qualified}"
        node = place.nodes[qualified][-1]
        if isinstance(node, FUNCTIONS) and is_tool(place.scope, node):
            signature = place.signature(node, method=True, types=True)
            tools[member] = Tool(short(doc_of(node) or ""), signature, node.lineno, place.source.path)
    return replace(shape, members=members, roots=tuple(sorted(view.roots)), tools=tools)


def _members(view: ClassView, defined: Mapping[str, Defined]) -> Iterator[tuple[str, Defined, str]]:
    """Methods and nested classes of a class by name, each with its file and its qualified name there."""
    for member, method in sorted(view.methods.items()):
        place = defined[method.source.path]
        for qualified, nodes in place.nodes.items():
            if qualified.rpartition(".")[2] == member and any(node is method.node for node in nodes):
                yield member, place, qualified
