"""A range of a task file to be read, what the card says about its rows, and what reading it gives."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hfenv.components.tasks.leaks import Leak
from hfenv.components.tasks.shapes import Columns
from hfenv.components.tasks.tally import Tally


@dataclass(frozen=True, slots=True)
class Terms:
    """What the card says about rows: the role of each field, names of resources, the canary, the field with the grade.

    Without a card there is nothing to hold rows to but JSON and ids.
    """

    roles: Mapping[str, str] = field(default_factory=dict)
    resources: frozenset[str] = frozenset()
    canary: str | None = None
    grade: str | None = None


@dataclass(frozen=True, slots=True)
class TaskFile:
    """One task file: its place on disk, its path in the environment, and what its split is for."""

    path: Path
    name: str
    split: str
    evaluation: bool


@dataclass(frozen=True, slots=True)
class Job:
    """A range of one task file: bytes of JSON Lines, rows of Parquet. `file` is its place among all files."""

    file: int
    path: Path
    start: int
    stop: int
    evaluation: bool = False

    @property
    def is_parquet(self) -> bool:
        return self.path.suffix == ".parquet"


@dataclass(slots=True)
class Found:
    """What a range holds. `leaks` are targets that stand in an input, `copies` inputs that are nothing but the target.

    `lines` is its number of lines (Parquet: rows), from which those of the next one count.

    The arrays have an entry for each row: hashes of the id, of what makes up the question, and of that with its
    answer (0 where there is none), and where the row stands (bytes into the file; Parquet: rows before it).
    """

    rows: int = 0
    lines: int = 0
    unreadable: bool = False
    tally: Tally = field(default_factory=Tally)
    columns: Columns = field(default_factory=Columns)
    leaks: dict[tuple[str, str], Leak] = field(default_factory=dict)
    copies: dict[tuple[str, str], Leak] = field(default_factory=dict)
    grades: Counter[str] = field(default_factory=Counter)
    ids: array[int] = field(default_factory=lambda: array("q"))
    texts: array[int] = field(default_factory=lambda: array("q"))
    wholes: array[int] = field(default_factory=lambda: array("q"))
    offsets: array[int] = field(default_factory=lambda: array("Q"))
