"""The repository before a push: looked at, created, or given the branch that a fix to an older line goes to."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hfenv.components.ownership import Component
from hfenv.components.versions import is_version
from hfenv.errors import ConflictError, NotFoundError, UsageError
from hfenv.hub.cache import RemoteFile
from hfenv.hub.client import REPO_TYPE, Hub
from hfenv.hub.fetch import list_commit
from hfenv.hub.lineage import find_base
from hfenv.hub.patience import patiently
from hfenv.hub.plan import PushPlan
from hfenv.hub.pushing.model import HUB_FILES, MAIN, PushOptions, Remote
from hfenv.hub.references import is_hash
from hfenv.hub.resolve import Refs, read_refs
from hfenv.hub.state import read_state, state_path

_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*")
_TAG_PREFIXES = ("v", *(f"{component.value}-v" for component in Component))


def check_branch(name: str) -> str:
    """A branch's name; raises UsageError for one that git, a hub or a reference could take for something else."""
    parts = name.split("/")
    sound = _BRANCH.fullmatch(name) and ".." not in name and len(name) <= 100
    sound = sound and not any(part.endswith((".lock", ".")) for part in parts) and parts[0] != "refs"
    if not sound or name == "HEAD" or is_hash(name):
        raise UsageError(f"'{name}' is no name for a branch.", "Use letters, digits, '.', '-' and '/', as in fix/1.0.")
    if any(name.startswith(prefix) and is_version(name[len(prefix) :]) for prefix in _TAG_PREFIXES):
        raise UsageError(f"A branch '{name}' would hide the tag of that version.", "Name it otherwise, as in fix/1.0.")
    return name


def look(hub: Hub, repo: str, plan: PushPlan, options: PushOptions) -> Remote:
    """The repository as it is now; at most three requests, and two where the head's tree was listed before."""

    def info() -> bool:
        with hub.translated(repo):
            return bool(hub.api.repo_info(repo, repo_type=REPO_TYPE).private)

    try:
        private = patiently(info, connects=False)
    except NotFoundError:
        _refuse_missing(hub, repo, plan, options)
        return Remote(False, bool(options.private), None, Refs({}, {}), {})
    if options.private and not private:
        raise ConflictError(
            f"{repo} is public already; --private counts only when a repository is created.",
            f"Make it private at {hub.endpoint}/{REPO_TYPE}s/{repo}/settings, or leave out --private.",
        )
    refs = read_refs(hub, repo)
    head = refs.branches.get(options.branch)
    starts = head is None and options.branch != MAIN
    if starts:
        head = _beginning(hub, repo, plan, refs, options)
    return Remote(True, private, head, refs, _tree(hub, repo, head), starts)


def _refuse_missing(hub: Hub, repo: str, plan: PushPlan, options: PushOptions) -> None:
    known = read_state(plan.root)
    if known is not None and (known.endpoint, known.repo) == (hub.key, repo) and not options.private:
        # Made anew it would be public, whatever it was.
        raise ConflictError(
            f"{repo}, which this folder was pulled or pushed from, isn't there any more, or this user may not see it.",
            f"Use a token that may; or make it anew: with --private, or in public after removing "
            f"{state_path(plan.root)}.",
        )
    wanted = "a pull request" if options.create_pr else "another branch" if options.branch != MAIN else None
    if wanted is not None:
        raise NotFoundError(
            f"{repo} doesn't exist, or this user may not see it, so that {wanted} has nothing to build on.",
            "Check the name, or push the first release without --branch and --create-pr.",
        )


def _beginning(hub: Hub, repo: str, plan: PushPlan, refs: Refs, options: PushOptions) -> str:
    """The commit where a branch begins that isn't there yet: what the folder builds on."""
    if options.branch in refs.tags:
        raise UsageError(
            f"{repo} has a tag '{options.branch}'.", "A branch of that name would hide it; choose another."
        )
    base = options.base or find_base(hub, repo, plan, refs, None)
    if base is None:
        raise ConflictError(
            f"{repo} has no branch {options.branch}, and where it should begin isn't known.",
            "Say which commit it builds on with --base HASH.",
        )
    return base


def _tree(hub: Hub, repo: str, head: str | None) -> Mapping[str, RemoteFile]:
    return list_commit(hub, repo, head) if head else {}


def create(hub: Hub, repo: str, options: PushOptions) -> Remote:
    """Create the repository, and look at what the hub put into it; two requests."""
    private = bool(options.private)

    def make() -> None:
        with hub.translated(repo):
            hub.api.create_repo(repo, private=private, repo_type=REPO_TYPE, exist_ok=True)

    def look_again() -> Remote:
        with hub.translated(repo):
            info = hub.api.repo_info(repo, repo_type=REPO_TYPE)
        names = [sibling.rfilename for sibling in getattr(info, "siblings", None) or ()]
        tree = {name: RemoteFile(name, 0, "", None) for name in names}
        return Remote(True, bool(info.private), info.sha, Refs({}, {}), tree)

    patiently(make)
    remote = patiently(look_again)
    if set(remote.tree) - HUB_FILES:
        raise ConflictError(f"{repo} was created by another push a moment ago.", "Pull it, then push again.")
    return remote


def start_branch(hub: Hub, repo: str, branch: str, head: str) -> None:
    """Make a branch at a commit; one that is there already is fine where it stands at that commit."""

    def make() -> None:
        with hub.translated(repo):
            hub.api.create_branch(repo, branch=branch, revision=head, repo_type=REPO_TYPE)

    try:
        patiently(make)
    except ConflictError:
        there = read_refs(hub, repo).branches.get(branch)
        if there != head:
            raise ConflictError(
                f"Branch {branch} of {repo} was made by another push a moment ago.", "Look at it, then push again."
            ) from None
