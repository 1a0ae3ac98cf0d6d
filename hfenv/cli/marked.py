"""What commands that edit a remote card share: the repository, the sentence about this folder, the common data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hfenv.errors import HfenvError, UsageError
from hfenv.hub.references import HubReference, Newest, parse_reference
from hfenv.hub.state import read_state

if TYPE_CHECKING:
    from hfenv.cli.output import Output
    from hfenv.hub.client import Hub
    from hfenv.hub.registry.edits import Edited


def repository(ref: str) -> str:
    """The repository of `org/name`; raises UsageError for a folder, and for one revision of it."""
    reference = parse_reference(f"hf://datasets/{ref.removeprefix('hf://datasets/')}")
    if not isinstance(reference, HubReference) or not isinstance(reference.selector, Newest):
        raise UsageError(f"'{ref}' names one revision, and this is about the repository.", "Write namespace/name.")
    return reference.repo


def edited_data(edited: Edited) -> dict[str, object]:
    """What JSON output says of every edit."""
    return {"repo": edited.repo, "revision": edited.revision, "changed": edited.changed}


def tell_folder(output: Output, hub: Hub, edited: Edited) -> None:
    """Say how the edit comes into the current folder, where that is this environment."""
    try:
        state = read_state(Path.cwd())
    except HfenvError:
        return
    if edited.changed and state is not None and (state.endpoint, state.repo) == (hub.key, edited.repo):
        output.note("This folder is that environment: bring the edit here with hfenv pull --update")
