"""One push under way: its steps, each of which looks at what is there and does only what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hfenv.components.files import check_writable, write_all
from hfenv.components.ownership import RECORD_NAME
from hfenv.components.release import ReleaseRecord, parse_record, read_record
from hfenv.errors import HfenvError, IntegrityError
from hfenv.hub.cache import RemoteFile, content_id_of
from hfenv.hub.client import Hub
from hfenv.hub.fetch import fetch_one, list_commit
from hfenv.hub.lineage import check_versions_unused, find_base
from hfenv.hub.plan import PushPlan
from hfenv.hub.pushing import remote as remotes
from hfenv.hub.pushing.landing import Commit, land
from hfenv.hub.pushing.model import HUB_FILES, MAIN, Changes, PushOptions, Remote
from hfenv.hub.pushing.moved import refuse_moved
from hfenv.hub.pushing.pulls import PullRequest, offer
from hfenv.hub.pushing.tags import make_missing
from hfenv.hub.pushing.upload import operations, send_large
from hfenv.hub.resolve import Refs
from hfenv.hub.state import FolderState, read_state, state_path, write_state


@dataclass(frozen=True, slots=True)
class Push:
    """One push under way: where to, what, and how."""

    hub: Hub
    repo: str
    plan: PushPlan
    options: PushOptions

    def look(self) -> Remote:
        """The repository as it is now."""
        return remotes.look(self.hub, self.repo, self.plan, self.options)

    def changes(self, remote: Remote) -> Changes:
        """What differs between the plan and the head."""
        upload = {path: self.plan.size(path) for path in self.plan.files if not self.same(path, remote.tree)}
        return Changes(upload, self._surplus(remote.tree))

    def same(self, path: str, tree: Mapping[str, RemoteFile]) -> bool:
        """Whether a commit's tree already has what the plan has under a path."""
        remote = tree.get(path)
        return remote is not None and self.plan.contents[path].is_content_of(remote)

    def is_plan(self, tree: Mapping[str, RemoteFile]) -> bool:
        """Whether a commit's tree is exactly what this push publishes."""
        return not self._surplus(tree) and all(self.same(path, tree) for path in self.plan.files)

    def _surplus(self, tree: Mapping[str, RemoteFile]) -> tuple[str, ...]:
        return tuple(sorted(path for path in tree if path not in self.plan.files and path not in HUB_FILES))

    def finish_interrupted(self, remote: Remote) -> tuple[str, ...] | None:
        """Take over the record of the head, where the folder builds on that head and doesn't know its record.

        So it is after a push that was interrupted between its commit and its local record, and after `--base` on
        something else: versions count from what is released there. Returns the tags that were made for it, None where
        there was nothing to take over.
        """
        root, head, listed = self.plan.root, remote.head, remote.tree.get(RECORD_NAME)
        if head is None or listed is None or self.base(remote, head) != head:
            return None
        local = root / RECORD_NAME
        if local.is_file() and content_id_of(local).is_content_of(listed):
            return None
        raw = fetch_one(self.hub, self.repo, head, RECORD_NAME).read_bytes()
        record = parse_record(raw, f"{RECORD_NAME} of {self.repo}@{head}")
        tags = () if self.options.create_pr else self.tag_missing(record, remote.refs, head)
        write_all({local: raw})
        return tags

    def tag_predecessor(self, remote: Remote) -> tuple[str, ...]:
        """Make the tags that the head's release still lacks, as after the merge of a pull request."""
        head, listed = remote.head, remote.tree.get(RECORD_NAME)
        local = self.plan.root / RECORD_NAME
        if head is None or listed is None or not local.is_file() or not content_id_of(local).is_content_of(listed):
            return ()
        record = read_record(self.plan.root)
        return self.tag_missing(record, remote.refs, head) if record is not None else ()

    def base(self, remote: Remote, head: str) -> str | None:
        """The commit that the folder builds on."""
        return self.options.base or find_base(self.hub, self.repo, self.plan, remote.refs, head)

    def refuse_conflicts(self, remote: Remote, head: str) -> None:
        """Raises ConflictError when this push would overwrite a version or somebody else's work."""
        aside = self.options.branch != MAIN
        check_versions_unused(self.hub, self.repo, self.plan, remote.refs, head, line=aside)
        base = head if remote.starts else self.base(remote, head)
        refuse_moved(self.hub, self.repo, base, remote, self.options)

    def check_folder(self) -> None:
        """Refuse a folder that can't be written: the hub would have a commit that it can never learn of."""
        for folder in (self.plan.root, state_path(self.plan.root).parent):
            if folder.exists():
                check_writable(folder)

    def create(self) -> Remote:
        """Create the repository, and look at what the hub put into it."""
        return remotes.create(self.hub, self.repo, self.options)

    def prepare(self, changes: Changes, remote: Remote) -> Commit:
        """Send the large files, so that what is left to do is one commit."""
        made = operations(self.plan, changes)
        branch = self.options.branch
        if remote.starts and remote.head is not None and not self.options.create_pr:
            remotes.start_branch(self.hub, self.repo, branch, remote.head)
        send_large(self.hub, self.repo, self.plan, made, branch, create_pr=self.options.create_pr)
        message = self.options.message or _message(self.plan, first=RECORD_NAME not in remote.tree)
        return Commit(self.hub, self.repo, branch, remote.head, message, made, self.is_plan)

    def commit(self, prepared: Commit) -> str:
        """Make the one commit, guarded by its parent; returns its hash."""
        return land(prepared)

    def offer(self, prepared: Commit, refs: Refs) -> PullRequest:
        """Open a pull request with the commit, or find the one that has it."""
        return offer(prepared, refs)

    def compare(self, revision: str) -> None:
        """Hold what the hub has against what was sent, before anything here or there is called a release."""
        tree = list_commit(self.hub, self.repo, revision)
        if not self.is_plan(tree):
            differing = [path for path in self.plan.files if not self.same(path, tree)]
            named = ", ".join(sorted([*differing, *self._surplus(tree)])[:5])
            raise IntegrityError(
                f"{self.repo}@{revision} differs from what was sent: {named}.",
                "No tag was made. Did a file change during the push? Push again.",
            )

    def tag_missing(
        self, record: ReleaseRecord, refs: Refs, revision: str, new: frozenset[str] = frozenset()
    ) -> tuple[str, ...]:
        """Make the tags that a record should have and the hub hasn't; returns their names."""
        return make_missing(self.hub, self.repo, record, refs, revision, new=new)

    def remember(self, revision: str, *, committed: bool) -> None:
        """Keep what the folder builds on now; a pulled one that is still as the remote has it stays somebody else's."""
        before = read_state(self.plan.root)
        same = before is not None and before.endpoint == self.hub.key and before.repo == self.repo
        pulled = same and before is not None and before.pulled and not committed
        now = FolderState(self.hub.key, self.repo, revision, pulled=pulled)
        if now != before:
            write_state(self.plan.root, now)

    def keep_record(self) -> None:
        """Write here what was released, once the hub is known to have it."""
        root = self.plan.root
        write_all({root / path: new for path, new in self.plan.written.items() if _differs(root / path, new)})


@contextmanager
def record_kept(root: Path) -> Iterator[None]:
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


def _message(plan: PushPlan, *, first: bool) -> str:
    if first:
        return f"Release {plan.record.release}: {', '.join(f'{c.value} {s.declared}' for c, s in plan.states.items())}"
    if not plan.releases:
        return "Update documentation"
    moved = [f"{s.component.value} {s.declared}" for s in plan.states.values() if s.moved]
    return f"Release {plan.record.release}: {', '.join(moved)}"


def _differs(path: Path, content: bytes) -> bool:
    return not path.is_file() or path.read_bytes() != content
