"""What the schema can't say about the `environment` block: a range that has two ends, roles, names, boxes, folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from hfenv.card.accepts import QuickCheck
from hfenv.card.check_seeds import check_seeds
from hfenv.card.declared import ROLES, Declared
from hfenv.card.nodes import escape
from hfenv.card.quoting import dotted, short, shown
from hfenv.card.reader import Card
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

_MOST_BROKEN = 20  # places of one schema that are told of
_FOLDERS = {"code": "env/", "reward": "reward/", "tasks": "tasks/"}


def check_block(card: Card, declared: Declared) -> Iterator[Finding]:
    """All that the block says, part by part."""
    for check in (_reward, _fields, _names, _config, _spaces, _folders, check_seeds):
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
        "properties": {"type": "object", "additionalProperties": {"$ref": "#"}},
        "required": {"type": "array", "items": {"type": "string"}},
        "additionalProperties": {"type": "boolean"},
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
    broken: set[str] = set()  # names of properties, whose defaults can't be judged
    if full or not all(map(_plain_property().accepts, config.values())):
        for path in _broken_schemas(config if full else {"type": "object", "properties": config}, runs=True):
            broken.update(path[1:2])
            pointer = "/environment/config" + "".join(f"/{escape(token)}" for token in path[not full :])
            message = f"{dotted(pointer)} is no JSON Schema"
            fix = "Write JSON Schema: {name: {type: integer, default: 3}}."
            yield _finding(card, "HFE117", pointer, message, fix)
    properties = config.get("properties", {}) if full else config
    for name, below in properties.items() if isinstance(properties, Mapping) else ():
        if not isinstance(below, Mapping) or "default" not in below or name in broken:
            continue
        if not _keeps_to(below["default"], below):
            pointer = f"/environment/config/{'properties/' * full}{escape(name)}/default"
            message = f"{dotted(pointer)} is {shown(below['default'])}, which its own schema doesn't allow"
            yield _finding(card, "HFE117", pointer, message, "Correct the default, or the schema beside it.")


def _broken_schemas(schema: Mapping[str, Any], *, runs: bool = False) -> list[tuple[str, ...]]:
    """All places where a schema breaks JSON Schema, 2020-12 or the draft that it names.

    `runs` asks for patterns that Python can read, since values will be checked against it.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for

    named = isinstance(schema.get("$schema"), str)
    draft = validator_for(schema, default=Draft202012Validator) if named else Draft202012Validator
    validator = draft(draft.META_SCHEMA, format_checker=draft.FORMAT_CHECKER if runs else None)
    found = {tuple(map(str, error.absolute_path)) for error in validator.iter_errors(schema)}
    return sorted(found)[:_MOST_BROKEN]


def _keeps_to(value: Any, schema: Mapping[str, Any]) -> bool:
    if _has_references(schema) or QuickCheck(schema).accepts(value):
        return True  # what a reference leads to stands elsewhere
    import jsonschema

    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))


def _has_references(schema: Any) -> bool:
    if isinstance(schema, Mapping):
        return not {"$ref", "$dynamicRef"}.isdisjoint(schema) or any(map(_has_references, schema.values()))
    return isinstance(schema, list) and any(map(_has_references, schema))


def _spaces(card: Card, declared: Declared) -> Iterator[Finding]:
    for name in ("action", "observation"):
        yield from _space(card, f"/environment/{name}", card.block.get(name))


def _space(card: Card, pointer: str, space: Any) -> Iterator[Finding]:
    if not isinstance(space, Mapping):
        return
    parts = space.get("parts")
    for part, below in parts.items() if isinstance(parts, Mapping) else ():
        yield from _space(card, f"{pointer}/parts/{escape(part)}", below)
    schema = space.get("schema")
    if isinstance(schema, Mapping) and not _plain_property().accepts(schema):
        for path in _broken_schemas(schema):
            place = f"{pointer}/schema" + "".join(f"/{escape(token)}" for token in path)
            message = f"{dotted(place)} is no JSON Schema"
            fix = "Write JSON Schema: {type: object, properties: {name: {type: string}}}."
            yield _finding(card, "HFE117", place, message, fix)
    yield from _box(card, pointer, space)


def _box(card: Card, pointer: str, space: Mapping[str, Any]) -> Iterator[Finding]:
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
    entries = {
        "code": declared.code_entry,
        "reward": None if declared.builtin else declared.reward_entry,
        "tasks": declared.generator,
    }
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
