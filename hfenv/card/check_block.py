"""What the schema can't say about the `environment` block: a range that has two ends, roles, names, boxes, folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from hfenv.card.accepts import QuickCheck
from hfenv.card.declared import ROLES, Declared
from hfenv.card.nodes import escape
from hfenv.card.quoting import dotted, short, shown
from hfenv.card.reader import Card
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

_FOLDERS = {"code": "env/", "reward": "reward/"}


def check_block(card: Card, declared: Declared) -> Iterator[Finding]:
    """All that the block says, part by part."""
    for check in (_reward, _fields, _names, _config, _boxes, _folders):
        yield from check(card, declared)


def _finding(card: Card, rule: str, pointer: str, message: str, fix: str, *, key: bool = False) -> Finding:
    at = card.key_position(pointer) if key else card.place(pointer)
    return Finding(rule, severity(rule), card.path, message, pointer, at.line, at.column, fix)


def _reward(card: Card, declared: Declared) -> Iterator[Finding]:
    if declared.reward_range is None:
        return
    low, high = declared.reward_range
    if low >= high:
        message = f"the range's lower end {low:g} is not below its upper end {high:g}"
        yield _finding(card, "HFE113", "/environment/reward/range", message, "Write [lowest, highest].")
        return
    floor = declared.reward_floor
    if floor is None and high <= 0:
        message = f"the range ends at {high:g}, so that the default floor of 0 lies outside of it"
        fix = "Add reward.floor: what doing nothing useful earns."
        yield _finding(card, "HFE114", "/environment/reward/range", message, fix)
    elif floor is not None and not low <= floor < high:
        message = f"the floor {floor:g} must be at least {low:g} and below {high:g}"
        yield _finding(card, "HFE114", "/environment/reward/floor", message, "Correct floor or range.")


def _fields(card: Card, declared: Declared) -> Iterator[Finding]:
    roles = set(declared.fields.values())
    if not roles or declared.builtin or roles - ROLES:
        return
    if "input" not in roles:
        message = "no field has the role input, so that an agent is shown nothing of a task"
        yield _finding(card, "HFE115", "/environment/tasks/fields", message, "Give a field the role input.", key=True)


def _names(card: Card, declared: Declared) -> Iterator[Finding]:
    for block in ("resources", "services"):
        entries = card.block.get(block)
        seen: set[str] = set()
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            name = entry.get("name") if isinstance(entry, Mapping) else None
            if not isinstance(name, str):
                continue
            if name in seen:
                pointer = f"/environment/{block}/{index}/name"
                message = f"two {block} have the name '{short(name)}'"
                yield _finding(card, "HFE116", pointer, message, "Rename one of them.")
            seen.add(name)


_PLAIN_PROPERTY: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "type": {"enum": ["string", "integer", "number", "boolean", "array", "object", "null"]},
        "description": {"type": "string"},
        "title": {"type": "string"},
        "default": True,
        "enum": {"type": "array"},
        "minimum": {"type": "number"},
        "maximum": {"type": "number"},
        "minLength": {"type": "integer", "minimum": 0},
        "maxLength": {"type": "integer", "minimum": 0},
        "minItems": {"type": "integer", "minimum": 0},
        "maxItems": {"type": "integer", "minimum": 0},
        "items": {"$ref": "#"},
    },
}


@cache
def _plain_property() -> QuickCheck:
    """A yes for the schemas that most properties of a configuration have, without the library's meta-schema."""
    return QuickCheck(_PLAIN_PROPERTY)


def _config(card: Card, declared: Declared) -> Iterator[Finding]:
    config = card.block.get("config")
    if not isinstance(config, Mapping) or not config:
        return
    full = "properties" in config or "$schema" in config or config.get("type") == "object"
    if full or not all(map(_plain_property().accepts, config.values())):
        path = _broken_schema(config if full else {"type": "object", "properties": config})
        if path is not None:
            path = path if full else path[1:]
            pointer = "/environment/config" + "".join(f"/{escape(token)}" for token in path)
            message = f"{dotted(pointer)} is no JSON Schema"
            fix = "Write JSON Schema: {name: {type: integer, default: 3}}."
            yield _finding(card, "HFE117", pointer, message, fix)
            return
    properties = config.get("properties", {}) if full else config
    for name, below in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(below, Mapping) and "default" in below and not _keeps_to(below["default"], below):
            pointer = f"/environment/config/{'properties/' * full}{escape(name)}/default"
            message = f"{dotted(pointer)} is {shown(below['default'])}, which its own schema doesn't allow"
            yield _finding(card, "HFE117", pointer, message, "Correct the default, or the schema beside it.")


def _broken_schema(schema: Mapping[str, Any]) -> list[str] | None:
    """Where a schema breaks JSON Schema 2020-12; None where it doesn't."""
    import jsonschema

    validator = jsonschema.Draft202012Validator(jsonschema.Draft202012Validator.META_SCHEMA)
    error = jsonschema.exceptions.best_match(validator.iter_errors(schema))
    return None if error is None else [str(token) for token in error.absolute_path]


def _keeps_to(value: Any, schema: Mapping[str, Any]) -> bool:
    if "$ref" in schema or QuickCheck(schema).accepts(value):
        return True
    import jsonschema

    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))


def _boxes(card: Card, declared: Declared) -> Iterator[Finding]:
    for name in ("action", "observation"):
        yield from _box(card, f"/environment/{name}", card.block.get(name))


def _box(card: Card, pointer: str, space: Any) -> Iterator[Finding]:
    if not isinstance(space, Mapping):
        return
    parts = space.get("parts")
    for part, below in parts.items() if isinstance(parts, Mapping) else ():
        yield from _box(card, f"{pointer}/parts/{escape(part)}", below)
    if space.get("type") != "box" or "low" not in space or "high" not in space:
        return
    low, high = _shape(space["low"]), _shape(space["high"])
    shape = space.get("shape")
    wanted = tuple(shape) if isinstance(shape, list) else low or high
    for bound, found in (("low", low), ("high", high)):
        if found is None or (found and wanted is not None and found != wanted):
            message = f"{bound} is no list of numbers in the shape {list(wanted or ())}"
            yield _finding(card, "HFE118", f"{pointer}/{bound}", message, "One number serves for all entries.")
            return
    if not wanted and shape is None:
        message = "low and high are single numbers, so that the box has no shape"
        yield _finding(card, "HFE118", f"{pointer}/low", message, "Add shape, such as shape: [4].")
    elif any(a >= b for a, b in _pairs(space["low"], space["high"])):
        message = "low is not below high"
        yield _finding(card, "HFE118", f"{pointer}/low", message, "Correct low or high.")


def _shape(bound: Any) -> tuple[int, ...] | None:
    """Sizes of nested lists of numbers or nulls; None for anything else, such as ragged lists."""
    if isinstance(bound, list):
        inner = {_shape(item) for item in bound}
        only = inner.pop() if len(inner) == 1 else None
        return None if only is None else (len(bound), *only)
    return () if bound is None or (isinstance(bound, (int, float)) and not isinstance(bound, bool)) else None


def _pairs(low: Any, high: Any) -> Iterator[tuple[float, float]]:
    if isinstance(low, list) or isinstance(high, list):
        lows = low if isinstance(low, list) else [low] * len(high)
        highs = high if isinstance(high, list) else [high] * len(low)
        for a, b in zip(lows, highs, strict=False):
            yield from _pairs(a, b)
    elif low is not None and high is not None:
        yield low, high


def _folders(card: Card, declared: Declared) -> Iterator[Finding]:
    """Versions go by folder: what a component names must lie in its own."""
    entries = {"code": declared.code_entry, "reward": None if declared.builtin else declared.reward_entry}
    for name, entry in entries.items():
        if entry is not None and not entry.path.startswith(_FOLDERS[name]):
            message = f"{short(entry.path)} lies outside of {_FOLDERS[name]}, the folder of the {name} component"
            yield _finding(card, "HFE205", entry.pointer, message, f"Move it to {_FOLDERS[name]}.")
    named = [*declared.split_patterns, *(r for r in declared.resources if r.path is not None)]
    for item in named:
        path = str(item.path)
        if not path.startswith("tasks/"):
            message = f"{short(path)} lies outside of tasks/, the folder of the tasks component"
            yield _finding(card, "HFE205", item.pointer, message, "Move it to tasks/.")
