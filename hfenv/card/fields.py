"""The reference of a card's fields as Markdown, from the schema: the one place where a field is defined."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hfenv.card.schema import load_schema

_INTRODUCTION = """\
# Fields of an Environment Card

An Environment Card is the `README.md` of an environment: a YAML header between two lines of three dashes, and Markdown.
These are the header's fields. Fields of the Hub stand at the top level and keep their Hub meaning; hfenv's own stand
under `environment`.

This page is made from the JSON Schema: `hfenv card schema --as markdown` prints it, `hfenv card schema` the schema
itself. A field in **bold** is required. *Written by hfenv* marks what a push writes; leave such fields alone.
"""
_TABLE = "| field | value | meaning |\n|---|---|---|"
_TYPES = {
    "string": ("text", "texts"),
    "integer": ("whole number", "whole numbers"),
    "number": ("number", "numbers"),
    "boolean": ("`true` or `false`", "`true` or `false`"),
    "array": ("list", "lists"),
    "object": ("mapping", "mappings"),
    "null": ("`null`", "`null`"),
}
_SPACES = "action-and-observation"
_Schema = Mapping[str, Any]


def field_reference() -> str:
    """The whole page, with a final line break."""
    schema = load_schema()
    top = {name: value for name, value in schema["properties"].items() if name != "environment"}
    parts = [
        _INTRODUCTION,
        "## Fields of the Hub\n",
        *_sections("", {"properties": top}, level=2, titled=False),
        *_sections("environment", _resolved(schema["properties"]["environment"]), level=2),
        "## Action and observation\n",
        "Both describe a kind of value, and so does each of the `parts` of a multimodal one.\n",
        *_sections("", schema["$defs"]["space"], level=2, titled=False),
    ]
    return "\n".join(parts).rstrip("\n") + "\n"


def _sections(path: str, schema: _Schema, *, level: int, titled: bool = True) -> Iterator[str]:
    """A mapping's table of fields, what holds between them, and a section of its own for each mapping among them."""
    if titled:
        yield f"{'#' * level} `{path}`\n"
        besides = f" Besides what [action and observation](#{_SPACES}) have in common:" if _is_space(schema) else ""
        yield f"{schema['description']}{besides}\n"
    required = set(schema.get("required", ()))
    yield (
        "\n".join(
            [_TABLE, *(_row(path, name, value, name in required) for name, value in schema["properties"].items())]
        )
        + "\n"
    )
    if conditions := list(_conditions(schema)):
        yield "\n".join(f"- {condition}" for condition in conditions) + "\n"
    for name, value in schema["properties"].items():
        for below, inner in _mappings(f"{path}.{name}" if path else name, _resolved(value)):
            yield from _sections(below, inner, level=3)


def _mappings(path: str, schema: _Schema) -> Iterator[tuple[str, _Schema]]:
    """The mapping with named fields that a field or a list's item is, for a section of its own."""
    if schema.get("properties"):
        yield path, schema
    elif isinstance(items := schema.get("items"), Mapping) and items.get("properties"):
        yield f"{path}[]", {"description": f"{schema['description']} Each item has these fields.", **items}


def _row(path: str, name: str, schema: _Schema, required: bool) -> str:
    resolved = _resolved(schema)
    notes = [str(resolved.get("description", ""))]
    if "default" in resolved:
        notes.append(f"Default: {_literal(resolved['default'])}.")
    if resolved.get("readOnly"):
        notes.append("*Written by hfenv.*")
    shown = f"**`{name}`**" if required else f"`{name}`"
    kind = _kind(resolved)
    if any(_mappings(name, resolved)) and not _is_space(resolved):
        kind = re.sub("mappings?", lambda match: f"[{match[0]}](#{re.sub(r'[^a-z_]', '', path)}{name})", kind)
    return f"| {shown} | {_cell(kind)} | {_cell(' '.join(filter(None, notes)))} |"


def _kind(schema: _Schema) -> str:
    """The type of a value in plain words."""
    if _is_space(schema):
        return f"[a kind of value](#{_SPACES})"
    if "const" in schema:
        return str(schema.get("x-expected") or _literal(schema["const"]))
    if "enum" in schema:
        return _either([_literal(value) for value in schema["enum"]])
    if (expected := schema.get("x-expected")) and not any(_mappings("", schema)):
        return str(expected)
    types = schema.get("type", "object")
    return _either([_of_type(each, schema) for each in ([types] if isinstance(types, str) else types)]) + _bounds(
        schema
    )


def _of_type(name: str, schema: _Schema) -> str:
    if name == "array" and isinstance(items := schema.get("items"), Mapping):
        return f"list of {_many(_resolved(items))}"
    if name == "object" and isinstance(values := schema.get("additionalProperties"), Mapping):
        return f"mapping of names to {_many(_resolved(values))}"
    return _TYPES[name][0]


def _many(schema: _Schema) -> str:
    if _is_space(schema):
        return f"[kinds of values](#{_SPACES})"
    if "enum" in schema:
        return f"one of {_either([_literal(value) for value in schema['enum']])}"
    types = schema.get("type", "object")
    words = [_TYPES[each][1] for each in ([types] if isinstance(types, str) else types)]
    expected = f" ({schema['x-expected']})" if "x-expected" in schema and not schema.get("properties") else ""
    return _either(words) + expected + _bounds(schema, "each ")


def _bounds(schema: _Schema, of: str = "") -> str:
    words = []
    if "minimum" in schema:
        words.append(f"{of}at least {schema['minimum']}")
    if "exclusiveMinimum" in schema:
        words.append(f"{of}more than {schema['exclusiveMinimum']}")
    if "maximum" in schema:
        words.append(f"{of}at most {schema['maximum']}")
    if "minProperties" in schema:
        words.append(f"at least {schema['minProperties']} entry")
    return "".join(f", {word}" for word in words)


def _conditions(schema: _Schema) -> Iterator[str]:
    """What holds between the fields of a mapping, one sentence each."""
    for given, needed in schema.get("dependentRequired", {}).items():
        yield f"`{given}` needs {_both(needed)}."
    if choices := [choice["required"] for choice in schema.get("oneOf", ()) if "required" in choice]:
        yield f"Exactly one of {_either([_both(choice) for choice in choices])} is given."
    for given, rule in schema.get("dependentSchemas", {}).items():
        yield f"`{given}` needs {_tests(rule)}."
    for rule in [schema, *schema.get("allOf", ())]:
        if "if" not in rule:
            continue
        for branch, word in (("then", "where"), ("else", "unless")):
            needed = rule[branch].get("required", ()) if isinstance(rule.get(branch), Mapping) else ()
            if needed:
                yield f"{_both(needed)} {'is' if len(needed) == 1 else 'are'} required {word} {_tests(rule['if'])}."


def _tests(schema: _Schema) -> str:
    found = []
    for name, test in schema["properties"].items():
        allowed = test["enum"] if "enum" in test else [test["const"]]
        found.append(_either([f"`{name}: {_literal(value)[1:]}" for value in allowed]))
    return " and ".join(found)


def _is_space(schema: _Schema) -> bool:
    return schema.get("$ref") in ("#/$defs/space", "#/$defs/part")


def _resolved(schema: _Schema) -> _Schema:
    """The schema with what it refers to, its own keywords first; a kind of value keeps its reference."""
    reference = schema.get("$ref")
    if reference is None or _is_space(schema):
        return schema
    target: Any = load_schema()
    for token in str(reference).removeprefix("#/").split("/"):
        target = target[token]
    return {**_resolved(target), **{key: value for key, value in schema.items() if key != "$ref"}}


def _literal(value: Any) -> str:
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


def _either(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _both(names: Sequence[str]) -> str:
    words = [f"`{name}`" for name in names]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _cell(text: str) -> str:
    """Text for a cell of a table."""
    # Outside of code, which stands between the odd and the even backtick, a bracket would begin a tag.
    parts = " ".join(text.split()).replace("|", "\\|").split("`")
    return "`".join(part if index % 2 else part.replace("<", "&lt;") for index, part in enumerate(parts))
