"""Whether a JSON Schema takes more or fewer values than another: as far as it can be told from the keywords."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from hfenv.components.digest import canonical_json
from hfenv.components.meaning.data import shown


class Relation(str, Enum):
    """How new values lie to old ones; DEFAULT is about what holds when nothing is given."""

    NARROWED = "narrowed"
    WIDENED = "widened"
    CHANGED = "changed"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One keyword that changed, under its dotted path (`level.minimum`); before and after as text."""

    relation: Relation
    path: str
    before: str
    after: str


_LOWER = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"})
_UPPER = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"})
_LIMITING = frozenset({"pattern", "format", "multipleOf", "uniqueItems", "dependentRequired"})
_PROSE = frozenset(
    {"title", "description", "examples", "$comment", "$schema", "$id", "deprecated", "readOnly", "writeOnly"}
)
_TYPES = frozenset({"null", "boolean", "object", "array", "number", "integer", "string"})
_Found = Iterator[SchemaChange]


def compare_schemas(old: Any, new: Any, path: str = "") -> _Found:
    """Every keyword by which two schemas differ, nested ones included; nothing for schemas that differ in prose."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        yield from _compare_whole(old, new, path)
        return
    yield from _compare_types(old, new, path)
    yield from _compare_enums(old, new, path)
    yield from _compare_properties(old, new, path)
    handled = {"type", "enum", "const", "properties", "required", "additionalProperties"} | _PROSE
    for key in sorted((old.keys() | new.keys()) - handled):
        before, after = old.get(key), new.get(key)
        if not _equal(before, after):
            yield from _compare_keyword(key, before, after, _join(path, key))


def _compare_whole(old: Any, new: Any, path: str) -> _Found:
    """Schemas of which one isn't a mapping: true and a missing one take everything, false takes nothing."""
    before, after = ({} if value is None else value for value in (old, new))
    if _equal(before, after) or (before in (True, {}) and after in (True, {})):
        return
    if before in (True, {}) or after is False:
        yield _change(Relation.NARROWED, path, old, new)
    else:
        yield _change(Relation.WIDENED if after in (True, {}) or before is False else Relation.CHANGED, path, old, new)


def _compare_types(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> _Found:
    before, after = (_types(schema.get("type")) for schema in (old, new))
    if before != after:
        yield _change(_relation(before, after), _join(path, "type"), old.get("type"), new.get("type"))


def _types(value: Any) -> frozenset[str]:
    names = _TYPES if value is None else frozenset([value] if isinstance(value, str) else map(str, value))
    return names | {"integer"} if "number" in names else names


def _compare_enums(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> _Found:
    before, after = (_allowed(schema) for schema in (old, new))
    if before == after:
        return
    if before is None or after is None:
        relation = Relation.NARROWED if before is None else Relation.WIDENED
    else:
        relation = _relation(before, after)
    values = [schema.get("enum", schema.get("const")) for schema in (old, new)]
    yield _change(relation, _join(path, "enum"), values[0], values[1])


def _allowed(schema: Mapping[str, Any]) -> frozenset[str] | None:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    return frozenset(map(canonical_json, values)) if isinstance(values, list) else None


def _compare_properties(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> _Found:
    before, after = (_mapping(schema.get("properties")) for schema in (old, new))
    needed = [_needed(schema) for schema in (old, new)]
    for name in sorted(before.keys() | after.keys()):
        place = _join(path, name)
        if name not in after:
            yield _change(Relation.NARROWED, place, before[name], None)
        elif name in before:
            yield from compare_schemas(before[name], after[name], place)
        elif name not in needed[1]:
            yield _change(Relation.WIDENED, place, None, after[name])
    for name in sorted(needed[1] - needed[0]):
        yield SchemaChange(Relation.NARROWED, _join(path, name), "optional", "required")
    for name in sorted((needed[0] - needed[1]) & after.keys()):
        yield SchemaChange(Relation.WIDENED, _join(path, name), "required", "optional")
    others = [schema.get("additionalProperties", True) for schema in (old, new)]
    yield from compare_schemas(others[0], others[1], _join(path, "additionalProperties"))


def _needed(schema: Mapping[str, Any]) -> set[str]:
    """Properties that have to be given: hfenv fills in those with a default."""
    properties = _mapping(schema.get("properties"))
    names = schema.get("required")
    names = map(str, names) if isinstance(names, list) else ()
    return {name for name in names if "default" not in _mapping(properties.get(name))}


def _compare_keyword(key: str, before: Any, after: Any, path: str) -> _Found:
    if key == "default":
        yield _change(Relation.DEFAULT, path, before, after)
    elif key in _LOWER or key in _UPPER:
        if before is None or after is None:
            relation = Relation.NARROWED if before is None else Relation.WIDENED
        elif before == after:  # 1 and 1.0
            return
        else:
            relation = Relation.NARROWED if (_number(after) > _number(before)) is (key in _LOWER) else Relation.WIDENED
        yield _change(relation, path, before, after)
    elif key in ("items", "contains", "propertyNames", "unevaluatedProperties"):
        yield from compare_schemas(before, after, path)
    elif key in _LIMITING and not (before and after):
        yield _change(Relation.NARROWED if after else Relation.WIDENED, path, before, after)
    elif key in ("anyOf", "oneOf") and isinstance(before, list) and isinstance(after, list):
        # Of oneOf exactly one has to fit, so that one more may also take something away.
        sets = [frozenset(map(canonical_json, part)) for part in (before, after)]
        yield _change(_relation(*sets) if key == "anyOf" else Relation.CHANGED, path, before, after)
    else:
        yield _change(Relation.CHANGED, path, before, after)


def _relation(before: frozenset[str], after: frozenset[str]) -> Relation:
    if after < before:
        return Relation.NARROWED
    return Relation.WIDENED if before < after else Relation.CHANGED


def _number(value: Any) -> float:
    return value if isinstance(value, (int, float)) else 0.0


def _equal(left: Any, right: Any) -> bool:
    return canonical_json(left) == canonical_json(right)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _change(relation: Relation, path: str, before: Any, after: Any) -> SchemaChange:
    return SchemaChange(relation, path, *("" if value is None else shown(value) for value in (before, after)))
