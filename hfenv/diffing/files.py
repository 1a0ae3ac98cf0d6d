"""Files that differ, with renames found again and unified diffs of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from hfenv.card.regular import MIB, read_regular
from hfenv.components.meaning.digest import PROBES
from hfenv.components.ownership import Component
from hfenv.diffing.result import FileDifference, FileDifferenceKind
from hfenv.diffing.sides import Place, differing, same_content
from hfenv.errors import UnreadableError

LARGEST = MIB  # bytes of a file whose lines are compared
_MOST_PATCHES = 4 * MIB  # code points of all patches together
_ALIKE = 0.6  # share of lines in common from which on a file counts as renamed, as in git
_MOST_PAIRS = 400  # of files that are compared line by line for that


def file_differences(
    old: Place, new: Place, component: Component | None, *, lines: bool = False, patches: bool = False
) -> tuple[FileDifference, ...]:
    """The files of a component (or of none) that differ, sorted by path.

    With `lines`, a file also counts as renamed when most of its lines are the same; with `patches`, each has its
    unified diff. Both read the files, which have to be there.
    """
    paths = list(differing(old, new, component))
    gone = [path for path in paths if path not in new.contents]
    come = [path for path in paths if path not in old.contents]
    renamed = _renamed(old, gone, new, come, lines=lines)
    taken = set(renamed.values())
    found, left = [], _MOST_PATCHES
    for path in paths:
        if path in taken:
            continue
        kind, before = FileDifferenceKind.EDITED, path
        if path in renamed:
            kind, before = FileDifferenceKind.RENAMED, renamed[path]
        elif path not in old.contents:
            kind, before = FileDifferenceKind.ADDED, ""
        elif path not in new.contents:
            kind = FileDifferenceKind.REMOVED
        elif same_content(old, path, new, path):
            kind = FileDifferenceKind.MODE
        # Lines of probes are long and for machines; what moved is told by replaying them.
        found.append(_difference(old, new, kind, path, before, patches=patches and path != PROBES))
        left -= len(found[-1].patch)
        if left < 0:
            found[-1] = replace(found[-1], patch="", unseen="the lines that differ are too many to be shown")
    return tuple(found)


def _renamed(old: Place, gone: Sequence[str], new: Place, come: Sequence[str], *, lines: bool) -> dict[str, str]:
    """Old paths by new ones: of equal content first, then of text that is mostly the same."""
    found: dict[str, str] = {}
    known = {path: content.sha256 for place, paths in ((old, gone), (new, come)) for path in paths
             for content in (place.contents[path],)}  # fmt: skip
    by_sha = None not in known.values()
    waiting: dict[str, list[str]] = {}
    for path in reversed(gone if come else ()):
        if old.contents[path].size:
            waiting.setdefault(str(known[path]) if by_sha else old.oid(path), []).append(path)
    for path in come if waiting else ():
        if same := waiting.get(str(known[path]) if by_sha else new.oid(path)):
            found[path] = same.pop()
    left, rest = [p for p in gone if p not in found.values()], [p for p in come if p not in found]
    if not lines or not left or not rest or len(left) * len(rest) > _MOST_PAIRS:
        return found
    befores = {path: counted for path in left if (counted := _lines(old.root / path)) is not None}
    for path in rest:
        after = _lines(new.root / path)
        if after is None or not befores:
            continue
        score, best = max((_alike(before, after), name) for name, before in befores.items())
        if score >= _ALIKE:
            found[path] = best
            del befores[best]
    return found


def _lines(path: Path) -> Counter[bytes] | None:
    try:
        content = read_regular(path, LARGEST)
    except OSError:
        return None
    return None if b"\0" in content else Counter(line.strip() for line in content.splitlines() if line.strip())


def _alike(one: Counter[bytes], other: Counter[bytes]) -> float:
    most = max(one.total(), other.total())
    return (one & other).total() / most if most else 0.0


def _difference(
    old: Place, new: Place, kind: FileDifferenceKind, path: str, before: str, *, patches: bool
) -> FileDifference:
    if not patches or kind is FileDifferenceKind.MODE:
        return FileDifference(kind, path, before)
    texts = []
    for place, name, there in (
        (old, before, kind is not FileDifferenceKind.ADDED),
        (new, path, kind is not FileDifferenceKind.REMOVED),
    ):
        if not there:
            texts.append(b"")
            continue
        if place.contents[name].size > LARGEST:
            unseen = f"{place.contents[name].size:,} bytes, of which no lines are compared"
            return FileDifference(kind, path, before, unseen=unseen)
        try:
            texts.append(read_regular(place.root / name, LARGEST))
        except OSError as error:
            raise UnreadableError(f"{name} can't be read: {error.strerror}.", "Check its rights.") from None
    if any(b"\0" in text for text in texts):
        return FileDifference(kind, path, before, unseen="binary")
    return FileDifference(kind, path, before, patch=patch(texts[0], texts[1], before or path, path))


def patch(before: bytes, after: bytes, old_path: str, new_path: str) -> str:
    """The unified diff of two texts, empty where they are equal; what isn't UTF-8 is replaced."""
    import pygit2

    if before == after:
        return ""
    # The same code as git's, which stays quick whatever the lines are.
    found = pygit2.Patch.create_from(before, after, "a", "b", context_lines=3)
    body = b"".join(_hunks(found.data))
    return f"--- {old_path}\n+++ {new_path}\n" + body.decode("utf-8", "replace")


def _hunks(data: bytes) -> Iterator[bytes]:
    """What stands behind the head of git's diff."""
    begun = False
    for line in data.splitlines(keepends=True):
        begun = begun or line.startswith(b"@@ ")
        if begun:
            yield line
