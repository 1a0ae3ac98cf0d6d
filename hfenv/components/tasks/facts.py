"""What a task set says about itself on the card: counts by grade, the size category, and the Hub's configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hfenv.card.manifest import SeedRange
from hfenv.components.taskfiles import iter_rows

GRADE_FIELDS = ("difficulty", "grade", "level", "难度", "等级", "難度", "等級")
MOST_GRADES = 100  # different values beyond which a field is a measure of something, and no grade
DIFFICULTY = "/environment/tasks/difficulty"
SIZES = "/size_categories"
_SIZES = (
    (10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M"),
    (10**8, "10M<n<100M"), (10**9, "100M<n<1B"), (10**10, "1B<n<10B"), (10**11, "10B<n<100B"), (10**12, "100B<n<1T"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SplitFacts:
    """A split's files (paths in the environment), its number of tasks, and how many of them have which grade.

    `sampled` says that the files hold only some of the tasks, so that their grades say nothing of all of them.
    """

    files: frozenset[str]
    rows: int
    grades: Mapping[str, int]
    sampled: bool = False

    @classmethod
    def of(cls, files: Iterable[str], rows: int, grades: Mapping[str, int], seeds: SeedRange | None) -> SplitFacts:
        """From what the files hold and, of a generated split, its seeds."""
        sampled = seeds is not None and seeds.count != rows
        return cls(frozenset(files), rows if seeds is None else seeds.count, {} if sampled else grades, sampled)


def grade_field(roles: Mapping[str, str]) -> str | None:
    """The field that holds a task's grade: a meta field of one of the names that stand for it, the first one first."""
    meta = {name.casefold(): name for name, role in roles.items() if role == "meta"}
    return next((meta[name] for name in GRADE_FIELDS if name in meta), None)


def split_facts(
    root: Path, roles: Mapping[str, str], files: Sequence[str], seeds: SeedRange | None = None
) -> SplitFacts:
    """Read the files of a split (paths below `root`); `seeds` are those of a generated one.

    Raises UnreadableError for a row that can't be read.
    """
    grade = grade_field(roles)
    rows, grades = 0, Counter[str]()
    for path in files:
        for row in iter_rows(root / path):
            rows += 1
            if grade is not None and row.values.get(grade) is not None:
                grades[str(row.values[grade])] += 1
    return SplitFacts.of(files, rows, grades, seeds)


def card_values(facts: Iterable[SplitFacts]) -> dict[str, Any]:
    """What the card has to say about all splits, by JSON Pointer; no grades where not every task is there to count."""
    facts = tuple(facts)
    rows, grades = 0, Counter[str]()
    for fact in facts:
        rows += fact.rows
        grades.update(fact.grades)
    values: dict[str, Any] = {SIZES: [size_category(rows)]}
    if 0 < len(grades) <= MOST_GRADES and not any(fact.sampled for fact in facts):
        values[DIFFICULTY] = dict(grades)
    return values


def size_category(rows: int) -> str:
    """The Hub's size category for a number of tasks."""
    return next((name for limit, name in _SIZES if rows < limit), "n>1T")
