"""What a push builds on: its base, whether the remote moved, versions that are taken, and where tags belong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from hfenv.components.ownership import RECORD_NAME, Component
from hfenv.components.release import ReleaseRecord, component_tag, read_record, release_tag
from hfenv.components.versions import Level, parse_version, raised
from hfenv.errors import ConflictError, NotFoundError, UnreadableError
from hfenv.hub.cache import RemoteFile, content_id_of
from hfenv.hub.client import Hub
from hfenv.hub.fetch import list_commit
from hfenv.hub.history import history
from hfenv.hub.plan import PushPlan
from hfenv.hub.resolve import Refs, read_remote_record
from hfenv.hub.state import read_state

Carries = Callable[[ReleaseRecord], bool]


def find_base(hub: Hub, repo: str, plan: PushPlan, refs: Refs, head: str | None) -> str | None:
    """The commit that the folder builds on: what it was pulled or pushed from, else where its record was introduced.

    `head` is that of the branch that is pushed to, None for one that doesn't exist yet.
    """
    state = read_state(plan.root)
    if state is not None and state.endpoint == hub.key and state.repo == repo:
        return state.base
    local = read_record(plan.root)
    if local is None:
        return None
    tagged = refs.tags.get(release_tag(local.release))
    if tagged is not None and not _has_record(hub, repo, tagged, plan.root):
        tagged = None
    if head is not None and tagged != head and _has_record(hub, repo, head, plan.root):
        introduced = tagged or earliest_commit(hub, repo, head, lambda record: record.to_bytes() == local.to_bytes())
        return head if _has_what_came_since(hub, repo, plan, introduced, head) else introduced
    return tagged


def _has_record(hub: Hub, repo: str, commit: str, root: Path) -> bool:
    """Whether a commit holds the very record that lies in the folder; asks for no more than the commit's tree."""
    listed, local = list_commit(hub, repo, commit).get(RECORD_NAME), root / RECORD_NAME
    return listed is not None and local.is_file() and content_id_of(local).is_content_of(listed)


def record_at(hub: Hub, repo: str, commit: str, root: Path) -> ReleaseRecord | None:
    """The release record at a commit, None when the commit has none; the folder's own is read from there."""
    return read_record(root) if _has_record(hub, repo, commit, root) else read_remote_record(hub, repo, commit)


def _has_what_came_since(hub: Hub, repo: str, plan: PushPlan, base: str, head: str) -> bool:
    """Whether the folder holds all that changed from one commit to a later one, so that pushing it undoes nothing."""
    now = list_commit(hub, repo, head)
    return all(
        plan.contents[path].is_content_of(now[path]) if path in now and path in plan.contents else path not in now
        for path in differing(list_commit(hub, repo, base), now)
    )


def differing(before: Mapping[str, RemoteFile], now: Mapping[str, RemoteFile]) -> list[str]:
    """Paths that one of two trees has alone, or with other content, sorted."""
    return sorted(
        path for path in before.keys() | now.keys()
        if path not in before or path not in now or before[path].blob != now[path].blob
    )  # fmt: skip


def check_versions_unused(hub: Hub, repo: str, plan: PushPlan, refs: Refs, head: str, *, line: bool = False) -> None:
    """Raises ConflictError when a version that this push gives out was given to other content before.

    All tags count, whatever branch they stand on; on a `line` of its own the cure stays in that line.
    """
    known: dict[str, ReleaseRecord | None] = {}

    def known_at(commit: str) -> ReleaseRecord | None:
        if commit not in known:
            try:
                known[commit] = record_at(hub, repo, commit, plan.root)
            except (NotFoundError, UnreadableError):
                known[commit] = None
        return known[commit]

    # What didn't move is as the folder's record says, and that is the head's.
    ours = _has_record(hub, repo, head, plan.root)
    for component, state in plan.states.items():
        if not state.moved and (ours or not plan.releases):
            continue
        tagged = refs.tags.get(component_tag(component, state.declared))
        if tagged is None and not state.moved:
            continue
        record = known_at(tagged or head)
        used = record.components[component] if record else None
        taken = used is not None and used.version == state.declared and used.exact != state.current.exact
        if taken or (tagged is not None and used is None):
            free = _free_version([*refs.versions(f"{component.value}-v"), state.declared], state.declared, line=line)
            raise ConflictError(
                f"{component.value} {state.declared} was released in {repo} already, with other content "
                f"(commit {(tagged or head)[:12]}).",
                f"A version never changes its content: hfenv bump {component.value} {free} -m '...', then push.",
            )
    tagged = refs.tags.get(release_tag(plan.record.release))
    if plan.releases and tagged is not None:
        record = known_at(tagged)
        if record is None or record.to_bytes() != plan.record.to_bytes():
            raise ConflictError(
                f"Release {plan.record.release} of {repo} exists already, with other content (commit {tagged[:12]}).",
                f"Pull {repo} and work in that folder, so that the next release gets a number of its own.",
            )


def _free_version(taken: Collection[str], declared: str, *, line: bool) -> str:
    """The next version that nobody has: after all others, or on a branch for an older line the next one in it."""
    if not line:
        return raised(max(taken, key=parse_version), Level.PATCH)
    free = raised(declared, Level.PATCH)
    while free in taken:
        free = raised(free, Level.PATCH)
    return free


def missing_tags(record: ReleaseRecord, refs: Refs) -> Mapping[str, Carries]:
    """Tags that a record should have and the hub hasn't, each with the test of the commits that it may stand at."""
    wanted: dict[str, Carries] = {release_tag(record.release): lambda r: r.release == record.release}
    for component in Component:
        version = record.components[component].version

        def carries(r: ReleaseRecord, component: Component = component, version: str = version) -> bool:
            return r.components[component].version == version

        wanted[component_tag(component, version)] = carries
    return {tag: carries for tag, carries in wanted.items() if tag not in refs.tags}


def earliest_commit(hub: Hub, repo: str, head: str, carries: Carries) -> str:
    """The earliest commit in an unbroken line from the head whose record carries something."""
    found = head
    for commit in history(hub, repo, head):
        record = read_remote_record(hub, repo, commit.id)
        if record is None or not carries(record):
            break
        found = commit.id
    return found
