"""What makes the tasks of generated splits, as one digest: the generator, and all files that it could read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import sha256
from pathlib import Path

from hfenv.card.manifest import Manifest
from hfenv.components.digest import canonical_json
from hfenv.components.ownership import Component, FileEntry
from hfenv.components.tasks.resources import FOLDER

_ALGORITHM = "hfenv-generator-1"


def generator_digest(root: Path, manifest: Manifest, files: Sequence[FileEntry], tasks: Collection[str]) -> str:
    """SHA-256 (hex) over the card's generator and all files of the tasks component but task files and resources.

    Python counts without comments and docstrings, data as values. `tasks` are the paths of the task files. Raises
    UnreadableError for Python that can't be parsed.
    """
    from hfenv.components.meaning.digest import meanings

    resources = {resource.path for resource in manifest.resources}
    own = [
        entry
        for entry in files
        if entry.component is Component.TASKS
        and entry.path not in tasks
        and entry.path not in resources
        and not entry.path.startswith(FOLDER)
    ]
    own.sort(key=lambda entry: entry.path.encode())
    facts = [_ALGORITHM, manifest.tasks.generator, meanings(root, own)]
    return sha256(canonical_json(facts).encode()).hexdigest()
