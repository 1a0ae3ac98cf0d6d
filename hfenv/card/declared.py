"""What a card declares, as far as it is well-formed: checks go on where one part of the block breaks the schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hfenv.card.accepts import is_integer, is_number
from hfenv.card.manifest import SeedRange
from hfenv.card.nodes import escape
from hfenv.card.reader import Card

ROLES = frozenset(("input", "target", "grading", "resource", "meta"))
_SEEDS = range(2**63)
_ENTRY = re.compile(r"([^\\:\x00-\x1f]+\.py):([^\W\d]\w*)")


@dataclass(frozen=True, slots=True)
class Entry:
    """A Python file of the environment and a name in it, and where the card says so."""

    path: str
    name: str
    pointer: str


@dataclass(frozen=True, slots=True)
class Named:
    """A split's path or glob, or a resource: its name, its path (None for a uri), and where the card says so."""

    name: str
    path: str | None
    pointer: str


@dataclass(frozen=True, slots=True)
class Seeds:
    """A generated split: its seeds, and where the card says so."""

    split: str
    range: SeedRange
    pointer: str


@dataclass(frozen=True, slots=True)
class Declared:
    """The well-formed parts of the `environment` block; what is malformed has its own finding and is left out."""

    code_entry: Entry | None
    reward_entry: Entry | None
    builtin: bool
    scope: str
    reward_range: tuple[float, float] | None
    reward_floor: float | None
    split_patterns: tuple[Named, ...]
    fields: Mapping[str, str]
    resources: tuple[Named, ...]
    policies: tuple[Entry, ...]
    generator: Entry | None = None
    seeds: tuple[Seeds, ...] = ()

    @property
    def splits(self) -> dict[str, tuple[str, ...]]:
        """Patterns by split, in the order of the card."""
        found: dict[str, tuple[str, ...]] = {}
        for item in self.split_patterns:
            found[item.name] = (*found.get(item.name, ()), str(item.path))
        return found

    @classmethod
    def of(cls, card: Card) -> Declared:
        block = card.block
        code, tasks, reward = (_mapping(block.get(name)) for name in ("code", "tasks", "reward"))
        policies = (
            _entry(value, f"/environment/policies/{escape(name)}")
            for name, value in _mapping(block.get("policies")).items()
        )
        return cls(
            code_entry=_entry(code.get("entry"), "/environment/code/entry"),
            reward_entry=_entry(reward.get("entry"), "/environment/reward/entry"),
            builtin=reward.get("builtin") is True,
            scope=str(reward.get("scope", "turn")),
            reward_range=_range(reward.get("range")),
            reward_floor=float(reward["floor"]) if _is_number(reward.get("floor")) else None,
            split_patterns=tuple(_patterns(_mapping(tasks.get("splits")))),
            fields={name: role for name, role in _mapping(tasks.get("fields")).items() if isinstance(role, str)},
            resources=tuple(_resources(block.get("resources"))),
            policies=tuple(policy for policy in policies if policy is not None),
            generator=_entry(tasks.get("generator"), "/environment/tasks/generator"),
            seeds=tuple(_seeds(_mapping(tasks.get("seeds")))),
        )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_number(value: Any) -> bool:
    """A number that a double can hold."""
    return is_number(value) and (isinstance(value, float) or value.bit_length() < 1024)


def _is_inside(path: Any) -> bool:
    """A relative path with forward slashes that doesn't leave the environment."""
    if not isinstance(path, str) or not path or "\\" in path or "\0" in path:
        return False
    return not {"", ".", ".."} & set(path.split("/"))


def _entry(value: Any, pointer: str) -> Entry | None:
    match = _ENTRY.fullmatch(value) if isinstance(value, str) else None
    return Entry(match[1], match[2], pointer) if match and _is_inside(match[1]) else None


def _range(value: Any) -> tuple[float, float] | None:
    if isinstance(value, list) and len(value) == 2 and all(_is_number(end) for end in value):
        return float(value[0]), float(value[1])
    return None


def _patterns(splits: Mapping[str, Any]) -> Iterator[Named]:
    for split, value in splits.items():
        pointer = f"/environment/tasks/splits/{escape(split)}"
        if isinstance(value, list):
            for index, path in enumerate(value):
                if _is_inside(path):
                    yield Named(split, path, f"{pointer}/{index}")
        elif _is_inside(value):
            yield Named(split, value, pointer)


def _seeds(ranges: Mapping[str, Any]) -> Iterator[Seeds]:
    for split, value in ranges.items():
        if isinstance(value, list) and len(value) == 2 and all(is_integer(end) and end in _SEEDS for end in value):
            yield Seeds(split, SeedRange(*value), f"/environment/tasks/seeds/{escape(split)}")


def _resources(value: Any) -> Iterator[Named]:
    for index, entry in enumerate(value if isinstance(value, list) else ()):
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
            continue
        path = entry.get("path")
        pointer = f"/environment/resources/{index}"
        if path is None:
            yield Named(entry["name"], None, pointer)
        elif _is_inside(path):
            yield Named(entry["name"], path, f"{pointer}/path")
