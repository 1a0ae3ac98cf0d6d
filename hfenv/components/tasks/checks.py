"""Checks of the task files: one streaming pass over all of them, and what only all of them together can show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hfenv.card.declared import Declared
from hfenv.card.reader import Card
from hfenv.components.taskfiles import SUFFIXES, split_files
from hfenv.components.tasks.card import at_split, check_counts, check_licences, check_roles
from hfenv.components.tasks.columns import Amiss, check_shapes, check_types
from hfenv.components.tasks.duplicates import check_twins
from hfenv.components.tasks.facts import SplitFacts, grade_field
from hfenv.components.tasks.range import TaskFile, Terms
from hfenv.components.tasks.reading import Totals, read_all
from hfenv.components.tasks.samples import check_samples
from hfenv.components.tasks.shapes import Columns, Place
from hfenv.errors import NotFoundError
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

# What needs no card to be judged: whether the rows can be read, and how they are written.
ROW_RULES = ("HFE301", "HFE302", "HFE312", "HFE313", "HFE314", "HFE315", "HFE316")
TASK_RULES = (*(f"HFE{number}" for number in range(301, 321)), "HFE323")
_SHOWN = 20  # columns of one rule


def check_tasks(
    root: Path, card: Card, declared: Declared, known: Iterable[str], *, workers: int | None = None
) -> list[Finding]:
    """All task files that the splits name; a pattern that matches nothing is the layout's business.

    `known` are the paths of the environment's files: nothing else is read, wherever a link or a pattern may lead.
    Large files are read by several processes (`workers`; by default one for each processor), with the same findings.
    """
    files, findings = _files(root, card, declared, tuple(known))
    canary = card.block.get("canary")
    terms = Terms(
        declared.fields,
        frozenset(resource.name for resource in declared.resources),
        canary if isinstance(canary, str) and canary else None,
        grade_field(declared.fields),
    )
    totals, unread = read_all(files, terms, workers)
    findings += unread
    check_twins(totals.rows, files, declared.fields, totals.tallies)
    findings += _tallied(files, totals)
    whole = Columns()
    for columns in (totals.head, totals.rest, totals.typed):
        whole.absorb(columns)
    findings += _placed(files, check_types(whole, declared.fields))
    if totals.head.rows and "dataset_info" not in card.front_matter:
        # With features on the card, nothing is guessed from the first rows.
        findings += _placed(files, check_shapes(totals.head, totals.rest, declared.fields))
    findings += _splits(card, declared, files, totals)
    findings += check_samples(files, {seeds.split: seeds.range for seeds in declared.seeds})
    findings += check_roles(card, declared, whole.nodes)
    findings += check_licences(card)
    return findings


def check_rows(root: Path, known: Iterable[str], *, workers: int | None = None) -> list[Finding]:
    """Where no card says what the splits are: every task file is read, and its rows looked at by themselves."""
    names = sorted(name for name in known if name.rpartition("/")[0] == "tasks" and name.endswith(SUFFIXES))
    files = [TaskFile(root / name, name, "", False) for name in names]
    totals, findings = read_all(files, Terms(), workers)
    return [*findings, *(finding for finding in _tallied(files, totals) if finding.rule in ROW_RULES)]


def _files(root: Path, card: Card, declared: Declared, known: Sequence[str]) -> tuple[list[TaskFile], list[Finding]]:
    files: dict[Path, TaskFile] = {}
    findings = []
    for split, patterns in declared.splits.items():
        for path in _matching(root, patterns, known):
            name = path.relative_to(root).as_posix()
            if path in files:
                message = f"{name} is named twice, so that its tasks have no unique ids"
                findings.append(at_split(card, "HFE303", split, message, "Name each file in one split only."))
            else:
                files[path] = TaskFile(path, name, split, not split.startswith("train"))
    return list(files.values()), findings


def _matching(root: Path, patterns: Iterable[str], known: Sequence[str]) -> Iterator[Path]:
    for pattern in patterns:
        try:
            yield from split_files(root, [pattern], known)
        except NotFoundError:
            continue


def _tallied(files: Sequence[TaskFile], totals: Totals) -> Iterator[Finding]:
    for file, tally in zip(files, totals.tallies, strict=True):
        yield from tally.findings(file.name)


def _placed(files: Sequence[TaskFile], found: Iterable[Amiss]) -> Iterator[Finding]:
    """Findings about columns at the places in question; of one rule in many columns only the first."""
    shown: Counter[str] = Counter()
    for amiss in found:
        shown[amiss.rule] += 1
        if shown[amiss.rule] <= _SHOWN:
            message = amiss.message.replace("{other}", _place(files, amiss.other))
            file, line = amiss.place
            yield Finding(
                amiss.rule, severity(amiss.rule), files[file].name, message, line=line, column=1, fix=amiss.fix,
                count=amiss.rows,
            )  # fmt: skip
    for rule, count in shown.items():
        if count > _SHOWN:
            message = f"{count - _SHOWN} more columns with mistakes of this kind"
            fix = "See the ones with a line."
            yield Finding(rule, severity(rule), "tasks", message, fix=fix, count=count - _SHOWN)


def _place(files: Sequence[TaskFile], place: Place | None) -> str:
    return f"{files[place[0]].name}:{place[1]}" if place else ""


def _splits(card: Card, declared: Declared, files: Sequence[TaskFile], totals: Totals) -> Iterator[Finding]:
    """Empty splits; and the counts on the card, when every task that they count could be read."""
    facts = []
    seeds = {generated.split: generated.range for generated in declared.seeds}
    for split, patterns in declared.splits.items():
        own = [index for index, file in enumerate(files) if file.split == split]
        rows = sum(totals.counts[index] for index in own)
        if own and not rows and not totals.unreadable.intersection(own):
            yield at_split(card, "HFE305", split, f"the split '{split}' has no tasks", "Add tasks.")
        grades: Counter[str] = Counter()
        for index in own:
            grades.update(totals.grades[index])
        facts.append(SplitFacts.of((files[index].name for index in own), rows, grades, seeds.get(split)))
        if not own and patterns:
            return  # its files are missing, or another split has them: there is no count to be sure of
    if not totals.unreadable:
        yield from check_counts(card, facts)
