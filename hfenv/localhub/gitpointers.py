"""The large files that a repository's objects name, reachable or not."""

from __future__ import annotations

from pathlib import Path

import pygit2
from pygit2.enums import ObjectType

from hfenv.localhub.lfs import MAX_POINTER, Pointer


def pointers(folder: Path) -> set[str]:
    """The sha256 of every large file that any object of the repository in `folder` points to."""
    repo = pygit2.Repository(str(folder), pygit2.enums.RepositoryOpenFlag.BARE)
    # The pygit2 that Python 3.10 gets can't read a header alone.
    header = getattr(repo.odb, "read_header", None)
    found = set()
    for oid in repo.odb:
        if header is not None:
            kind, size = header(oid)[:2]
            if kind != ObjectType.BLOB or size > MAX_POINTER:
                continue
        blob = repo[oid]
        if blob.type == ObjectType.BLOB and (pointer := Pointer.parse(blob.data)) is not None:
            found.add(pointer.oid)
    return found
