"""Two task sets read together, and no more of them than differs where that can be told by their lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from hfenv.card.regular import open_regular
from hfenv.components.taskfiles import parse_line
from hfenv.components.tasks.compare import compare
from hfenv.components.tasks.diff import RowDifferences, TaskDifference, TaskDifferenceKind
from hfenv.components.tasks.index import ScannedTasks, TaskField, TaskSource, index_tasks
from hfenv.components.tasks.lines import read_line
from hfenv.components.tasks.order import disorders
from hfenv.components.tasks.range import TaskFile
from hfenv.components.tasks.shapes import kind_of
from hfenv.components.tasks.sieve import sieve
from hfenv.components.tasks.since import SinceRelease, since_tasks
from hfenv.errors import UnreadableError

_SAMPLE = 1000  # lines of both that are looked into all the same: they say which fields there are


@dataclass(frozen=True, slots=True)
class TaskPair:
    """Two task sets: `since` to classify and compare, and their differences row by row."""

    since: SinceRelease
    differences: RowDifferences

    @property
    def counts(self) -> Mapping[str, Mapping[TaskDifferenceKind, int]]:
        """How many tasks differ, by split and kind; a removed one counts for the split that it stood in."""
        return self.differences.counts

    def rows(self, most: int | None = None) -> Iterator[TaskDifference]:
        """The differences, at most so many: as `diff_tasks` gives them. Values are read only here."""
        return self.differences.read(most)


def diff_tasks(old: TaskSource, new: TaskSource, *, workers: int | None = None) -> Iterator[TaskDifference]:
    """The differences of two task sets: split by split, the new rows in their order, then the removed ones in theirs.

    At most 60 bytes and the id are held for each task, whatever differs. Raises UnreadableError as `index_tasks` does.
    """
    yield from read_pair(old, new, workers=workers).rows()


def read_pair(old: TaskSource, new: TaskSource, *, workers: int | None = None) -> TaskPair:
    """Read two task sets; raises UnreadableError as `index_tasks` does.

    Where most lines of JSON Lines are the same on both sides, only the others are looked into. What is the same
    can't be told apart from what isn't by ids then: that an id is there twice is no matter of differences.
    """
    return _sieved(old, new, workers) or _whole(old, new, workers)


def _whole(old: TaskSource, new: TaskSource, workers: int | None) -> TaskPair:
    before = index_tasks(old, workers=workers)
    after = index_tasks(new, released=before.roles, workers=workers)
    since = since_tasks(before, after)
    # Of generated splits, rows that are in one sample alone are no differences: the seeds say which tasks there are.
    sampled = frozenset(split.name for split in after.rows.splits if since.kept_generated(split.name))
    rows = since.rows if since.rows.old is before.rows else compare(before.rows, after.then)
    return TaskPair(since, RowDifferences.of(before, after, rows, sampled=sampled))


def _sieved(old: TaskSource, new: TaskSource, workers: int | None) -> TaskPair | None:
    """By the lines that differ; None where all of them are needed, or it isn't worth it."""
    files = (*old.files, *new.files)
    if old.seeds or new.seeds:
        return None  # samples are small
    if old.roles != new.roles or not files or any(file.path.suffix != ".jsonl" for file in files):
        return None
    if old.resources != new.resources and "resource" in old.roles.values():
        return None  # who names one has to be counted
    try:
        sides = sieve(old.files, new.files, workers)
    except OSError:
        return None  # which is met again where it can be said of which file
    if sides is None:
        return None
    sample = _kinds(sides[0].shared(_SAMPLE))
    before = _with_kinds(index_tasks(old, only=sides[0].offsets(), workers=workers), sample)
    after = index_tasks(new, released=before.roles, only=sides[1].offsets(), workers=workers)
    after = _with_kinds(after, sample)
    if before.fields != after.fields:
        return None  # whether other lines of both have the field, or the type, decides what it means
    unread = {}
    for split in after.rows.splits:
        lines = sum(len(lines.hashes) for _, lines in sides[1].of_split(split.name))
        unread[split.name] = lines - (split.stop - split.start)
    since = since_tasks(before, after, unread)
    order = disorders(sides, (before, after), since.rows)
    return TaskPair(replace(since, order=order), RowDifferences.of(before, after, since.rows))


def _kinds(places: Iterator[tuple[TaskFile, int]]) -> Mapping[str, frozenset[str]]:
    """The types of the fields of some tasks."""
    found: dict[str, set[str]] = defaultdict(set)
    for file, offset in places:
        try:
            with open_regular(file.path) as stream:
                values = parse_line(read_line(stream, offset), file.name)
        except (OSError, UnreadableError):
            continue  # what is wrong with a line that both have is no matter of differences
        for name in values.keys() - {"id"}:
            found[name].add(kind_of(type(values[name])))
    return {name: frozenset(kinds - {"null"}) for name, kinds in found.items()}


def _with_kinds(tasks: ScannedTasks, kinds: Mapping[str, frozenset[str]]) -> ScannedTasks:
    """The tasks with what is known of the fields of more of them."""
    fields = dict(tasks.fields)
    for name, more in kinds.items():
        known = fields.get(name, TaskField(tasks.source.roles.get(name, "target"), ()))
        fields[name] = TaskField(known.role, tuple(sorted({*known.types, *more})))
    return replace(tasks, fields={name: fields[name] for name in sorted(fields)})
