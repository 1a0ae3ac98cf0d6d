"""What this machine last heard of a repository's marks, so that a load can tell without asking the hub."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict
from pathlib import Path

from hfenv import paths
from hfenv.card.regular import MIB, read_regular
from hfenv.components.files import write_all
from hfenv.components.marks import Marks, marks_of
from hfenv.errors import StorageError

_LARGEST = 4 * MIB


def remember_marks(key: str, repo: str, marks: Marks) -> None:
    """Keep marks that were read, in the hub's part of the cache; a cache that can't be written is no reason to fail."""
    content = (json.dumps(asdict(marks), sort_keys=True) + "\n").encode()
    path = _path(key, repo)
    with contextlib.suppress(StorageError, OSError):
        if len(content) <= _LARGEST and not (path.is_file() and path.read_bytes() == content):
            write_all({path: content})


def known_marks(key: str, repo: str) -> Marks | None:
    """What was last heard, None where that is nothing or can't be read: a mark is a notice, not a condition."""
    try:
        block = json.loads(read_regular(_path(key, repo), _LARGEST))
        return marks_of(block) if isinstance(block, dict) else None
    except (OSError, ValueError, RecursionError):
        return None


def _path(key: str, repo: str) -> Path:
    return paths.cache_root() / "hub" / key / repo.replace("/", "--") / "marks.json"
