"""The tasks of one split: found by seed, id or meta field, each row a copy of the caller's own."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

from hfenv.card.manifest import FieldRole, SeedRange, TasksSection
from hfenv.components.taskfiles import iter_rows, split_files
from hfenv.components.tasks.samples import seed_of, task_id
from hfenv.errors import NotFoundError, UnreadableError, UsageError
from hfenv.runtime import seeds
from hfenv.runtime.generator import TaskGenerator, load_generator
from hfenv.runtime.spec import Part

Row = dict[str, Any]
# Of a generated split: how many tasks are made to look for those that match, and how many are drawn of a larger one.
MOST_SEARCHED = 1000


class TaskSet(Sequence[Row]):
    """The tasks of a split in their order. Whoever takes a row gets a copy of its own."""

    def __init__(self, section: TasksSection, split: str) -> None:
        self.split = split
        self.fields = section.fields
        self._meta = frozenset(name for name, role in section.fields.items() if role is FieldRole.META)

    @abstractmethod
    def _row(self, index: int) -> Row:
        """A copy of the row at an index, which counts from 0 and is there."""

    @property
    @abstractmethod
    def ids(self) -> Sequence[str]:
        """The ids of all tasks, in their order."""

    @abstractmethod
    def _find(self, task_id: str) -> int | None:
        """The index of the task with an id."""

    @abstractmethod
    def matching(self, where: Mapping[str, Any]) -> list[int]:
        """Indexes of the rows that match, in their order.

        Raises NotFoundError when none does, UsageError when a field isn't a meta field or the split is too large.
        """

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        places = range(len(self))[index]
        return self._row(places) if isinstance(places, int) else [self._row(place) for place in places]

    def __iter__(self) -> Iterator[Row]:
        return (self._row(index) for index in range(len(self)))

    def by_id(self, task_id: str) -> Row:
        """The row with this id; NotFoundError when the split has none."""
        if not isinstance(task_id, str):
            raise UsageError(f"A task's id is a text, not a {type(task_id).__name__}.", "Pass task_id='...'.")
        index = self._find(task_id)
        if index is None:
            raise NotFoundError(
                f"Split '{self.split}' has no task '{task_id}'.",
                f"It has {len(self)} tasks, the first of them '{next(iter(self.ids), '')}'.",
            )
        return self._row(index)

    def by_seed(self, seed: int, where: Mapping[str, Any] | None = None) -> Row:
        """The row that a seed selects among those where each meta field has the given value or one of a list."""
        if not where:
            return self._row(seeds.pick(seed, len(self)))
        matches = self.matching(where)
        return self._row(matches[seeds.pick(seed, len(matches))])

    def shown(self, row: Mapping[str, Any]) -> Row:
        """What a policy may see of a row: its id and its input and meta fields."""
        visible = (FieldRole.INPUT, FieldRole.META)
        return {name: value for name, value in row.items() if name == "id" or self.fields.get(name) in visible}

    def _check_where(self, where: Mapping[str, Any]) -> None:
        if not isinstance(where, Mapping):
            raise UsageError(f"options['where'] is a {type(where).__name__}.", "Write {'where': {'field': value}}.")
        for name in where:
            if name not in self._meta:
                known = ", ".join(sorted(self._meta)) or "none"
                raise UsageError(f"'{name}' is no meta field of the tasks.", f"Fields to filter by: {known}.")

    def _found(self, rows: Sequence[Mapping[str, Any]], where: Mapping[str, Any]) -> list[int]:
        found = [index for index, row in enumerate(rows) if _matches(row, where)]
        if not found:
            asked = ", ".join(f"{name}={value!r}" for name, value in where.items())
            raise NotFoundError(f"No task of split '{self.split}' has {asked}.", "Choose other values.")
        return found


class StoredTasks(TaskSet):
    """The rows of a split's files, kept as text."""

    def __init__(self, rows: Sequence[Row], section: TasksSection, split: str) -> None:
        super().__init__(section, split)
        try:
            self._texts = [json.dumps(row, allow_nan=False) for row in rows]
        except (TypeError, ValueError) as error:
            raise UnreadableError(
                f"Split '{split}' has values that JSON can't hold: {error}.", "Convert them."
            ) from None
        self._index = {row["id"]: index for index, row in enumerate(rows)}
        self._metas = [{name: row.get(name) for name in self._meta} for row in rows]

    def __len__(self) -> int:
        return len(self._texts)

    def _row(self, index: int) -> Row:
        row: Row = json.loads(self._texts[index])
        return row

    @property
    def ids(self) -> Sequence[str]:
        return tuple(self._index)

    def _find(self, task_id: str) -> int | None:
        return self._index.get(task_id)

    def matching(self, where: Mapping[str, Any]) -> list[int]:
        self._check_where(where)
        return self._found(self._metas, where)


class GeneratedTasks(TaskSet):
    """One task for each seed of a range, made when it is asked for; nothing of the range is held but the last row.

    Every call may raise AuthorCodeError, for a generator that fails. It isn't interrupted: in a pool, a reset that
    hangs in it is past the slot's limit.
    """

    def __init__(self, generator: TaskGenerator, section: TasksSection, split: str) -> None:
        super().__init__(section, split)
        self.seeds = section.seeds[split]
        self._generator = generator
        self._last: tuple[int, str] | None = None
        self._metas: list[Row] | None = None

    def __len__(self) -> int:
        return self.seeds.count

    def _row(self, index: int) -> Row:
        last = self._last  # groups ask for one task many times
        if last is None or last[0] != index:
            row = self._generator.row(self.split, self.seeds.first + index)
            last = self._last = (index, json.dumps(row))
        copy: Row = json.loads(last[1])
        return copy

    @property
    def ids(self) -> Sequence[str]:
        return _SeedIds(self.split, self.seeds)

    def _find(self, task_id: str) -> int | None:
        seed = seed_of(self.split, self.seeds, task_id)
        return None if seed is None else seed - self.seeds.first

    def matching(self, where: Mapping[str, Any]) -> list[int]:
        self._check_where(where)
        if len(self) > MOST_SEARCHED:
            raise UsageError(
                f"Split '{self.split}' has {len(self):,} generated tasks, which aren't all made to find some.",
                f"At most {MOST_SEARCHED:,} are searched; make a split of what you look for.",
            )
        if self._metas is None:
            self._metas = [{name: row.get(name) for name in self._meta} for row in self]
        return self._found(self._metas, where)

    def by_seed(self, seed: int, where: Mapping[str, Any] | None = None) -> Row:
        """As for rows; of a split that is too large to search, tasks are drawn until one matches."""
        if not where or len(self) <= MOST_SEARCHED:
            return super().by_seed(seed, where)
        self._check_where(where)
        for attempt in range(MOST_SEARCHED):
            row = self._row(seeds.pick(seeds.derive(seed, attempt) if attempt else seed, len(self)))
            if _matches(row, where):
                return row
        asked = ", ".join(f"{name}={value!r}" for name, value in where.items())
        raise NotFoundError(
            f"None of {MOST_SEARCHED:,} tasks drawn from split '{self.split}' has {asked}.", "Choose other values."
        )


class _SeedIds(Sequence[str]):
    """The ids of a range of seeds."""

    def __init__(self, split: str, seeds: SeedRange) -> None:
        self._split, self._seeds = split, range(seeds.first, seeds.stop)

    def __len__(self) -> int:
        return len(self._seeds)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        found = self._seeds[index]
        return task_id(self._split, found) if isinstance(found, int) else [task_id(self._split, s) for s in found]

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and (
            seed_of(self._split, SeedRange(self._seeds.start, self._seeds.stop), value) is not None
        )


def _matches(row: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    return all(_accepts(wanted, row.get(name)) for name, wanted in where.items())


def _accepts(wanted: Any, value: Any) -> bool:
    if isinstance(wanted, (list, tuple, set)):
        return value in wanted
    return bool(value == wanted)


def choose_split(section: TasksSection, split: str | None) -> str:
    """The split to load: the given one, else `train`, else the only one; NotFoundError or UsageError with the list."""
    known = ", ".join(section.splits) or "none"
    if split is not None:
        if split not in section.splits:
            raise NotFoundError(f"The task set has no split '{split}'.", f"Splits: {known}.")
        return split
    if "train" in section.splits:
        return "train"
    if len(section.splits) == 1:
        return next(iter(section.splits))
    raise UsageError("The task set has several splits and none is called 'train'.", f"Choose a split: {known}.")


def read_tasks(part: Part, split: str | None) -> TaskSet:
    """A split of a task set; UnreadableError for rows without a string id and for ids used twice.

    The tasks of a generated split are made by the author's code, which is imported here: AuthorCodeError where that
    fails.
    """
    section = part.manifest.tasks
    name = choose_split(section, split)
    tasks = _generated(part, name) if name in section.seeds else _stored(part, name)
    if not len(tasks):
        raise NotFoundError(f"Split '{name}' has no tasks.", "Load another split.")
    return tasks


def _generated(part: Part, split: str) -> TaskSet:
    return GeneratedTasks(load_generator(part), part.manifest.tasks, split)


def _stored(part: Part, split: str) -> TaskSet:
    section = part.manifest.tasks
    files = split_files(part.root, section.splits[split], part.files)
    for path in files:
        part.check(path.relative_to(part.root).as_posix())
    rows = [row.values for path in files for row in iter_rows(path)]
    seen: set[str] = set()
    for position, row in enumerate(rows, start=1):
        identifier = row.get("id")
        if not isinstance(identifier, str) or not identifier:
            raise UnreadableError(f"Task {position} of split '{split}' has no string 'id'.", "Give every task an id.")
        if identifier in seen:
            raise UnreadableError(f"Split '{split}' has two tasks '{identifier}'.", "Give every task an id of its own.")
        seen.add(identifier)
    return StoredTasks(rows, section, split)
