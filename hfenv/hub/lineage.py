"""What a push builds on: its base, whether the remote moved, versions that are taken, and where tags belong."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hfenv.components.ownership import RECORD_NAME, Component
from hfenv.components.release import ReleaseRecord, component_tag, read_record, release_tag
from hfenv.components.versions import Level, parse_version, raised
from hfenv.errors import ConflictError, NotFoundError, UnreadableError
from hfenv.hub.cache import RemoteFile
from hfenv.hub.client import REPO_TYPE, Hub
from hfenv.hub.fetch import list_commit
from hfenv.hub.plan import PushPlan
from hfenv.hub.resolve import Refs, read_remote_record
from hfenv.hub.state import read_state

Carries = Callable[[ReleaseRecord], bool]


def find_base(hub: Hub, repo: str, plan: PushPlan, refs: Refs, head: str) -> str | None:
    """The commit that the folder builds on: what it was pulled or pushed from, else where its record was introduced."""
    state = read_state(plan.root)
    if state is not None and state.endpoint == hub.key and state.repo == repo:
        return state.base
    local = read_record(plan.root)
    if local is None:
        return None
    head_record = read_remote_record(hub, repo, head)
    if head_record is not None and head_record.to_bytes() == local.to_bytes():
        introduced = earliest_commit(hub, repo, head, lambda record: record.to_bytes() == local.to_bytes())
        return head if _has_what_came_since(hub, repo, plan, introduced, head) else introduced
    tagged = refs.tags.get(release_tag(local.release))
    if tagged is not None:
        record = read_remote_record(hub, repo, tagged)
        if record is not None and record.to_bytes() == local.to_bytes():
            return tagged
    return None


def _has_what_came_since(hub: Hub, repo: str, plan: PushPlan, base: str, head: str) -> bool:
    """Whether the folder holds all that changed from one commit to a later one, so that pushing it undoes nothing."""
    now = list_commit(hub, repo, head)
    return all(
        plan.contents[path].is_content_of(now[path]) if path in now and path in plan.contents else path not in now
        for path in _differing(list_commit(hub, repo, base), now)
    )


def _differing(before: Mapping[str, RemoteFile], now: Mapping[str, RemoteFile]) -> list[str]:
    return sorted(
        path for path in before.keys() | now.keys()
        if path not in before or path not in now or before[path].blob != now[path].blob
    )  # fmt: skip


def refuse_moved(
    hub: Hub, repo: str, base: str | None, head: str, tree: Mapping[str, RemoteFile], *, adopt: bool
) -> None:
    """Raises ConflictError unless the head is what the folder builds on, or the repository holds nothing yet."""
    own = sorted(path for path in tree if path != ".gitattributes")
    if base == head or not own:
        return
    if base is not None:
        raise ConflictError(
            f"{repo} moved since this folder was pulled or pushed ({base[:12]} -> {head[:12]}): "
            f"{_moved(hub, repo, base, tree)}.",
            f"Pull {repo}@main into another folder and carry your change over, "
            f"or replace what is there with --base {head}.",
        )
    if RECORD_NAME in tree:
        raise ConflictError(
            f"{repo} holds releases that this folder doesn't know.",
            f"Pull {repo} and work in that folder, or say what you build on with --base HASH (its head is {head}).",
        )
    if not adopt:
        named = ", ".join(own[:4]) + (f" and {len(own) - 4} more" if len(own) > 4 else "")
        raise ConflictError(
            f"{repo} holds content of its own and no release: {named}.",
            "Choose another name, or replace its content with --adopt (its history stays).",
        )


def _moved(hub: Hub, repo: str, base: str, tree: Mapping[str, RemoteFile]) -> str:
    try:
        before = list_commit(hub, repo, base)
    except NotFoundError:
        return "its history was rewritten, the commit isn't there any more"
    changed = _differing(before, tree)
    return ", ".join(changed[:6]) + (f" and {len(changed) - 6} more" if len(changed) > 6 else "") or "no file"


def check_versions_unused(hub: Hub, repo: str, plan: PushPlan, refs: Refs, head: str) -> None:
    """Raises ConflictError when a version that this push gives out was given to other content before."""
    known: dict[str, ReleaseRecord | None] = {}

    def record_at(commit: str) -> ReleaseRecord | None:
        if commit not in known:
            try:
                known[commit] = read_remote_record(hub, repo, commit)
            except (NotFoundError, UnreadableError):
                known[commit] = None
        return known[commit]

    for component, state in plan.states.items():
        if not state.moved and plan.releases is False:
            continue
        tagged = refs.tags.get(component_tag(component, state.declared))
        if tagged is None and not state.moved:
            continue
        record = record_at(tagged or head)
        used = record.components[component] if record else None
        taken = used is not None and used.version == state.declared and used.exact != state.current.exact
        if taken or (tagged is not None and used is None):
            taken_so_far = [*refs.versions(f"{component.value}-v"), state.declared]
            free = raised(max(taken_so_far, key=parse_version), Level.PATCH)
            raise ConflictError(
                f"{component.value} {state.declared} was released in {repo} already, with other content "
                f"(commit {(tagged or head)[:12]}).",
                f"A version never changes its content: hfenv bump {component.value} {free} -m '...', then push.",
            )
    tagged = refs.tags.get(release_tag(plan.record.release))
    if plan.releases and tagged is not None:
        record = record_at(tagged)
        if record is None or record.to_bytes() != plan.record.to_bytes():
            raise ConflictError(
                f"Release {plan.record.release} of {repo} exists already, with other content (commit {tagged[:12]}).",
                f"Pull {repo} and work in that folder, so that the next release gets a number of its own.",
            )


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
    with hub.translated(repo):
        commits = hub.api.list_repo_commits(repo, repo_type=REPO_TYPE, revision=head)
    found = head
    for commit in commits:
        record = read_remote_record(hub, repo, commit.commit_id)
        if record is None or not carries(record):
            break
        found = commit.commit_id
    return found
