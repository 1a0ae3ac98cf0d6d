"""All task files read once: their ranges put together in order, so that it doesn't matter who read which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hfenv.components.tasks.duplicates import Rows
from hfenv.components.tasks.kinds import sniff
from hfenv.components.tasks.leaks import Leak
from hfenv.components.tasks.lines import byte_ranges
from hfenv.components.tasks.pool import scan_all
from hfenv.components.tasks.range import Found, Job, TaskFile, Terms
from hfenv.components.tasks.shapes import Columns
from hfenv.components.tasks.tally import SHOWN, Tally
from hfenv.findings import Finding


@dataclass(slots=True)
class Totals:
    """What all task files together hold; lists have an entry for each file.

    `head` are the columns of the range that `load_dataset` takes all columns from, `rest` those of the other JSON
    Lines, `typed` those of Parquet, which says itself what its columns are.
    """

    tallies: list[Tally]
    counts: list[int]
    grades: list[Counter[str]]
    unreadable: set[int] = field(default_factory=set)
    rows: Rows = field(default_factory=Rows)
    head: Columns = field(default_factory=Columns)
    rest: Columns = field(default_factory=Columns)
    typed: Columns = field(default_factory=Columns)


def read_all(files: Sequence[TaskFile], terms: Terms, workers: int | None) -> tuple[Totals, list[Finding]]:
    """Read all files; the findings are those about files as a whole, the others are in the tallies."""
    totals = Totals([Tally() for _ in files], [0] * len(files), [Counter() for _ in files])
    findings: list[Finding] = []
    jobs: list[Job] = []
    size = 0
    for index, file in enumerate(files):
        seen = sniff(file.path, file.name)
        findings += seen.findings
        if not seen.is_readable:
            totals.unreadable.add(index)
            continue
        size += seen.size
        jobs += (Job(index, file.path, start, stop, file.evaluation) for start, stop in _ranges(file.path, seen.size))
    _put_together(totals, jobs, scan_all(jobs, terms, size=size, workers=workers))
    return totals, findings


def _ranges(path: Path, size: int) -> list[tuple[int, int]]:
    if path.suffix != ".parquet":
        return byte_ranges(size)
    from hfenv.components.tasks.parquet import row_ranges

    return row_ranges(path)


def _put_together(totals: Totals, jobs: Sequence[Job], results: Iterator[Found]) -> None:
    head = next((job for job in jobs if not job.is_parquet), None)
    leaks: list[dict[tuple[str, str], Leak]] = [{} for _ in totals.tallies]
    copies: list[dict[tuple[str, str], Leak]] = [{} for _ in totals.tallies]
    lines = [0] * len(totals.tallies)
    for job, found in zip(jobs, results, strict=True):
        while len(totals.rows.starts) <= job.file:
            totals.rows.starts.append(len(totals.rows.ids))
        base = lines[job.file]
        lines[job.file] += found.lines
        totals.rows.extend(found)
        totals.counts[job.file] += found.rows
        totals.grades[job.file].update(found.grades)
        totals.tallies[job.file].absorb(found.tally, base)
        if found.unreadable:
            totals.unreadable.add(job.file)
        columns = totals.typed if job.is_parquet else totals.head if job is head else totals.rest
        columns.absorb(found.columns, base)
        _absorb(leaks[job.file], found.leaks, base)
        _absorb(copies[job.file], found.copies, base)
    for tally, of_file, copied, rows in zip(totals.tallies, leaks, copies, totals.counts, strict=True):
        whole = {key: copy for key, copy in copied.items() if copy.is_everywhere(rows)}
        _tell(tally, {key: leak for key, leak in of_file.items() if key not in whole})
        for (target, asked), copy in whole.items():
            message = f"the input '{asked[:60]}' is the target '{target[:60]}' itself in {copy.rows} of {rows} tasks"
            fix = "Ask with something else; where repeating it is the task, ignore this rule on the card."
            tally.add("HFE311", f"{target}\x1f{asked}", copy.line, message, fix, kind="copy", rows=copy.rows)


def _absorb(known: dict[tuple[str, str], Leak], found: Mapping[tuple[str, str], Leak], base: int) -> None:
    for key, leak in found.items():
        if (before := known.get(key)) is None:
            leak.line += base
            known[key] = leak
        else:
            before.absorb(leak)


def _tell(tally: Tally, leaks: dict[tuple[str, str], Leak]) -> None:
    told = 0
    for (target, asked), leak in leaks.items():
        if leak.counts and told < SHOWN:
            told += 1
            message = f"the target '{target[:60]}' stands word for word in the input '{asked[:60]}'"
            fix = "Take it out of the input; where an answer is meant to be found there, ignore this rule on the card."
            tally.add("HFE311", f"{target}\x1f{asked}", leak.line, message, fix, rows=leak.rows)
