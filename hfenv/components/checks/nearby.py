"""Environments near a path: the one that a file belongs to, and those below a folder that is none itself."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from hfenv.card.regular import open_regular
from hfenv.components.ignoring import EXCLUDED_NAMES
from hfenv.components.ownership import CARD_NAME, RECORD_NAME, Component

_BLOCK = re.compile(rb"^[\"']?environment[\"']?[ \t]*:", re.MULTILINE)
_READ = 512 * 1024  # more than a header may have
_LEVELS, _LOOKED_AT, _LISTED = 3, 1000, 8


def environments_of(files: Iterable[Path]) -> tuple[Path, ...]:
    """The environments that files belong to, each once, in the order of the first file; files of none are left out.

    A file that is gone belongs where it was. The search ends at the top of the repository that a file is in.
    """
    known: dict[Path, Path | None] = {}
    found: dict[Path, None] = {}
    for file in files:
        start = file if file.is_dir() else file.parent
        if start not in known:
            known[start] = next((folder for folder in _upwards(start) if is_environment(folder)), None)
        if (environment := known[start]) is not None:
            found[environment] = None
    return tuple(found)


def is_environment(folder: Path) -> bool:
    """Whether a folder is meant as an environment: its card says so, or where that is lost, what lies beside it."""
    card = folder / CARD_NAME
    try:
        if card.is_file():
            with open_regular(card) as stream:
                head = stream.read(_READ).removeprefix(b"\xef\xbb\xbf").lstrip()
            if head.startswith(b"---") and _BLOCK.search(head):
                return True
    except OSError:
        pass
    parts = sum((folder / component.folder).is_dir() for component in Component)
    return parts == len(Component) or (parts > 0 and (folder / RECORD_NAME).is_file())


def environments_below(folder: Path) -> tuple[Path, ...]:
    """The first environments below a folder, at most three levels down, sorted."""
    found: list[Path] = []
    level = [folder]
    for _ in range(_LEVELS):
        inner = [child for each in level for child in _folders(each)][:_LOOKED_AT]
        found += [child for child in inner if is_environment(child)]
        level = [child for child in inner if child not in found]
    return tuple(sorted(found)[:_LISTED])


def _folders(folder: Path) -> list[Path]:
    try:
        children = sorted(folder.iterdir())
    except OSError:
        return []
    return [
        child
        for child in children
        if child.name.lower() not in EXCLUDED_NAMES and child.is_dir() and not child.is_symlink()
    ]


def _upwards(start: Path) -> Iterator[Path]:
    """A folder and those above it up to the top of its repository; named from the current folder where it is inside."""
    here = Path.cwd()
    folder = Path(os.path.normpath(here / start))
    for each in (folder, *folder.parents):
        yield each.relative_to(here) if each.is_relative_to(here) else each
        if (each / ".git").exists():
            return
