"""What the columns of all task files are, judged: one type each, one shape each, values that stay as they are.

`load_dataset` takes the columns and their types from the first 10 MiB of the first file ("head" here). What it meets
there in several shapes it keeps as JSON; what only comes later must fit, or it fails. Measured with datasets 5.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hfenv.components.tasks.shapes import BOOL, DATE, FRACTION, LIST, NULL, OBJECT, TEXT, WHOLE, Columns, Node, Place

_WORDS = {TEXT: "text", "number": "a number", BOOL: "true or false", LIST: "a list", OBJECT: "an object"}
_AS_TEXT = "Write it in one shape, or store it as JSON text."


@dataclass(frozen=True, slots=True)
class Amiss:
    """A rule that a column breaks, where first, and what is told about it; `other` is a second place for `{other}`."""

    rule: str
    place: Place
    message: str
    fix: str
    other: Place | None = None
    rows: int = 1


def check_types(columns: Columns, roles: Mapping[str, str]) -> Iterator[Amiss]:
    """HFE304: a declared field has one type in all rows, null aside; whole and other numbers count as one."""
    for name in roles:
        if name in columns.nodes:
            groups = _groups(columns.nodes[name])
            usual = max(groups, key=lambda group: (groups[group][1], groups[group][0]), default="")
            for group, (place, rows) in groups.items():
                if group != usual and name != "id":
                    often = groups[usual][1]
                    tasks = "task" if often == 1 else "tasks"
                    more = f" (and in {rows - 1} more)" if rows > 1 else ""
                    message = f"the declared field '{name[:60]}' is {_WORDS.get(group, group)} here{more}, but "
                    message += f"{_WORDS.get(usual, usual)} in {often} {tasks}"
                    yield Amiss("HFE304", place, message, "Give a field the same type in every task.", rows=rows)


def check_shapes(head: Columns, rest: Columns, roles: Mapping[str, str]) -> Iterator[Amiss]:
    """HFE317 and HFE318: what `load_dataset` and the Hub's viewer fail on, and what they change."""
    whole = Columns()
    whole.absorb(head)
    whole.absorb(rest)
    for name, node in whole.nodes.items():
        if name == "id" or (name in roles and len(_groups(node)) > 1):
            continue  # these have a finding of their own
        path = f"'{name[:60]}'"
        first = head.nodes.get(name)
        if first is None:
            place = min(kind.first for kind in node.kinds.values())
            message = f"the column {path} begins here: `load_dataset` takes the columns from the first file and fails"
            yield Amiss(
                "HFE317", place, message, "Give it to the tasks of the first file too, with a value of its type."
            )
            continue
        yield from _node(path, node, first, rest.nodes.get(name))


def _node(path: str, whole: Node, head: Node, rest: Node | None) -> Iterator[Amiss]:
    """A column or a place inside of it; below what varies already, nothing more is said."""
    groups = _groups(whole)
    if len(groups) > 1:
        (one, (_, _)), (two, (place, _)) = sorted(groups.items(), key=lambda item: item[1][0])[:2]
        other = groups[one][0]
        message = f"{path} is {_WORDS.get(two, two)} here and {_WORDS.get(one, one)} at {{other}}: "
        yield Amiss("HFE317", place, message + _fate(two, head), _AS_TEXT, other)
        return
    if len(whole.keys) > 1:
        (one_keys, other), (two_keys, place) = sorted(whole.keys.items(), key=lambda item: (item[1], sorted(item[0])))[
            :2
        ]
        name = min(one_keys ^ two_keys)[:60]
        here = (
            f"has the key '{name}' here and not" if name in two_keys else f"lacks the key '{name}' here, which it has"
        )
        fate = _LATER if len(head.keys) <= 1 else _KEPT
        yield Amiss("HFE317", place, f"the object {path} {here} at {{other}}: {fate}", _AS_TEXT, other)
        return
    if rest is not None and (failing := _fails(path, head, rest)) is not None:
        yield failing
        return
    yield from _changed(path, whole, head)
    for name, node in whole.below.items():
        if name in head.below:
            yield from _node(f"{path}.{name[:60]}", node, head.below[name], rest.below.get(name) if rest else None)
    if whole.items is not None and head.items is not None:
        yield from _node(f"{path}[]", whole.items, head.items, rest.items if rest else None)


_KEPT = "the Hub's viewer and older readers fail on it, newer ones keep it as JSON"
_LATER = "`load_dataset` takes types from the first tasks and fails"


def _fate(group: str, head: Node) -> str:
    return _KEPT if group in _groups(head) and len(_groups(head)) > 1 else _LATER


def _fails(path: str, head: Node, rest: Node) -> Amiss | None:
    """What comes after the head in a type that the head doesn't allow for."""
    first, later = head.kinds.keys() - {NULL}, {kind: seen for kind, seen in rest.kinds.items() if kind != NULL}
    if not first and later:
        place = min(seen.first for seen in later.values())
        message = f"{path} has its first value here; it is null in all tasks before, {_LATER}"
        return Amiss("HFE317", place, message, "Give one of the first tasks a value.")
    if first == {WHOLE} and FRACTION in later:
        message = f"{path} isn't a whole number here, as it is in the first tasks: {_LATER}"
        return Amiss("HFE317", later[FRACTION].first, message, "Write the first ones with a decimal point, as in 1.0.")
    if first == {DATE} and TEXT in later:
        message = f"{path} isn't a date here, as it is in the first tasks: {_LATER}"
        return Amiss(
            "HFE317", later[TEXT].first, message, "Write dates so that they don't look like one, as in 2020/01/31."
        )
    if LIST in first and not (head.items and head.items.kinds) and rest.items and rest.items.kinds:
        place = min(seen.first for seen in rest.items.kinds.values())
        message = f"the list {path} isn't empty here, as it is in the first tasks: {_LATER}"
        return Amiss("HFE317", place, message, "Give one of the first tasks a list with an item.")
    return None


def _changed(path: str, whole: Node, head: Node) -> Iterator[Amiss]:
    if head.kinds.keys() - {NULL} == {DATE}:
        message = f"{path} looks like a date in every task: `load_dataset` makes a timestamp of it"
        fix = "Write it so that it stays text, as in 2020/01/31, or store a number."
        yield Amiss("HFE318", head.kinds[DATE].first, message, fix)
    elif WHOLE in whole.kinds and FRACTION in whole.kinds:
        message = f"{path} is a whole number here and has a fraction at {{other}}: `load_dataset` makes 1.0 of 1"
        fix = "Write all of them with a decimal point, or none."
        yield Amiss("HFE318", whole.kinds[WHOLE].first, message, fix, whole.kinds[FRACTION].first)


def _groups(node: Node) -> dict[str, tuple[Place, int]]:
    """Types that don't go together, with their first place and their number of rows; null goes with all."""
    found: dict[str, tuple[Place, int]] = {}
    for kind, seen in node.kinds.items():
        if kind != NULL:
            group = {WHOLE: "number", FRACTION: "number", DATE: TEXT}.get(kind, kind)
            place, rows = found.get(group, (seen.first, 0))
            found[group] = (min(place, seen.first), rows + seen.rows)
    return found
