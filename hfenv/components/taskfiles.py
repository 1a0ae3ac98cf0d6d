"""The one reader of task files: JSON Lines with the standard library, Parquet where pyarrow is there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from hfenv.card.regular import is_inside, open_regular
from hfenv.errors import NotFoundError, UnreadableError

SUFFIXES = (".jsonl", ".parquet")
_T = TypeVar("_T")
_GLOB_CHARACTERS = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Row:
    """One task as parsed JSON; `line` counts from 1 (in Parquet: the row)."""

    line: int
    values: dict[str, Any]


def select(paths: Iterable[str], patterns: Sequence[str]) -> list[str]:
    """Those of some POSIX paths that make up a split: in the order of its patterns, each glob's matches sorted.

    `*` and `?` stay inside a name, `**` stands for any folders. Raises NotFoundError for a pattern that matches none.
    """
    known = sorted(paths)
    found: dict[str, None] = {}
    for pattern in patterns:
        if _GLOB_CHARACTERS & set(pattern):
            matches = [path for path in known if _matches(tuple(path.split("/")), tuple(pattern.split("/")))]
        else:
            matches = [path for path in known if path == pattern]
        if not matches:
            raise NotFoundError(f"No task file matches '{pattern}'.", "Correct the split's path on the card.")
        found.update(dict.fromkeys(matches))
    return list(found)


def split_files(root: Path, patterns: Sequence[str], known: Iterable[str] | None = None) -> list[Path]:
    """The files of a split below `root`, as `select` finds them.

    `known` are the paths that the environment consists of; without it, whatever lies on the disk counts.
    """
    return [root / path for path in select(_on_disk(root, patterns) if known is None else known, patterns)]


def _on_disk(root: Path, patterns: Sequence[str]) -> Iterator[str]:
    """Files that patterns may match: only the folders that they begin with are looked into, and no link is followed."""
    for pattern in patterns:
        names = pattern.split("/")
        fixed = "/".join(takewhile(lambda name: not _GLOB_CHARACTERS & set(name), names))
        if fixed and not is_inside(root, fixed):
            continue
        if fixed == pattern:
            if (root / fixed).is_file():
                yield fixed
            continue
        for folder, folders, files in os.walk(root / fixed):
            prefix = Path(folder).relative_to(root).as_posix()
            below = "" if prefix == "." else f"{prefix}/"
            if not any("**" in name for name in names):  # then nothing deeper than the pattern can match
                depth = below.count("/")
                folders[:] = folders if depth + 1 < len(names) else []
            entries = (entry for entry in map(Path(folder).joinpath, files) if not entry.is_symlink())
            yield from (below + entry.name for entry in entries if entry.is_file())


def _matches(names: tuple[str, ...], patterns: tuple[str, ...]) -> bool:
    @cache
    def match(name: int, pattern: int) -> bool:
        if pattern == len(patterns):
            return name == len(names)
        if patterns[pattern] == "**":
            rest = pattern + 1 < len(patterns)
            return any(match(later, pattern + 1) for later in range(name, len(names))) if rest else name < len(names)
        return name < len(names) and fnmatchcase(names[name], patterns[pattern]) and match(name + 1, pattern + 1)

    return match(0, 0)


def iter_rows(path: Path) -> Iterator[Row]:
    """The rows of one task file, streaming; raises UnreadableError that names the file and the line."""
    if path.suffix == ".parquet":
        yield from _parquet_rows(path)
    elif path.suffix == ".jsonl":
        yield from _json_rows(path)
    else:
        raise UnreadableError(f"{path.name} is no task file.", f"Task files end in {' or '.join(SUFFIXES)}.")


def read_split(root: Path, patterns: Sequence[str], known: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """All rows of a split, in file order; `known` as in `split_files`."""
    return [row.values for path in split_files(root, patterns, known) for row in iter_rows(path)]


def _json_rows(path: Path) -> Iterator[Row]:
    with open_regular(path) as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield Row(number, parse_line(line, f"{path.name}:{number}"))


def parse_line(line: bytes, where: str) -> dict[str, Any]:
    """The row on a line of JSON Lines; raises UnreadableError that says `where` it stands."""
    try:
        values = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{where}: byte {error.start + 1} is not UTF-8.", "Save the file as UTF-8.") from None
    except (ValueError, RecursionError) as error:
        problem = getattr(error, "msg", None) or str(error) or "nested too deeply"
        raise UnreadableError(f"{where}: not JSON: {problem}.", "Write one JSON object per line.") from None
    if not isinstance(values, dict):
        raise UnreadableError(f"{where}: the row is no JSON object.", "Write one JSON object per line.")
    return values


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _plain(path: Path, number: int, values: dict[str, Any]) -> dict[str, Any]:
    """A row of Parquet as JSON has it; raises UnreadableError for what JSON can't say: dates, bytes, NaN."""
    try:
        plain: dict[str, Any] = json.loads(json.dumps(values, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise UnreadableError(
            f"{path.name}:{number}: the row isn't plain JSON: {error}.",
            "Store text, numbers, true, false, lists or maps.",
        ) from None
    return plain


def _parquet_rows(path: Path) -> Iterator[Row]:
    from hfenv.components.tasks.batches import rows

    for before, values in _named(path, rows(path)):
        yield Row(before + 1, _plain(path, before + 1, values))


def _named(path: Path, found: Iterator[_T]) -> Iterator[_T]:
    try:
        yield from found
    except UnreadableError as error:
        raise UnreadableError(f"{path.name}: {error.message}", error.hint) from None
