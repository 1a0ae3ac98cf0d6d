"""Names and paths that the hub accepts: repositories, branches and tags, files in a repository."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from hfenv.localhub.errors import bad_request

MAX_NAME = 96
MAX_PATH = 4096
MAX_COMPONENT = 255
_FILES_OF_GIT = (".gitattributes", ".gitignore", ".gitmodules", ".mailmap")  # git refuses folders of these names
_MAX_DIGITS = 18  # of a number: Python refuses to read thousands of them

# First segments of the hub's own addresses; a namespace of that name would shadow them.
RESERVED_NAMESPACES = frozenset({"api", "datasets", "lfs", "models", "spaces", "resolve", "kernels", "buckets"})

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*", re.ASCII)
_SHA1 = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class RepoType(str, Enum):
    """Kind of repository; the value is the word that requests use."""

    MODEL = "model"
    DATASET = "dataset"
    SPACE = "space"

    @property
    def plural(self) -> str:
        """As in `/api/datasets` and in the storage folder."""
        return f"{self.value}s"

    @property
    def url_prefix(self) -> str:
        """What stands before the repository id in addresses that aren't API calls."""
        return "" if self is RepoType.MODEL else f"{self.plural}/"


@dataclass(frozen=True, slots=True)
class RepoId:
    """A repository's full name."""

    type: RepoType
    namespace: str
    name: str

    @property
    def full(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def key(self) -> str:
        """Type and name in one text, for `parse`."""
        return f"{self.type.plural}/{self.full}"

    @classmethod
    def parse(cls, key: str) -> RepoId:
        """The repository whose `key` this is; ValueError for anything else."""
        kind, namespace, name = key.split("/")
        return cls(RepoType(kind[:-1]), namespace, name)

    @property
    def url_path(self) -> str:
        return f"{self.type.url_prefix}{self.full}"


def is_name(text: str) -> bool:
    """Whether a namespace or a repository name follows the Hub's rules."""
    return (
        len(text) <= MAX_NAME
        and _NAME.fullmatch(text) is not None
        and "--" not in text
        and ".." not in text
        and text[-1] not in ".-"
        and not text.lower().endswith(".git")
    )


def check_new_repo(repo: RepoId) -> None:
    """Refuse a name that the Hub wouldn't create."""
    for part in (repo.namespace, repo.name):
        if not is_name(part):
            raise bad_request(
                f"Invalid name '{part}': use letters, digits, '-', '_' and '.', at most {MAX_NAME} characters, "
                "without '--' or '..', not ending in '-', '.' or '.git'."
            )
    if len(repo.full) > MAX_NAME:
        raise bad_request(f"Invalid repository id '{repo.full}': at most {MAX_NAME} characters.")
    if repo.namespace.lower() in RESERVED_NAMESPACES:
        raise bad_request(f"The namespace '{repo.namespace}' is reserved.")


def whole_number(text: str) -> int | None:
    """A number as addresses and headers write one: digits, and no more of them than a size could have."""
    return int(text) if len(text) <= _MAX_DIGITS and text.isascii() and text.isdigit() else None


def is_commit_id(text: str) -> bool:
    return _SHA1.fullmatch(text) is not None


def is_sha256(text: str) -> bool:
    return _SHA256.fullmatch(text) is not None


def check_path(path: object) -> str:
    """Return `path` if it can be written in a repository and checked out anywhere.

    Raises:
        HubError: 400, for traversal, absolute or empty paths, `.git` components (in the spellings that case-folding
            and Windows file systems take for it), control characters, backslashes and over-long names.
    """
    if not isinstance(path, str) or not path:
        raise bad_request("Invalid path: it is empty.")
    try:
        encoded = path.encode("utf-8")
    except UnicodeEncodeError:
        raise bad_request("Invalid path: not Unicode text.") from None
    shown = path if path.isprintable() else ascii(path)
    if len(encoded) > MAX_PATH:
        raise bad_request(f"Invalid path: longer than {MAX_PATH} bytes.")
    if any(ord(char) < 32 or ord(char) == 127 or char == "\\" for char in path):
        raise bad_request(f"Invalid path '{shown}': control characters and backslashes aren't allowed.")
    if folder := next((part for part in path.split("/")[:-1] if part.casefold() in _FILES_OF_GIT), None):
        raise bad_request(f"Invalid path '{shown}': '{folder}' can't be a folder.")
    for part in path.split("/"):
        if part in ("", ".", ".."):
            raise bad_request(f"Invalid path '{shown}': empty, '.' and '..' components aren't allowed.")
        if len(part.encode("utf-8")) > MAX_COMPONENT:
            raise bad_request(f"Invalid path '{shown}': a component is longer than {MAX_COMPONENT} bytes.")
        if _is_dot_git(part):
            raise bad_request(f"Invalid path '{shown}': '.git' components aren't allowed.")
    return path


# Code points that HFS+ leaves out when it compares names.
_HFS_IGNORED = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])


def _is_dot_git(part: str) -> bool:
    folded = part.translate(_HFS_IGNORED).casefold()
    # NTFS drops trailing dots and spaces and knows alternate streams and the short name.
    return folded.split(":")[0].rstrip(". ") in (".git", "git~1")
