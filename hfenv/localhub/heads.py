"""The commit that a repository's main branch is at, without opening the repository where its file says so."""

from __future__ import annotations

from pathlib import Path

from hfenv.localhub.gitstore import BRANCH, GitRepo
from hfenv.localhub.names import is_commit_id

_MAIN = f"{BRANCH}main"


def main_head(folder: Path) -> str | None:
    """The commit of `main` in a stored repository; None where it has none.

    A list of a thousand repositories asks this of each: reading a file takes a tenth of opening a repository.
    """
    try:
        text = (folder / _MAIN).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        text = ""
    # In packed-refs, or a reference to another one: git's library knows.
    return text if is_commit_id(text) else GitRepo(folder).ref_target(_MAIN)
