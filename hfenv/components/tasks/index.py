"""The index of a task set: what each task is known by and what counts in it, from the files or from a record."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Any

from hfenv.card.manifest import Manifest, SeedRange
from hfenv.card.quoting import short
from hfenv.components.digest import MEANING, canonical_json
from hfenv.components.ownership import Component, FileEntry
from hfenv.components.taskfiles import select
from hfenv.components.tasks.digests import (
    CANONICAL,
    CONTENT,
    EXTRA,
    KEY,
    META,
    Digested,
    DigestJob,
    DigestTerms,
    digest,
)
from hfenv.components.tasks.generated import generator_digest
from hfenv.components.tasks.lines import byte_ranges, line_numbers
from hfenv.components.tasks.pool import run_all
from hfenv.components.tasks.range import TaskFile
from hfenv.components.tasks.resources import resource_digests
from hfenv.components.tasks.rows import (
    Column,
    PackedNames,
    SplitDigests,
    SplitRows,
    TaskRows,
    joined,
    repeated,
    split_digests,
)
from hfenv.errors import UnreadableError

# Beyond these a record would outgrow the tasks' own repository; a split that isn't recorded is known as a whole only.
RECORDED_TASKS = 100_000
_AT_ONCE, _USUAL = 10_000, 400  # single lines that are read at once, and bytes of one


def is_training(split: str) -> bool:
    """Whether a split is for training; every other one is for evaluation."""
    return split.startswith("train")


@dataclass(frozen=True, slots=True)
class TaskField:
    """A field's role, and the JSON types of its values (`text`, `int`, `float`, `bool`, `list`, `object`), sorted.

    A field that the card declares and no row has, or that is null in all rows, has no types.
    """

    role: str
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TaskSource:
    """A task set on disk: its files in the order of the splits, the card's roles, and digests (hex) of resources.

    A file in `tasks/resources/` that no resource on the card is goes by its path. The files of a split in `seeds` hold
    the first of its tasks; `generator` is the digest of what makes them, and `entry` the path of its file.
    """

    splits: tuple[str, ...]
    files: tuple[TaskFile, ...]
    roles: Mapping[str, str]
    resources: Mapping[str, str]
    seeds: Mapping[str, SeedRange] = field(default_factory=dict)
    generator: str = ""
    entry: str = ""


def task_source(root: Path, manifest: Manifest, files: Sequence[FileEntry]) -> TaskSource:
    """The task set of an environment below `root`.

    Raises NotFoundError for a split's path that matches no file, UnreadableError for a generator that can't be parsed.
    """
    known = [entry.path for entry in files if entry.component is Component.TASKS]
    found = [
        TaskFile(root / path, path, split, not is_training(split))
        for split, patterns in manifest.tasks.splits.items()
        for path in select(known, patterns)
    ]
    roles = {name: role.value for name, role in manifest.tasks.fields.items()}
    resources = resource_digests(manifest.resources, files)
    splits, seeds = tuple(manifest.tasks.splits), manifest.tasks.seeds
    generator = generator_digest(root, manifest, files, {file.name for file in found}) if seeds else ""
    entry = (manifest.tasks.generator or "").partition(":")[0]
    return TaskSource(splits, tuple(found), roles, resources, seeds, generator, entry)


@dataclass(frozen=True, slots=True)
class TaskIndex:
    """A task set as a record can hold it: `rows` has all tasks, or those of the splits that were not too large.

    Of a split in `seeds` it knows the sample; `generator` is the digest of what makes its tasks.
    """

    fields: Mapping[str, TaskField]
    resources: Mapping[str, str]
    splits: Mapping[str, SplitDigests]
    rows: TaskRows
    seeds: Mapping[str, SeedRange] = field(default_factory=dict)
    generator: str = ""

    @property
    def roles(self) -> dict[str, str]:
        """The role of each field."""
        return _roles(self.fields)

    @property
    def meaning(self) -> str:
        """The semantic digest of the component (SHA-256, hex): equal under other files, formats and key orders."""
        facts: dict[str, Any] = {
            "fields": {name: [field.role, *field.types] for name, field in self.fields.items()},
            "resources": dict(self.resources),
            "splits": {
                name: [split.rows, split.content, split.meta, split.order] for name, split in self.splits.items()
            },
        }
        if self.seeds:
            facts["generated"] = {name: [seeds.first, seeds.stop] for name, seeds in self.seeds.items()}
            facts["generator"] = self.generator
        return sha256(canonical_json([MEANING, Component.TASKS.value, CANONICAL, facts]).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ScannedTasks:
    """A task set as its files hold it.

    `then` are the rows under the roles of the release that they were read for, `extras` what only newer fields
    hold (see EXTRA); where no row would have another digest, they are `rows` and empty. `used` counts the rows of a
    split that name a resource. Row r stands `offsets[r]` bytes (Parquet: rows) into its file.
    """

    source: TaskSource
    fields: Mapping[str, TaskField]
    rows: TaskRows
    then: TaskRows
    extras: Column
    used: Mapping[str, Mapping[str, int]]
    offsets: array[int]
    starts: tuple[int, ...]  # the first row of each file

    @property
    def roles(self) -> dict[str, str]:
        """The role of each field."""
        return _roles(self.fields)

    def index(self, most: int | None = RECORDED_TASKS) -> TaskIndex:
        """The index with at most so many tasks: evaluation splits first, then small ones; None keeps them all."""
        splits = {split.name: split_digests(self.rows, range(split.start, split.stop)) for split in self.rows.splits}
        kept = self.rows if most is None else _within(self.rows, most)
        return TaskIndex(self.fields, self.source.resources, splits, kept, self.source.seeds, self.source.generator)

    def file_of(self, row: int) -> TaskFile:
        """The file in which a row stands."""
        return self.source.files[bisect_right(self.starts, row) - 1]

    def place(self, row: int) -> tuple[str, int]:
        """The path and the line (Parquet: the row) of a task, counted from 1."""
        file, offset = self.file_of(row), self.offsets[row]
        if file.path.suffix == ".parquet":
            return file.name, offset + 1
        return file.name, line_numbers(file.path, [offset])[offset]


def index_tasks(
    source: TaskSource,
    *,
    released: Mapping[str, str] | None = None,
    only: Sequence[array[int]] | None = None,
    workers: int | None = None,
) -> ScannedTasks:
    """Read a task set. `released` are the roles of the release that it will be compared with.

    `only` has for each file (all of them JSON Lines) the offsets of the lines that are to be read.

    About 60 bytes and its id are held for each task. Raises UnreadableError, with the place, for the first row that
    can't be read, that has no string id, or whose id another one has.
    """
    terms = DigestTerms(source.roles, released)
    jobs, size = [], 0
    for number, file in enumerate(source.files):
        if only is None:
            ranges, length = _ranges(file)
            jobs += [DigestJob(number, file.path, file.name, start, stop, terms) for start, stop in ranges]
        else:
            own, length = only[number], len(only[number]) * _USUAL
            parts = (own[start : start + _AT_ONCE] for start in range(0, len(own), _AT_ONCE))
            jobs += [DigestJob(number, file.path, file.name, 0, 0, terms, part) for part in parts]
        size += length
    columns = _Columns(source)
    for job, found in zip(jobs, run_all(digest, jobs, size=size, workers=workers), strict=True):
        if found.error is not None:
            raise found.error
        columns.extend(job.file, found)
    scanned = columns.scanned()
    if (row := repeated(scanned.rows)) is not None:
        path, line = scanned.place(row)
        message = f"{path}:{line}: another task has the id '{short(scanned.rows.name(row))}' already."
        raise UnreadableError(message, "Give every task an id of its own.")
    return scanned


def _roles(fields: Mapping[str, TaskField]) -> dict[str, str]:
    return {name: field.role for name, field in fields.items()}


def _ranges(file: TaskFile) -> tuple[list[tuple[int, int]], int]:
    try:
        size = file.path.stat().st_size
    except OSError as error:
        raise UnreadableError(f"{file.name} can't be read: {error.strerror}.", "Check the file.") from None
    if file.path.suffix != ".parquet":
        return byte_ranges(size), size
    from hfenv.components.tasks.parquet import row_ranges

    return row_ranges(file.path), size


def _within(rows: TaskRows, most: int) -> TaskRows:
    """The rows of those splits that fit, in their order."""
    left, fitting = most, set[SplitRows]()
    for split in sorted(rows.splits, key=lambda s: (is_training(s.name), s.stop - s.start, s.name)):
        if split.stop - split.start <= left:
            left -= split.stop - split.start
            fitting.add(split)
    if len(fitting) == len(rows.splits):
        return rows
    return joined([(rows, split) for split in rows.splits if split in fitting], rows)


class _Columns:
    """Ranges put together in their order."""

    def __init__(self, source: TaskSource) -> None:
        self._source = source
        self._all = Digested()
        self._counts = [0] * len(source.files)
        self._used: dict[str, Counter[str]] = {split: Counter() for split in source.splits}

    def extend(self, file: int, found: Digested) -> None:
        mine = self._all
        before, rows = len(mine.offsets), len(found.offsets)
        if found.extras or mine.extras:
            if not mine.extras:
                mine.then_contents[:] = mine.contents
                mine.then_metas[:] = mine.metas
                mine.extras[:] = bytes(EXTRA * before)
            mine.then_contents += found.then_contents or found.contents
            mine.then_metas += found.then_metas or found.metas
            mine.extras += found.extras or bytes(EXTRA * rows)
        mine.keys += found.keys
        mine.contents += found.contents
        mine.metas += found.metas
        mine.names += found.names
        mine.lengths.extend(found.lengths)
        mine.offsets.extend(found.offsets)
        for name, types in found.kinds.items():
            mine.kinds.setdefault(name, set()).update(types)
        self._counts[file] += rows
        self._used[self._source.files[file].split].update(found.used)

    def scanned(self) -> ScannedTasks:
        mine, roles = self._all, self._source.roles
        starts = tuple(accumulate(self._counts, initial=0))
        names = PackedNames(_taken(mine.names), mine.lengths)
        keys = Column(_taken(mine.keys), KEY)
        rows = then = TaskRows(
            self._splits(), keys, Column(_taken(mine.contents), CONTENT), Column(_taken(mine.metas), META), names
        )
        if mine.extras:
            contents, metas = Column(_taken(mine.then_contents), CONTENT), Column(_taken(mine.then_metas), META)
            then = TaskRows(rows.splits, keys, contents, metas, names)
        fields = {
            name: TaskField(roles.get(name, "target"), tuple(sorted(mine.kinds.get(name, ()))))
            for name in sorted(mine.kinds.keys() | roles.keys() - {"id"})
        }
        return ScannedTasks(
            self._source, fields, rows, then, Column(_taken(mine.extras), EXTRA), self._used, mine.offsets, starts[:-1]
        )  # fmt: skip

    def _splits(self) -> tuple[SplitRows, ...]:
        found, start = [], 0
        for name in self._source.splits:
            files = zip(self._source.files, self._counts, strict=True)
            stop = start + sum(count for file, count in files if file.split == name)
            found.append(SplitRows(name, start, stop))
            start = stop
        return tuple(found)


def _taken(column: bytearray) -> bytes:
    """A column for good; what it grew in goes at once, so that never all of them are there twice."""
    data = bytes(column)
    column.clear()
    return data
