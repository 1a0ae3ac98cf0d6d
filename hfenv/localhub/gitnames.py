"""git's own rules for names: of references, and of paths that a `.gitignore` leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import pygit2

from hfenv.localhub.names import is_commit_id

_LONGEST_REF, _LONGEST_REF_PART = 1024, 240  # bytes


def is_ref_name(prefix: str, name: str) -> bool:
    """Whether git takes `prefix + name` as a reference name, and no tool takes `name` for an option or a reference."""
    if name.startswith(("-", "refs/")) or name in ("HEAD", "@") or is_commit_id(name):
        return False
    return is_ref(prefix + name)


def is_ref(ref: str) -> bool:
    """Whether git takes a full reference name, and a disk the file of that name and its lock."""
    size, longest = len(ref.encode()), max(len(part.encode()) for part in ref.split("/"))
    if "\0" in ref or size > _LONGEST_REF or longest > _LONGEST_REF_PART:
        return False
    return bool(pygit2.reference_is_valid_name(ref))


def ignored(gitignore: str, paths: Sequence[str], scratch: Path) -> list[bool]:
    """Which paths a `.gitignore` at the root leaves out, by git's own rules; `scratch` is an empty folder."""
    repo = pygit2.init_repository(str(scratch))
    (scratch / ".gitignore").write_text(gitignore, encoding="utf-8", newline="")
    return [_is_ignored(repo, PurePosixPath(path)) for path in paths]


def _is_ignored(repo: pygit2.Repository, path: PurePosixPath) -> bool:
    # A file in an ignored folder is ignored; folders carry a slash, since nothing exists for git to look at.
    folders = [f"{parent.as_posix()}/" for parent in path.parents if parent != PurePosixPath()]
    return any(bool(repo.path_is_ignored(each)) for each in [*folders, path.as_posix()])
