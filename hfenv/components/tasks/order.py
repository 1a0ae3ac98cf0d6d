"""The order of tasks whose lines two sets have in common, told by the hashes of the lines."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from hfenv.card.regular import open_regular
from hfenv.components.taskfiles import parse_line
from hfenv.components.tasks.compare import NOWHERE, Comparison
from hfenv.components.tasks.index import ScannedTasks
from hfenv.components.tasks.lines import line_numbers, read_line
from hfenv.components.tasks.range import TaskFile
from hfenv.components.tasks.sieve import Lines, Sieved
from hfenv.components.tasks.since import Disorder
from hfenv.errors import UnreadableError

_PARTS = 64
_EXAMPLES = 3
_Place = tuple[TaskFile, int]


def disorders(
    sides: tuple[Sieved, Sieved], sets: tuple[ScannedTasks, ScannedTasks], rows: Comparison
) -> dict[str, Disorder]:
    """By split, the tasks that stand behind one which they stood before; only splits with any.

    `sets` are the tasks on lines that differ, among them those that are paired by `rows`.
    """
    found = {}
    for split in sets[1].rows.splits:
        if rows.old.split(split.name) is None:
            continue
        pairs = _pairs(sides, sets, rows, split.name)
        kept = set(pairs.values())
        before = array("q", (h for h, _ in _lines(sides[0], split.name) if h not in sides[0].own or h in kept))
        own = sides[1].own
        after = array("q", (pairs.get(h, h) for h, _ in _lines(sides[1], split.name) if h not in own or h in pairs))
        if before != after and (late := _late(before, after)):
            here = (place for h, place in _lines(sides[1], split.name) if h not in own or h in pairs)
            found[split.name] = _disorder(late, list(_at(here, late[:_EXAMPLES])))
    return found


def _pairs(
    sides: tuple[Sieved, Sieved], sets: tuple[ScannedTasks, ScannedTasks], rows: Comparison, split: str
) -> dict[int, int]:
    """The hash of the old line by that of the new one, of tasks that are in the split on both sides."""
    before, now = rows.old.split(split), rows.new.split(split)
    if before is None or now is None:
        return {}
    pairs = [(row, rows.counterparts[row]) for row in range(now.start, now.stop)]
    olds, news = (dict(side.of_split(split)) for side in sides)
    return {
        _hash(news, sets[1], row): _hash(olds, sets[0], old)
        for row, old in pairs
        if old != NOWHERE and before.start <= old < before.stop
    }


def _hash(lines: Mapping[TaskFile, Lines], tasks: ScannedTasks, row: int) -> int:
    own = lines[tasks.file_of(row)]
    return own.hashes[bisect_left(own.offsets, tasks.offsets[row])]


def _lines(side: Sieved, split: str) -> Iterator[tuple[int, _Place]]:
    for file, lines in side.of_split(split):
        for value, offset in zip(lines.hashes, lines.offsets, strict=True):
            yield value, (file, offset)


def _late(before: Sequence[int], after: Sequence[int]) -> array[int]:
    """The places in `after` of what stands behind something that it stood before."""
    places = array("q", [NOWHERE]) * len(after)
    for (olds, positions), (news, targets) in zip(_parted(before), _parted(after), strict=True):
        known: Mapping[int, int] = dict(zip(olds, positions, strict=True))
        for value, target in zip(news, targets, strict=True):
            places[target] = known.get(value, NOWHERE)
    found, last = array("q"), NOWHERE
    for target, position in enumerate(places):
        if position < last and position != NOWHERE:
            found.append(target)
        last = max(last, position)
    return found


def _parted(values: Sequence[int]) -> list[tuple[array[int], array[int]]]:
    parts = [(array("q"), array("L")) for _ in range(_PARTS)]
    for place, value in enumerate(values):
        hashes, places = parts[value % _PARTS]
        hashes.append(value)
        places.append(place)
    return parts


def _at(found: Iterator[_Place], wanted: Sequence[int]) -> Iterator[_Place]:
    """The entries at some places of an iterator, which are sorted."""
    passed = 0
    for place in wanted:
        yield from islice(found, place - passed, place - passed + 1)
        passed = place + 1


def _disorder(late: Sequence[int], places: Sequence[_Place]) -> Disorder:
    file, offset = places[0]
    line = line_numbers(file.path, [offset])[offset]
    return Disorder(len(late), file.name, line, tuple(_ids(places)))


def _ids(places: Sequence[_Place]) -> Iterator[str]:
    for file, offset in places:
        try:
            with open_regular(file.path) as stream:
                yield str(parse_line(read_line(stream, offset), file.name).get("id"))
        except (OSError, UnreadableError):
            continue  # a line that both sides have needn't be a task; what is wrong with it is validation's matter
