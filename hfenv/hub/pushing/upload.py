"""What is sent: the operations of one commit, and large files ahead of it, which are never sent twice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hfenv.errors import IntegrityError, UsageError
from hfenv.hub.cache import content_id
from hfenv.hub.client import REPO_TYPE, Hub
from hfenv.hub.patience import patiently
from hfenv.hub.plan import PushPlan
from hfenv.hub.pushing.model import Changes

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    Operation = CommitOperationAdd | CommitOperationDelete

_READ_AT_ONCE = 1 << 20  # bytes


def operations(plan: PushPlan, changes: Changes) -> list[Operation]:
    """One operation for each file; raises IntegrityError for a file that isn't any more what was planned."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    made: list[Operation] = []
    for path, size in changes.upload.items():
        content = plan.content(path)
        if isinstance(content, Path) and size <= _READ_AT_ONCE:
            # The client keeps it in memory anyway; read once, it can't change any more.
            content = content.read_bytes()
        operation = CommitOperationAdd(path, content if isinstance(content, bytes) else str(content))
        if isinstance(content, Path) and operation.upload_info.size == size and not _by_xet():
            # Read a third time it would be no surer: the hub takes no upload that has another digest.
            operation.upload_info.sha256 = bytes.fromhex(plan.contents[path].sha256)
        _check(plan, path, operation)
        made.append(operation)
    made.extend(CommitOperationDelete(path, is_folder=False) for path in changes.delete)
    return made


def send_large(hub: Hub, repo: str, plan: PushPlan, made: list[Operation], branch: str, *, create_pr: bool) -> None:
    """Ask which files are large, and send those of them that the hub hasn't yet."""
    from huggingface_hub import CommitOperationAdd

    additions = [operation for operation in made if isinstance(operation, CommitOperationAdd)]

    def send() -> None:
        with hub.translated(repo):
            hub.api.preupload_lfs_files(
                repo, additions, repo_type=REPO_TYPE, revision=branch, create_pr=create_pr, free_memory=False
            )

    try:
        patiently(send)
    except UsageError:
        # So it looks where the bytes weren't those that were announced.
        for addition in additions:
            _refuse_changed(plan, addition)
        raise
    for addition in additions:
        if addition._upload_mode == "regular" and isinstance(addition.path_or_fileobj, str):
            _hold(plan, addition)


def _hold(plan: PushPlan, addition: CommitOperationAdd) -> None:
    """Read a regular file once, so that what is committed is what was checked."""
    from huggingface_hub.lfs import UploadInfo

    content = Path(str(addition.path_or_fileobj)).read_bytes()
    addition.path_or_fileobj, addition.upload_info = content, UploadInfo.from_bytes(content)
    _check(plan, addition.path_in_repo, addition)


def _by_xet() -> bool:
    from huggingface_hub.utils._runtime import is_xet_available

    return is_xet_available()


def _refuse_changed(plan: PushPlan, addition: CommitOperationAdd) -> None:
    source, path = addition.path_or_fileobj, addition.path_in_repo
    if isinstance(source, str) and content_id(Path(source)).sha256 != plan.contents[path].sha256:
        raise _changed(path)


def _check(plan: PushPlan, path: str, operation: CommitOperationAdd) -> None:
    if operation.upload_info.sha256.hex() != plan.contents[path].sha256:
        raise _changed(path)


def _changed(path: str) -> IntegrityError:
    return IntegrityError(f"{path} changed while it was being pushed.", "Nothing was published; push again.")
