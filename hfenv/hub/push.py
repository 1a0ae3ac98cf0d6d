"""Push: plan, look, large files, one commit, comparison, tags, local record; every step can be repeated."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from hfenv.components.journal import changing
from hfenv.components.ownership import RECORD_NAME
from hfenv.errors import UsageError
from hfenv.hub.client import Hub
from hfenv.hub.lineage import missing_tags
from hfenv.hub.plan import make_plan, preview
from hfenv.hub.pushed import note_pushed
from hfenv.hub.pushing.model import MAIN, Changes, PushOptions, PushResult, Remote
from hfenv.hub.pushing.pulls import PullRequest
from hfenv.hub.pushing.remote import check_branch
from hfenv.hub.pushing.steps import Push as _Push
from hfenv.hub.pushing.steps import record_kept
from hfenv.hub.pushing.tags import with_tags
from hfenv.hub.references import check_repo_id, is_hash
from hfenv.hub.said import refuse_secret
from hfenv.hub.secretgate import refuse_secrets

__all__ = ["PushOptions", "PushResult", "push"]


@dataclass(frozen=True, slots=True)
class _Done:
    """What became of a push: the commit that the hub has it in, the tags that were made, a pull request."""

    revision: str | None
    tags: tuple[str, ...]
    created: bool
    pull: PullRequest | None = None


def push(hub: Hub, root: Path, repo: str, options: PushOptions) -> PushResult:
    """Publish an environment's folder, which the caller has validated.

    Raises ConflictError when the remote moved, a version was used for other content, or the repository holds
    something else; the folder is untouched until the hub has been compared with what was sent.
    """
    if options.base is not None and not is_hash(options.base):
        raise UsageError(f"'{options.base}' is no commit.", "Give --base the full hash (40 characters).")
    check_branch(options.branch)
    refuse_secret(options.message or "", "The message")
    # What is sent must not change under way, nor be what another push of this folder is sending.
    with nullcontext() if options.dry_run else changing(root):
        return _push(hub, root, repo, options)


def _push(hub: Hub, root: Path, repo: str, options: PushOptions) -> PushResult:
    session = _Push(hub, check_repo_id(repo), make_plan(root, options.settle), options)
    remote = session.look()
    finished: tuple[str, ...] = ()
    # What `--base` takes over is somebody else's; the record of an interrupted push is what the hub has of ours.
    with record_kept(root) if options.base is not None else nullcontext():
        taken = None if options.dry_run else session.finish_interrupted(remote)
        if taken is not None and remote.head is not None:
            finished, remote = taken, replace(remote, refs=with_tags(remote.refs, taken, remote.head))
            session = _Push(hub, session.repo, make_plan(root, options.settle), options)
        changes = session.changes(remote)
        if remote.head is not None and changes:
            session.refuse_conflicts(remote, remote.head)
    refuse_secrets(session.plan, changes.upload)
    if options.dry_run:
        tags = () if options.create_pr else tuple(missing_tags(session.plan.record, remote.refs))
        done = _Done(remote.head, tags, created=False)
    else:
        session.check_folder()
        if not remote.exists:
            remote = session.create()
            changes = session.changes(remote)
        publish = _offer if options.create_pr else _publish
        done = publish(session, remote, changes, finished)
    return _result(session, remote, changes, done)


def _publish(session: _Push, remote: Remote, changes: Changes, finished: tuple[str, ...]) -> _Done:
    """Commit, compare, tag, remember: from wherever a push before this one got to."""
    revision, committed = remote.head, bool(changes)
    if committed:
        before = session.tag_predecessor(remote)
        if before and revision is not None:
            finished, remote = (*finished, *before), replace(remote, refs=with_tags(remote.refs, before, revision))
    if committed or revision is None:
        revision = session.commit(session.prepare(changes, remote))
    # At once: whatever happens next, this commit is ours, and the next push builds on it.
    session.remember(revision, committed=committed)
    if committed:
        session.compare(revision)
    # Tags are new here only if this very commit brought the record.
    new = session.plan.new_tags if RECORD_NAME in changes.upload else frozenset()
    tags = session.tag_missing(session.plan.record, remote.refs, revision, new)
    session.keep_record()
    if session.options.branch == MAIN:
        note_pushed(session.plan, session.hub.key, session.repo, revision)
    return _Done(revision, (*finished, *tags), created=committed)


def _offer(session: _Push, remote: Remote, changes: Changes, finished: tuple[str, ...]) -> _Done:
    """Open a pull request: no tags, and nothing is remembered here, since nothing is released before the merge."""
    if not changes:
        return _Done(remote.head, finished, created=False)
    pull = session.offer(session.prepare(changes, remote), remote.refs)
    session.compare(pull.commit)
    return _Done(pull.commit, finished, created=pull.created, pull=pull)


def _result(session: _Push, remote: Remote, changes: Changes, done: _Done) -> PushResult:
    plan, pull = session.plan, done.pull
    return PushResult(
        repo=session.repo,
        revision=done.revision,
        release=plan.record.release,
        versions={component: state.declared for component, state in plan.states.items()},
        tags=done.tags,
        created=done.created,
        url=session.hub.url(session.repo, done.revision),
        private=remote.private,
        uploaded=changes.upload,
        deleted=changes.delete,
        branch=pull.ref if pull is not None else session.options.branch,
        pull_request=pull.url if pull is not None else None,
        preview=preview(plan, changes.upload) if session.options.dry_run else None,
    )
