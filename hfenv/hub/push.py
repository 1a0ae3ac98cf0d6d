"""Push: plan, compare, one commit, comparison, tags, local record; every step can be repeated after a failure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hfenv.components.files import check_writable, write_all
from hfenv.components.ownership import RECORD_NAME, Component
from hfenv.components.release import ReleaseRecord, parse_record
from hfenv.components.status import Settle
from hfenv.errors import ConflictError, HfenvError, IntegrityError, NotFoundError, UsageError
from hfenv.hub.cache import RemoteFile, content_id_of
from hfenv.hub.client import REPO_TYPE, Hub
from hfenv.hub.fetch import fetch_one, list_commit, remote_tree
from hfenv.hub.lineage import check_versions_unused, earliest_commit, find_base, missing_tags, refuse_moved
from hfenv.hub.plan import PushPlan, make_plan
from hfenv.hub.references import check_repo_id, is_hash
from hfenv.hub.resolve import Refs, read_refs
from hfenv.hub.state import FolderState, read_state, state_path, write_state

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

# Files that a hub adds to a new repository by itself; a folder that has none of its own leaves them alone.
HUB_FILES = frozenset({".gitattributes"})
MAIN = "main"
_READ_AT_ONCE = 1 << 20  # bytes


@dataclass(frozen=True, slots=True)
class PushOptions:
    """How to push. `private` is None where the caller doesn't care; `base` overrides what the folder builds on.

    `settle` lowers what changes need where running something tells more about them, see `make_plan`.
    """

    private: bool | None = None
    message: str | None = None
    adopt: bool = False
    base: str | None = None
    dry_run: bool = False
    settle: Settle | None = None


@dataclass(frozen=True, slots=True)
class PushResult:
    """What a push did, or with `dry_run` would do. `created` is false when the hub had it all already."""

    repo: str
    revision: str | None
    release: str
    versions: Mapping[Component, str]
    tags: tuple[str, ...]
    created: bool
    url: str
    private: bool
    uploaded: Mapping[str, int]
    deleted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Remote:
    """The repository as it is now; `head` is None before its first commit."""

    exists: bool
    private: bool
    head: str | None
    refs: Refs
    tree: Mapping[str, RemoteFile]


@dataclass(frozen=True, slots=True)
class _Changes:
    """What differs between the plan and the head: paths to upload with their bytes, paths to delete."""

    upload: Mapping[str, int]
    delete: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.upload or self.delete)


@dataclass(frozen=True, slots=True)
class _Push:
    """One push under way: where to, what, and how."""

    hub: Hub
    repo: str
    plan: PushPlan
    options: PushOptions

    def look(self) -> _Remote:
        """The repository as it is now; three requests where it exists."""
        try:
            with self.hub.translated(self.repo):
                info = self.hub.api.repo_info(self.repo, repo_type=REPO_TYPE)
        except NotFoundError:
            return _Remote(False, bool(self.options.private), None, Refs({}, {}), {})
        private = bool(info.private)
        if self.options.private and not private:
            raise ConflictError(
                f"{self.repo} is public already; --private counts only when a repository is created.",
                f"Make it private at {self.hub.endpoint}/{REPO_TYPE}s/{self.repo}/settings, or leave out --private.",
            )
        refs = read_refs(self.hub, self.repo)
        head = refs.branches.get(MAIN)
        return _Remote(True, private, head, refs, list_commit(self.hub, self.repo, head) if head else {})

    def changes(self, remote: _Remote) -> _Changes:
        """What differs between the plan and the head."""
        upload = {path: self.plan.size(path) for path in self.plan.files if not self.same(path, remote.tree)}
        delete = tuple(sorted(path for path in remote.tree if path not in self.plan.files and path not in HUB_FILES))
        return _Changes(upload, delete)

    def same(self, path: str, tree: Mapping[str, RemoteFile]) -> bool:
        """Whether a commit's tree already has what the plan has under a path."""
        remote = tree.get(path)
        return remote is not None and self.plan.contents[path].is_content_of(remote)

    def finish_interrupted(self, remote: _Remote) -> bool:
        """Take over the record of the head, where the folder builds on that head and doesn't know its record.

        So it is after a push that was interrupted between its commit and its local record, and after `--base` on
        something else: versions count from what is released there. Returns whether there was something to take over.
        """
        root, head, listed = self.plan.root, remote.head, remote.tree.get(RECORD_NAME)
        if head is None or listed is None or self.base(remote, head) != head:
            return False
        local = root / RECORD_NAME
        if local.is_file() and content_id_of(local).is_content_of(listed):
            return False
        raw = fetch_one(self.hub, self.repo, head, RECORD_NAME).read_bytes()
        record = parse_record(raw, f"{RECORD_NAME} of {self.repo}@{head}")
        self.tag_missing(record, remote.refs, head)
        write_all({local: raw})
        return True

    def base(self, remote: _Remote, head: str) -> str | None:
        """The commit that the folder builds on."""
        return self.options.base or find_base(self.hub, self.repo, self.plan, remote.refs, head)

    def refuse_conflicts(self, remote: _Remote, head: str) -> None:
        """Raises ConflictError when this push would overwrite a version or somebody else's work."""
        check_versions_unused(self.hub, self.repo, self.plan, remote.refs, head)
        base = self.base(remote, head)
        refuse_moved(self.hub, self.repo, base, head, remote.tree, adopt=self.options.adopt)

    def create(self) -> _Remote:
        """Create the repository, and look at what the hub put into it."""
        private = bool(self.options.private)
        with self.hub.translated(self.repo):
            self.hub.api.create_repo(self.repo, private=private, repo_type=REPO_TYPE, exist_ok=True)
        remote = self.look()
        if set(remote.tree) - HUB_FILES:
            raise ConflictError(f"{self.repo} was created by another push a moment ago.", "Pull it, then push again.")
        return remote

    def commit(self, changes: _Changes, head: str | None, tree: Mapping[str, RemoteFile]) -> str:
        """Make the one commit, guarded by its parent; returns its hash."""
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        operations: list[CommitOperationAdd | CommitOperationDelete] = []
        for path in changes.upload:
            content = self.plan.content(path)
            if isinstance(content, Path) and changes.upload[path] <= _READ_AT_ONCE:
                # The client keeps it in memory anyway; read once, it can't change any more.
                content = content.read_bytes()
            operation = CommitOperationAdd(path, content if isinstance(content, bytes) else str(content))
            if operation.upload_info.sha256.hex() != self.plan.contents[path].sha256:
                raise IntegrityError(f"{path} changed while it was being pushed.", "Nothing was sent; push again.")
            operations.append(operation)
        operations.extend(CommitOperationDelete(path, is_folder=False) for path in changes.delete)
        message = self.options.message or _message(self.plan, first=RECORD_NAME not in tree)
        try:
            with self.hub.translated(self.repo):
                info = self.hub.api.create_commit(
                    self.repo,
                    operations,
                    commit_message=message,
                    repo_type=REPO_TYPE,
                    revision=MAIN,
                    parent_commit=head,
                )
        except ConflictError as error:
            raise ConflictError(
                f"{self.repo} moved while this push was under way; nothing of it was published.",
                "Pull its new state into another folder, carry your change over, and push from there.",
            ) from error
        return info.oid

    def compare(self, revision: str) -> None:
        """Hold what the hub has against what was sent, before anything here or there is called a release."""
        tree = {file.path: file for file in remote_tree(self.hub, self.repo, revision)}
        differing = [path for path in self.plan.files if not self.same(path, tree)]
        surplus = [path for path in tree if path not in self.plan.files and path not in HUB_FILES]
        if differing or surplus:
            named = ", ".join(sorted([*differing, *surplus])[:5])
            raise IntegrityError(
                f"{self.repo}@{revision} differs from what was sent: {named}.",
                "No tag was made. Did a file change during the push? Push again.",
            )

    def tag_missing(
        self, record: ReleaseRecord, refs: Refs, revision: str, new: frozenset[str] = frozenset()
    ) -> tuple[str, ...]:
        """Make the tags that a record should have and the hub hasn't; returns their names.

        Those in `new` belong to this revision, the others where the record first appeared.
        """
        made = []
        for tag, carries in missing_tags(record, refs).items():
            target = revision if tag in new else earliest_commit(self.hub, self.repo, revision, carries)
            with self.hub.translated(self.repo):
                self.hub.api.create_tag(self.repo, tag=tag, revision=target, repo_type=REPO_TYPE)
            made.append(tag)
        return tuple(made)

    def remember(self, revision: str, *, committed: bool) -> None:
        """Keep what the folder builds on now; a pulled one that is still as the remote has it stays somebody else's."""
        before = read_state(self.plan.root)
        same = before is not None and before.endpoint == self.hub.key and before.repo == self.repo
        pulled = same and before is not None and before.pulled and not committed
        write_state(self.plan.root, FolderState(self.hub.key, self.repo, revision, pulled=pulled))

    def keep_record(self) -> None:
        """Write here what was released, once the hub is known to have it."""
        root = self.plan.root
        write_all({root / path: new for path, new in self.plan.written.items() if _differs(root / path, new)})


@contextmanager
def _record_kept(root: Path) -> Iterator[None]:
    """Put the local record back where a push is refused: it changes nothing then, whatever it took over before."""
    path = root / RECORD_NAME
    before = path.read_bytes() if path.is_file() else None
    try:
        yield
    except HfenvError:
        if before is not None and path.read_bytes() != before:
            write_all({path: before})
        elif before is None:
            path.unlink(missing_ok=True)
        raise


def push(hub: Hub, root: Path, repo: str, options: PushOptions) -> PushResult:
    """Publish an environment's folder, which the caller has validated.

    Raises ConflictError when the remote moved, a version was used for other content, or the repository holds
    something else; the folder is untouched until the hub has been compared with what was sent.
    """
    if options.base is not None and not is_hash(options.base):
        raise UsageError(f"'{options.base}' is no commit.", "Give --base the full hash (40 characters).")
    session = _Push(hub, check_repo_id(repo), make_plan(root, options.settle), options)
    remote = session.look()
    # What `--base` takes over is somebody else's; the record of an interrupted push is what the hub has of ours.
    with _record_kept(root) if options.base is not None else nullcontext():
        if not options.dry_run and session.finish_interrupted(remote):
            session = _Push(hub, session.repo, make_plan(root, options.settle), options)
            remote = session.look()
        changes = session.changes(remote)
        if remote.head is not None and changes:
            session.refuse_conflicts(remote, remote.head)
    revision, tags = remote.head, tuple(missing_tags(session.plan.record, remote.refs))
    if not options.dry_run:
        # Else the hub would have a commit that this folder can never learn of.
        for folder in (root, state_path(root).parent):
            if folder.exists():
                check_writable(folder)
        if not remote.exists:
            remote = session.create()
            changes = session.changes(remote)
        revision = remote.head
        if changes or revision is None:
            revision = session.commit(changes, remote.head, remote.tree)
        # At once: whatever happens next, this commit is ours, and the next push builds on it.
        session.remember(revision, committed=bool(changes))
        if changes:
            session.compare(revision)
        # Tags are new here only if this very commit brought the record.
        new = session.plan.new_tags if RECORD_NAME in changes.upload else frozenset()
        tags = session.tag_missing(session.plan.record, remote.refs, revision, new)
        session.keep_record()
    return PushResult(
        repo=session.repo,
        revision=revision,
        release=session.plan.record.release,
        versions={component: state.declared for component, state in session.plan.states.items()},
        tags=tags,
        created=bool(changes) and not options.dry_run,
        url=hub.url(repo, revision),
        private=remote.private,
        uploaded=changes.upload,
        deleted=changes.delete,
    )


def _message(plan: PushPlan, *, first: bool) -> str:
    if first:
        return f"Release {plan.record.release}: {', '.join(f'{c.value} {s.declared}' for c, s in plan.states.items())}"
    if not plan.releases:
        return "Update documentation"
    moved = [f"{s.component.value} {s.declared}" for s in plan.states.values() if s.moved]
    return f"Release {plan.record.release}: {', '.join(moved)}"


def _differs(path: Path, content: bytes) -> bool:
    return not path.is_file() or path.read_bytes() != content
