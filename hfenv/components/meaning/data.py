"""JSON, YAML and TOML files as values in one written form, whatever their layout, comments and order of keys."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any

from hfenv.components.meaning.written import constant

MOST_PARSED = 4 * 1024 * 1024  # bytes; what is larger is compared as text
MOST_LEAVES = 64
_DEEPEST = 100  # well below what every Python's readers can follow, so that all of them come to the same answer
_KINDS = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml"}
_YAML_TEXT = "tag:yaml.org,2002:str"
# What is shown without quotes: no text looks like that, nor does another type with the same letters.
_PLAIN = {
    "int": re.compile(r"[-+]?[0-9_]{1,60}"),
    "float": re.compile(r"[-+]?[0-9_]{0,30}\.[0-9_]{0,30}(?:[eE][-+]?[0-9]{1,10})?"),
    "bool": re.compile(r"(?i:true|false|yes|no|on|off)"),
    "null": re.compile(r"~|null|Null|NULL"),
    "timestamp": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
}
_LONGEST = 60


class NoValueError(Exception):
    """The text isn't a value of its format, or one that its readers may take in two ways."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A scalar by the type that its format gives it and its letters: dates of TOML, everything of YAML."""

    type: str
    text: str


def data_kind(path: str) -> str | None:
    """`json`, `yaml` or `toml` by a path's ending, None for other files."""
    return _KINDS.get(PurePosixPath(path).suffix.lower())


def parse_data(kind: str, text: str) -> Any:
    """A text as mappings, lists and scalars; raises NoValueError. `1` and `1.0` differ, and so do YAML's `1.0`
    and `1.00`, which are texts until a reader decides."""
    try:
        if kind == "json":
            return json.loads(text, object_pairs_hook=_unique)
        return _toml(text) if kind == "toml" else _yaml(text)
    except (ValueError, RecursionError) as error:
        raise NoValueError(str(error)) from None


def written_data(value: Any) -> str:
    """Parsed data as ASCII text, keys sorted, each scalar with its type; raises NoValueError for what is too deep."""
    return _written(value, {}, 0)


def leaves(value: Any) -> dict[str, str] | None:
    """What stands in mappings by its dotted path, as text: `weights.exact`, `0.5`; None where that is too much, or
    where two values have one path. Two values have one text only if they are the same."""
    found: dict[str, str] = {}
    pending: list[tuple[str, Any]] = [("", value)]
    while pending:
        path, part = pending.pop()
        if isinstance(part, Mapping) and part:
            if not all(isinstance(key, str) for key in part):  # 1 and "1" would have one path
                return None
            pending += [(f"{path}.{key}" if path else key, part[key]) for key in part]
        else:
            if path in found:
                return None
            found[path] = _leaf(part)
        if len(found) + len(pending) > MOST_LEAVES:
            return None
    return found


def _leaf(value: Any) -> str:
    if isinstance(value, Typed) and value.type != _YAML_TEXT:
        pattern = _PLAIN.get(value.type.removeprefix("tag:yaml.org,2002:"))
        return value.text if pattern and pattern.fullmatch(value.text) else _digest(value)
    if isinstance(value, list):
        text = f"[{', '.join(map(_leaf, value[:_LONGEST]))}]"
        return text if len(text) <= _LONGEST else _digest(value)
    return shown(value.text if isinstance(value, Typed) else value)


def _digest(value: Any) -> str:
    return f"#{sha256(written_data(value).encode()).hexdigest()[:16]}"


def shown(value: Any) -> str:
    """A value for records and messages: JSON where that is short, else a digest."""
    try:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=_letters)
        if len(text) <= _LONGEST and text.isprintable() and text.encode():
            return text
    except (UnicodeEncodeError, TypeError):  # half a surrogate pair, or keys that JSON doesn't have
        pass
    return _digest(value)


def _letters(value: Typed) -> str:
    return value.text


def _written(value: Any, known: dict[int, str], depth: int) -> str:
    if depth > _DEEPEST:
        raise NoValueError("nested too deeply, or within itself")
    if isinstance(value, Typed):
        return f"({value.type!a} {value.text!a})"
    if not isinstance(value, (Mapping, list)):
        return constant(value)
    if id(value) not in known:
        if isinstance(value, Mapping):
            keys = sorted((_written(key, known, depth + 1), key) for key in value)
            text = f"{{{','.join(f'{name}:{_written(value[key], known, depth + 1)}' for name, key in keys)}}}"
        else:
            text = f"[{','.join(_written(item, known, depth + 1) for item in value)}]"
        # Once per value, and never longer than a digest: aliases of YAML can name one list a million times.
        known[id(value)] = text if len(text) < 200 else f"#{sha256(text.encode()).hexdigest()}"
    return known[id(value)]


def _unique(pairs: Sequence[tuple[Any, Any]]) -> dict[Any, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NoValueError("a key stands twice")
    return found


def _toml(text: str) -> Any:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return _typed(tomllib.loads(text))


def _typed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_typed(item) for item in value]
    return value if isinstance(value, (str, int, float)) else Typed(type(value).__name__, value.isoformat())


def _yaml(text: str) -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    known: dict[int, Any] = {}

    def value_of(node: Any, depth: int) -> Any:
        if depth > _DEEPEST:
            raise NoValueError("nested too deeply, or within itself")
        if node is None or isinstance(node, yaml.ScalarNode):
            return None if node is None else Typed(str(node.tag), node.value)
        if id(node) not in known:
            if isinstance(node, yaml.SequenceNode):
                value: Any = [value_of(item, depth + 1) for item in node.value]
            else:
                pairs = [(_key(key), value_of(item, depth + 1)) for key, item in node.value]
                value = _unique(pairs)
            plain = str(node.tag) in ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
            known[id(node)] = value if plain else [Typed("tag", str(node.tag)), value]
        return known[id(node)]

    def _key(node: Any) -> Any:
        if not isinstance(node, yaml.ScalarNode):
            raise NoValueError("a key is itself a list or a mapping")
        return node.value if node.tag == _YAML_TEXT else Typed(str(node.tag), node.value)

    try:
        documents = [value_of(node, 0) for node in yaml.compose_all(text, Loader=loader)]
    except yaml.YAMLError as error:
        raise NoValueError(str(error)) from None
    return documents[0] if len(documents) == 1 else documents
