"""Whether the card's action or observation takes more or less than before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hfenv.components.changes.change import ChangeKind, Difference, on_card
from hfenv.components.changes.schema import Relation, SchemaChange, compare_schemas
from hfenv.components.meaning.data import shown

_KINDS: Mapping[tuple[str, Relation], ChangeKind] = {
    ("action", Relation.NARROWED): ChangeKind.ACTION_NARROWED,
    ("action", Relation.WIDENED): ChangeKind.ACTION_WIDENED,
    ("action", Relation.CHANGED): ChangeKind.ACTION_CHANGED,
    ("action", Relation.DEFAULT): ChangeKind.ACTION_CHANGED,
    ("observation", Relation.NARROWED): ChangeKind.OBSERVATION_NARROWED,
    ("observation", Relation.WIDENED): ChangeKind.OBSERVATION_WIDENED,
    ("observation", Relation.CHANGED): ChangeKind.OBSERVATION_CHANGED,
    ("observation", Relation.DEFAULT): ChangeKind.OBSERVATION_WIDENED,
}
_WORDS = {
    Relation.NARROWED: "holds less",
    Relation.WIDENED: "holds more",
    Relation.CHANGED: "is another",
    Relation.DEFAULT: "has another default",
}
_DEFAULTS: Mapping[str, Any] = {"start": 0, "extract": "raw"}
# A network's layers are built for these; of actions they say which ones are taken.
_SIZES = frozenset({"n", "start", "shape", "dtype"})
_HANDLED = frozenset({"n", "start", "low", "high", "max_length", "schema", "parts"})


def compare_spaces(key: str, old: Any, new: Any) -> Iterator[Difference]:
    """How `action` or `observation` (`key`) of the card changed."""
    old, new = (value if isinstance(value, Mapping) else {} for value in (old, new))
    for found in _compare(old, new, "", observed=key == "observation"):
        name = f"{key}.{found.path}"
        message = f"{name} {_WORDS[found.relation]}"
        kind = _KINDS[key, found.relation]
        if key == "observation" and found.path.rpartition(".")[2] in _SIZES and ".schema." not in name:
            kind = ChangeKind.OBSERVATION_RESIZED
        yield on_card(kind, name, message, found.before, found.after)


def _compare(old: Mapping[str, Any], new: Mapping[str, Any], path: str, *, observed: bool) -> Iterator[SchemaChange]:
    for name in sorted((old.keys() | new.keys()) - _HANDLED):
        before, after = (space.get(name, _DEFAULTS.get(name)) for space in (old, new))
        if before != after:
            yield _change(Relation.CHANGED, path + name, before, after)
    if old.get("type") != new.get("type"):
        return  # what else differs only follows
    yield from _compare_count(old, new, path)
    yield from _compare_bounds(old, new, path)
    longest = [space.get("max_length") for space in (old, new)]
    if longest[0] != longest[1]:
        shorter = longest[0] is None or (longest[1] is not None and longest[1] < longest[0])
        yield _change(Relation.NARROWED if shorter else Relation.WIDENED, f"{path}max_length", *longest)
    yield from compare_schemas(old.get("schema"), new.get("schema"), f"{path}schema")
    parts = [_mapping(space.get("parts")) for space in (old, new)]
    for name in sorted(parts[0].keys() | parts[1].keys()):
        place = f"{path}parts.{name}"
        if name in parts[0] and name in parts[1]:
            yield from _compare(_mapping(parts[0][name]), _mapping(parts[1][name]), f"{place}.", observed=observed)
        elif name in parts[0]:
            yield _change(Relation.NARROWED, place, parts[0][name], None)
        else:
            # One more part to see is more; one more part to send is something that old agents don't send.
            yield _change(Relation.WIDENED if observed else Relation.NARROWED, place, None, parts[1][name])


def _compare_count(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> Iterator[SchemaChange]:
    """The values of a discrete space: from `start`, `n` of them."""
    before, after = (_interval(space) for space in (old, new))
    if before is None or after is None or before == after:
        return
    name = "n" if before[0] == after[0] else "start"
    inside, outside = _within(after, before), _within(before, after)
    relation = Relation.NARROWED if inside else Relation.WIDENED if outside else Relation.CHANGED
    yield _change(relation, path + name, old.get(name), new.get(name))


def _interval(space: Mapping[str, Any]) -> tuple[int, int] | None:
    count, start = space.get("n"), space.get("start", 0)
    return (start, start + count) if isinstance(count, int) and isinstance(start, int) else None


def _within(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _compare_bounds(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> Iterator[SchemaChange]:
    for name, sign in (("low", 1), ("high", -1)):
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        pairs = _pairs(before, after)
        if pairs is None:
            yield _change(Relation.CHANGED, path + name, before, after)
            continue
        # Per entry: the sign of the step towards the inside of the box.
        steps = {_step(low, high, sign) for low, high in pairs} - {0}
        if len(steps) == 1:
            yield _change(Relation.NARROWED if 1 in steps else Relation.WIDENED, path + name, before, after)
        elif steps:
            yield _change(Relation.CHANGED, path + name, before, after)


def _step(before: float | None, after: float | None, sign: int) -> int:
    outside = -sign * float("inf")
    low, high = (outside if bound is None else bound for bound in (before, after))
    return 0 if low == high else sign if high > low else -sign


def _pairs(before: Any, after: Any) -> list[tuple[float | None, float | None]] | None:
    """Entries of two bounds that belong together; None for bounds of different shapes."""
    if isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            return None
        inner = [_pairs(one, other) for one, other in zip(before, after, strict=True)]
        return None if None in inner else [pair for part in inner if part for pair in part]
    if isinstance(before, list) or isinstance(after, list):
        # One number stands for all entries.
        many, one = (before, after) if isinstance(before, list) else (after, before)
        inner = [_pairs(part, one) if many is before else _pairs(one, part) for part in many]
        return None if None in inner else [pair for part in inner if part for pair in part]
    if all(bound is None or isinstance(bound, (int, float)) for bound in (before, after)):
        return [(before, after)]
    return None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _change(relation: Relation, path: str, before: Any, after: Any) -> SchemaChange:
    return SchemaChange(relation, path, *("" if value is None else shown(value) for value in (before, after)))
