"""Pull requests: the commit of a push, offered instead of made; one for the same content, however often."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hfenv.errors import AccessError, IntegrityError, NetworkError, NotFoundError, UsageError
from hfenv.hub.client import REPO_TYPE, Hub
from hfenv.hub.fetch import list_commit
from hfenv.hub.patience import landing_unknown, patiently
from hfenv.hub.pushing.landing import Commit
from hfenv.hub.resolve import Refs, read_refs

PULL = "refs/pr/"
# The newest ones that are compared; each that wasn't seen before costs a request.
_LOOKED_AT = 10


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request: its number, its commit, its address, and whether it is new."""

    number: int
    commit: str
    url: str
    created: bool

    @property
    def ref(self) -> str:
        return f"{PULL}{self.number}"


def offer(commit: Commit, refs: Refs) -> PullRequest:
    """Open a pull request with a commit, unless an open one has the same files already."""
    if there := _same(commit, refs):
        return there
    try:
        info = commit.post(create_pr=True)
    except NetworkError as error:
        # A second one would be another pull request: never repeated, only looked for.
        if landing_unknown(error):
            now = read_refs(commit.hub, commit.repo)
            if found := _same(commit, now):
                return PullRequest(found.number, found.commit, found.url, created=True)
        raise
    number = int(info.pr_num or 0)
    return PullRequest(number, info.oid, info.pr_url or _url(commit.hub, commit.repo, number), created=True)


def _same(commit: Commit, refs: Refs) -> PullRequest | None:
    hub, repo = commit.hub, commit.repo
    for number, sha in _newest(refs):
        try:
            tree = list_commit(hub, repo, sha)
        except (NotFoundError, IntegrityError):
            continue  # anyone may open one, with whatever names in it
        if commit.is_ours(tree) and _is_open(hub, repo, number):
            return PullRequest(number, sha, _url(hub, repo, number), created=False)
    return None


def _newest(refs: Refs) -> Iterator[tuple[int, str]]:
    numbered = {int(number): sha for ref, sha in refs.pulls.items() if (number := ref.removeprefix(PULL)).isdecimal()}
    yield from sorted(numbered.items(), reverse=True)[:_LOOKED_AT]


def _is_open(hub: Hub, repo: str, number: int) -> bool:
    """Whether a pull request waits to be merged; a hub that tells nothing about them closes none either."""

    def status() -> str:
        with hub.translated(repo):
            return str(hub.api.get_discussion_details(repo, number, repo_type=REPO_TYPE).status)

    try:
        return patiently(status) in ("open", "draft")
    except (NotFoundError, AccessError, UsageError):
        return True


def _url(hub: Hub, repo: str, number: int) -> str:
    return f"{hub.endpoint}/{REPO_TYPE}s/{repo}/discussions/{number}"
