"""The front matter of README.md as the hub reads it: values, tags, and what it refuses."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import yaml

CARD_PATH = "README.md"
_MAX_VALUES = 100_000

_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)

# Keys whose values become `key:value` tags, as the list filters ask for them.
_TAG_KEYS = (
    "task_categories", "task_ids", "annotations_creators", "language_creators", "language", "language_bcp47", "license",
    "multilinguality", "size_categories", "source_datasets", "modality", "benchmark",
)  # fmt: skip
_STRING_LISTS = frozenset({*_TAG_KEYS, "datasets", "metrics"})


class _Loader(yaml.SafeLoader):
    """YAML 1.2 core scalars, as the Hub reads them: `no` is Norwegian and a date is text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if not tag.endswith((":bool", ":timestamp"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_BOOLEAN = re.compile("^(?:true|True|TRUE|false|False|FALSE)$")
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", _BOOLEAN, list("tTfF"))


_Quick: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _QuickLoader(_Quick):  # type: ignore[misc]
    """The same through the parser in C, where it was built: for what is read again and again, not judged."""


_QuickLoader.yaml_implicit_resolvers = _Loader.yaml_implicit_resolvers


@dataclass(frozen=True, slots=True)
class CardReport:
    """What the hub has to say about a card."""

    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def front_matter(text: str) -> str | None:
    """The YAML between the first two `---` lines, None if there is no header."""
    match = _FRONT_MATTER.match(text)
    return match[1] if match else None


def card_data(raw: bytes) -> dict[str, Any]:
    """The values of a card; empty where it has none or can't be read (plain git may have pushed anything)."""
    try:
        data = _parse(front_matter(raw.decode("utf-8")) or "", _QuickLoader)
    except (UnicodeDecodeError, yaml.YAMLError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) and _is_json(data) else {}


def tags(data: dict[str, Any]) -> list[str]:
    """The tags that lists filter by: the card's own, and one for each of its well-known fields."""
    found = _strings(data.get("tags"))
    for key in _TAG_KEYS:
        found += [f"{key}:{value}" for value in _strings(data.get(key))]
    for key in ("library_name", "pipeline_tag"):
        found += _strings(data.get(key))
    return list(dict.fromkeys(found))


def check_card(raw: bytes) -> CardReport:
    """Validate a card's front matter: its YAML, and the types of the fields the Hub knows."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return CardReport(errors=("README.md isn't UTF-8 text.",))
    block = front_matter(text)
    if block is None:
        if text.lstrip("\ufeff").startswith("---"):
            return CardReport(errors=("The YAML metadata block isn't closed by a line '---'.",))
        return CardReport(warnings=("empty or missing yaml metadata in repo card",))
    try:
        data = _parse(block)
    except yaml.YAMLError as error:
        return CardReport(errors=(f"Invalid YAML in the metadata block: {_one_line(error)}",))
    except (ValueError, RecursionError) as error:
        return CardReport(errors=(f"Invalid value in the metadata block: {error}",))
    if data is None:
        return CardReport(warnings=("empty or missing yaml metadata in repo card",))
    if not isinstance(data, dict):
        return CardReport(errors=("The metadata block must be a mapping of keys to values.",))
    return CardReport(errors=tuple(_field_errors(data)))


def _field_errors(data: dict[str, Any]) -> list[str]:
    errors = []
    for key in sorted(_STRING_LISTS & data.keys()):
        value = data[key]
        items = value if isinstance(value, list) else [value]
        if value is not None and not all(isinstance(item, str) for item in items):
            errors.append(f'"{key}" must be a string or a list of strings')
    marks = data.get("tags") or []
    if not isinstance(marks, list) or not all(isinstance(mark, str) for mark in marks):
        errors.append('"tags" must be a list of strings')
    if not isinstance(data.get("pretty_name", ""), str):
        errors.append('"pretty_name" must be a string')
    configs = data.get("configs", [])
    if not isinstance(configs, list) or not all(isinstance(c, dict) and c.get("config_name") for c in configs):
        errors.append('"configs" must be a list of mappings with a "config_name"')
    return errors


def _parse(block: str, kind: Any = _Loader) -> Any:
    loader = kind(block)
    try:
        data = loader.get_single_data()
    finally:
        loader.dispose()
    if _weight(data, {}) > _MAX_VALUES:
        raise ValueError("aliases expand to too much")
    return data


def _weight(value: Any, known: dict[int, int]) -> int:
    """How many values there are once aliases are expanded; a cycle counts as too many."""
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if id(value) not in known:
        known[id(value)] = _MAX_VALUES + 1  # met again before it is known: a cycle
        known[id(value)] = 1 + sum(_weight(child, known) for child in children)
    return known[id(value)]


def _is_json(data: Any) -> bool:
    try:
        json.dumps(data, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def _strings(value: Any) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, str) and item]


def _one_line(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).replace("\n", " ")
    # The block starts on the file's second line.
    return f"{problem} (line {mark.line + 2}, column {mark.column + 1})" if mark else problem
