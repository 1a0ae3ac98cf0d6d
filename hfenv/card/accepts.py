"""A quick yes for values that keep to a JSON Schema, so that the library is imported only to explain a no.

A schema becomes nested functions. They know the keywords that the card's schema uses; where one is unknown, or the
answer would take more than a look, they say no, which only means that `jsonschema` is asked. A yes is never wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Accepts = Callable[[Any], bool]

_NOTES = frozenset(("$schema", "$id", "$defs", "title", "description", "default", "readOnly", "if", "then", "else"))


def is_integer(value: Any) -> bool:
    """JSON Schema takes 5.0 for an integer too; Python's counts and limits don't."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_TYPES: dict[str, Accepts] = {
    "string": lambda value: isinstance(value, str),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "number": is_number,
    "integer": is_integer,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


class QuickCheck:
    """Answers for one schema document, to which all references in it are relative."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._by_reference: dict[str, Accepts] = {}
        self.accepts = self._compile(root)

    def _compile(self, schema: Any) -> Accepts:
        if isinstance(schema, bool):
            return lambda value: schema
        checks = [self._keyword(schema, keyword) for keyword in schema if not _is_note(keyword)]
        if "if" in schema:
            checks.append(self._if(schema))
        return _all(checks)

    def _keyword(self, schema: Mapping[str, Any], keyword: str) -> Accepts:
        make = getattr(self, "_" + keyword.removeprefix("$"), None) if keyword in _KEYWORDS else None
        if make is not None:
            made: Accepts = make(schema[keyword], schema)
            return made
        if keyword in _BOUNDS:
            return _BOUNDS[keyword](schema[keyword])
        return lambda value: False

    def _ref(self, reference: str, schema: Mapping[str, Any]) -> Accepts:
        def follow(value: Any) -> bool:
            if reference not in self._by_reference:
                self._by_reference[reference] = self._compile(self._target(reference))
            return self._by_reference[reference](value)

        return follow

    def _target(self, reference: str) -> Any:
        target: Any = self._root
        for token in filter(None, reference.removeprefix("#").split("/")):
            target = target[token]
        return target

    def _if(self, schema: Mapping[str, Any]) -> Accepts:
        condition = self._compile(schema["if"])
        # A condition that isn't surely met isn't surely broken either: only what both branches allow is a sure yes.
        then, otherwise = self._compile(schema.get("then", True)), self._compile(schema.get("else", True))
        return lambda value: then(value) if condition(value) else otherwise(value) and _is_simple(schema["if"])

    def _type(self, wanted: Any, schema: Mapping[str, Any]) -> Accepts:
        checks = [_TYPES[name] for name in ([wanted] if isinstance(wanted, str) else wanted)]
        return checks[0] if len(checks) == 1 else lambda value: any(check(value) for check in checks)

    def _const(self, wanted: Any, schema: Mapping[str, Any]) -> Accepts:
        return lambda value: type(value) is type(wanted) and bool(value == wanted)

    def _enum(self, options: Iterable[Any], schema: Mapping[str, Any]) -> Accepts:
        texts = {option for option in options if isinstance(option, str)}
        return lambda value: isinstance(value, str) and value in texts

    def _properties(self, properties: Mapping[str, Any], schema: Mapping[str, Any]) -> Accepts:
        checks = {name: self._compile(below) for name, below in properties.items()}

        def accepts(value: Any) -> bool:
            if isinstance(value, dict):
                for name, below in value.items():
                    if (check := checks.get(name)) is not None and not check(below):
                        return False
            return True

        return accepts

    def _additionalProperties(self, below: Any, schema: Mapping[str, Any]) -> Accepts:
        known, check = frozenset(schema.get("properties", ())), self._compile(below)

        def accepts(value: Any) -> bool:
            return not isinstance(value, dict) or all(check(value[name]) for name in value if name not in known)

        return accepts

    def _unevaluatedProperties(self, below: Any, schema: Mapping[str, Any]) -> Accepts:
        known = frozenset(known_keys(schema, self._root))
        return lambda value: not isinstance(value, dict) or known.issuperset(value)

    def _propertyNames(self, below: Any, schema: Mapping[str, Any]) -> Accepts:
        check = self._compile(below)
        return lambda value: not isinstance(value, dict) or all(map(check, value))

    def _items(self, below: Any, schema: Mapping[str, Any]) -> Accepts:
        check = self._compile(below)
        return lambda value: not isinstance(value, list) or all(map(check, value))

    def _dependentSchemas(self, schemas: Mapping[str, Any], schema: Mapping[str, Any]) -> Accepts:
        checks = {name: self._compile(below) for name, below in schemas.items()}

        def accepts(value: Any) -> bool:
            return not isinstance(value, dict) or all(check(value) for name, check in checks.items() if name in value)

        return accepts

    def _allOf(self, schemas: Iterable[Any], schema: Mapping[str, Any]) -> Accepts:
        return _all([self._compile(below) for below in schemas])

    def _anyOf(self, schemas: Iterable[Any], schema: Mapping[str, Any]) -> Accepts:
        checks = [self._compile(below) for below in schemas]
        return lambda value: any(check(value) for check in checks)

    def _oneOf(self, schemas: Iterable[Any], schema: Mapping[str, Any]) -> Accepts:
        alternatives = list(schemas)
        checks = [self._compile(below) for below in alternatives]
        simple = all(map(_is_simple, alternatives))
        return lambda value: simple and sum(check(value) for check in checks) == 1


_KEYWORDS = frozenset((
    "$ref", "type", "const", "enum", "properties", "additionalProperties", "unevaluatedProperties", "propertyNames",
    "items", "dependentSchemas", "allOf", "anyOf", "oneOf",
))  # fmt: skip


def _required(names: Iterable[str]) -> Accepts:
    wanted = tuple(names)
    return lambda value: not isinstance(value, dict) or all(name in value for name in wanted)


def _needs(needs: Mapping[str, Iterable[str]]) -> Accepts:
    def accepts(value: Any) -> bool:
        given = ((name, others) for name, others in needs.items() if isinstance(value, dict) and name in value)
        return all(other in value for _, others in given for other in others)

    return accepts


def _pattern(pattern: str) -> Accepts:
    search = re.compile(pattern).search
    return lambda value: not isinstance(value, str) or search(value) is not None


_BOUNDS: Mapping[str, Callable[[Any], Accepts]] = {
    "required": _required,
    "dependentRequired": _needs,
    "pattern": _pattern,
    "minimum": lambda bound: lambda value: not is_number(value) or value >= bound,
    "maximum": lambda bound: lambda value: not is_number(value) or value <= bound,
    "exclusiveMinimum": lambda bound: lambda value: not is_number(value) or value > bound,
    "minLength": lambda bound: lambda value: not isinstance(value, str) or len(value) >= bound,
    "maxLength": lambda bound: lambda value: not isinstance(value, str) or len(value) <= bound,
    "minItems": lambda bound: lambda value: not isinstance(value, list) or len(value) >= bound,
    "maxItems": lambda bound: lambda value: not isinstance(value, list) or len(value) <= bound,
    "minProperties": lambda bound: lambda value: not isinstance(value, dict) or len(value) >= bound,
}
# Keywords whose no is as certain as their yes: only conditions made of them may be taken for broken.
_CERTAIN = frozenset(("required", "properties", "const", "type"))


def known_keys(schema: Mapping[str, Any], root: Mapping[str, Any]) -> tuple[str, ...]:
    """Keys that a schema knows, those of the definition that it refers to included."""
    keys = dict.fromkeys(schema.get("properties", ()))
    if reference := schema.get("$ref"):
        target: Any = root
        for token in str(reference).removeprefix("#/").split("/"):
            target = target[token]
        keys |= dict.fromkeys(known_keys(target, root))
    return tuple(keys)


def _is_note(keyword: str) -> bool:
    return keyword in _NOTES or keyword.startswith("x-")


def _is_simple(schema: Any) -> bool:
    if isinstance(schema, bool):
        return True
    below = schema.get("properties", {}).values()
    return all(_is_note(keyword) or keyword in _CERTAIN for keyword in schema) and all(map(_is_simple, below))


def _all(checks: list[Accepts]) -> Accepts:
    if len(checks) == 1:
        return checks[0]

    def accepts(value: Any) -> bool:
        for check in checks:  # noqa: SIM110 - a generator costs more than what it runs
            if not check(value):
                return False
        return True

    return accepts
