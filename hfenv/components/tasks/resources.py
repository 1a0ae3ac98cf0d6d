"""What tasks refer to: one digest for each resource, whether it is a file, a folder or stored elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from hfenv.card.manifest import Resource
from hfenv.components.digest import canonical_json
from hfenv.components.ownership import FileEntry

FOLDER = "tasks/resources/"


def resource_digests(resources: Iterable[Resource], files: Sequence[FileEntry]) -> dict[str, str]:
    """SHA-256 (hex) of each resource by its name, and of each file in `tasks/resources/` that is none by its path.

    Where a resource lies doesn't matter, only what it is: one that moves from its own file to an address with the same
    SHA-256 stays the same. What has an address without one counts as changed when the address does.
    """
    found: dict[str, str] = {}
    named: set[str] = set()
    for resource in resources:
        if resource.path is not None:
            own = _files(resource.path.rstrip("/"), files)
            named.update(entry.path for entry in own)
            found[resource.name] = _digest(resource.path.rstrip("/"), own)
        else:
            found[resource.name] = resource.sha256 or sha256(canonical_json(resource.uri).encode()).hexdigest()
    for entry in files:
        if entry.path.startswith(FOLDER) and entry.path not in named:
            found[entry.path] = entry.sha256
    return found


def _files(path: str, files: Sequence[FileEntry]) -> list[FileEntry]:
    return [entry for entry in files if entry.path == path or entry.path.startswith(f"{path}/")]


def _digest(path: str, own: Sequence[FileEntry]) -> str:
    if len(own) == 1 and own[0].path == path:
        return own[0].sha256
    lines = [[entry.path[len(path) :], entry.executable, entry.sha256] for entry in own]
    return sha256(canonical_json(sorted(lines)).encode()).hexdigest()
