"""The rows of one split: read once, shared safely, found by seed, id or meta field."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

from hfenv.card.manifest import FieldRole, TasksSection
from hfenv.components.taskfiles import iter_rows, split_files
from hfenv.errors import NotFoundError, UnreadableError, UsageError
from hfenv.runtime import seeds
from hfenv.runtime.spec import Part

Row = dict[str, Any]


class TaskSet(Sequence[Row]):
    """The rows of a split in file order. Rows are kept as text: whoever takes one gets a copy of its own."""

    def __init__(self, rows: Sequence[Row], section: TasksSection, split: str) -> None:
        self.split = split
        self.fields = section.fields
        try:
            self._texts = [json.dumps(row, allow_nan=False) for row in rows]
        except (TypeError, ValueError) as error:
            raise UnreadableError(
                f"Split '{split}' has values that JSON can't hold: {error}.", "Convert them."
            ) from None
        self._index = {row["id"]: index for index, row in enumerate(rows)}
        meta = [name for name, role in section.fields.items() if role is FieldRole.META]
        self._meta = {name: [row.get(name) for row in rows] for name in meta}

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return [json.loads(text) for text in self._texts[index]]
        row: Row = json.loads(self._texts[index])
        return row

    def __iter__(self) -> Iterator[Row]:
        return (json.loads(text) for text in self._texts)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self._index)

    def by_id(self, task_id: str) -> Row:
        """The row with this id; NotFoundError when the split has none."""
        if not isinstance(task_id, str):
            raise UsageError(f"A task's id is a text, not a {type(task_id).__name__}.", "Pass task_id='...'.")
        if task_id not in self._index:
            raise NotFoundError(
                f"Split '{self.split}' has no task '{task_id}'.",
                f"It has {len(self)} tasks, the first of them '{next(iter(self._index), '')}'.",
            )
        return self[self._index[task_id]]

    def by_seed(self, seed: int, where: Mapping[str, Any] | None = None) -> Row:
        """The row that a seed selects among those where each meta field has the given value or one of a list."""
        if not where:
            return self[seeds.pick(seed, len(self))]
        matches = self.matching(where)
        return self[matches[seeds.pick(seed, len(matches))]]

    def matching(self, where: Mapping[str, Any]) -> list[int]:
        """Indexes of the rows that match, in file order; raises when none does or a field isn't a meta field."""
        if not isinstance(where, Mapping):
            raise UsageError(f"options['where'] is a {type(where).__name__}.", "Write {'where': {'field': value}}.")
        for name in where:
            if name not in self._meta:
                known = ", ".join(sorted(self._meta)) or "none"
                raise UsageError(f"'{name}' is no meta field of the tasks.", f"Fields to filter by: {known}.")
        columns = [(self._meta[name], where[name]) for name in where]
        found = [index for index in range(len(self)) if all(_accepts(want, column[index]) for column, want in columns)]
        if not found:
            asked = ", ".join(f"{name}={value!r}" for name, value in where.items())
            raise NotFoundError(f"No task of split '{self.split}' has {asked}.", "Choose other values.")
        return found

    def shown(self, row: Mapping[str, Any]) -> Row:
        """What a policy may see of a row: its id and its input and meta fields."""
        visible = (FieldRole.INPUT, FieldRole.META)
        return {name: value for name, value in row.items() if name == "id" or self.fields.get(name) in visible}


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
    """Read a split of a task set; UnreadableError for rows without a string id and for ids used twice."""
    section = part.manifest.tasks
    name = choose_split(section, split)
    files = split_files(part.root, section.splits[name], part.files)
    for path in files:
        part.check(path.relative_to(part.root).as_posix())
    rows = [row.values for path in files for row in iter_rows(path)]
    seen: set[str] = set()
    for position, row in enumerate(rows, start=1):
        identifier = row.get("id")
        if not isinstance(identifier, str) or not identifier:
            raise UnreadableError(f"Task {position} of split '{name}' has no string 'id'.", "Give every task an id.")
        if identifier in seen:
            raise UnreadableError(f"Split '{name}' has two tasks '{identifier}'.", "Give every task an id of its own.")
        seen.add(identifier)
    if not rows:
        raise NotFoundError(f"Split '{name}' has no tasks.", "Load another split.")
    return TaskSet(rows, section, name)
