"""`pull --update`: bring a working folder up to date with what changed on the hub, whole or not at all."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

from hfenv.components.journal import Change, apply_all, changing, finish
from hfenv.components.ownership import RECORD_NAME, walk
from hfenv.components.release import ReleaseRecord, parse_record
from hfenv.errors import ConflictError, NetworkError, NotFoundError, UsageError
from hfenv.hub.client import Hub
from hfenv.hub.fetch import Progress, fetch, list_commit
from hfenv.hub.merging.deciding import Conflict, Decision, Sides, local_contents
from hfenv.hub.resolve import read_refs
from hfenv.hub.state import FolderState, read_state, state_path

_RUN = ("env", "reward", "audit")  # folders whose files are imported


@dataclass(frozen=True, slots=True)
class UpdateResult:
    """What an update did, or with `dry_run` would do; `base` and `revision` are the same where there was nothing to do.

    `updated` were taken from the hub as they are, `merged` from both sides; `conflicts` wait for somebody's decision.
    """

    folder: Path
    repo: str
    base: str
    revision: str
    release: str | None
    updated: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()

    @property
    def moved(self) -> bool:
        return self.base != self.revision


def update(hub: Hub, root: Path, *, dry_run: bool = False, progress: Progress | None = None) -> UpdateResult:
    """Merge the head of the repository that a folder was pulled or pushed from into the folder.

    Makes one request where the hub didn't move. Raises UsageError for a folder that knows no repository, NetworkError
    when offline, ConflictError where the base is gone or names can't lie in one folder; the folder is as it was then.
    """
    if hub.offline:
        raise NetworkError("An update asks the hub what changed, and offline mode is on.", "Turn it off.")
    finish(root)
    with nullcontext() if dry_run else changing(root):
        return _update(hub, root, dry_run=dry_run, progress=progress)


def _update(hub: Hub, root: Path, *, dry_run: bool, progress: Progress | None) -> UpdateResult:
    state = _state(hub, root)
    head = _head(hub, state.repo)
    if head == state.base:
        return UpdateResult(root, state.repo, head, head, None)
    entries = [entry.path for entry in walk(root)]
    try:
        base = list_commit(hub, state.repo, state.base)
    except NotFoundError:
        raise ConflictError(
            f"The history of {state.repo} was rewritten: {state.base[:12]}, which this folder builds on, is gone.",
            f"Pull {state.repo} into another folder and carry your changes over.",
        ) from None
    here = local_contents(root, entries)
    sides = Sides(root, base, here, list_commit(hub, state.repo, head))
    old, new = sides.needed()
    if RECORD_NAME in sides.hub:
        new |= {RECORD_NAME}
    before = fetch(hub, state.repo, state.base, lambda path: path in old)
    after = fetch(hub, state.repo, head, lambda path: path in new, progress=progress)
    before.verify(sides.base[path] for path in old)
    after.verify(sides.hub[path] for path in new)
    record = _record(after.files, state.repo, head) if RECORD_NAME in sides.hub else None
    decision = sides.decide(lambda p: before.files / p, lambda p: after.files / p, _executable(record))
    if not dry_run:
        apply_all(root, {**decision.changes, **_new_state(root, state, head, decision)})
    return UpdateResult(
        root, state.repo, state.base, head, record.release if record else None, tuple(decision.updated),
        tuple(decision.merged), tuple(decision.deleted), tuple(decision.conflicts),
    )  # fmt: skip


def _state(hub: Hub, root: Path) -> FolderState:
    state = read_state(root)
    if state is None:
        raise UsageError(
            f"{root} doesn't know where it came from.",
            "Pull the repository into a new folder with hfenv pull NAMESPACE/NAME, or push this one first.",
        )
    if state.endpoint != hub.key:
        raise UsageError(f"{root} came from another hub ({state.endpoint}).", "Name that one with --hub.")
    return state


def _head(hub: Hub, repo: str) -> str:
    head = read_refs(hub, repo).branches.get("main")
    if head is None:
        raise NotFoundError(f"{repo} has no commit.", "There is nothing to bring in; push.")
    return head


def _record(files: Path, repo: str, head: str) -> ReleaseRecord:
    return parse_record((files / RECORD_NAME).read_bytes(), f"{RECORD_NAME} of {repo}@{head}")


def _executable(record: ReleaseRecord | None) -> frozenset[str]:
    if record is None:
        return frozenset()
    return frozenset(f.path for c in record.components.values() for f in c.files if f.executable)


def _new_state(root: Path, state: FolderState, head: str, decision: Decision) -> dict[str, Change]:
    """The state in the same step as the files; code that others wrote makes the folder one that asks for trust."""
    foreign = any(path.partition("/")[0] in _RUN for path in decision.changes)
    now = FolderState(state.endpoint, state.repo, head, pulled=state.pulled or foreign)
    raw = json.dumps(asdict(now), indent=2, sort_keys=True) + "\n"
    return {state_path(root).relative_to(root).as_posix(): Change(raw.encode())}
