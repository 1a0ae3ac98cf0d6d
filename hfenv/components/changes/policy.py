"""The policy table: which kind of change needs which level and why, and what an environment makes of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from typing import Any

from hfenv.card.compose import compose
from hfenv.card.nodes import MappingNode, value_of
from hfenv.components.changes.change import Change, ChangeKind, Difference
from hfenv.components.ownership import Component
from hfenv.components.versions import Level
from hfenv.errors import UnreadableError
from hfenv.paths import data_folder

TABLE_NAME = "change-policy-v1.yaml"
FORMAT = 1
_WORDS = {level.word: level for level in Level if level is not Level.NONE}
_Key = tuple[Component, ChangeKind]


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """What one kind of change needs. `unless_probes` is enough when probes score alike, None where they can't tell."""

    level: Level
    why: str
    unless_probes: Level | None = None


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A rule that an environment sets otherwise: the table's level and its own, and whether probes may lower it."""

    component: Component
    kind: ChangeKind
    table: PolicyRule
    own: PolicyRule

    @property
    def loosens(self) -> bool:
        """Whether a change may pass that the table would stop."""
        table, own = self.table, self.own
        lowest = own.level if own.unless_probes is None else own.unless_probes
        table_lowest = table.level if table.unless_probes is None else table.unless_probes
        return own.level < table.level or lowest < table_lowest

    @property
    def sentence(self) -> str:
        """The adjustment in words, for whoever reads a verdict that rests on it."""
        table, own = (_in_words(rule) for rule in (self.table, self.own))
        verb = "loosens" if self.loosens else "tightens"
        return f"the card {verb} what a change of {self.component.value} needs: {self.kind.value} {own} and not {table}"


def _in_words(rule: PolicyRule) -> str:
    return rule.level.word if rule.unless_probes is None else f"{rule.level.word} ({rule.unless_probes.word} by probes)"


@dataclass(frozen=True, slots=True)
class Policy:
    """The table with an environment's own adjustments, those that change something."""

    rules: Mapping[_Key, PolicyRule]
    adjustments: tuple[Adjustment, ...] = ()

    @property
    def loosened(self) -> tuple[Adjustment, ...]:
        """Adjustments that every verdict has to be printed with."""
        return tuple(adjustment for adjustment in self.adjustments if adjustment.loosens)

    @property
    def tightened(self) -> tuple[Adjustment, ...]:
        return tuple(adjustment for adjustment in self.adjustments if not adjustment.loosens)

    def judge(self, component: Component, differences: Iterable[Difference]) -> tuple[Change, ...]:
        """The differences as changes, in their order, each with its level and reason."""
        found = []
        for d in differences:
            rule = self.rules[component, d.kind]
            where = (d.path, d.line, d.name)
            probes, tasks = rule.unless_probes, (d.count, d.examples)
            found.append(Change(component, d.kind, rule.level, *where, d.message, *d.texts, rule.why, probes, *tasks))
        return tuple(found)


def load_policy(own: Mapping[str, Any] | None = None) -> Policy:
    """The policy table, adjusted by what an environment's card says: `{code: {prompt: minor}}`.

    A value is a level, or a mapping of `level` and `unless_probes`. Raises UnreadableError for anything else.
    """
    table = _table()
    if not own:
        return Policy(table)
    rules, adjustments = dict(table), []
    for section, levels in _entries(own, "the card's policy"):
        component = _component(section, "the card's policy")
        for name, value in _entries(levels, f"the card's policy for {section}"):
            where = f"the card's policy for {section}.{name}"
            known = {k.value: k for c, k in table if c is component}
            if name not in known:
                near = get_close_matches(str(name), known, n=1)
                guess = f"Did you mean {near[0]}? " if near else ""
                raise UnreadableError(
                    f"{where} names no change of {section}.",
                    f"{guess}Changes of {section}: {', '.join(sorted(known))}.",
                )
            kind = known[name]
            before = table[component, kind]
            after = _adjusted(before, value, where)
            if after != before:
                rules[component, kind] = after
                adjustments.append(Adjustment(component, kind, before, after))
    return Policy(rules, tuple(adjustments))


def _adjusted(before: PolicyRule, value: Any, where: str) -> PolicyRule:
    if not isinstance(value, Mapping):
        level = _level(value, where)
        probes = before.unless_probes
        return replace(before, level=level, unless_probes=None if probes is None else min(probes, level))
    unknown = sorted(set(value) - {"level", "unless_probes"})
    if unknown:
        raise UnreadableError(f"{where} has the key {unknown[0]!r}.", "Write level and unless_probes.")
    level = _level(value["level"], where) if "level" in value else before.level
    probes = before.unless_probes
    if "unless_probes" in value:
        probes = _level(value["unless_probes"], where)
        if before.unless_probes is None or probes > level:
            reason = "probes can't tell" if before.unless_probes is None else "it is above the level"
            raise UnreadableError(f"{where} sets unless_probes, but {reason}.", "Remove unless_probes.")
    return replace(before, level=level, unless_probes=None if probes is None else min(probes, level))


@cache
def _table() -> Mapping[_Key, PolicyRule]:
    return parse_table((data_folder("schemas") / TABLE_NAME).read_text(encoding="utf-8"), TABLE_NAME)


def parse_table(text: str, where: str) -> Mapping[_Key, PolicyRule]:
    """Read a policy table; raises UnreadableError that names `where` for what is missing or unknown."""
    node = compose(text)
    data = value_of(node) if isinstance(node, MappingNode) else {}
    if data.pop("format", None) != FORMAT:
        raise UnreadableError(f"{where} isn't a policy table of format {FORMAT}.", "Install hfenv again.")
    rules: dict[_Key, PolicyRule] = {}
    for section, entries in data.items():
        component = _component(section, where)
        for name, entry in _entries(entries, f"{where}, {section}"):
            place = f"{where}, {section}.{name}"
            fields = dict(_entries(entry, place))
            probes = fields.pop("unless_probes", None)
            level, why = _level(fields.pop("level", None), place), fields.pop("why", None)
            if fields or not isinstance(why, str) or not why.endswith("."):
                raise UnreadableError(f"{place} needs a level and a sentence that says why.", "Correct the table.")
            rule = PolicyRule(level, why, None if probes is None else _level(probes, place))
            if rule.unless_probes is not None and rule.unless_probes >= level:
                raise UnreadableError(f"{place}: probes can only lower a level.", "Correct the table.")
            rules[component, _kind(name, place)] = rule
    missing = sorted(set(ChangeKind) - {kind for _, kind in rules})
    if missing:
        raise UnreadableError(f"{where} says nothing about {missing[0].value}.", "Correct the table.")
    return rules


def _entries(value: Any, where: str) -> Iterable[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        raise UnreadableError(f"{where} is no mapping.", "Write kinds of changes and their levels.")
    return value.items()


def _component(name: str, where: str) -> Component:
    if name not in [component.value for component in Component]:
        raise UnreadableError(f"{where} names {name!r}.", "Components are code, tasks and reward.")
    return Component(name)


def _kind(name: str, where: str) -> ChangeKind:
    if name not in [kind.value for kind in ChangeKind]:
        raise UnreadableError(f"{where} names no kind of change.", f"The kinds stand in {TABLE_NAME}.")
    return ChangeKind(name)


def _level(word: Any, where: str) -> Level:
    if word not in _WORDS:
        raise UnreadableError(f"{where} has the level {word!r}.", "Levels are patch, minor and major.")
    return _WORDS[word]
