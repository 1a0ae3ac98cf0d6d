"""What moved on the remote since the commit that a folder builds on: files, and who changed them when."""

from __future__ import annotations

from collections.abc import Mapping

from hfenv.components.ownership import RECORD_NAME
from hfenv.errors import ConflictError, HfenvError, NotFoundError
from hfenv.hub.cache import RemoteFile
from hfenv.hub.client import Hub
from hfenv.hub.fetch import list_commit
from hfenv.hub.history import history
from hfenv.hub.lineage import differing
from hfenv.hub.pushing.model import HUB_FILES, MAIN, PushOptions, Remote

_FILES, _COMMITS, _TITLE = 6, 4, 60


def refuse_moved(hub: Hub, repo: str, base: str | None, remote: Remote, options: PushOptions) -> None:
    """Raises ConflictError unless the head is what the folder builds on, or the repository holds nothing yet."""
    head, tree = remote.head, remote.tree
    own = sorted(path for path in tree if path not in HUB_FILES)
    if head is None or base == head or not own:
        return
    if base is not None:
        raise ConflictError(
            f"{where(repo, options.branch)} moved since this folder was pulled or pushed "
            f"({base[:12]} -> {head[:12]}): {what_moved(hub, repo, base, head)}.",
            _cure(base, head, remote, options),
        )
    if RECORD_NAME in tree:
        raise ConflictError(
            f"{repo} holds releases that this folder doesn't know.",
            f"Pull {repo} and work in that folder, or say what you build on with --base HASH (its head is {head}).",
        )
    if not options.adopt:
        named = ", ".join(own[:4]) + (f" and {len(own) - 4} more" if len(own) > 4 else "")
        raise ConflictError(
            f"{repo} holds content of its own and no release: {named}.",
            "Choose another name, or replace its content with --adopt (its history stays).",
        )


def where(repo: str, branch: str) -> str:
    """A repository, with its branch where that isn't the usual one."""
    return repo if branch == MAIN else f"{repo} ({branch})"


def _cure(base: str, head: str, remote: Remote, options: PushOptions) -> str:
    lines = [name for name, commit in sorted(remote.refs.branches.items()) if commit == base]
    if lines and options.branch not in lines:
        option = "" if lines[0] == MAIN else f" --branch {lines[0]}"
        return (
            f"This folder is the head of {lines[0]}: hfenv push{option}, or replace what is there with --base {head}."
        )
    return (
        f"Bring it into this folder with hfenv pull --update, then push again; "
        f"or replace what is there with --base {head}."
    )


def what_moved(hub: Hub, repo: str, base: str, head: str) -> str:
    """Files and commits between two commits, in one line; says so where the history was rewritten."""
    try:
        before = list_commit(hub, repo, base)
    except NotFoundError:
        return "its history was rewritten, the commit isn't there any more"
    files = _files(before, list_commit(hub, repo, head))
    return "; ".join(part for part in (files, _commits(hub, repo, base, head)) if part)


def _files(before: Mapping[str, RemoteFile], now: Mapping[str, RemoteFile]) -> str:
    changed = differing(before, now)
    named = [f"{path} {_fate(path, before, now)}" for path in changed[:_FILES]]
    return _listed(named, len(changed)) or "no file"


def _fate(path: str, before: Mapping[str, RemoteFile], now: Mapping[str, RemoteFile]) -> str:
    if path not in before:
        return "added"
    return "changed" if path in now else "deleted"


def _commits(hub: Hub, repo: str, base: str, head: str) -> str:
    """Who made which commits when; nothing where the hub doesn't say, since the files are said already."""
    try:
        listed = list(history(hub, repo, head))
    except HfenvError:
        return ""
    new = []
    for commit in listed:
        if commit.id == base:
            break
        new.append(commit)
    else:
        return "its history was rewritten"
    said = []
    for commit in new[:_COMMITS]:
        who = ", ".join(commit.authors[:2]) or "somebody"
        title = commit.title if len(commit.title) <= _TITLE else f"{commit.title[: _TITLE - 3]}..."
        said.append(f"{commit.id[:12]} by {who[:40]} on {commit.date[:10] or 'some day'}: {title!r}")
    return _listed(said, len(new))


def _listed(said: list[str], total: int) -> str:
    return ", ".join(said) + (f" and {total - len(said)} more" if total > len(said) else "")
