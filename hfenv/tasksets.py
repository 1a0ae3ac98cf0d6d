"""Task rows as a `datasets.Dataset` whose features keep every value as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datasets import Dataset

_INT64 = range(-(2**63), 2**63)


def to_dataset(rows: Sequence[Mapping[str, Any]], split: str) -> Dataset:
    """The rows of one split with explicit features; a column whose shape varies by row is kept as JSON."""
    import datasets

    columns = list(dict.fromkeys(name for row in rows for name in row))
    features = datasets.Features({name: _feature([row.get(name) for row in rows]) for name in columns})
    data = {name: [row.get(name) for row in rows] for name in columns}
    return datasets.Dataset.from_dict(data, features=features, split=datasets.NamedSplit(split))


def _feature(values: Iterable[Any]) -> Any:
    """The narrowest feature that gives back exactly these values (None apart), else JSON."""
    from datasets import Json, List, Value

    present = [value for value in values if value is not None]
    kinds = {type(value) for value in present}
    if len(kinds) != 1:
        # Without values there is nothing to type; with several types Arrow would change some (1 becomes 1.0).
        return Json() if kinds else Value("null")
    kind = kinds.pop()
    simple = {bool: "bool", float: "float64", str: "string"}
    if kind in simple:
        return Value(simple[kind])
    if kind is int:
        return Value("int64") if all(value in _INT64 for value in present) else Json()
    if kind is list and any(present):
        return List(_feature([item for value in present for item in value]))
    if kind is dict and present[0] and all(value.keys() == present[0].keys() for value in present):
        # Only equal keys: Arrow gives every row all keys, which would turn an absent one into None.
        return {key: _feature([value[key] for value in present]) for key in present[0]}
    return Json()
