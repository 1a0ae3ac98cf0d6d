"""What a push brings, looked at while git still holds it apart from the repository."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pygit2
from pygit2.enums import FileMode, ObjectType

from hfenv.localhub.errors import HubError
from hfenv.localhub.lfs import MAX_POINTER, Pointer
from hfenv.localhub.names import check_path

_MAX_DEPTH = 100


class RefusedTree(Exception):
    """A commit that the hub doesn't take; the message says what is wrong with it."""


class Pushed:
    """A repository together with the objects of a push under way.

    Args:
        repo: The repository's folder.
        quarantine: Where git keeps the push's objects until it takes them in.
    """

    def __init__(self, repo: Path, quarantine: str | None) -> None:
        self._repo = pygit2.Repository(str(repo), pygit2.enums.RepositoryOpenFlag.BARE)
        if quarantine:
            self._repo.odb.add_disk_alternate(quarantine)
        self._seen: set[tuple[str, str]] = set()  # trees that were looked at, each at its path
        self._known: set[tuple[str, str]] = set()  # files that were there before, each at its path

    def commit_of(self, oid: str) -> str:
        """The commit that a reference would lead to.

        Raises:
            RefusedTree: it would lead to something else.
        """
        try:
            return str(self._repo[oid].peel(pygit2.Commit).id)
        except (pygit2.GitError, KeyError, ValueError):
            raise RefusedTree("a reference must lead to a commit") from None

    def new_files(self, commits: Sequence[str]) -> Iterator[tuple[str, str, int]]:
        """Path, object and bytes of each file that these commits bring to a path where it wasn't before.

        Raises:
            RefusedTree: a path can't be written everywhere, or is a link or a submodule.
        """
        new, known = set(commits), set[str]()
        for commit in commits:
            known.update(str(parent) for parent in self._repo[commit].parent_ids if str(parent) not in new)
        for commit in known:
            self._mark(self._repo[commit].tree, "")  # what is there already came in by these checks
        for commit in commits:
            yield from self._walk(self._repo[commit].tree, "", 0)

    def _mark(self, tree: pygit2.Tree, prefix: str) -> None:
        if (key := (str(tree.id), prefix)) in self._seen:
            return
        self._seen.add(key)
        for child in tree:
            if child.type == ObjectType.TREE:
                self._mark(child, f"{prefix}{child.name}/")
            else:
                self._known.add((str(child.id), prefix + child.name))

    def _walk(self, tree: pygit2.Tree, prefix: str, depth: int) -> Iterator[tuple[str, str, int]]:
        key = (str(tree.id), prefix)
        if key in self._seen:
            return
        if depth > _MAX_DEPTH:
            raise RefusedTree(f"folders are nested more than {_MAX_DEPTH} deep")
        self._seen.add(key)
        for child in tree:
            path = f"{prefix}{_name(child)}"
            if (str(child.id), path) in self._known:
                continue
            try:
                check_path(path)
            except HubError as error:
                raise RefusedTree(error.message) from None
            if child.type == ObjectType.TREE:
                yield from self._walk(child, f"{path}/", depth + 1)
            elif child.filemode in (FileMode.BLOB, FileMode.BLOB_EXECUTABLE):
                yield path, str(child.id), self._size(child.id)
            else:
                raise RefusedTree(f"'{path}' is a link or a submodule, and the hub keeps files only")

    def _size(self, oid: pygit2.Oid) -> int:
        # The pygit2 that Python 3.10 gets can't read a header alone.
        header = getattr(self._repo.odb, "read_header", None)
        return int(header(oid)[1]) if header is not None else int(self._repo[oid].size)

    def pointer(self, oid: str, size: int) -> Pointer | None:
        """The large file that a blob points to."""
        return Pointer.parse(self._repo[oid].data) if size <= MAX_POINTER else None

    def read(self, commit: str, path: str) -> bytes | None:
        """A file of a commit, None if there is none."""
        try:
            found = self._repo[commit].tree[path]
        except KeyError:
            return None
        return bytes(found.data) if found.type == ObjectType.BLOB else None

    def count(self, commit: str) -> int:
        """How many files a commit has."""
        index = pygit2.Index()
        index.read_tree(self._repo[commit].tree)
        return len(index)


def _name(child: pygit2.Object) -> str:
    try:
        return bytes(child.raw_name).decode("utf-8")
    except UnicodeDecodeError:
        raise RefusedTree(f"{child.raw_name!a} isn't a name in UTF-8") from None
