"""What the preview page tells from a card's header: plain texts in frozen records, whatever the header holds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hfenv.card.preview_body import is_followed
from hfenv.card.reader import Card

LONGEST = 400  # characters of one value
MOST = 40  # values in one list, rows in one table
_BARS = 12
_KNOWN_GRADES = ("trivial", "easy", "medium", "hard", "very hard", "expert", "简单", "中等", "困难")
ROLES = ("input", "target", "grading", "resource", "meta")
_RATINGS = frozenset("ABCDE")


@dataclass(frozen=True, slots=True)
class Value:
    """A text, shown as code where it is spelled exactly, a link where it is an address; `note` stands behind it."""

    text: str
    code: bool = False
    note: str = ""

    @property
    def link(self) -> bool:
        return is_followed(self.text) and len(self.text) < LONGEST

    @property
    def wide(self) -> bool:
        """Whether it gets a line of its own; short ones stand side by side."""
        return bool(self.note) or len(self.text) > 24


@dataclass(frozen=True, slots=True)
class Fact:
    """One row of the table: the key of its label, and its values."""

    label: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """One grade: its name (empty for all the rest together), tasks, and share of all tasks from 0 to 1."""

    name: str
    count: int
    share: float


@dataclass(frozen=True, slots=True)
class Result:
    """A measured result as texts, and where its value lies between the worst and the best one, from 0 to 1.

    `share` is None for what is no number.
    """

    policy: str
    split: str
    metric: str
    value: str
    release: str
    share: float | None


@dataclass(frozen=True, slots=True)
class Rating:
    """The card's own word on its audit. `grade` is A to E, U for an audit without a rating, empty without an audit."""

    grade: str
    score: str = ""
    ruleset: str = ""
    sandbox: str = ""
    report: str = ""


def text(value: Any) -> str:
    """Any value of a header in one line of bounded length."""
    return _shorten(_spell(value, depth=0))


def listed(value: Any, *, code: bool = False) -> tuple[Value, ...]:
    """A list's items, a mapping's entries or a single value; nothing for null and empty ones. Bounded in number."""
    if isinstance(value, Mapping):
        items = [f"{key}: {_spell(item, 1)}" for key, item in _first(value.items())]
    elif isinstance(value, list):
        items = [_spell(item, 1) for item in _first(value)]
    else:
        items = [_spell(value, 0)]
    found = [Value(_shorten(item), code) for item in items if item]
    size = len(value) if isinstance(value, (Mapping, list)) else 0
    return (*found, Value(f"+ {size - MOST}")) if size > MOST else tuple(found)


def splits(tasks: Mapping[str, Any]) -> list[tuple[str, tuple[Value, ...]]]:
    """The splits with their files, and the seeds of generated ones as the card has them."""
    seeds = mapping(tasks.get("seeds"))
    found = []
    for name, files in _first(mapping(tasks.get("splits")).items()):
        generated = (Value(_shorten(f"seeds: {_spell(seeds[name], 1)}"), code=True),) if name in seeds else ()
        found.append((text(name), (*listed(files, code=True), *generated)))
    return found


def mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def strings(value: Any) -> list[str]:
    """The texts in a list, or a single one; anything else isn't one."""
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str) and item]


def rows(value: Any, keys: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The mappings of a list as rows of a table, one column per key; other items are left out."""
    items = value if isinstance(value, list) else []
    found = [tuple(text(item.get(key)) for key in keys) for item in items if isinstance(item, Mapping)]
    return tuple(found[:MOST])


def results(card: Card) -> tuple[Result, ...]:
    """The measured results. A return lies in the card's range; anything else from 0 to the most that was measured."""
    found = rows(card.block.get("benchmarks"), ("policy", "split", "metric", "value", "release"))
    numbers = [_number(row[3]) for row in found]
    limits = mapping(card.block.get("reward")).get("range")
    declared = [_number(text(limit)) for limit in limits] if isinstance(limits, list) and len(limits) == 2 else []
    known = [number for number in [*numbers, 0.0] if number is not None]
    low, high = min(known), max(known)
    ends = [number for number in declared if number is not None]
    result = []
    for (policy, split, metric, value, release), number in zip(found, numbers, strict=True):
        least, most = (ends[0], ends[1]) if len(ends) == 2 and "return" in metric else (low, high)
        share = None if number is None else (number - least) / (most - least) if most > least else 0.0
        bounded = None if share is None else min(max(share, 0.0), 1.0)
        result.append(Result(policy, split, metric, value, release, bounded))
    return tuple(result)


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def fields_by_role(card: Card) -> tuple[tuple[str, tuple[Value, ...]], ...]:
    """The roles of tasks' fields in the order of the schema, others behind them, and the names of each one's fields."""
    names: dict[str, list[str]] = {role: [] for role in ROLES}
    for name, role in mapping(mapping(card.block.get("tasks")).get("fields")).items():
        names.setdefault(text(role), []).append(name)
    return tuple((role, listed(found, code=True)) for role, found in _first(names.items()) if found)


def rating(card: Card) -> Rating:
    """The rating as the card gives it."""
    audit = mapping(card.block.get("audit"))
    grade = audit.get("rating")
    if not audit or grade is None:
        return Rating("")
    shown = grade if isinstance(grade, str) and grade in _RATINGS else "U"
    return Rating(shown, *(text(audit.get(key)) for key in ("score", "ruleset", "sandbox", "report")))


def declared_grades(card: Card) -> dict[str, int] | None:
    """Tasks by grade as the card gives them; None where it doesn't, or not as whole numbers."""
    grades = mapping(mapping(card.block.get("tasks")).get("difficulty"))
    sound = all(
        isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 10**15 for count in grades.values()
    )
    return dict(grades) if grades and sound else None


def bars(grades: Mapping[str, int] | None) -> tuple[Bar, ...]:
    """Grades from easy to hard where the names are known, numbers by size, others as they come; the tail as one bar."""
    total = sum((grades or {}).values())
    if not grades or not total:
        return ()
    names = sorted(grades, key=_grade_order)
    shown = names if len(names) <= _BARS else names[: _BARS - 1]
    rest = total - sum(grades[name] for name in shown)
    found = [Bar(_shorten(name, 32) or '""', grades[name], grades[name] / total) for name in shown]
    return (*found, Bar("", rest, rest / total)) if len(shown) < len(names) else tuple(found)


def groups(card: Card) -> Iterator[tuple[str, tuple[Fact, ...]]]:
    """The table of facts in groups: the key of each group's label, and its rows, empty ones left out."""
    for label, facts in (("about", _about(card)), ("running", _running(card)), ("interface", _interface(card))):
        found = tuple(fact for fact in facts if fact.values)
        if found:
            yield label, found


def _about(card: Card) -> Iterator[Fact]:
    top, block = card.front_matter, card.block
    yield Fact("name", listed(block.get("name"), code=True))
    yield Fact("repo", listed(block.get("repo"), code=True))
    yield Fact("licence", tuple(_licences(card)))
    yield Fact("languages", listed(top.get("language")))
    yield Fact("categories", listed(top.get("task_categories")))
    yield Fact("size", listed(top.get("size_categories")))
    yield Fact("frameworks", listed(block.get("frameworks")))
    yield Fact("sources", tuple(v for name in _COMPONENTS for v in listed(mapping(block.get(name)).get("sources"))))
    yield Fact("adopted", listed(mapping(block.get("adopted_from")).get("source")))
    yield Fact("aliases", listed(block.get("aliases"), code=True))
    yield Fact(
        "yanked", listed([": ".join(filter(None, row)) for row in rows(block.get("yanked"), ("release", "reason"))])
    )
    yield Fact("canary", listed(block.get("canary"), code=True))


_COMPONENTS = ("code", "tasks", "reward")


def _licences(card: Card) -> Iterator[Value]:
    yield from listed(card.front_matter.get("license"))
    for name in _COMPONENTS:
        if own := text(mapping(card.block.get(name)).get("license")):
            yield Value(own, note=name)


def _interface(card: Card) -> Iterator[Fact]:
    block, reward = card.block, mapping(card.block.get("reward"))
    for name in ("action", "observation"):
        space = mapping(block.get(name))
        described = listed(space.get("description"))
        yield Fact(name, (*listed(space.get("type"), code=True), *described, *_details(space)))
    yield Fact("extract", listed(mapping(block.get("action")).get("extract"), code=True))
    limits = reward.get("range")
    if isinstance(limits, list) and len(limits) == 2:
        yield Fact("range", (Value(f"{text(limits[0])} … {text(limits[1])}"),))
    yield Fact("floor", listed(reward.get("floor")))
    yield Fact("scope", listed(reward.get("scope"), code=True))
    yield Fact("parts", listed(reward.get("parts")))
    yield Fact("policies", tuple(Value(_shorten(name), True) for name in _first(mapping(block.get("policies")))))
    config = mapping(block.get("config"))
    options = mapping(config["properties"]) if "properties" in config else config
    yield Fact("config", tuple(Value(_shorten(name), True) for name in _first(options)))
    yield Fact("determinism", listed(block.get("determinism"), code=True))


def _details(space: Mapping[str, Any]) -> Iterator[Value]:
    for key in ("n", "start", "low", "high", "shape", "dtype", "language", "max_length"):
        if space.get(key) is not None:
            yield Value(f"{key} {text(space[key])}", True)
    yield from (Value(_shorten(name), True) for name in _first(mapping(space.get("parts"))))


def _running(card: Card) -> Iterator[Fact]:
    block = card.block
    limits, needs, sandbox = (mapping(block.get(name)) for name in ("limits", "requires", "sandbox"))
    for label, key, unit in (("step_timeout", "step_timeout_s", " s"), ("max_steps", "max_steps", ""),
                             ("memory", "memory_mb", " MB")):  # fmt: skip
        yield Fact(label, tuple(Value(f"{value.text}{unit}") for value in listed(limits.get(key))))
    for key in ("python", "packages", "system", "secrets", "network"):
        yield Fact(key, listed(needs.get(key), code=True))
    yield Fact("image", listed(sandbox.get("image"), code=True))
    yield Fact("sandbox_network", listed(sandbox.get("network"), code=True))
    services = rows(block.get("services"), ("name", "protocol", "model"))
    yield Fact("services", tuple(Value(row[0], True, " · ".join(filter(None, row[1:]))) for row in services))
    resources = rows(block.get("resources"), ("name", "path", "uri"))
    yield Fact("resources", tuple(Value(row[0], True, " · ".join(filter(None, row[1:]))) for row in resources))


def _first(values: Any) -> list[Any]:
    return [item for item, _ in zip(values, range(MOST), strict=False)]


def _spell(value: Any, depth: int) -> str:
    if value is None or value in ({}, []):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        # Python refuses to print integers of more than 4,300 digits, and nobody reads them.
        return str(value) if value.bit_length() < 200 else f"{'-' * (value < 0)}0x{abs(value):x}"
    if isinstance(value, Mapping) and depth < 3:
        return ", ".join(f"{key}: {_spell(item, depth + 1)}" for key, item in _first(value.items()))
    if isinstance(value, list) and depth < 3:
        return ", ".join(_spell(item, depth + 1) for item in _first(value))
    return "…" if isinstance(value, (Mapping, list)) else str(value)


def _shorten(value: str, limit: int = LONGEST) -> str:
    line = " ".join(value.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _grade_order(name: str) -> tuple[int, float, str]:
    folded = name.casefold()
    if folded in _KNOWN_GRADES:
        return 0, _KNOWN_GRADES.index(folded), ""
    number = re.search(r"\d{1,9}", name)
    return (1, float(number[0]), name) if number else (2, 0.0, "")
