"""Refusals of the embedded hub: status, error code and message, as the client expects to read them."""

from __future__ import annotations

import errno
import os
import shutil
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path


class ErrorCode(str, Enum):
    """Values of the `X-Error-Code` header that the client turns into exceptions of its own."""

    REPO_NOT_FOUND = "RepoNotFound"
    REVISION_NOT_FOUND = "RevisionNotFound"
    ENTRY_NOT_FOUND = "EntryNotFound"
    GATED_REPO = "GatedRepo"


@dataclass(eq=False)
class HubError(Exception):
    """An answer other than success; `extra` are further headers, `url` goes into the body where the client reads it."""

    status: int
    message: str
    code: ErrorCode | None = None
    extra: dict[str, str] = field(default_factory=dict)
    url: str | None = None

    def __str__(self) -> str:
        return f"{self.status} {self.message}"


class Conflict(Exception):
    """The branch moved between reading it and writing it."""


def bad_request(message: str) -> HubError:
    return HubError(400, message)


def repo_not_found(*, anonymous: bool) -> HubError:
    # A private repository answers as a missing one does, so that its existence stays private.
    if anonymous:
        return HubError(401, "Repository not found, or it needs a token.", ErrorCode.REPO_NOT_FOUND)
    return HubError(404, "Repository not found", ErrorCode.REPO_NOT_FOUND)


def revision_not_found(revision: str) -> HubError:
    return HubError(404, f"Invalid rev id: {revision}", ErrorCode.REVISION_NOT_FOUND)


def entry_not_found(message: str, commit: str | None = None) -> HubError:
    extra = {"X-Repo-Commit": commit} if commit else {}
    return HubError(404, message, ErrorCode.ENTRY_NOT_FOUND, extra)


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LOW_BYTES = 16 * 1024 * 1024


def storage_error(error: Exception, root: Path) -> HubError:
    """What to answer when the storage folder can't be read or written.

    libgit2 doesn't say for certain that the disk is full: what is left of it is asked as well.
    """
    code = getattr(error, "errno", None)
    text = str(error)
    if code in _FULL or any(os.strerror(number) in text for number in _FULL) or _is_low(root):
        return HubError(507, "The hub's storage is full. Free some space and try again.")
    reason = os.strerror(code) if isinstance(code, int) else "its log says more"
    return HubError(500, f"The hub can't use its storage: {reason}.")


def _is_low(root: Path) -> bool:
    try:
        return shutil.disk_usage(root).free < _LOW_BYTES
    except OSError:
        return False
