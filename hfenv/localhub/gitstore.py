"""Bare git repositories, through pygit2, which only this module and its neighbours `git*` know."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pygit2
from pygit2.enums import AttrCheck, FileMode, ObjectType, SortMode

from hfenv.localhub.errors import Conflict
from hfenv.localhub.gitnames import is_ref
from hfenv.localhub.locks import ref_lock
from hfenv.localhub.names import is_commit_id

BRANCH, TAG, PULL = "refs/heads/", "refs/tags/", "refs/pr/"

GitError = pygit2.GitError


@dataclass(frozen=True, slots=True)
class Ref:
    """A branch, tag or pull request and the commit it stands for."""

    name: str
    ref: str
    commit: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or folder of a commit; `size` in bytes is that of the git blob, 0 for a folder."""

    path: str
    oid: str
    is_folder: bool
    size: int = 0


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """A commit as the history lists it; `when` in seconds since 1970."""

    id: str
    message: str
    author: str
    when: int

    @property
    def title(self) -> str:
        return self.message.split("\n", 1)[0]


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a commit: a file that gets the blob `oid`, or a deletion where `oid` is None."""

    path: str
    oid: str | None
    is_folder: bool = False


class MissingPath(Exception):
    """An edit deletes what isn't there."""


class GitRepo:
    """One bare repository. Opened for each request: libgit2 objects aren't shared between threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._repo = pygit2.Repository(str(path), pygit2.enums.RepositoryOpenFlag.BARE)

    @property
    def raw(self) -> pygit2.Repository:
        """The git library's own object, for this module's neighbours."""
        return self._repo

    @classmethod
    def create(cls, path: Path, files: Mapping[str, bytes], message: str, author: str) -> GitRepo:
        """Make a repository whose branch `main` has one commit."""
        pygit2.init_repository(str(path), bare=True, initial_head="main")
        repo = cls(path)
        edits = [Edit(name, repo.write_blob(data)) for name, data in files.items()]
        repo.commit(BRANCH + "main", None, edits, message, author)
        return repo

    # Revisions

    def resolve(self, revision: str) -> str | None:
        """The commit that a branch, tag, full reference or full commit hash stands for; None if there is none."""
        for prefix in (BRANCH, TAG):
            if commit := self.ref_target(prefix + revision):
                return commit
        if revision.startswith("refs/"):
            return self.ref_target(revision)
        return revision if is_commit_id(revision) and self._is_reachable(revision) else None

    def ref_target(self, ref: str) -> str | None:
        """The commit under a full reference name, annotated tags peeled."""
        if not is_ref(ref):
            return None
        reference = self._repo.references.get(ref)
        return None if reference is None else self._peel(reference)

    def refs(self, prefix: str) -> list[Ref]:
        found = []
        for ref in sorted(self._repo.references):
            if ref.startswith(prefix) and (commit := self.ref_target(ref)):
                found.append(Ref(ref.removeprefix(prefix), ref, commit))
        return found

    @staticmethod
    def _peel(reference: pygit2.Reference) -> str | None:
        try:
            return str(reference.peel(pygit2.Commit).id)
        except (pygit2.GitError, KeyError, ValueError):
            return None  # a tag of a tree or a blob, made with plain git

    def _is_reachable(self, commit: str) -> bool:
        # A commit that no reference leads to (squashed away, or of a push that died) isn't part of the repository.
        tips = {ref.commit for ref in self.refs("refs/")}
        if commit in tips:
            return True
        oid = pygit2.Oid(hex=commit)
        if not tips or oid not in self._repo:
            return False
        walker = self._repo.walk(None, SortMode.TIME)
        for tip in tips:
            walker.push(tip)
        return any(found.id == oid for found in walker)

    def history(self, commit: str) -> Iterator[CommitInfo]:
        """Commits from `commit` back to the first one, newest first."""
        for found in self._repo.walk(commit, SortMode.TOPOLOGICAL | SortMode.TIME):
            yield self._info(found)

    def commit_info(self, commit: str) -> CommitInfo:
        return self._info(self._repo[commit])

    @staticmethod
    def _info(commit: pygit2.Commit) -> CommitInfo:
        return CommitInfo(str(commit.id), commit.message.rstrip("\n"), commit.author.name, commit.commit_time)

    # Trees and blobs

    def entry(self, commit: str, path: str) -> Entry | None:
        """The file or folder at `path`, None if there is none (or it is a submodule)."""
        try:
            found = self._repo[commit].tree[path]
        except (KeyError, ValueError):
            return None
        return self._entry(found, path)

    def entries(self, commit: str, folder: str = "", *, recursive: bool = False) -> list[Entry] | None:
        """What is under `folder` in the order of paths; None if it isn't a folder of this commit."""
        tree = self._repo[commit].tree
        if folder:
            try:
                tree = tree[folder]
            except (KeyError, ValueError):
                return None
            if tree.type != ObjectType.TREE:
                return None
        return list(self._walk(tree, f"{folder}/" if folder else "", recursive))

    def _walk(self, tree: pygit2.Tree, prefix: str, recursive: bool) -> Iterator[Entry]:
        for child in tree:
            if entry := self._entry(child, prefix + child.name):
                yield entry
            if recursive and child.type == ObjectType.TREE:
                yield from self._walk(child, f"{prefix}{child.name}/", recursive)

    def _entry(self, found: pygit2.Object, path: str) -> Entry | None:
        if found.type == ObjectType.TREE:
            return Entry(path, str(found.id), is_folder=True)
        if found.type == ObjectType.BLOB:
            return Entry(path, str(found.id), is_folder=False, size=self._size(found.id))
        return None

    def _size(self, oid: pygit2.Oid) -> int:
        # The pygit2 that Python 3.10 gets can't read a header alone.
        header = getattr(self._repo.odb, "read_header", None)
        return int(header(oid)[1]) if header is not None else int(self._repo[oid].size)

    def read(self, oid: str) -> bytes:
        """A blob's bytes."""
        data: bytes = self._repo[oid].data
        return data

    def read_at(self, tree: str, path: str) -> bytes | None:
        """The bytes of the file at `path` of a tree, None if there is none."""
        try:
            found = self._repo[tree][path]
        except KeyError:
            return None
        return bytes(found.data) if found.type == ObjectType.BLOB else None

    def write_blob(self, data: bytes) -> str:
        return str(self._repo.create_blob(data))

    def last_commits(self, commit: str, paths: Sequence[str]) -> dict[str, CommitInfo]:
        """For each path the newest commit that changed it, along first parents."""
        wanted, found = set(paths), dict[str, CommitInfo]()
        current = self._repo[commit]
        now = {path: self._oid_at(current, path) for path in wanted}
        while wanted:
            parent = current.parents[0] if current.parents else None
            for path in list(wanted):
                before = self._oid_at(parent, path) if parent else None
                if before != now[path]:
                    found[path] = self._info(current)
                    wanted.discard(path)
            if parent is None:
                break
            current = parent
        return found

    @staticmethod
    def _oid_at(commit: pygit2.Commit, path: str) -> str | None:
        try:
            return str(commit.tree[path].id)
        except (KeyError, ValueError):
            return None

    def are_lfs(self, commit: str | None, paths: Sequence[str]) -> list[bool]:
        """Whether the commit's `.gitattributes` send each path to LFS."""
        if commit is None:
            return [False] * len(paths)
        flags = AttrCheck.INDEX_ONLY | AttrCheck.INCLUDE_COMMIT | AttrCheck.NO_SYSTEM
        return [self._repo.get_attr(path, "filter", flags, commit) == "lfs" for path in paths]

    # Writing; the caller holds the repository's lock

    def commit(
        self,
        ref: str,
        parent: str | None,
        edits: Sequence[Edit],
        message: str,
        author: str,
        *,
        check_files: Callable[[int], object] = lambda count: None,
    ) -> str:
        """Write a commit of `edits` on top of `parent` and move `ref` from `parent` to it.

        `check_files` is asked with the number of files that there would be; what it raises stops the commit.

        Raises:
            MissingPath: an edit deletes a path that isn't there.
            Conflict: `ref` isn't at `parent` any more.
        """
        index = pygit2.Index()
        if parent is not None:
            index.read_tree(self._repo[parent].tree)
        for edit in edits:
            _apply(index, edit)
        check_files(len(index))
        parents = [] if parent is None else [parent]
        tree = index.write_tree(self._repo)
        if ref.startswith(PULL):
            # libgit2 wants the parent to be the reference's tip; a new pull request has none.
            commit = self._write(None, tree, parents, message, author)
            self.set_ref(ref, commit)
            return commit
        try:
            with ref_lock(self.path, ref):
                return self._write(ref, tree, parents, message, author)
        except pygit2.GitError as error:
            if self.ref_target(ref) != parent:
                raise Conflict(ref) from error
            raise

    def squash(self, ref: str, head: str, message: str, author: str) -> str:
        """Replace the history of `ref` by one commit without parents."""
        commit = self._write(None, self._repo[head].tree.id, [], message, author)
        self.set_ref(ref, commit)
        return commit

    def commit_tree(self, ref: str, parent: str, tree: str, message: str, author: str) -> str:
        """Write a commit of a whole tree on top of `parent` and move `ref` to it."""
        with ref_lock(self.path, ref):
            return self._write(ref, pygit2.Oid(hex=tree), [parent], message, author)

    def _write(self, ref: str | None, tree: pygit2.Oid, parents: list[str], message: str, author: str) -> str:
        signature = _signature(author)
        return str(self._repo.create_commit(ref, signature, signature, _without_nul(message), tree, parents))

    def set_ref(self, ref: str, commit: str) -> None:
        with ref_lock(self.path, ref):
            self._repo.references.create(ref, commit, force=True)

    def delete_ref(self, ref: str) -> None:
        with ref_lock(self.path, ref):
            self._repo.references.delete(ref)

    def create_tag(self, name: str, commit: str, message: str | None, author: str) -> None:
        """A light tag, or an annotated one where there is a message."""
        with ref_lock(self.path, TAG + name):
            if message:
                signature = _signature(author)
                self._repo.create_tag(name, commit, ObjectType.COMMIT, signature, _without_nul(message))
            else:
                self._repo.references.create(TAG + name, commit)


def _apply(index: pygit2.Index, edit: Edit) -> None:
    if edit.oid is not None:
        index.add(pygit2.IndexEntry(edit.path, pygit2.Oid(hex=edit.oid), FileMode.BLOB))
    elif not edit.is_folder:
        if edit.path not in index:
            raise MissingPath(edit.path)
        index.remove(edit.path)
    else:
        before = len(index)
        index.remove_directory(edit.path)
        if len(index) == before:
            raise MissingPath(edit.path)


def _without_nul(message: str) -> str:
    return message.replace("\0", "")  # git's library would end the text there, or refuse it


def _signature(author: str) -> pygit2.Signature:
    return pygit2.Signature(author, f"{author}@users.noreply.localhost", int(time.time()), 0)
