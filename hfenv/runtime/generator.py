"""The generator of a tasks component: imported from verified files, one row for each split and seed."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from hfenv.components.tasks.samples import task_id
from hfenv.errors import AuthorCodeError, UnreadableError
from hfenv.runtime import seeds
from hfenv.runtime.faults import describe
from hfenv.runtime.imports import import_entry, source_of
from hfenv.runtime.jsondata import NotJsonError, round_trip, shown
from hfenv.runtime.spec import Part

TASK_FOLDERS = ("tasks",)
_ENTRY = "environment.tasks.generator"


class TaskGenerator:
    """`generate(split, seed, rng)` of a tasks component; every process gets equal rows from it."""

    def __init__(self, part: Part, entry: str, function: Any) -> None:
        self.part = part
        self.entry = entry
        self._function = function

    def row(self, split: str, seed: int) -> dict[str, Any]:
        """The task of a seed, plain JSON with its id in front; AuthorCodeError where the function gives none."""
        where = f"{self.entry}, seed {seed} of split '{split}'"
        try:
            made = self._function(split, seed, seeds.generator(seed, f"task:{split}"))
        except (Exception, SystemExit) as error:
            raise AuthorCodeError(
                f"{where}: it failed: {describe(error, self.part.root)}.", "Correct the generator."
            ) from error
        if not isinstance(made, Mapping):
            kind = "an awaitable" if inspect.isawaitable(made) else f"a {type(made).__name__}"
            if inspect.iscoroutine(made):
                made.close()
            raise AuthorCodeError(f"{where}: it returned {kind}.", "Return the task as a dict of plain JSON values.")
        try:
            row = round_trip(dict(made), "the task")
        except NotJsonError as error:
            raise AuthorCodeError(f"{where}: {error}.", "Return text, numbers, true, false, lists or dicts.") from None
        identifier = task_id(split, seed)
        if row.get("id", identifier) != identifier:
            message = f"{where}: it returned the id {shown(row['id'])[:60]}."
            raise AuthorCodeError(message, f"Leave the id out: hfenv gives the task the id '{identifier}'.")
        return {"id": identifier, **row}


def load_generator(part: Part) -> TaskGenerator:
    """Import the generator that the card of a tasks component names; AuthorCodeError where that fails."""
    entry = part.manifest.tasks.generator
    if entry is None:
        raise UnreadableError(
            "The card has generated splits (tasks.seeds) and names no generator.", "Add tasks.generator to the card."
        )
    function = import_entry(source_of("tasks", part, TASK_FOLDERS), entry, _ENTRY)
    if not callable(function) or inspect.isclass(function):
        raise AuthorCodeError(f"{entry} is no function.", "Write generate(split, seed, rng).")
    return TaskGenerator(part, entry, function)
