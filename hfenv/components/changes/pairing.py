"""Which definitions of two shapes belong together, whatever file they stand in and whatever they're called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from hfenv.components.meaning.shape import Definition, FileShape, Shape

_DOCUMENTS = frozenset({"readme", "license", "licence", "notice", "changelog", "authors", "contributing"})


@dataclass(frozen=True, slots=True)
class Named:
    """A definition with its file and its qualified name there."""

    path: str
    name: str
    definition: Definition

    @property
    def is_public(self) -> bool:
        """Whether no part of the name starts with an underscore."""
        return not any(part.startswith("_") for part in self.name.split("."))

    @property
    def last(self) -> str:
        """The name without the classes around it."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Definitions of two shapes: under one name in one file, the same code elsewhere, and what only one shape has."""

    same: tuple[tuple[Named, Named], ...]
    moved: tuple[tuple[Named, Named], ...]
    gone: tuple[Named, ...]
    new: tuple[Named, ...]


def pair(old: Shape, new: Shape) -> Pairs:
    """Match the definitions of two shapes; a move is only what fits one definition and no other."""
    before, after = ({(n.path, n.name): n for n in definitions(shape)} for shape in (old, new))
    same = tuple((before[place], after[place]) for place in before if place in after)
    gone = [named for place, named in before.items() if place not in after]
    come = [named for place, named in after.items() if place not in before]
    moved: list[tuple[Named, Named]] = []
    for by_name in (True, False):
        keys = [Counter(_code(named, by_name=by_name) for named in part) for part in (gone, come)]
        targets = {_code(named, by_name=by_name): named for named in come}
        for named in list(gone):
            key = _code(named, by_name=by_name)
            if keys[0][key] == keys[1][key] == 1:
                moved.append((named, targets[key]))
                gone.remove(named)
                come.remove(targets[key])
    return Pairs(same, tuple(moved), tuple(gone), tuple(come))


def _code(named: Named, *, by_name: bool) -> tuple[object, ...]:
    d = named.definition
    return (d.form, d.digest, d.signature, named.last if by_name else "")


def definitions(shape: Shape) -> Iterator[Named]:
    """All definitions of a shape, by file and in the order in which they stand."""
    for path, file in shape.files.items():
        for name, definition in file.definitions.items():
            yield Named(path, name, definition)


def python_files(old: Shape, new: Shape) -> Iterator[tuple[str, FileShape | None, FileShape | None]]:
    """Python files by path, before and after; None where there is none."""
    for path in [*old.files, *(path for path in new.files if path not in old.files)]:
        before, after = (shape.files.get(path) for shape in (old, new))
        before, after = (None if file is None or not is_python(file) else file for file in (before, after))
        if before is not None or after is not None:
            yield path, before, after


def is_reordered(before: FileShape, after: FileShape) -> bool:
    """Whether something that both files have, and that has to keep its place, stands in another order."""
    if any(word.startswith("#") for order in (before.order, after.order) for word in order[:1]):
        return before.order != after.order
    counts = [Counter(file.order) for file in (before, after)]
    common = {word for word, count in counts[0].items() if count == counts[1][word] == 1}
    one, other = ([word for word in file.order if word in common] for file in (before, after))
    return one != other


def is_python(file: FileShape) -> bool:
    return file.meaning.startswith("python ")


def other_files(old: Shape, new: Shape) -> Iterator[tuple[str, FileShape | None, FileShape | None]]:
    """Files other than Python that differ in meaning: before and after, None where there is none."""
    before, after = (_others(shape.files) for shape in (old, new))
    for path in sorted(before.keys() | after.keys()):
        one, other = before.get(path), after.get(path)
        if one is None or other is None or one.meaning != other.meaning:
            yield path, one, other


def _others(files: Mapping[str, FileShape]) -> dict[str, FileShape]:
    return {path: file for path, file in files.items() if not is_python(file)}


def is_document(path: str) -> bool:
    """Whether a file documents its folder and is nothing that code reads: README.md, LICENSE."""
    return PurePosixPath(path).stem.lower() in _DOCUMENTS


def is_prompt(path: str) -> bool:
    """Whether a file other than Python is a prompt by its name: prompt.md, system_prompt.txt."""
    return "prompt" in PurePosixPath(path).stem.lower()
