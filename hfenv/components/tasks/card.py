"""What the card says about its tasks, held against the rows: roles, counts by grade, size, licences and sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hfenv.card.declared import Declared
from hfenv.card.nodes import escape
from hfenv.card.reader import Card
from hfenv.card.repair import set_in_place
from hfenv.components.tasks.facts import DIFFICULTY, GRADE_FIELDS, SIZES, SplitFacts, card_values
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

FIELDS = "/environment/tasks/fields"
_SHOWN = 10
_NO_ROLE = {"id", "canary"}
# What says that a source is somebody else's: an address, a repository, a paper.
_ELSEWHERE = re.compile(r"://|\bdoi:|\barxiv\b|^[\w.-]+/[\w.-]+(@\S+)?$|\bwww\.", re.IGNORECASE)


def check_roles(card: Card, declared: Declared, columns: Iterable[str]) -> Iterator[Finding]:
    """HFE307: every field of the rows has a role."""
    missing = sorted(name for name in set(columns) - _NO_ROLE if name not in declared.fields)
    at = card.key_position(FIELDS)
    for name in missing[:_SHOWN]:
        message = (
            f"the tasks have a field '{name[:60]}' without a role, so that it counts as a target and is never shown"
        )
        fix = "Give it the role input, target, grading, resource or meta, or take it out of the tasks."
        yield Finding(
            "HFE307", severity("HFE307"), card.path, message, f"{FIELDS}/{escape(name)}", at.line, at.column, fix
        )
    if (more := len(missing) - _SHOWN) > 0:
        message = f"{more} more fields of the tasks have no role"
        fix = "Give each field that tasks really need a role."
        yield Finding("HFE307", severity("HFE307"), card.path, message, FIELDS, at.line, at.column, fix, count=more)


def check_counts(card: Card, facts: Sequence[SplitFacts]) -> Iterator[Finding]:
    """HFE308: the counts on the card are those of the tasks; a card that names none is fine."""
    values = card_values(facts)
    stated = card.block.get("tasks", {}).get("difficulty")
    sampled = any(fact.sampled for fact in facts)  # then nobody can count
    if isinstance(stated, Mapping) and stated != values.get(DIFFICULTY) and not sampled:
        if DIFFICULTY in values:
            yield _wrong(card, DIFFICULTY, f"the tasks' grades are {_counts(values[DIFFICULTY])}", values[DIFFICULTY])
        else:
            at = card.key_position(DIFFICULTY)
            names = ", ".join(GRADE_FIELDS[:-1]) + f" or {GRADE_FIELDS[-1]}"
            message = (
                f"tasks.difficulty counts grades, but no task has one: there is no meta field {names} with a value"
            )
            fix = "Give the field that holds the grade the role meta, or remove the counts."
            yield Finding("HFE308", severity("HFE308"), card.path, message, DIFFICULTY, at.line, at.column, fix)
    sizes = card.front_matter.get("size_categories")
    if sizes is not None and [sizes] != values[SIZES] and sizes != values[SIZES]:
        rows = sum(fact.rows for fact in facts)
        yield _wrong(card, SIZES, f"{rows:,} tasks are {values[SIZES][0]}", values[SIZES])


def check_licences(card: Card) -> Iterator[Finding]:
    """HFE319: a component that names its sources says under which licence its content stands."""
    for name in ("code", "tasks", "reward"):
        component = card.block.get(name)
        sources = component.get("sources") if isinstance(component, Mapping) else None
        if (
            not isinstance(component, Mapping)
            or not isinstance(sources, list)
            or not sources
            or component.get("license")
        ):
            continue
        if card.front_matter.get("license") and not any(map(_is_elsewhere, sources)):
            continue  # written for the environment, and under its licence
        if all(isinstance(source, Mapping) and source.get("license") for source in sources):
            continue
        pointer = f"/environment/{name}/sources"
        at = card.key_position(pointer)
        message = f"{name} comes from elsewhere, and the card doesn't say under which licence its content stands"
        fix = f"Add `license` under {name}: the licence of its sources may ask for other things than the environment's."
        yield Finding("HFE319", severity("HFE319"), card.path, message, pointer, at.line, at.column, fix)


def at_split(card: Card, rule: str, split: str, message: str, fix: str) -> Finding:
    """A finding about a split, at its place on the card."""
    pointer = f"/environment/tasks/splits/{escape(split)}"
    at = card.place(pointer)
    return Finding(rule, severity(rule), card.path, message, pointer, at.line, at.column, fix)


def _wrong(card: Card, pointer: str, message: str, value: Any) -> Finding:
    at = card.key_position(pointer)
    said = "the card says otherwise"
    return Finding(
        "HFE308",
        severity("HFE308"),
        card.path,
        f"{message}; {said}",
        pointer,
        at.line,
        at.column,
        "`hfenv validate --fix` writes what the tasks say; a push does so too.",
        set_in_place(card, {pointer: value}),
    )


def _counts(grades: Mapping[str, int]) -> str:
    shown = [f"{name[:40]}: {count}" for name, count in sorted(grades.items())[:_SHOWN]]
    return ", ".join([*shown, *(["..."] if len(grades) > _SHOWN else [])])


def _is_elsewhere(source: Any) -> bool:
    return isinstance(source, Mapping) or (isinstance(source, str) and bool(_ELSEWHERE.search(source)))
