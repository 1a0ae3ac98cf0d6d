"""What a folder held when it was last pushed: what `push --changed` knows without asking the hub."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from hfenv.card.regular import MIB, read_regular
from hfenv.components.files import write_all
from hfenv.components.ignoring import STATE_FOLDER
from hfenv.components.ownership import walk
from hfenv.components.statcache import StatCache
from hfenv.hub.plan import PushPlan
from hfenv.hub.state import read_state

_NAME = "pushed.json"


def note_pushed(plan: PushPlan, endpoint: str, repo: str, revision: str) -> None:
    """Remember that the folder's content, as it was planned, is what the hub has at a revision."""
    content = _digest((path, content.sha256) for path, content in plan.contents.items())
    told = {"endpoint": endpoint, "repo": repo, "revision": revision, "content": content}
    file = plan.root / STATE_FOLDER / _NAME
    raw = json.dumps(told, indent=2, sort_keys=True).encode() + b"\n"
    if not file.is_file() or file.read_bytes() != raw:
        write_all({file: raw})


def pushed_revision(root: Path, endpoint: str, repo: str) -> str | None:
    """The revision at which the hub was given exactly what lies in the folder now; None where that isn't known.

    Makes no request: whether the hub moved since then isn't asked.
    """
    try:
        told = json.loads(read_regular(root / STATE_FOLDER / _NAME, MIB))
        known = (told["endpoint"], told["repo"], told["content"])
        revision = str(told["revision"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    state = read_state(root)
    if state is None or state.base != revision:
        return None  # pulled or updated since
    files = ((entry.path, entry.sha256) for entry in walk(root, StatCache.of(root)))
    return revision if known == (endpoint, repo, _digest(files)) else None


def _digest(files: Iterable[tuple[str, str]]) -> str:
    lines = (f"{sha} {path}\n" for path, sha in sorted(files))
    return sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
