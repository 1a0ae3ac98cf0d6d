"""What went wrong: the exceptions that reach a user, each with its exit code and the next step to take."""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """Exit codes of the command line; scripts depend on them."""

    OK = 0
    FINDINGS = 1
    USAGE = 2
    UNREADABLE = 3
    NOT_FOUND = 4
    CONFLICT = 5
    NETWORK = 6
    REFUSED = 7


class HfenvError(Exception):
    """Base of all errors a user can cause or meet.

    `message` says what happened and where, `hint` what to do next; both are plain sentences.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.FINDINGS

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class UsageError(HfenvError):
    """The call itself is wrong: an option, a name, a folder that isn't empty."""

    exit_code = ExitCode.USAGE


class StorageError(HfenvError):
    """The disk is full or a folder can't be written; what was there before is still there."""

    exit_code = ExitCode.USAGE

    @classmethod
    def of(cls, error: OSError) -> StorageError:
        """What no code foresaw: a name that is too long, a folder without rights, a file in the place of a folder."""
        place = f"{str(error.filename)[:200]}: " if error.filename else ""
        reason = error.strerror or type(error).__name__
        return cls(f"{place}{reason}.", "Check the path, its rights and the free space.")


class UnreadableError(HfenvError):
    """A card, a record, a task file or a configuration can't be read as what it claims to be."""

    exit_code = ExitCode.UNREADABLE


class MissingPackagesError(HfenvError):
    """The environment needs packages that aren't installed; raised before anything of it is imported."""

    exit_code = ExitCode.UNREADABLE


class AuthorCodeError(HfenvError):
    """Code of the environment or its reward failed or breaks the contract."""

    exit_code = ExitCode.FINDINGS


class FindingsError(HfenvError):
    """Validation found errors that stop this command."""

    exit_code = ExitCode.FINDINGS


class NotFoundError(HfenvError):
    """A repository, revision, version, split, task or file doesn't exist."""

    exit_code = ExitCode.NOT_FOUND


class AccessError(HfenvError):
    """The hub refused the token, or there is none where one is needed."""

    exit_code = ExitCode.NOT_FOUND


class ConflictError(HfenvError):
    """The remote moved, or a version was used already for other content."""

    exit_code = ExitCode.CONFLICT


class NetworkError(HfenvError):
    """The hub can't be reached, failed, or asks to slow down."""

    exit_code = ExitCode.NETWORK


class IntegrityError(HfenvError):
    """Files don't match the digests they were released with."""

    exit_code = ExitCode.REFUSED


class TrustError(HfenvError):
    """Code that nobody trusted was about to be imported."""

    exit_code = ExitCode.REFUSED


class NotLockedError(HfenvError):
    """Something was about to be loaded that the lock file, by which everything loads, doesn't have."""

    exit_code = ExitCode.REFUSED


class PolicyError(HfenvError):
    """An organisation's policy doesn't allow this; no flag overrides it."""

    exit_code = ExitCode.REFUSED
