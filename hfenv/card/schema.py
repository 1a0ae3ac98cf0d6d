"""The schema of the front matter, and its violations as findings with a place and plain words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from hfenv.card.accepts import QuickCheck, is_integer, known_keys
from hfenv.card.compose import compose
from hfenv.card.nodes import EntryNode, MappingNode, ScalarNode, escape, find, value_of
from hfenv.card.problem import CardError
from hfenv.card.reader import MOST, Card
from hfenv.findings import Finding, Severity
from hfenv.paths import data_folder

if TYPE_CHECKING:
    from hfenv.card.manifest import Manifest
    from hfenv.card.violation import Violation

SCHEMA_NAME = "environment-card-v1.yaml"


@cache
def load_schema() -> Mapping[str, Any]:
    """The JSON Schema (2020-12) of the front matter; treat it as read-only."""
    text = (data_folder("schemas") / SCHEMA_NAME).read_text(encoding="utf-8")
    node = compose(text)
    if not isinstance(node, MappingNode):
        raise ValueError(f"{SCHEMA_NAME} holds no mapping")
    result: dict[str, Any] = value_of(node)
    return result


@cache
def _validator() -> Any:
    import jsonschema

    validators: Any = jsonschema.validators  # typed only in part
    checker = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: is_integer(value))
    return validators.extend(jsonschema.Draft202012Validator, type_checker=checker)(load_schema())


@cache
def _quick_check() -> QuickCheck:
    return QuickCheck(load_schema())


def check_schema(card: Card) -> list[Finding]:
    """Every violation of the schema, one finding per mistake, in the order of the card."""
    if _quick_check().accepts(card.front_matter):
        return []
    from hfenv.card.wording import describe

    violations = list(_violations(card))
    findings = [describe(card, violation) for violation in _one_per_mistake(card, violations)]
    return sorted(findings, key=lambda finding: (finding.line, finding.column, finding.rule))


def manifest_of(card: Card) -> Manifest:
    """The `environment` block as a Manifest; CardError with the first violation in the block."""
    from hfenv.card.check_scalars import check_finite
    from hfenv.card.manifest import Manifest

    # A key that stands twice hides its other value, and what that lacks isn't reported again.
    repeated = [notice for notice in card.notices if notice.severity is Severity.ERROR]
    for finding in [*check_schema(card), *repeated, *check_finite(card)]:
        if finding.pointer == "/environment" or finding.pointer.startswith("/environment/"):
            cure = finding.fix or "Correct the card."
            raise CardError(finding.rule, card.path, finding.message, cure, finding.line, finding.column)
    return Manifest.from_block(card.block)


def _violations(card: Card) -> Iterator[Violation]:
    from hfenv.card.violation import Violation

    for error in islice(_validator().iter_errors(card.front_matter), 10 * MOST):
        pointer = "".join(f"/{escape(str(token))}" for token in error.absolute_path)
        value, schema = error.instance, error.schema
        if error.validator in _KEYWORDS_OF_KEYS:
            for keyword, key, known in islice(_KEYWORDS_OF_KEYS[error.validator](value, schema), MOST):
                yield Violation(pointer, keyword, value, schema, key, known)
        elif "propertyNames" in error.absolute_schema_path:
            yield Violation(pointer, "propertyNames", value, schema, str(value), limit=error.validator_value)
        else:
            yield Violation(pointer, str(error.validator), value, schema, limit=error.validator_value)


_Keys = Iterator[tuple[str, str, tuple[str, ...]]]  # keyword, key, and the keys that it is judged by


def _missing(value: Mapping[str, Any], schema: Mapping[str, Any]) -> _Keys:
    for key in schema["required"]:
        if key not in value:
            yield "required", key, _known(schema)


def _needed(value: Mapping[str, Any], schema: Mapping[str, Any]) -> _Keys:
    for given, needed in schema["dependentRequired"].items():
        for key in needed:
            if given in value and key not in value:
                yield "dependentRequired", key, (given,)


def _unknown(value: Mapping[str, Any], schema: Mapping[str, Any]) -> _Keys:
    known = _known(schema)
    for key in value:
        if key not in known:
            yield "unknown", key, known


_KEYWORDS_OF_KEYS = {
    "required": _missing,
    "dependentRequired": _needed,
    "additionalProperties": _unknown,
    "unevaluatedProperties": _unknown,
}


def _known(schema: Mapping[str, Any]) -> tuple[str, ...]:
    return known_keys(schema, load_schema())


def _one_per_mistake(card: Card, violations: list[Violation]) -> Iterator[Violation]:
    """Leave out what only follows from another violation: a key that is misspelt isn't missing too."""
    unknown: dict[str, set[str]] = {}
    for violation in violations:
        if violation.keyword == "unknown" and (guess := violation.guess):
            unknown.setdefault(violation.pointer, set()).add(guess)
    seen = set()
    alike: Counter[str] = Counter()
    for violation in violations:
        if violation.keyword == "required" and violation.key in unknown.get(violation.pointer, ()):
            continue
        # A place is judged once: a value of the wrong type also isn't among those allowed.
        place = (violation.pointer, violation.key)
        if place in seen or _repeated(card, violation):
            continue
        seen.add(place)
        alike[violation.keyword] += 1
        if alike[violation.keyword] <= MOST:
            yield violation


def _repeated(card: Card, violation: Violation) -> bool:
    """What is missing behind a key that stands twice: the other one may have it, and HFE009 is what to mend."""
    if not any(notice.pointer == violation.pointer and notice.rule == "HFE009" for notice in card.notices):
        return False
    chain, exists = find(card.root, violation.pointer)
    last = chain[-1]
    empty = isinstance(last, EntryNode) and isinstance(last.value, ScalarNode) and last.value.value is None
    return exists and (empty or violation.keyword == "required")
