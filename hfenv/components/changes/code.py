"""What changed in the code component: its public surface, what the agent sees, and the card's promises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from hfenv.components.changes.card import compare_code_cards
from hfenv.components.changes.change import Change, ChangeKind, Difference, on_card
from hfenv.components.changes.files import meanings_of, rest_of_files
from hfenv.components.changes.pairing import (
    Named,
    definitions,
    is_document,
    is_prompt,
    is_reordered,
    other_files,
    pair,
    python_files,
)
from hfenv.components.changes.policy import Policy, load_policy
from hfenv.components.changes.signature import BREAKING, Step, by_name, by_position, compare_signatures
from hfenv.components.meaning.definitions import SPACES
from hfenv.components.meaning.shape import Form, Shape, Signature, signature_text
from hfenv.components.meaning.shaping import entry_of
from hfenv.components.ownership import Component

_ENTRY = "entry"
# hfenv calls these, by position, and awaits what has to be awaited; nobody else does.
_DRIVEN = frozenset({"start", "execute"})
_PARAMETERS = {
    Step.REMOVED: ChangeKind.PARAMETER_REMOVED,
    Step.REQUIRED: ChangeKind.PARAMETER_REQUIRED,
    Step.NARROWED: ChangeKind.PARAMETER_NARROWED,
    Step.DEFAULT: ChangeKind.DEFAULT_CHANGED,
    Step.ADDED: ChangeKind.PARAMETER_ADDED,
    Step.WIDENED: ChangeKind.PARAMETER_WIDENED,
}
_TOOL_PARAMETERS = {
    **dict.fromkeys(BREAKING, ChangeKind.TOOL_NARROWED),
    Step.DEFAULT: ChangeKind.TOOL_DEFAULT,
    Step.ADDED: ChangeKind.TOOL_WIDENED,
    Step.WIDENED: ChangeKind.TOOL_WIDENED,
}
# What an environment that computes its reward itself may change a score by.
_INNER = frozenset({
    ChangeKind.BODY, ChangeKind.DATA, ChangeKind.CONSTANT_CHANGED, ChangeKind.HELPER_CHANGED, ChangeKind.SURFACE_ADDED,
    ChangeKind.PARAMETER_ADDED, ChangeKind.PARAMETER_WIDENED, ChangeKind.TOOL_ADDED, ChangeKind.TOOL_WIDENED,
})  # fmt: skip
_Found = Iterator[Difference]
_Surface = Mapping[str, Named]


def classify_code(
    old: Shape, new: Shape, *, exact: Sequence[str] = (), policy: Policy | None = None
) -> tuple[Change, ...]:
    """Every change of the code between two shapes, with the level that the policy gives it; empty for equal ones.

    `exact` are the paths whose bytes or modes differ: those that nothing else is said about are changes of text.
    """
    surfaces = (_surface_of(old), _surface_of(new))
    found = [*compare_code_cards(old.card, new.card), *_entry(old, new), *_surface(*surfaces, new)]
    found += chain(_tools(old, new), _inside(old, new, surfaces), _constants(old, new), _data(old, new))
    found += rest_of_files(old, new, found, exact, ChangeKind.BODY)
    if old.builtin or new.builtin:
        found = [replace(d, kind=ChangeKind.BUILTIN_BODY) if d.kind in _INNER else d for d in found]
    return (policy or load_policy()).judge(Component.CODE, found)


def _surface_of(shape: Shape) -> _Surface:
    """What callers can use: public names of the entry's file, and the entry's class under a name of its own."""
    path, entry = entry_of(shape)
    by_place = {f"{named.path}:{named.name}": named for named in definitions(shape)}
    found = {}
    for named in by_place.values():
        if named.path == path and named.is_public and named.name != entry and not named.name.startswith(f"{entry}."):
            found[named.name] = named
    if (home := by_place.get(f"{path}:{entry}")) is not None:
        found[_ENTRY] = home
    for member, place in shape.members.items():
        if place in by_place and (not member.startswith("_") or member == "__init__"):
            found[f"{_ENTRY}.{member}"] = by_place[place]
    return found


def _entry(old: Shape, new: Shape) -> _Found:
    (old_path, old_name), (path, name) = entry_of(old), entry_of(new)
    texts = (f"{old_path}:{old_name}", f"{path}:{name}")
    if old.members and not new.members and name not in _names(new, path):
        yield on_card(ChangeKind.ENTRY_REMOVED, "code.entry", f"{path} doesn't define {name}", *texts)
    elif texts[0] != texts[1]:
        yield on_card(ChangeKind.ENTRY_MOVED, "code.entry", "the entry stands elsewhere or has another name", *texts)
    if old.roots != new.roots and old.members and new.members:
        message = f"{name} has other base classes"
        yield Difference(ChangeKind.ENTRY_BASES, path, name, message, (", ".join(old.roots), ", ".join(new.roots)))


def _names(shape: Shape, path: str) -> Mapping[str, object]:
    return shape.files[path].definitions if path in shape.files else {}


def _surface(old: _Surface, new: _Surface, shape: Shape) -> _Found:
    for key, before in old.items():
        after = new.get(key)
        if after is None:
            message = f"{before.name} is gone"
            yield Difference(ChangeKind.SURFACE_REMOVED, before.path, before.name, message, (_written(before), ""))
            continue
        one, other = before.definition, after.definition
        driven = key.startswith(f"{_ENTRY}.") and after.last in _DRIVEN
        if one.form is not other.form and not (driven and {one.form, other.form} == {Form.FUNCTION, Form.ASYNC}):
            texts = (one.form.value, other.form.value)
            yield _at(after, ChangeKind.SURFACE_FORM, f"{after.name} is of another kind", *texts)
        elif after.last not in shape.tools or not key.startswith(f"{_ENTRY}."):
            yield from _signature(after, one.signature, other.signature, driven=driven)
    for key in new.keys() - old.keys():
        yield _at(new[key], ChangeKind.SURFACE_ADDED, f"{new[key].name} is new", "", _written(new[key]))


def _signature(after: Named, one: Signature | None, other: Signature | None, *, driven: bool) -> _Found:
    if one is None or other is None:
        return
    signatures = (by_position(one), by_position(other)) if driven else (one, other)
    for change in compare_signatures(*signatures):
        message = f"{after.name}: {change.sentence}"
        yield _at(after, _PARAMETERS[change.step], message, change.before, change.after)


def _tools(old: Shape, new: Shape) -> _Found:
    for name, before in old.tools.items():
        after = new.tools.get(name)
        if after is None:
            path = old.members.get(name, "").partition(":")[0]
            written = f"{name}({signature_text(before.signature)})"
            yield Difference(ChangeKind.TOOL_REMOVED, path, name, f"tool {name} is gone", (written, ""))
            continue
        for change in compare_signatures(by_name(before.signature), by_name(after.signature)):
            message = f"tool {name}: {change.sentence}"
            kind = _TOOL_PARAMETERS[change.step]
            yield Difference(kind, after.path, name, message, (change.before, change.after), after.line)
        if before.text != after.text:
            texts = (before.text, after.text)
            message = f"tool {name} has another docstring"
            yield Difference(ChangeKind.TOOL_TEXT, after.path, name, message, texts, after.line)
    for name in new.tools.keys() - old.tools.keys():
        after = new.tools[name]
        written = f"{name}({signature_text(after.signature)})"
        yield Difference(ChangeKind.TOOL_ADDED, after.path, name, f"tool {name} is new", ("", written), after.line)


def _inside(old: Shape, new: Shape, surfaces: tuple[_Surface, _Surface]) -> _Found:
    """Bodies, helpers, and what else stands on top levels."""
    public = [{(named.path, named.name) for named in surface.values()} for surface in surfaces]
    pairs = pair(old, new)
    for before, after in pairs.same:
        if before.definition.digest != after.definition.digest:
            kind = ChangeKind.SPACE_CHANGED if "." in after.name and after.last in SPACES else ChangeKind.BODY
            yield _at(after, kind, f"the body of {after.name} changed")
        if (before.path, before.name) not in public[0]:
            yield from _helper(before, after)
    for before, after in pairs.moved:
        if (before.path, before.name) not in public[0]:
            where = (f"{before.path}:{before.name}", f"{after.path}:{after.name}")
            yield _at(after, ChangeKind.HELPER_MOVED, f"{before.name} is {after.name} in {after.path} now", *where)
    for before in pairs.gone:
        if (before.path, before.name) not in public[0]:
            kind = ChangeKind.HELPER_CHANGED if before.is_public else ChangeKind.BODY
            yield Difference(kind, before.path, before.name, f"{before.name} is gone", (_written(before), ""))
    for after in pairs.new:
        if (after.path, after.name) not in public[1]:
            yield _at(after, ChangeKind.BODY, f"{after.name} is new", "", _written(after))
    for path, one, other in python_files(old, new):
        if one is not None and other is not None and (one.top != other.top or is_reordered(one, other)):
            yield Difference(ChangeKind.BODY, path, path, f"what {path} does when it is loaded changed")


def _helper(before: Named, after: Named) -> _Found:
    one, other = before.definition, after.definition
    texts = (_written(before), _written(after))
    if one.form is other.form and one.signature == other.signature:
        return
    changes = list(compare_signatures(one.signature or (), other.signature or ()))
    broken = one.form is not other.form or any(c.step in BREAKING or c.step is Step.DEFAULT for c in changes)
    kind = ChangeKind.HELPER_CHANGED if broken and before.is_public else ChangeKind.BODY
    yield _at(after, kind, f"{after.name} is called otherwise", *texts)


def _constants(old: Shape, new: Shape) -> _Found:
    known = [_constants_of(shape) for shape in (old, new)]
    for key in [*known[0], *(key for key in known[1] if key not in known[0])]:
        before, after = (constants.get(key) for constants in known)
        if before is not None and after is not None and before.value == after.value:
            continue
        found = after or before
        if found is None or (found.path not in old.files or found.path not in new.files):
            continue  # with its file, which is told as a whole
        owner, _, last = found.name.rpartition(".")
        public = key[0] == _ENTRY and not any(part.startswith("_") for part in key[1].split("."))
        kind = ChangeKind.CONSTANT_CHANGED if public and before else ChangeKind.BODY
        if owner and last in SPACES:
            kind = ChangeKind.SPACE_CHANGED
        what = "is new" if before is None else "is gone" if after is None else "has another value"
        texts = ("" if before is None else before.value, "" if after is None else after.value)
        yield Difference(kind, found.path, found.name, f"{found.name} {what}", texts, found.line)


@dataclass(frozen=True, slots=True)
class _Constant:
    path: str
    name: str
    value: str
    line: int


def _constants_of(shape: Shape) -> dict[tuple[str, str], _Constant]:
    """Constants by file and name; the entry's file and class have names that stay when they're renamed."""
    entry_file, entry = entry_of(shape)
    found = {}
    for path, file in shape.files.items():
        for name, value in file.constants.items():
            key = f"{_ENTRY}.{name[len(entry) + 1 :]}" if path == entry_file and name.startswith(f"{entry}.") else name
            found[_ENTRY if path == entry_file else path, key] = _Constant(path, name, value, file.lines.get(name, 0))
    return found


def _data(old: Shape, new: Shape) -> _Found:
    for path, before, after in other_files(old, new):
        what = "is new" if before is None else "is gone" if after is None else "changed"
        kind = ChangeKind.DATA
        if is_prompt(path):
            kind = ChangeKind.PROMPT
        elif is_document(path):
            kind = ChangeKind.DOCUMENT
        yield Difference(kind, path, path, f"{path} {what}", meanings_of(before, after))


def _at(named: Named, kind: ChangeKind, message: str, before: str = "", after: str = "") -> Difference:
    return Difference(kind, named.path, named.name, message, (before, after), named.definition.line)


def _written(named: Named) -> str:
    """A definition as it is called, or `class Name`."""
    definition = named.definition
    if definition.form is Form.CLASS or definition.signature is None:
        return f"{definition.form.value} {named.name}"
    return f"{named.name}({signature_text(definition.signature)})"
