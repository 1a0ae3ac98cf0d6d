"""What a folder remembers about the hub, in `.hfenv/state.json`, never pushed: its origin and its base commit."""

from __future__ import annotations

import json
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

from hfenv.components.files import write_all
from hfenv.components.ignoring import STATE_FOLDER
from hfenv.errors import UnreadableError
from hfenv.hub.references import is_hash


@dataclass(frozen=True, slots=True)
class FolderState:
    """`endpoint` is the hub's key, `base` the commit the folder builds on, `pulled` whether somebody else made it.

    A pulled folder's code needs trust like the repository it came from; pushing it makes it the user's own.
    """

    endpoint: str
    repo: str
    base: str
    pulled: bool


def state_path(root: Path) -> Path:
    return root / STATE_FOLDER / "state.json"


def read_state(root: Path) -> FolderState | None:
    """The folder's state, None for a folder that was neither pulled nor pushed."""
    path = state_path(root)
    try:
        state = FolderState(**json.loads(path.read_bytes()))
        if [type(value) for value in astuple(state)] != [str, str, str, bool] or not is_hash(state.base):
            raise TypeError
        return state
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, TypeError, RecursionError):
        raise UnreadableError(
            f"{path} can't be read.",
            "Pull a folder that came from a hub again; in one of your own remove the file.",
        ) from None


def write_state(root: Path, state: FolderState) -> None:
    """Remember a folder's state; together with a `.gitignore`, so that it never gets into version control."""
    path = state_path(root)
    content = json.dumps(asdict(state), indent=2, sort_keys=True) + "\n"
    write_all({path: content.encode(), path.parent / ".gitignore": b"*\n"})
