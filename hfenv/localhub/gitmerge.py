"""Two lines of a repository compared and joined: what a pull request changes, and where it can't be merged."""

from __future__ import annotations

from dataclasses import dataclass

import pygit2
from pygit2.enums import SortMode

from hfenv.localhub.gitstore import CommitInfo, GitRepo

MAX_DIFF = 4 * 1024 * 1024  # characters of a diff that are shown
_MAX_COMMITS = 1000
# Changed files whose texts are compared; what changes more is listed by its first files.
_MAX_DIFF_FILES = 2000


@dataclass(frozen=True, slots=True)
class Merged:
    """What joining two commits gives: a tree, or the paths where they contradict each other."""

    tree: str | None
    conflicts: tuple[str, ...] = ()


def merge_base(git: GitRepo, ours: str, theirs: str) -> str | None:
    """The commit where two lines parted, None if they have none in common."""
    found = git.raw.merge_base(ours, theirs)
    return None if found is None else str(found)


def merge_trees(git: GitRepo, ours: str, theirs: str) -> Merged:
    """The changes of `theirs` since it left `ours`, on top of `ours`; writes nothing but objects."""
    repo = git.raw
    base = merge_base(git, ours, theirs)
    if base == ours:
        return Merged(str(repo[theirs].tree.id))
    if base == theirs:
        return Merged(str(repo[ours].tree.id))
    ancestor = repo[base].tree if base else repo[repo.TreeBuilder().write()]
    index = repo.merge_trees(ancestor, repo[ours].tree, repo[theirs].tree)
    if index.conflicts is not None:
        sides = {side.path for conflict in index.conflicts for side in conflict if side is not None}
        return Merged(None, tuple(sorted(sides)))
    return Merged(str(index.write_tree(repo)))


def tree_of(git: GitRepo, commit: str) -> str:
    return str(git.raw[commit].tree.id)


def diff(git: GitRepo, base: str, head: str) -> str:
    """What changed between two commits, as `git diff` writes it, cut off at `MAX_DIFF` characters."""
    found = git.raw[base].tree.diff_to_tree(git.raw[head].tree)
    parts, size = [], 0
    for number, patch in enumerate(found):
        text = "" if patch is None else _text(patch)
        size += len(text)
        if size > MAX_DIFF or number >= _MAX_DIFF_FILES:
            parts.append("# The rest of this diff is too large to be shown.\n")
            break
        parts.append(text)
    return "".join(parts)


def _text(patch: pygit2.Patch) -> str:
    # `Patch.text` fails on bytes that aren't UTF-8.
    return bytes(patch.data).decode("utf-8", "replace")


def commits_between(git: GitRepo, base: str | None, head: str) -> list[CommitInfo]:
    """Commits that `head` has and `base` hasn't, oldest first, the newest thousand of them."""
    walker = git.raw.walk(head, SortMode.TOPOLOGICAL | SortMode.TIME)
    if base is not None:
        walker.hide(base)
    found = []
    for commit in walker:
        found.append(git.commit_info(str(commit.id)))
        if len(found) == _MAX_COMMITS:
            break
    return found[::-1]
