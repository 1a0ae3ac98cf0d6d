"""What a caller may set at load: the card's JSON Schema, its defaults, and the caller's values over them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from hfenv.errors import UnreadableError, UsageError


def resolve_config(declared: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The complete configuration: `given` over the defaults of the `declared` schema.

    `declared` is a JSON Schema of an object, or just its properties. Raises UsageError that names the key.
    """
    schema = _as_schema(declared)
    known = ", ".join(sorted(schema["properties"])) or "none"
    for key in given:
        if key not in schema["properties"] and schema["additionalProperties"] is False:
            raise UsageError(f"This environment has no configuration key '{key}'.", f"Keys on its card: {known}.")
    config = _defaults(schema)
    _merge(config, given)
    if declared:
        _validate(schema, config)
    return config


def _as_schema(declared: Mapping[str, Any]) -> dict[str, Any]:
    full = "properties" in declared or "$schema" in declared or declared.get("type") == "object"
    schema = dict(declared) if full else {"properties": dict(declared)}
    return {"type": "object", "additionalProperties": False, "properties": {}} | schema


def _defaults(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Defaults of the properties, objects filled in from their own properties' defaults."""
    values: dict[str, Any] = copy.deepcopy(dict(schema.get("default") or {}))
    for name, entry in (schema.get("properties") or {}).items():
        if not isinstance(entry, Mapping) or name in values:
            continue
        if "properties" in entry:
            nested = _defaults(entry)
            if nested or "default" in entry:
                values[name] = nested
        elif "default" in entry:
            values[name] = copy.deepcopy(entry["default"])
    return values


def _merge(config: dict[str, Any], given: Mapping[str, Any]) -> None:
    for key, value in given.items():
        if isinstance(value, Mapping) and isinstance(config.get(key), dict):
            _merge(config[key], value)
        else:
            config[key] = copy.deepcopy(value)


def _validate(schema: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    import jsonschema

    try:
        validator = jsonschema.Draft202012Validator(schema)
        error = next(iter(sorted(validator.iter_errors(config), key=lambda e: list(map(str, e.absolute_path)))), None)
    except (jsonschema.SchemaError, jsonschema.exceptions.UnknownType) as problem:
        raise UnreadableError(f"The card's config is no JSON Schema: {problem}.", "Correct it.") from None
    if error is not None:
        key = ".".join(map(str, error.absolute_path)) or "config"
        raise UsageError(f"Configuration '{key}': {error.message}.", "Pass a value that the card's config allows.")
