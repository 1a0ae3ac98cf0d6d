"""Samples of generated splits: written by running the generator, and held against what it makes today."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from hfenv.card.manifest import SeedRange
from hfenv.card.quoting import short
from hfenv.card.reader import manifest, read_card
from hfenv.components.digest import canonical_json
from hfenv.components.files import write_all
from hfenv.components.ownership import CARD_NAME, Component
from hfenv.components.snapshot import Snapshot
from hfenv.components.status import Statuses
from hfenv.components.taskfiles import iter_rows
from hfenv.errors import AuthorCodeError, FindingsError, NotFoundError, UsageError
from hfenv.hub.references import LocalReference
from hfenv.runtime.requirements import check_requirements
from hfenv.runtime.sampler import SURROUNDINGS, run_generator
from hfenv.runtime.spec import Part
from hfenv.specify import LocalFolder, Origin

MOST_SAMPLED = 100  # tasks of a split that has no sample yet
SECONDS = 10.0
_TOLD = 3
_Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StaleTask:
    """A task that the sample holds otherwise than the generator makes it: the fields that differ, sorted by name.

    Without fields, one of the two doesn't have it at all.
    """

    id: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SampledSplit:
    """A generated split: its seeds, its sample's path in the environment, how many tasks that has, and which differ."""

    split: str
    seeds: SeedRange
    path: str
    tasks: int
    stale: tuple[StaleTask, ...]

    @property
    def told(self) -> str:
        """The first tasks that differ, with their fields, in words."""
        named = [f"{task.id} ({', '.join(task.fields)})" if task.fields else task.id for task in self.stale[:_TOLD]]
        more = len(self.stale) - _TOLD
        return ", ".join(named) + (f" and {more:,} more" if more > 0 else "")


@dataclass(frozen=True, slots=True)
class SampleReport:
    """The samples of all generated splits; none for an environment without a generator."""

    splits: tuple[SampledSplit, ...]

    @property
    def fresh(self) -> bool:
        """Whether every sample is what the generator makes today."""
        return not any(split.stale for split in self.splits)

    def require_fresh(self) -> None:
        """Raises FindingsError with the first tasks that differ, for whatever rests on the samples."""
        stale = [split for split in self.splits if split.stale]
        if stale:
            told = "; ".join(f"{split.path}: {split.told}" for split in stale)
            raise FindingsError(
                f"The generator makes other tasks today than the samples hold ({told}).",
                "Write them anew, and look at what changed: hfenv tasks sample",
            )


@dataclass(frozen=True, slots=True)
class _Sample:
    """A generated split and what its sample's file holds now."""

    split: str
    seeds: SeedRange
    path: str
    rows: tuple[_Row, ...]


def check_samples(root: Path, *, trust_remote_code: bool = False, seconds: float = SECONDS) -> SampleReport:
    """Run the generator of an environment's folder for the tasks of its samples and compare; writes nothing.

    Only the card is read, and nothing runs, where it has no generated splits.
    The author's code runs in processes of its own, twice, with `seconds` for a task. Raises AuthorCodeError for a
    generator that fails or makes two different tasks of one seed, TrustError for a pulled folder that isn't trusted,
    UnreadableError or NotFoundError for a sample that can't be read.
    """
    part, samples = _samples(root, trust_remote_code)
    for sample in samples:
        if not sample.rows:
            raise NotFoundError(f"{sample.path} isn't there or empty.", "Write it: hfenv tasks sample")
    made = _made(part, samples, [len(sample.rows) for sample in samples], seconds)
    return SampleReport(tuple(map(_compared, samples, made)))


def require_fresh(folder: Snapshot, states: Statuses, *, trust_remote_code: bool = False) -> Statuses:
    """Where the tasks changed or were never released, see to it that their samples are what the generator makes today.

    Everything that was said of the tasks rests on that. Raises FindingsError where it isn't so, and as `check_samples`.
    """
    state = states[Component.TASKS]
    if not state.changed or not folder.manifest.tasks.seeds:
        return states
    report = check_samples(folder.root, trust_remote_code=trust_remote_code)
    report.require_fresh()
    probed = f"{sum(split.tasks for split in report.splits):,} sampled tasks are as the generator makes them today"
    return {**states, Component.TASKS: replace(state, probed=probed)}


def write_samples(
    root: Path, *, most: int | None = None, trust_remote_code: bool = False, seconds: float = SECONDS
) -> SampleReport:
    """Write the sample of each generated split: its first tasks, as many as `most`.

    Without it, as many as the sample has already, or 100. All files are written, or none. The report says in what the
    samples differed before; errors as in `check_samples`.
    """
    if most is not None and most < 1:
        raise UsageError(f"A sample of {most} tasks says nothing.", "Ask for one or more.")
    part, samples = _samples(root, trust_remote_code)
    if not samples:
        hint = "On the card, name a generator under tasks, and seeds for the splits that it makes."
        raise UsageError(f"{root} has no generated splits.", hint)
    counts = [most or len(sample.rows) or MOST_SAMPLED for sample in samples]
    made = _made(part, samples, counts, seconds)
    content = ["".join(f"{line}\n" for line in lines).encode() for lines in made]
    write_all({part.root / sample.path: text for sample, text in zip(samples, content, strict=True)})
    return SampleReport(tuple(map(_compared, samples, made)))


def _samples(root: Path, trust_remote_code: bool) -> tuple[Part, list[_Sample]]:
    block = manifest(read_card(root / CARD_NAME))
    if not block.tasks.seeds:
        return Part(root, block, block.tasks.version, ""), []
    folder = LocalFolder.read(root)
    folder.require_trust(
        LocalReference(root), Origin(trust_remote_code=trust_remote_code, isolation="process"), "tasks"
    )
    check_requirements(block.requires, block.name or folder.root.name)
    part = folder.parts[Component.TASKS]
    return part, [_sample(part, split, seeds) for split, seeds in block.tasks.seeds.items()]


def _sample(part: Part, split: str, seeds: SeedRange) -> _Sample:
    paths = part.manifest.tasks.splits.get(split, ())
    one = len(paths) == 1 and paths[0].startswith("tasks/") and paths[0].endswith(".jsonl")
    if not one or set("*?[") & set(paths[0]):
        raise UsageError(
            f"The generated split '{split}' has no single .jsonl file in tasks/ for its sample.",
            f"Write {split}: tasks/sample/{split}.jsonl under splits on the card.",
        )
    if not seeds.count:
        raise UsageError(f"The seeds of '{split}' end before they begin.", "Write [first, the one after the last].")
    file = part.root / paths[0]
    # One more than there are seeds shows that there are too many.
    rows = islice(iter_rows(file), seeds.count + 1) if file.is_file() else ()
    return _Sample(split, seeds, paths[0], tuple(row.values for row in rows))


def _made(part: Part, samples: Sequence[_Sample], counts: Sequence[int], seconds: float) -> list[list[str]]:
    """The first tasks of each split as lines of JSON; made twice, in other surroundings, and refused if they differ."""
    firsts = [(sample, min(count, sample.seeds.count)) for sample, count in zip(samples, counts, strict=True)]
    wanted = [(s.split, seed) for s, count in firsts for seed in range(s.seeds.first, s.seeds.first + count)]
    if not wanted:
        return []
    once, again = (run_generator(part, wanted, surroundings, seconds=seconds) for surroundings in SURROUNDINGS)
    for (split, seed), one, other in zip(wanted, once, again, strict=True):
        if one != other:
            raise AuthorCodeError(
                f"{part.manifest.tasks.generator} makes two different tasks of seed {seed} of split '{split}': "
                f"{_first_difference(json.loads(one), json.loads(other))}.",
                "Draw from rng alone: not from time, hash(), the order of a set, or what earlier calls left behind.",
            )
    lines = iter(once)
    return [list(islice(lines, count)) for _, count in firsts]


def _first_difference(one: _Row, other: _Row) -> str:
    for name in one.keys() | other.keys():
        if (before := _text(one, name)) != (after := _text(other, name)):
            return f"'{short(name)}' is {before} and then {after}"
    return "its fields come in another order"


def _text(row: _Row, name: str) -> str:
    return short(json.dumps(row[name], ensure_ascii=False)) if name in row else "missing"


def _compared(sample: _Sample, lines: Sequence[str]) -> SampledSplit:
    there = {str(row.get("id")): row for row in sample.rows}
    stale = []
    for line in lines:
        task = json.loads(line)
        before = there.pop(task["id"], None)
        fields = () if before is None else _differing(before, task)
        if before is None or fields:
            stale.append(StaleTask(task["id"], fields))
    stale += [StaleTask(short(identifier), ()) for identifier in there]
    return SampledSplit(sample.split, sample.seeds, sample.path, len(lines), tuple(stale))


def _differing(before: _Row, task: _Row) -> tuple[str, ...]:
    names = before.keys() | task.keys()
    unlike = (
        name
        for name in names
        if (name in before) is not (name in task) or canonical_json(before.get(name)) != canonical_json(task.get(name))
    )
    return tuple(sorted(unlike))
