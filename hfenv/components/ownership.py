"""Which files an environment consists of and which component owns each: one walk for digests, validation and push."""

from __future__ import annotations

import os
import re
import stat
import time
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from hfenv.components.hashing import hash_files
from hfenv.components.ignoring import Ignores, children_of, excluded_by
from hfenv.components.statcache import StatCache, fingerprint
from hfenv.errors import UnreadableError


class Component(str, Enum):
    """The three parts of an environment that are versioned apart; each owns the folder of its value's entry below."""

    CODE = "code"
    TASKS = "tasks"
    REWARD = "reward"

    @property
    def folder(self) -> str:
        """Folder that the component owns. Not `code/`: that name shadows a standard-library module."""
        return "env" if self is Component.CODE else self.value


_OWNERS = {component.folder: component for component in Component}
CARD_NAME = "README.md"
RECORD_NAME = "release.json"
MAX_PATH_LENGTH = 200
_RESERVED_STEMS = frozenset(
    {"con", "prn", "aux", "nul", *(f"com{i}" for i in range(1, 10)), *(f"lpt{i}" for i in range(1, 10))}
)
_FORBIDDEN_CHARACTERS = frozenset('<>:"|?*\\')
# Nearly all paths are made of these names: letters, digits, dots inside, none that may be reserved.
_PLAIN_PATH = r"NAME(?:/NAME)*".replace("NAME", r"(?!\.git|con|prn|aux|nul|com|lpt)[\w.-]*[\w-]")
_PLAIN = re.compile(_PLAIN_PATH, re.ASCII | re.I)
_PLAIN_LINES = re.compile(rf"(?:{_PLAIN_PATH}\n)*", re.ASCII | re.I)


class FileEntry(NamedTuple):
    """One file: POSIX path relative to the environment, bytes, SHA-256 of the raw bytes, executable bit, owner.

    A tuple and no dataclass: ten thousand of them are made for each status, and take a quarter of the time so.
    """

    path: str
    size: int
    sha256: str
    executable: bool
    component: Component | None


@dataclass(frozen=True, slots=True)
class PathProblem:
    """A path that can't be part of an environment, and why, as one sentence."""

    path: str
    message: str


def owner_of(path: str) -> Component | None:
    """Component that owns a POSIX path, None for documentation, tests, policies and the rest."""
    top, slash, _ = path.partition("/")
    return _OWNERS.get(top) if slash else None


def name_problem(path: str) -> str | None:
    """Why a POSIX path can't be stored on every platform, None when it can; also guards what a hub sends."""
    if len(path) <= MAX_PATH_LENGTH and _PLAIN.fullmatch(path):
        return None
    if len(path) > MAX_PATH_LENGTH:
        return f"The path is {len(path)} characters long; {MAX_PATH_LENGTH} is the most that every platform can hold."
    if not path or path.startswith("/"):
        return "The path is absolute or empty."
    for name in path.split("/"):
        if name in ("", ".", ".."):
            return "The path contains an empty name, '.' or '..'."
        if name.casefold() == ".git":
            return "A folder named .git can't be part of an environment."
        if any(char in _FORBIDDEN_CHARACTERS or ord(char) < 32 or 0xD800 <= ord(char) < 0xE000 for char in name):
            return f"The name {name!r} contains a character that some platforms can't store."
        if name[-1] in ". ":
            return f"The name {name!r} ends in a dot or a space, which Windows drops."
        if name.split(".")[0].casefold() in _RESERVED_STEMS:
            return f"The name {name!r} is reserved on Windows."
    return None


def all_plain(paths: Sequence[str]) -> bool:
    """Whether no path needs `name_problem`: thousands at once, in a tenth of its time. False says nothing."""
    lines = "".join([f"{path}\n" for path in paths])
    short = max(map(len, paths), default=0) <= MAX_PATH_LENGTH
    return short and lines.count("\n") == len(paths) and _PLAIN_LINES.fullmatch(lines) is not None


def collisions(paths: Sequence[str]) -> list[PathProblem]:
    """Paths that are the same file on a system that folds case or normalises Unicode."""
    seen: dict[str, str] = {}
    problems = []
    for path in paths:
        key = path.lower() if path.isascii() else unicodedata.normalize("NFC", path).casefold()
        other = seen.setdefault(key, path)
        if other != path:
            problems.append(PathProblem(path, f"{path!r} and {other!r} are one file on some platforms; rename one."))
    return problems


def scan(root: Path, cache: StatCache | None = None) -> tuple[tuple[FileEntry, ...], tuple[PathProblem, ...]]:
    """Walk an environment: the files it consists of, sorted by path, and what can't be part of one.

    With a `cache`, files that can't have changed aren't read again; never where the digests are to prove something.
    """
    asked = time.time_ns()
    entries: list[FileEntry] = []
    unread: list[_Unread] = []
    problems: list[PathProblem] = []
    known = cache.digest if cache is not None else _nothing_known
    for path, entry in _files(root):
        state = _status(path, entry)
        # What is known was a regular file with a good name, and is the same one.
        if (digest := known(path, state)) is not None:
            entries.append(_entry(path, state, digest))
        elif problem := _problem(path, entry):
            problems.append(PathProblem(path, problem))
        else:
            unread.append(_Unread(path, entry.path, state))
    for file, digest in zip(unread, _digests(unread), strict=True):
        entries.append(_entry(file.path, file.state, digest))
        if cache is not None and file.is_same():
            cache.note(file.path, file.state, digest, asked)
    if cache is not None:
        cache.save([entry.path for entry in entries])
    entries.sort(key=lambda entry: entry.path.encode())
    problems.extend(collisions([entry.path for entry in entries]))
    return tuple(entries), tuple(problems)


def _nothing_known(_path: str, _state: os.stat_result) -> None:
    return None


def walk(root: Path, cache: StatCache | None = None) -> tuple[FileEntry, ...]:
    """The files of an environment, sorted by path; raises UnreadableError for the first that can't be part of one.

    `cache` as for `scan`.
    """
    entries, problems = scan(root, cache)
    if problems:
        raise UnreadableError(f"{problems[0].path}: {problems[0].message}", "Remove, rename or ignore it, then repeat.")
    return entries


def _problem(path: str, entry: os.DirEntry[str]) -> str | None:
    if entry.is_symlink():
        return "Symbolic links can't be stored on every platform; replace the link by the file it points to."
    if not entry.is_file(follow_symlinks=False):
        return "Only regular files can be part of an environment, not devices, sockets or pipes."
    if path.endswith((".pyc", ".pyo")):
        return "Compiled Python outside __pycache__ can hide code that nobody reads; remove it."
    return name_problem(path)


@dataclass(frozen=True, slots=True)
class _Unread:
    """A file that has to be read: its path in the environment, where it lies, and its status from before."""

    path: str
    place: str
    state: os.stat_result

    def is_same(self) -> bool:
        """Whether it was left alone since its status was asked for."""
        try:
            return fingerprint(os.lstat(self.place)) == fingerprint(self.state)
        except OSError:
            return False


def _entry(path: str, state: os.stat_result, digest: str) -> FileEntry:
    return FileEntry(path, state.st_size, digest, bool(state.st_mode & stat.S_IXUSR), owner_of(path))


def _digests(files: Sequence[_Unread]) -> list[str]:
    try:
        return hash_files([file.place for file in files], sum(file.state.st_size for file in files))
    except OSError as error:
        path = next((file.path for file in files if file.place == error.filename), str(error.filename))
        raise _unreadable(path, error) from error


def _status(path: str, entry: os.DirEntry[str]) -> os.stat_result:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: str, error: OSError) -> UnreadableError:
    return UnreadableError(f"{path} can't be read: {error.strerror}.", "Check its permissions.")


def _files(root: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Every path that isn't excluded or ignored, as POSIX path and directory entry; links are yielded, not followed."""
    if not root.is_dir():
        raise UnreadableError(f"{root} is not a folder.", "Name a folder with an Environment Card (README.md).")
    pending = [("", root, Ignores())]
    while pending:
        prefix, folder, ignores = pending.pop()
        children = children_of(folder, prefix)
        ignores = ignores.within(prefix, children)
        ignored = bool(ignores)
        for child in children:
            path = prefix + child.name
            is_folder = child.is_dir(follow_symlinks=False)
            if excluded_by(child.name) is not None:
                continue
            if ignored and (rule := ignores.rule_for(path, is_folder=is_folder)) is not None and rule.leaves_out:
                continue
            if is_folder:
                pending.append((path + "/", Path(child.path), ignores))
            else:
                yield path, child
