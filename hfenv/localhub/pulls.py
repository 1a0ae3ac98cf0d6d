"""Pull requests as calls use them: who may change them, what they change, and merging them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hfenv.localhub import cards
from hfenv.localhub.community import Community, Discussion, Event, Status, comment
from hfenv.localhub.errors import HubError, bad_request
from hfenv.localhub.gitmerge import commits_between, diff, merge_base, merge_trees, tree_of
from hfenv.localhub.gitstore import BRANCH, PULL, GitRepo
from hfenv.localhub.names import whole_number
from hfenv.localhub.storage import timestamp
from hfenv.localhub.wire import Call, OpenRepo


@dataclass(frozen=True, slots=True)
class Changes:
    """A pull request compared with its branch; the lists of commits and events are oldest first."""

    commits: tuple[Event, ...]
    conflicts: tuple[str, ...]
    diff: str | None


def check_commit_right(call: Call, repo: OpenRepo) -> None:
    """Refuse who may not commit to the revision of the address.

    To a branch commits who may write the namespace, to a pull request its author too, as long as it isn't over; with
    `create_pr` whoever has a token to write with.

    Raises:
        HubError: 401 or 403 without the right, 400 if the pull request is merged or closed.
    """
    revision = call.param("revision")
    if call.flag("create_pr"):
        call.check_contribute()
        return
    number = whole_number(revision.removeprefix(PULL)) if revision.startswith(PULL) else None
    found = None if number is None else Community(call.hub.storage, repo.id).find(number)
    if found is None or found.author != call.check_contribute().name:
        call.check_write(repo.id)
    if found is not None and not found.status.is_open:
        raise bad_request(f"Pull request {number} is {found.status.value}: open another one.")


def changes(git: GitRepo, found: Discussion, *, with_diff: bool) -> Changes:
    """What a pull request changes; one whose reference or branch is gone changes nothing."""
    pull, head = found.pull, git.ref_target(found.ref)
    if pull is None or head is None:
        return Changes((), (), None)
    target = git.ref_target(pull.target)
    is_merged = found.status is Status.MERGED
    base = pull.base
    conflicts: tuple[str, ...] = ()
    if target is not None and not is_merged:
        # The branch may have been merged into the pull request meanwhile: that is no change of its own.
        base = merge_base(git, target, head) or base
        conflicts = merge_trees(git, target, head).conflicts
    events = [
        Event(
            commit.id[:24], "commit", commit.author, timestamp(commit.when), {"subject": commit.title, "oid": commit.id}
        )
        for commit in commits_between(git, base, head)
    ]
    return Changes(tuple(events), conflicts, diff(git, base, head) if with_diff else None)


def merge(call: Call, repo: OpenRepo, found: Discussion, user: str, text: object) -> Discussion:
    """Bring a pull request's changes onto its branch as one commit, as the Hub does; the caller holds the lock.

    Raises:
        HubError: 400 for what isn't an open pull request or changes nothing, 409 where it contradicts the branch.
    """
    git, community = repo.git, Community(call.hub.storage, repo.id)
    pull = found.pull
    if pull is None:
        raise bad_request("Only pull requests can be merged.")
    if found.status is not Status.OPEN:
        hint = "open it first" if found.status is Status.DRAFT else "open another one"
        raise bad_request(f"Pull request {found.num} is {found.status.value}: {hint}.")
    head, target = git.ref_target(found.ref), git.ref_target(pull.target)
    if head is None or target is None:
        raise bad_request(f"The branch '{pull.target.removeprefix(BRANCH)}' or the pull request's own is gone.")
    if head == pull.base:
        raise bad_request(f"Pull request {found.num} changes nothing yet.")
    said = comment(user, text) if text else None
    commit = _merge_commit(git, found, (target, head), user)
    if said is not None:
        found = found.with_event(said)
    found = found.with_event(Event.now("status-change", user, {"status": Status.MERGED.value}))
    found = replace(
        found,
        status=Status.MERGED,
        pull=replace(pull, base=merge_base(git, target, head) or pull.base, merge_commit=commit),
    )
    community.save(found)
    return found


def _merge_commit(git: GitRepo, found: Discussion, sides: tuple[str, str], user: str) -> str:
    """The commit that brings the second side onto the first one's branch."""
    (target, head), branch = sides, found.pull.target if found.pull else ""
    merged = merge_trees(git, target, head)
    if merged.tree is None:
        names = ", ".join(merged.conflicts[:10])
        raise HubError(
            409, f"Pull request {found.num} can't be merged, it contradicts '{branch.removeprefix(BRANCH)}' in: {names}"
        )
    _check_card(git, merged.tree)
    if merged.tree == tree_of(git, target):
        return target  # a merge that was interrupted after its commit, or one whose changes are there already
    own = commits_between(git, merge_base(git, target, head), head)
    lines = "\n".join(f"- {commit.title} ({commit.id})" for commit in own)
    others = sorted({commit.author for commit in own} - {user})
    credit = "".join(f"\n\nCo-authored-by: {name} <{name}@users.noreply.localhost>" for name in others)
    return git.commit_tree(branch, target, merged.tree, f"{found.title} (#{found.num})\n\n{lines}{credit}", user)


def _check_card(git: GitRepo, tree: str) -> None:
    # Two good cards can be joined into one that nobody can read.
    if (data := git.read_at(tree, cards.CARD_PATH)) is not None and (report := cards.check_card(data)).errors:
        raise HubError(409, f"The merged README.md would have invalid metadata: {'; '.join(report.errors)}")
