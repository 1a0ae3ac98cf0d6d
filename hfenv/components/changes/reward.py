"""What changed in the reward component: what hfenv calls, numbers and settings, code that is reached, and the card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from hfenv.components.changes.card import compare_key, other_keys
from hfenv.components.changes.change import Change, ChangeKind, Difference, on_card
from hfenv.components.changes.files import rest_of_files
from hfenv.components.changes.pairing import (
    Named,
    definitions,
    is_document,
    is_reordered,
    other_files,
    pair,
    python_files,
)
from hfenv.components.changes.policy import Policy, load_policy
from hfenv.components.changes.signature import Step, by_position, compare_signatures
from hfenv.components.digest import canonical_json
from hfenv.components.meaning.data import shown
from hfenv.components.meaning.numbers import replaced
from hfenv.components.meaning.shape import Definition, FileShape, Form, Shape, signature_text
from hfenv.components.meaning.shaping import MEASURE, SCORE, entry_of
from hfenv.components.meaning.written import short
from hfenv.components.ownership import Component

_Found = Iterator[Difference]
# Values that add, enable or name nothing.
_TOLD_NUMBERS = 4
_NOTHING = FileShape("")
_EMPTY = short("[]")  # the digest of a file that does nothing
_NEUTRAL = frozenset({"0", "0.0", "-0.0", "False", "false", "None", "null", "~", '""', "()", "[]", "{}"})
_SETTINGS = frozenset({ChangeKind.REWARD_CONSTANT, ChangeKind.REWARD_NUMBER, ChangeKind.REWARD_DEFAULT})
_CARD = frozenset(
    {"reward/entry", "reward/range", "reward/floor", "reward/parts", "reward/scope", "reward/builtin"}
)  # fmt: skip


def classify_reward(
    old: Shape, new: Shape, *, exact: Sequence[str] = (), policy: Policy | None = None
) -> tuple[Change, ...]:
    """Every change of the reward between two shapes, with the level that the policy gives it; empty for equal ones.

    `exact` are the paths whose bytes or modes differ: those that nothing else is said about are changes of text.
    A change with `unless_probes` may be `settled` after probes scored alike under both rewards.
    """
    found = [*_card(old.card, new.card), *_called(old, new), *_code(old, new)]
    found += chain(_constants(old, new), _data(old, new))
    found += rest_of_files(old, new, found, exact, ChangeKind.REWARD_UNREACHED)
    if not any(difference.kind in _SETTINGS for difference in found):
        found += _numbers(old, new)
    return (policy or load_policy()).judge(Component.REWARD, _with_numbers(found, old, new))


def _card(old: Mapping[str, Any], new: Mapping[str, Any]) -> _Found:
    keys: tuple[tuple[str, ChangeKind, Callable[[Mapping[str, Any]], Any]], ...] = (
        ("reward/range", ChangeKind.REWARD_RANGE, lambda card: None),
        ("reward/floor", ChangeKind.REWARD_FLOOR, _floor),
        ("reward/scope", ChangeKind.REWARD_SCOPE, lambda card: "turn"),
        ("reward/builtin", ChangeKind.REWARD_BUILTIN, lambda card: False),
    )
    for key, kind, default in keys:
        yield from _value(key, kind, (old.get(key), new.get(key)), default(old), default(new))
    yield from compare_key("reward/parts", old.get("reward/parts"), new.get("reward/parts"), _parts)
    yield from other_keys(old, new, _CARD)


def _value(key: str, kind: ChangeKind, values: tuple[Any, Any], before: Any, after: Any) -> _Found:
    """One key of the card: written out where its default stood before, it is a new setting that changes nothing."""
    one, other = (default if value is None else value for value, default in zip(values, (before, after), strict=True))
    name = key.replace("/", ".")
    texts = ("" if value is None else shown(value) for value in values)
    if values == (None, None) or canonical_json(values[0]) == canonical_json(values[1]):
        return
    if one != other:
        yield on_card(kind, name, f"{name} changed", shown(one), shown(other))
    elif values[0] is None:
        yield on_card(ChangeKind.REWARD_KEY_NEUTRAL, name, f"{name} is written out as what it was by default", *texts)
    else:
        yield on_card(ChangeKind.TEXT, name, f"{name} says the same otherwise", *texts)


def _parts(key: str, before: Any, after: Any) -> _Found:
    old, new = ([str(part) for part in value or ()] for value in (before, after))
    gone, more = (sorted(set(one) - set(other)) for one, other in ((old, new), (new, old)))
    if gone:
        yield on_card(
            ChangeKind.REWARD_PARTS, "reward.parts", f"parts are gone: {', '.join(gone)}", shown(old), shown(new)
        )
    elif more:
        message = f"parts are new: {', '.join(more)}"
        yield on_card(ChangeKind.REWARD_PARTS_ADDED, "reward.parts", message, shown(old), shown(new))


def _floor(card: Mapping[str, Any]) -> float:
    low = (card.get("reward/range") or [0.0])[0]
    return max(0.0, low) if isinstance(low, (int, float)) else 0.0


def _called(old: Shape, new: Shape) -> _Found:
    """The functions that hfenv calls: the card's entry, score_group and measure."""
    by_place = [{f"{n.path}:{n.name}": n for n in definitions(shape)} for shape in (old, new)]
    entries = [":".join(entry_of(shape)) for shape in (old, new)]
    if entries[0] != entries[1] and not (SCORE in old.members and SCORE in new.members):
        # Something other than a function, which nothing is known about.
        yield on_card(ChangeKind.REWARD_ENTRY, "reward.entry", "the card calls another entry", *entries)
    for role, place in old.members.items():
        before, after = by_place[0].get(place), by_place[1].get(new.members.get(role, ""))
        if before is None:
            continue
        if after is None:
            message = f"{before.name}, which hfenv calls as {role}, is gone"
            yield Difference(ChangeKind.REWARD_REMOVED, before.path, before.name, message)
            continue
        if (before.path, before.name) != (after.path, after.name):
            texts = (place, new.members[role])
            message = f"{role} stands elsewhere or has another name"
            yield _at(after, ChangeKind.REWARD_ENTRY, message, *texts)
        one, other = before.definition, after.definition
        if one.form is not other.form and role != MEASURE:  # which may be async, or not
            yield _at(after, ChangeKind.REWARD_SIGNATURE, f"{after.name} is of another kind")
        for change in compare_signatures(by_position(one.signature or ()), by_position(other.signature or ())):
            kind = ChangeKind.REWARD_SIGNATURE
            if change.step in (Step.ADDED, Step.WIDENED):
                kind = ChangeKind.REWARD_PARAMETER
            elif change.step is Step.DEFAULT:
                kind = ChangeKind.REWARD_DEFAULT
            yield _at(after, kind, f"{after.name}: {change.sentence}", change.before, change.after)
    if MEASURE in new.members and MEASURE not in old.members:
        after = by_place[1].get(new.members[MEASURE])
        if after is not None:
            yield _at(after, ChangeKind.MEASURE_ADDED, "measure is new: scores may rest on evidence")


def _code(old: Shape, new: Shape) -> _Found:
    called = {place for shape in (old, new) for place in shape.members.values()}
    pairs = pair(old, new)
    for before, after in pairs.same:
        is_called = f"{after.path}:{after.name}" in called
        yield from _changed(before, after, is_called=is_called)
    for before, after in pairs.moved:
        message = f"{before.name} is {after.name} in {after.path} now"
        where = (f"{before.path}:{before.name}", f"{after.path}:{after.name}")
        yield _at(after, _body_kind(before, after), message, *where)
    for before in pairs.gone:
        yield Difference(_body_kind(before), before.path, before.name, f"{before.name} is gone")
    for after in pairs.new:
        yield _at(after, _body_kind(after), f"{after.name} is new")
    for path, before_file, after_file in python_files(old, new):
        yield from _loaded(path, before_file, after_file, measured=MEASURE in {**old.members, **new.members})


def _loaded(path: str, before: FileShape | None, after: FileShape | None, *, measured: bool) -> _Found:
    """What a file does when it is loaded."""
    one, other = before or _NOTHING, after or _NOTHING
    kind = ChangeKind.REWARD_TOP if one.top_measure == other.top_measure else ChangeKind.MEASURE_BODY
    if after is None:
        yield Difference(kind, path, path, f"{path} is gone, and with it what it does when it is loaded")
    elif before is None:
        if after.top != _EMPTY:
            yield Difference(kind, path, path, f"{path} is new, and does something when it is loaded")
    elif one.top != other.top:
        if one.top_numberless == other.top_numberless:
            message = f"what {path} does when it is loaded differs in its numbers alone"
            yield Difference(ChangeKind.REWARD_NUMBER, path, path, message)
        else:
            yield Difference(kind, path, path, f"what {path} imports or does when it is loaded changed")
    elif is_reordered(one, other):
        kind = ChangeKind.MEASURE_BODY if measured else ChangeKind.REWARD_TOP
        yield Difference(kind, path, path, f"what {path} does when it is loaded stands in another order")


def _changed(before: Named, after: Named, *, is_called: bool) -> _Found:
    one, other = before.definition, after.definition
    kind = _body_kind(before, after)
    reached = kind is not ChangeKind.REWARD_UNREACHED
    if one.signature != other.signature and not is_called:
        changes = list(compare_signatures(one.signature or (), other.signature or ()))
        for change in changes:
            if change.step is Step.DEFAULT:
                default = ChangeKind.REWARD_DEFAULT if reached else kind
                yield _at(after, default, f"{after.name}: {change.sentence}", change.before, change.after)
        if not changes or any(change.step is not Step.DEFAULT for change in changes):
            texts = (signature_text(d.signature or ()) for d in (one, other))
            yield _at(after, kind, f"{after.name} is called otherwise", *texts)
    if one.digest != other.digest:
        if reached and one.numberless == other.numberless:
            message = f"{after.name} differs in its numbers alone"
            yield _at(after, ChangeKind.REWARD_NUMBER, message)
        else:
            yield _at(after, kind, f"the body of {after.name} changed")


def _exchanged(one: Definition, other: Definition) -> bool:
    """Whether as many numbers stand in a body as before, but others, or the same in another order."""
    if not one.numbers or not other.numbers:
        return False
    counts, numbers, orders = zip(one.numbers.split("."), other.numbers.split("."), strict=True)
    return (counts[0] == counts[1]) if numbers[0] != numbers[1] else (orders[0] != orders[1])


def _body_kind(*named: Named) -> ChangeKind:
    """What an edit of code means by who runs it, before or after."""
    if any(n.definition.by_measure for n in named):
        return ChangeKind.MEASURE_BODY
    if any(n.definition.by_score for n in named):
        return ChangeKind.REWARD_BODY
    return ChangeKind.REWARD_UNREACHED


@dataclass(frozen=True, slots=True)
class _Setting:
    """A constant or a key of a data file that differs: values before and after, None for what isn't there."""

    name: str
    before: str | None
    after: str | None

    @property
    def message(self) -> str:
        what = "is new" if self.before is None else "is gone" if self.after is None else "has another value"
        return f"{self.name} {what}"

    @property
    def texts(self) -> tuple[str, str]:
        return self.before or "", self.after or ""

    @property
    def is_neutral(self) -> bool:
        """Whether it's new, and its value adds, enables or names nothing."""
        return self.before is None and self.after in _NEUTRAL


def _settings(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[_Setting]:
    for name in [*old, *(name for name in new if name not in old)]:
        if old.get(name) != new.get(name):
            yield _Setting(name, old.get(name), new.get(name))


def _constants(old: Shape, new: Shape) -> _Found:
    moved = _moved(old, new)
    known = _values_by_name(old)
    for path in [*old.files, *(path for path in new.files if path not in old.files)]:
        one, other = (shape.files.get(path, _NOTHING) for shape in (old, new))
        for found in _settings(one.constants, other.constants):
            line = other.lines.get(found.name, 0)
            if found.name in moved and (found.before is None or found.after is None):
                setting = moved[found.name]
                if found.after is not None and setting.before != setting.after:
                    kind = ChangeKind.REWARD_CONSTANT
                    yield Difference(kind, path, setting.name, setting.message, setting.texts, line)
                elif found.after is not None:
                    message = f"{setting.name} stands in another file"
                    yield Difference(ChangeKind.REWARD_TOP, path, setting.name, message, line=line)
                continue
            top, _, last = found.name.rpartition(".")
            in_class = top in other.definitions and other.definitions[top].form is Form.CLASS
            elsewhere = known.get(last if in_class or not top else "")
            kind = ChangeKind.REWARD_KEY_NEUTRAL if found.is_neutral else ChangeKind.REWARD_CONSTANT
            if found.before is None and elsewhere is not None and (found.after not in elsewhere):
                # It stands for another of its name: an imported one, or one of a base class.
                kind = ChangeKind.REWARD_CONSTANT
            elif found.name.partition(".")[0] not in _tops(one) & _tops(other):
                # A name that comes or goes does nothing by itself: the code that uses it changed too.
                kind = ChangeKind.REWARD_TOP
            yield Difference(kind, path, found.name, found.message, found.texts, line)


def _values_by_name(shape: Shape) -> dict[str, set[str]]:
    """The values of constants and attributes by their last name, and the names of methods without any."""
    found: dict[str, set[str]] = {}
    for file in shape.files.values():
        for name in file.definitions:
            found.setdefault(name.rpartition(".")[2], set())
        for name, value in file.constants.items():
            owner, _, last = name.rpartition(".")
            if not owner or owner in file.definitions:
                found.setdefault(last, set()).add(value)
    return found


def _moved(old: Shape, new: Shape) -> dict[str, _Setting]:
    """Constants that left one file and came to another, by name, with their values there."""
    sets = [
        {(path, name): f.constants[name] for path, f in s.files.items() for name in f.constants} for s in (old, new)
    ]
    gone, come = ([place for place in one if place not in other] for one, other in (sets, sets[::-1]))
    counts = [Counter(name for _, name in places) for places in (gone, come)]
    values = [
        {name: known[path, name] for path, name in places} for known, places in zip(sets, (gone, come), strict=True)
    ]
    return {n: _Setting(n, values[0][n], values[1][n]) for n in values[0] if counts[0][n] == counts[1][n] == 1}


def _tops(file: FileShape) -> set[str]:
    """Names that a file binds to constants, and its classes with any."""
    return {name.partition(".")[0] for name in file.constants}


def _data(old: Shape, new: Shape) -> _Found:
    for path, before, after in other_files(old, new):
        if is_document(path):
            yield Difference(ChangeKind.DOCUMENT, path, path, f"{path} changed")
        elif before is None:
            looked_for = old.lists_folders or new.lists_folders or path.endswith(old.file_names)
            kind = ChangeKind.REWARD_DATA if looked_for else ChangeKind.REWARD_DATA_ADDED
            yield Difference(kind, path, path, f"{path} is new")
        elif after is None:
            yield Difference(ChangeKind.REWARD_DATA, path, path, f"{path} is gone")
        elif before.values is None or after.values is None or before.values == after.values:
            texts = (before.meaning, after.meaning)
            yield Difference(ChangeKind.REWARD_DATA, path, path, f"{path} changed", texts)
        else:
            for found in _settings(before.values, after.values):
                kind = ChangeKind.REWARD_KEY_NEUTRAL if found.is_neutral else ChangeKind.REWARD_DATA
                yield Difference(kind, path, found.name or path, found.message, found.texts)


def _with_numbers(found: Sequence[Difference], old: Shape, new: Shape) -> _Found:
    """The numbers that went and came beside what differs in numbers alone, where they are few enough to be read."""
    gone, come = (sorted(set(one.numbers or ()) - set(other.numbers or ())) for one, other in ((old, new), (new, old)))
    texts = (", ".join(gone), ", ".join(come))
    known = None not in (old.numbers, new.numbers) and 0 < len(gone) <= _TOLD_NUMBERS and 0 < len(come) <= _TOLD_NUMBERS
    for one in found:
        bare = known and one.kind is ChangeKind.REWARD_NUMBER and one.texts == ("", "")
        yield replace(one, texts=texts) if bare else one


def _numbers(old: Shape, new: Shape) -> _Found:
    """Numbers that went while others came: a weight that was changed together with the code around it."""
    kind = ChangeKind.REWARD_NUMBER
    if (found := replaced(old.numbers, new.numbers)) is not None:
        texts = (", ".join(found[0]), ", ".join(found[1]))
        yield Difference(kind, entry_of(new)[0], "numbers", "numbers in the code were replaced", texts)
        return
    for before, after in pair(old, new).same:
        one, other = before.definition, after.definition
        if _body_kind(before, after) is not ChangeKind.REWARD_UNREACHED and _exchanged(one, other):
            yield _at(after, kind, f"the body of {after.name} has other numbers, or the same in another order")


def _at(named: Named, kind: ChangeKind, message: str, before: str = "", after: str = "") -> Difference:
    return Difference(kind, named.path, named.name, message, (before, after), named.definition.line)
