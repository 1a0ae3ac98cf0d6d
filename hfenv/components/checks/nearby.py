"""Which environment a file belongs to: the nearest folder above it that is one, whatever state its card is in."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from hfenv.components.ownership import CARD_NAME, RECORD_NAME, Component

_BLOCK = re.compile(rb"^[\"']?environment[\"']?[ \t]*:", re.MULTILINE)
_READ = 512 * 1024  # more than a header may have


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
            with card.open("rb") as stream:
                head = stream.read(_READ).removeprefix(b"\xef\xbb\xbf").lstrip()
            if head.startswith(b"---") and _BLOCK.search(head):
                return True
    except OSError:
        pass
    parts = sum((folder / component.folder).is_dir() for component in Component)
    return parts == len(Component) or (parts > 0 and (folder / RECORD_NAME).is_file())


def _upwards(start: Path) -> Iterator[Path]:
    """A folder and those above it up to the top of its repository; named from the current folder where it is inside."""
    here = Path.cwd()
    folder = Path(os.path.normpath(here / start))
    for each in (folder, *folder.parents):
        yield each.relative_to(here) if each.is_relative_to(here) else each
        if (each / ".git").exists():
            return
