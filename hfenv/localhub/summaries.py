"""What lists tell of a commit: its card, tags and date, kept beside the repository, so that a list opens no git data.

A commit's content never changes, so neither does this; of each repository the last head that was asked for is kept on
disk, for the processes that come later.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hfenv.localhub import cards
from hfenv.localhub.gitstore import BRANCH, GitRepo
from hfenv.localhub.names import is_commit_id

FILE = "hub-head.json"
_FORMAT = 1
_KEPT = 16_384  # commits in memory
_LARGEST = 256 * 1024  # bytes of a file that is kept: few cards are longer, and those can be read again
_memory: OrderedDict[tuple[str, str], Summary] = OrderedDict()


@dataclass(frozen=True, slots=True)
class Summary:
    """A commit's card (treat it as read-only), the tags that it gives, and when it was made, in seconds since 1970."""

    commit: str
    card: dict[str, Any]
    tags: list[str]
    when: int


def head_of(path: Path) -> str | None:
    """The commit of branch main of the repository in a folder, None while it has none."""
    try:
        text = (path / (BRANCH + "main")).read_text(encoding="ascii").strip()
    except (OSError, ValueError):  # packed with others, or there is none
        text = ""
    return text if is_commit_id(text) else GitRepo(path).ref_target(BRANCH + "main")


def summary_of(path: Path, commit: str) -> Summary:
    """What a commit says of its repository: from memory, from disk where it was the head, else from git."""
    key = (str(path), commit)
    with contextlib.suppress(KeyError):
        return _memory[key]
    found = _kept(path, commit) or _looked_up(path, commit)
    _memory[key] = found
    while len(_memory) > _KEPT:
        with contextlib.suppress(KeyError):  # another thread was faster
            _memory.popitem(last=False)
    return found


def _looked_up(path: Path, commit: str) -> Summary:
    git = GitRepo(path)
    entry = git.entry(commit, cards.CARD_PATH)
    card = cards.card_data(git.read(entry.oid)) if entry and not entry.is_folder else {}
    found = Summary(commit, card, cards.tags(card), git.commit_info(commit).when)
    if git.ref_target(BRANCH + "main") == commit:
        _keep(path, found)
    return found


def _kept(path: Path, commit: str) -> Summary | None:
    try:
        data = json.loads((path / FILE).read_bytes())
        if data["format"] != _FORMAT or data["commit"] != commit:
            return None
        card, when = data["card"], data["when"]
        return Summary(commit, card, cards.tags(card), when) if isinstance(card, dict) and type(when) is int else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _keep(path: Path, found: Summary) -> None:
    """Best effort: a list works without, and slower."""
    content = json.dumps({"format": _FORMAT, "commit": found.commit, "card": found.card, "when": found.when})
    if len(content) > _LARGEST:
        return
    with contextlib.suppress(OSError):
        descriptor, name = tempfile.mkstemp(dir=path, prefix=".hub-head-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(content)
            Path(name).replace(path / FILE)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
