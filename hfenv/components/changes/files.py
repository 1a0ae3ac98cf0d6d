"""What is left to say about files: meanings that differ without a name for it, bytes that differ without a meaning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hfenv.components.changes.change import ChangeKind, Difference
from hfenv.components.changes.pairing import is_python
from hfenv.components.meaning.digest import PROBES
from hfenv.components.meaning.shape import FileShape, Shape
from hfenv.components.ownership import owner_of


def rest_of_files(
    old: Shape, new: Shape, found: Sequence[Difference], exact: Sequence[str], kind: ChangeKind
) -> Iterator[Difference]:
    """Differences for files that none of `found` is about: of `kind` where one came or went, else of text.

    `exact` are the paths, of any component, whose bytes or modes differ.
    """
    said = {difference.path for difference in found}
    differing = set()
    for path in sorted(old.files.keys() | new.files.keys()):
        before, after = old.files.get(path), new.files.get(path)
        if before is not None and after is not None and before.meaning == after.meaning:
            continue
        differing.add(path)
        if path in said or not any(file is not None and is_python(file) for file in (before, after)):
            continue
        if before is None or after is None:
            what = "is new" if before is None else "is gone"
            yield Difference(kind, path, path, f"{path} {what}", meanings_of(before, after))
        else:
            message = (
                f"{path} differs in nothing that runs: in annotations, the order of what it defines or its version"
            )
            yield Difference(ChangeKind.TEXT, path, path, message, meanings_of(before, after))
    for path in exact:
        if path in differing or path in said or owner_of(path) is not new.component:
            continue
        if path == PROBES:
            yield Difference(ChangeKind.PROBES, path, path, "the probes changed")
        else:
            message = f"{path} differs in comments, docstrings, layout or mode alone"
            yield Difference(ChangeKind.TEXT, path, path, message)


def meanings_of(before: FileShape | None, after: FileShape | None) -> tuple[str, str]:
    """Kinds and digests of a file, empty where there is none."""
    return "" if before is None else before.meaning, "" if after is None else after.meaning
