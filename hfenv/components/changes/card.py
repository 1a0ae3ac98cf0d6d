"""What changed in the code's slice of the card: limits, requirements, configuration, services and promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hfenv.components.changes.change import ChangeKind, Difference, on_card
from hfenv.components.changes.schema import Relation, compare_schemas
from hfenv.components.changes.space import compare_spaces
from hfenv.components.digest import canonical_json
from hfenv.components.meaning.data import shown

_Found = Iterator[Difference]
_Compare = Callable[[str, Any, Any], _Found]
_LIMITS = {
    "step_timeout_s": (ChangeKind.STEP_TIMEOUT_LOWERED, ChangeKind.STEP_TIMEOUT_RAISED),
    "max_steps": (ChangeKind.MAX_STEPS_LOWERED, ChangeKind.MAX_STEPS_RAISED),
    "memory_mb": (ChangeKind.MEMORY_LOWERED, ChangeKind.MEMORY_RAISED),
}
_CONFIG = {
    Relation.NARROWED: (ChangeKind.CONFIG_NARROWED, "takes less"),
    Relation.WIDENED: (ChangeKind.CONFIG_WIDENED, "takes more"),
    Relation.CHANGED: (ChangeKind.CONFIG_CHANGED, "is another"),
    Relation.DEFAULT: (ChangeKind.CONFIG_DEFAULT, "has another default"),
}


def compare_code_cards(old: Mapping[str, Any], new: Mapping[str, Any]) -> _Found:
    """Differences of two slices of the card, as `card_slice` gives them for code; the entry isn't looked at."""
    for key in [*old, *(key for key in new if key not in old)]:
        if key != "code/entry":
            yield from compare_key(key, old.get(key), new.get(key), _COMPARE.get(key, _other))


def compare_key(key: str, before: Any, after: Any, compare: _Compare) -> _Found:
    """Differences of one key; one of text where it is only written otherwise: in another order, 1 for 1.0."""
    if canonical_json(before) != canonical_json(after):
        found = list(compare(key, before, after))
        name = key.replace("/", ".")
        yield from found or [on_card(ChangeKind.TEXT, name, f"{name} is written otherwise")]


def other_keys(old: Mapping[str, Any], new: Mapping[str, Any], known: frozenset[str]) -> _Found:
    """Differences under keys that nothing is known about."""
    for key in sorted((old.keys() | new.keys()) - known):
        yield from compare_key(key, old.get(key), new.get(key), _other)


def _other(key: str, before: Any, after: Any) -> _Found:
    name = key.replace("/", ".")
    yield on_card(ChangeKind.CARD_OTHER, name, f"{name} changed", _text(before), _text(after))


def _limits(_: str, before: Any, after: Any) -> _Found:
    old, new = _mapping(before), _mapping(after)
    for name, (lowered, raised) in _LIMITS.items():
        values = [_number(limits.get(name)) for limits in (old, new)]
        if values[0] != values[1]:
            is_lower = values[1] < values[0]
            message = f"limits.{name} is {'lower' if is_lower else 'higher'} than before"
            texts = [_text(limits.get(name)) or "no limit" for limits in (old, new)]
            yield on_card(lowered if is_lower else raised, f"limits.{name}", message, *texts)
    for name in sorted((old.keys() | new.keys()) - _LIMITS.keys()):
        if old.get(name) != new.get(name):
            yield from _other(f"limits/{name}", old.get(name), new.get(name))


def _number(value: Any) -> float:
    return value if isinstance(value, (int, float)) else float("inf")


def _requires(_: str, before: Any, after: Any) -> _Found:
    old, new = _mapping(before), _mapping(after)
    yield from _python(str(old.get("python", "")), str(new.get("python", "")))
    packages = [_texts(requires.get("packages")) for requires in (old, new)]
    if packages[0] != packages[1]:
        texts = (", ".join(sorted(one - other)) for one, other in (packages, packages[::-1]))
        yield on_card(ChangeKind.PACKAGES, "requires.packages", "other packages are required", *texts)
    for name, added, removed in (
        ("system", ChangeKind.SYSTEM_ADDED, ChangeKind.SYSTEM_REMOVED),
        ("secrets", ChangeKind.SECRET_ADDED, ChangeKind.SECRET_REMOVED),
    ):
        key = f"requires.{name}"
        yield from _members(key, _texts(old.get(name)), _texts(new.get(name)), added, removed)
    yield from _network("requires.network", old, new, ChangeKind.NETWORK_RAISED, ChangeKind.NETWORK_LOWERED)
    known = {"python", "packages", "system", "secrets", "network"}
    for name in sorted((old.keys() | new.keys()) - known):
        if old.get(name) != new.get(name):
            yield from _other(f"requires/{name}", old.get(name), new.get(name))


def _python(before: str, after: str) -> _Found:
    if before == after:
        return
    old, new = _pythons(before), _pythons(after)
    if old is None or new is None or old - new:
        message = "fewer Pythons will do" if old and new is not None else "the Pythons that will do can't be compared"
        yield on_card(ChangeKind.PYTHON_NARROWED, "requires.python", message, before, after)
    else:
        yield on_card(ChangeKind.PYTHON_WIDENED, "requires.python", "no Python that did is left out", before, after)


def _pythons(specifier: str) -> frozenset[str] | None:
    """The versions from 3.8 to 3.30 that a specifier allows, None for one that can't be read."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        wanted = SpecifierSet(specifier)
    except InvalidSpecifier:
        return None
    return frozenset(v for minor in range(8, 31) for v in _releases(minor) if wanted.contains(v))


def _releases(minor: int) -> Iterator[str]:
    return (f"3.{minor}.{micro}" for micro in range(25))


def _network(
    name: str, old: Mapping[str, Any], new: Mapping[str, Any], raised: ChangeKind, lowered: ChangeKind
) -> _Found:
    values = [requires.get("network", "none") for requires in (old, new)]
    hosts = [None if value == "full" else set() if value == "none" else _texts(value) for value in values]
    if hosts[0] == hosts[1]:
        return
    more = hosts[1] is None or (hosts[0] is not None and bool(hosts[1] - hosts[0]))
    less = hosts[0] is None or (hosts[1] is not None and bool(hosts[0] - hosts[1]))
    if more:
        yield on_card(raised, name, f"{name} reaches further", *map(_text, values))
    if less:
        yield on_card(lowered, name, f"{name} reaches less far", *map(_text, values))


def _config(_: str, before: Any, after: Any) -> _Found:
    for found in compare_schemas(_as_schema(before), _as_schema(after), "config"):
        kind, words = _CONFIG[found.relation]
        yield on_card(kind, found.path, f"{found.path} {words}", found.before, found.after)


def _as_schema(config: Any) -> dict[str, Any]:
    """The card's config as a whole schema: it may be written as just its properties."""
    declared = _mapping(config)
    full = "properties" in declared or "$schema" in declared or declared.get("type") == "object"
    schema = dict(declared) if full else {"properties": dict(declared)}
    return {"type": "object", "additionalProperties": False} | schema


def _services(_: str, before: Any, after: Any) -> _Found:
    old, new = _named(before), _named(after)
    for name in sorted(old.keys() | new.keys()):
        key = f"services.{name}"
        if name not in new:
            yield on_card(ChangeKind.SERVICE_REMOVED, key, f"service {name} is gone", _text(old[name]))
        elif name not in old:
            yield on_card(ChangeKind.SERVICE_ADDED, key, f"service {name} is new", "", _text(new[name]))
        else:
            for field in sorted(old[name].keys() | new[name].keys()):
                values = (old[name].get(field), new[name].get(field))
                if values[0] != values[1]:
                    message = f"{field} of service {name} changed"
                    yield on_card(ChangeKind.SERVICE_CHANGED, f"{key}.{field}", message, *map(_text, values))


def _named(value: Any) -> dict[str, Mapping[str, Any]]:
    items = [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
    found: dict[str, Mapping[str, Any]] = {}
    for item in items:
        name = str(item.get("name"))
        found[name if name not in found else f"{name}#{len(found)}"] = item
    return found


def _sandbox(_: str, before: Any, after: Any) -> _Found:
    old, new = _mapping(before), _mapping(after)
    if old.get("image") != new.get("image"):
        texts = (_text(sandbox.get("image")) for sandbox in (old, new))
        yield on_card(ChangeKind.SANDBOX_IMAGE, "sandbox.image", "sandbox.image changed", *texts)
    yield from _network("sandbox.network", old, new, ChangeKind.SANDBOX_WIDENED, ChangeKind.SANDBOX_NARROWED)
    for name in sorted((old.keys() | new.keys()) - {"image", "network"}):
        if old.get(name) != new.get(name):
            yield from _other(f"sandbox/{name}", old.get(name), new.get(name))


def _determinism(key: str, before: Any, after: Any) -> _Found:
    values = (before or "seeded", after or "seeded")
    if values[0] != values[1]:
        lost = values[1] != "seeded"
        kind = ChangeKind.DETERMINISM_LOST if lost else ChangeKind.DETERMINISM_GAINED
        message = "equal seeds needn't give equal episodes any more" if lost else "equal seeds give equal episodes now"
        yield on_card(kind, key, message, *values)


def _volatile(key: str, before: Any, after: Any) -> _Found:
    yield from _members(
        key, _texts(before), _texts(after), ChangeKind.VOLATILE_ADDED, ChangeKind.VOLATILE_REMOVED
    )  # fmt: skip


def _members(key: str, old: set[str], new: set[str], added: ChangeKind, removed: ChangeKind) -> _Found:
    for name in sorted(new - old):
        yield on_card(added, key, f"{key} has {name} now", "", name)
    for name in sorted(old - new):
        yield on_card(removed, key, f"{key} hasn't {name} any more", name)


def _texts(value: Any) -> set[str]:
    return {str(item) for item in value} if isinstance(value, list) else set() if value is None else {str(value)}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return "" if value is None else shown(value)


_COMPARE: Mapping[str, _Compare] = {
    "action": compare_spaces,
    "observation": compare_spaces,
    "limits": _limits,
    "requires": _requires,
    "config": _config,
    "services": _services,
    "sandbox": _sandbox,
    "determinism": _determinism,
    "volatile_info": _volatile,
}
