"""What a value that breaks the schema was meant to be, where that is certain: another spelling, type or version."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from hfenv.card.accepts import is_integer, is_number
from hfenv.card.guessing import folded
from hfenv.card.nodes import ScalarNode
from hfenv.card.quoting import short
from hfenv.card.scalars import other_reading, plain_value
from hfenv.card.violation import Violation

_VERSION = re.compile(r"[vV=]?\s*(\d+)(?:\.(\d+))?(?:\.(\d+))?((?:-[0-9A-Za-z.-]+)?)(?:\+[0-9A-Za-z.-]*)?")
_TYPOGRAPHIC = "“”„‟‘’‚‛«»「」『』\u200b\ufeff"  # quotes that word processors and input methods write
_UNDERSCORED = re.compile(r"[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?")
_ADDRESS = re.compile(r"(?:https?://|hf://)[^/]*/?(?:datasets/|spaces/)?", re.IGNORECASE)
_WORDS = {"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}
# A module and a name as imports and test runners write them; behind a dot, only a class is surely a name in the module.
_DOTTED_ENTRY = re.compile(r"([\w/]+(?:\.[\w/]+)*?)(?:\.py)?(?:::?([^\W\d]\w*)|\.([A-Z]\w*))")

# Fields that quotes around a number or a truth value don't help: what goes there instead.
_NEVER_NUMBERS = (
    (r"/license(/\d+)?", "Write an identifier of the Hub's list, such as apache-2.0."),
    (r"/language(/\d+)?", "Write an ISO 639 code, such as en."),
    (r"/size_categories(/\d+)?", "Remove it: hfenv writes it from the tasks."),
    (r"/environment/tasks/splits/[^/]+(/\d+)?", "Write a path, such as tasks/train.jsonl."),
    (r"/environment/resources/\d+/path", "Write a path, such as tasks/resources/data.db."),
)


@dataclass(frozen=True, slots=True)
class Typed:
    """YAML text that reads as the wanted type, and what to remark on it."""

    text: str
    remark: str = ""


def types_of(violation: Violation) -> set[str]:
    """The types that a violated `type` allows."""
    limit = violation.limit
    return set(limit if isinstance(limit, list) else [limit]) if violation.keyword == "type" else set()


def instead_of_number(pointer: str, text: str) -> str | None:
    """The cure in words where a number stands in a field that quotes alone don't help; None for other fields."""
    if pointer == "/environment/requires/python":
        bound = text if re.fullmatch(r"3(?:\.\d+)?", text) else "3.10"
        return f'Write ">={bound}", a comparison in quotes.'
    return next((cure for pattern, cure in _NEVER_NUMBERS if re.fullmatch(pattern, pointer)), None)


def version(text: str) -> str | None:
    """The semantic version that was meant: 1.0 is 1.0.0, v1.2 is 1.2.0; a `+build` goes, since it never counts."""
    match = _VERSION.fullmatch(text.strip().strip(_TYPOGRAPHIC).strip())
    if match is None or any(len(part or "") > 9 for part in match.group(1, 2, 3)):
        return None
    identifiers = match[4][1:].split(".") if match[4] else []
    if any(not name or (name.isdigit() and name != str(int(name))) for name in identifiers):
        return None
    return ".".join(str(int(part or 0)) for part in match.group(1, 2, 3)) + match[4]


def one_of(text: str, options: list[str]) -> str | None:
    """The one option that the text is, but for letter case, dashes, underscores and typographic quotes."""
    bare = folded(text.strip(_TYPOGRAPHIC + " '\""))
    alike = [option for option in options if folded(option) == bare]
    return alike[0] if len(alike) == 1 else None


def respelt(violation: Violation) -> str | None:
    """The text that fits the pattern and differs in slashes, letter case of names, or signs around it alone."""
    if not isinstance(violation.value, str):
        return None
    pattern = re.compile(str(violation.limit))
    bare = violation.value.strip(_TYPOGRAPHIC + " ")
    path = re.sub(r"^(?:\./)+", "", bare.replace("\\", "/"))
    # Letter case matters in paths and addresses, not in hashes and words.
    candidates = [bare, path, *([bare.lower()] if "/" not in bare else [])]
    return next((text for text in candidates if text != violation.value and pattern.search(text)), None)


def hint(violation: Violation) -> str | None:
    """What a text that breaks its pattern probably was meant to be, in words: too much is guessed to write it."""
    text = str(violation.value).strip() if isinstance(violation.value, str) else ""
    if ".py:" in str(violation.schema.get("x-expected", "")):
        if text.endswith(".py"):
            return f'Add the name in it: "{short(text)}:NAME".'
        match = _DOTTED_ENTRY.fullmatch(text)
        guess = f"{match[1].replace('.', '/')}.py:{match[2] or match[3]}" if match else ""
    else:
        address = _ADDRESS.match(text)
        guess = text[address.end() :].rstrip("/") if address else re.sub(r"\s+", "-", text)
    fits = guess and guess != violation.value and re.search(str(violation.limit), guess)
    return f'Write "{short(guess)}".' if fits else None


def typed(violation: Violation, node: ScalarNode) -> Typed | None:
    """The value of the wanted type that a scalar surely means: "5" is 5, 5.0 is 5, yes is true, 1_000 is 1000."""
    wanted = types_of(violation)
    if node.style in ("|", ">"):
        return None
    if node.style:
        return _without_quotes(node, wanted)
    text = node.text
    if "boolean" in wanted and text.lower() in _WORDS:
        return Typed(_WORDS[text.lower()])
    if wanted & {"number", "integer"} and isinstance(node.value, str) and _UNDERSCORED.fullmatch(text):
        bare = text.replace("_", "")
        return Typed(bare) if _fits(plain_value(bare), wanted) and other_reading(bare) is None else None
    if "integer" in wanted and isinstance(node.value, float) and node.value.is_integer() and abs(node.value) < 2**53:
        return Typed(str(int(node.value)))
    if "object" in wanted and text in violation.schema.get("properties", {}).get("type", {}).get("enum", ()):
        return Typed(f"{{type: {text}}}")
    if "array" in wanted and "string" not in wanted and isinstance(node.value, str) and _is_one_item(violation, text):
        return Typed(f"[{text}]")
    return None


def _without_quotes(node: ScalarNode, wanted: set[str]) -> Typed | None:
    text = node.text.strip()
    if "boolean" in wanted and text.lower() in ("true", "false"):
        return Typed(text.lower(), ", without the quotes")
    if wanted & {"number", "integer"} and _fits(plain_value(text), wanted) and other_reading(text) is None:
        return Typed(text, ", without the quotes")
    return None


def _fits(value: Any, wanted: set[str]) -> bool:
    return is_number(value) if "number" in wanted else is_integer(value)


def _is_one_item(violation: Violation, text: str) -> bool:
    """A word that is written where a list of words belongs."""
    items = violation.schema.get("items")
    of_text = isinstance(items, dict) and items.get("type") == "string"
    return of_text and re.fullmatch(r"[^\s,\[\]{}:#\"'&*!|%@`\\]+", text) is not None
