"""Which lines of changelogs hfenv drafted, so that the next draft takes their place; kept in `.hfenv`, never pushed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from hfenv.card.regular import MIB, read_regular
from hfenv.components.ignoring import STATE_FOLDER
from hfenv.components.ownership import Component

_NAME = "drafts.json"

Drafts = Mapping[Component, Sequence[str]]


def read_drafts(root: Path) -> dict[Component, Sequence[str]]:
    """The drafted texts by component; what can't be read counts as written by the author."""
    try:
        data = json.loads(read_regular(root / STATE_FOLDER / _NAME, MIB))
        return {component: [str(text) for text in data.get(component.value, ())] for component in Component}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return dict.fromkeys(Component, ())


def drafts_files(root: Path, drafts: Drafts) -> dict[Path, bytes]:
    """The files that keep drafted texts, with a `.gitignore` that keeps them out of version control."""
    content = json.dumps({component.value: list(texts) for component, texts in drafts.items()}, indent=2) + "\n"
    return {root / STATE_FOLDER / _NAME: content.encode(), root / STATE_FOLDER / ".gitignore": b"*\n"}
