"""What a new signature does to the calls of an old one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from hfenv.components.meaning.shape import Parameter, ParameterKind, Signature, signature_text

_ORDERED = (ParameterKind.POSITIONAL, ParameterKind.PLAIN)
_NAMED = (ParameterKind.PLAIN, ParameterKind.KEYWORD)
# Types that stand for others: whoever passes what the left one says is served by the right one too.
_WIDER = {"int": {"float", "complex"}, "float": {"complex"}, "bool": {"int", "float"}}


class Step(str, Enum):
    """What became of one parameter."""

    REMOVED = "removed"
    REQUIRED = "required"
    NARROWED = "narrowed"
    DEFAULT = "default"
    ADDED = "added"
    WIDENED = "widened"


BREAKING = frozenset({Step.REMOVED, Step.REQUIRED, Step.NARROWED})


@dataclass(frozen=True, slots=True)
class ParameterChange:
    """One parameter that changed, before and after as it is written; empty for what wasn't there."""

    step: Step
    name: str
    before: str
    after: str

    @property
    def sentence(self) -> str:
        """What happened, without a full stop."""
        return _SENTENCES[self.step].format(name=self.name, before=self.before, after=self.after)


_SENTENCES = {
    Step.REMOVED: "parameter {name} is gone",
    Step.REQUIRED: "parameter {name} must be given",
    Step.NARROWED: "parameter {name} takes less: {before} -> {after}",
    Step.DEFAULT: "parameter {name} has another default: {before} -> {after}",
    Step.ADDED: "parameter {name} is new and may be left out",
    Step.WIDENED: "parameter {name} takes more: {before} -> {after}",
}


def by_position(signature: Signature) -> Signature:
    """The signature as hfenv uses it, which passes what it passes by position, so that names don't count."""
    return tuple(replace(p, kind=ParameterKind.POSITIONAL) if p.kind in _ORDERED else p for p in signature)


def by_name(signature: Signature) -> Signature:
    """The signature as an agent uses a tool's, by names alone."""
    return tuple(replace(p, kind=ParameterKind.KEYWORD) if p.kind in _ORDERED else p for p in signature)


def compare_signatures(old: Signature, new: Signature) -> Iterator[ParameterChange]:
    """Every parameter that changed, in the order of the old signature, then the new ones."""
    after = {parameter.name: parameter for parameter in new}
    places = [{p.name: at for at, p in enumerate(s) if p.kind in _ORDERED} for s in (old, new)]
    seen = set()
    for before in old:
        match = _match(before, places[0], new, after)
        if match is None:
            if not _absorbed(before, new):
                yield ParameterChange(Step.REMOVED, before.name, _written(before), "")
            continue
        seen.add(match.name)
        moved = places[0].get(before.name) != places[1].get(match.name) and before.kind in _ORDERED
        yield from _compared(before, match, moved=moved and match.kind in _ORDERED)
    for parameter in new:
        if parameter.name not in seen:
            step = Step.REQUIRED if parameter.required else Step.ADDED
            yield ParameterChange(step, parameter.name, "", _written(parameter))


def _match(before: Parameter, places: dict[str, int], new: Signature, after: dict[str, Parameter]) -> Parameter | None:
    """The parameter that takes what an old one took: by its name, or by its place where names don't count."""
    if before.kind in (ParameterKind.STAR, ParameterKind.STARS):
        return next((parameter for parameter in new if parameter.kind is before.kind), None)
    if before.kind is ParameterKind.POSITIONAL:
        at = places[before.name]
        return new[at] if at < len(new) and new[at].kind in _ORDERED else None
    found = after.get(before.name)
    return found if found is not None and found.kind not in (ParameterKind.STAR, ParameterKind.STARS) else None


def _absorbed(parameter: Parameter, new: Signature) -> bool:
    """Whether *args and **kwargs of the new signature take what an old parameter took."""
    kinds = {p.kind for p in new}
    by_place = parameter.kind not in _ORDERED or ParameterKind.STAR in kinds
    by_name = parameter.kind not in _NAMED or ParameterKind.STARS in kinds
    return by_place and by_name and parameter.kind not in (ParameterKind.STAR, ParameterKind.STARS)


def _compared(before: Parameter, after: Parameter, *, moved: bool) -> Iterator[ParameterChange]:
    texts = (_written(before), _written(after))
    lost_place = before.kind in _ORDERED and after.kind is ParameterKind.KEYWORD
    lost_name = before.kind in _NAMED and after.kind is ParameterKind.POSITIONAL
    if moved or lost_place or lost_name:
        yield ParameterChange(Step.NARROWED, before.name, *_with_kinds(before, after, moved=moved))
    elif before.kind is not after.kind:
        yield ParameterChange(Step.WIDENED, before.name, *_with_kinds(before, after, moved=False))
    if after.required and not before.required:
        yield ParameterChange(Step.REQUIRED, before.name, *texts)
    elif before.required and not after.required:
        yield ParameterChange(Step.WIDENED, before.name, *texts)
    elif before.default != after.default:
        yield ParameterChange(Step.DEFAULT, before.name, before.default or "", after.default or "")
    if before.types != after.types and (step := _types_step(set(before.types), set(after.types))):
        yield ParameterChange(step, before.name, *texts)


def _types_step(before: set[str], after: set[str]) -> Step | None:
    """Whether the types that a tool takes became fewer or more; None where that says nothing."""
    if not before or not after or after == before:
        return None
    served = all(kind in after or _WIDER.get(kind, set()) & after for kind in before)
    return Step.WIDENED if "Any" in after or served else Step.NARROWED


def _written(parameter: Parameter) -> str:
    return signature_text((replace(parameter, kind=ParameterKind.PLAIN),))


def _with_kinds(before: Parameter, after: Parameter, *, moved: bool) -> tuple[str, str]:
    if moved:
        return "where it stood", "another place"
    return before.kind.value, after.kind.value
