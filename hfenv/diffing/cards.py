"""What differs on two cards beside the components: values that no component owns, the text, required packages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hfenv.card.quoting import short
from hfenv.card.reader import Card
from hfenv.components.digest import is_owned
from hfenv.components.ownership import Component
from hfenv.diffing.result import KeyDifference, PackageDifference, SectionDifference
from hfenv.diffing.sides import Place

# What a comparison says elsewhere.
_SAID = {"environment.release", *(f"environment.{component.value}.version" for component in Component)}


def key_differences(old: Card, new: Card) -> tuple[KeyDifference, ...]:
    """Values of the front matter that no component owns and that differ, in the order of the keys."""
    before, after = (dict(_leaves(card.front_matter, ())) for card in (old, new))
    found = []
    for key in dict.fromkeys((*before, *after)):
        was, now = before.get(key), after.get(key)
        name = ".".join(key)
        if was != now and name not in _SAID and not (key[0] == "environment" and _is_owned(key[1:], before, after)):
            found.append(KeyDifference(short(name), *(None if v is None else short(v) for v in (was, now))))
    return tuple(found)


def _leaves(value: Any, key: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Values that are no mappings, as JSON, by their keys; mappings in lists count by their place."""
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(inner, (*key, str(name)))
    elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        for place, item in enumerate(value):
            yield from _leaves(item, (*key, str(place)))
    elif value is not None and key:
        yield key, json.dumps(value, ensure_ascii=False, default=str)


def _is_owned(key: tuple[str, ...], *sides: Mapping[tuple[str, ...], str]) -> bool:
    if key[:2] == ("reward", "parts") and len(key) > 2:
        # The names are the reward's; what they mean, where both cards have the name, is prose.
        return not all(("environment", *key) in side for side in sides)
    return is_owned(key)


def section_differences(old: Card, new: Card) -> tuple[SectionDifference, ...]:
    """Sections of the second level that differ, in the order of the new card, then those that are gone."""
    before, after = _sections(old), _sections(new)
    found = []
    for key in [*after, *(key for key in before if key not in after)]:
        was, now = before.get(key), after.get(key)
        if was == now:
            continue
        kind = "added" if was is None else "removed" if now is None else "edited"
        counts = tuple(len((text or "").strip().splitlines()) for text in (was, now))
        found.append(SectionDifference(kind, short(key[0]), (counts[0], counts[1])))
    return tuple(found)


def _sections(card: Card) -> dict[tuple[str, int], str]:
    """The texts by title and, where a title is there twice, its number; the beginning goes by an empty title."""
    own = [section for section in card.sections if section.level == 2]
    start = own[0].start if own else len(card.text)
    found = {("", 0): _plain(card.text[card.header.body : start])}
    seen: Counter[str] = Counter()
    for section in own:
        found[section.title, seen[section.title]] = _plain(section.body)
        seen[section.title] += 1
    return found


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


def package_differences(old: Place, new: Place) -> tuple[PackageDifference, ...]:
    """Packages, and Python itself, that are required otherwise or were there in another version at the release."""
    required = [_required(place) for place in (old, new)]
    resolved = [dict(place.record.packages) if place.record is not None else {} for place in (old, new)]
    found = []
    for name in sorted({name for known in (*required, *resolved) for name in known}):
        asked = (required[0].get(name), required[1].get(name))
        had = (resolved[0].get(name), resolved[1].get(name))
        if asked[0] != asked[1] or had[0] != had[1]:
            found.append(PackageDifference(name, asked, had))
    return tuple(found)


def _required(place: Place) -> dict[str, str]:
    from packaging.requirements import InvalidRequirement, Requirement

    requires = place.snapshot.manifest.requires
    found: dict[str, str] = {"python": requires.python} if requires.python else {}
    for text in requires.packages:
        try:
            name = Requirement(text).name
        except InvalidRequirement:
            name = text
        found[name] = ", ".join([*_known(found, name), text])
    return found


def _known(found: Mapping[str, str], name: str) -> Sequence[str]:
    return [found[name]] if name in found else []
