"""Exact digests of components (`hfenv-tree-1`): the one implementation that status, push, pull and load share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from json.encoder import encode_basestring_ascii as encode_text
from typing import Any

from hfenv.components.ownership import Component, FileEntry

ALGORITHM = "hfenv-tree-1"
MEANING = "hfenv-meaning-1"  # of the semantic digests, which stand in `meaning`

# What a component owns of the card's `environment` block. Versions, descriptions and licences are not behaviour.
_SLICES: Mapping[Component, tuple[str, ...]] = {
    Component.CODE: (
        "code/entry", "action", "observation", "limits", "requires", "config", "services", "sandbox",
        "determinism", "volatile_info",
    ),
    Component.TASKS: ("tasks/splits", "tasks/fields", "tasks/generator", "tasks/seeds", "resources"),
    Component.REWARD: (
        "reward/entry", "reward/range", "reward/floor", "reward/parts", "reward/scope", "reward/builtin",
    ),
}  # fmt: skip
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
_DESCRIBED = frozenset({"action", "observation", "config", "services"})
_VALUES = frozenset({"default", "const", "enum", "params"})  # what stands under these is data, whatever it is called


def canonical_json(value: Any) -> str:
    """One JSON text per value: sorted keys, no spaces, ASCII only; NaN and infinities raise ValueError."""
    return _ENCODER.encode(value)


def card_slice(component: Component, block: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the card's `environment` block that belongs to a component, as written, without absent keys."""
    found: dict[str, Any] = {}
    for path in _SLICES[component]:
        value: Any = block
        for key in path.split("/"):
            value = value.get(key) if isinstance(value, Mapping) else None
        if path == "reward/parts" and value is not None:
            found[path] = list(value)  # a list of names, or a mapping of names to what they mean
        elif value is not None:
            found[path] = _without_prose(value) if path in _DESCRIBED else value
    return found


def is_owned(key: Sequence[str]) -> bool:
    """Whether a value of the card's `environment` block, by its keys, is in the slice of a component.

    Of a list of mappings, places count as keys. Texts that describe are in none.
    """
    for paths in _SLICES.values():
        for path in paths:
            names = path.split("/")
            if list(key[: len(names)]) == names:
                return not (names[0] in _DESCRIBED and key[-1] == "description")
    return False


def _without_prose(value: Any) -> Any:
    """A value without the texts that describe it, at every depth."""
    if isinstance(value, Mapping):
        kept = (item for item in value.items() if not (item[0] == "description" and isinstance(item[1], str)))
        return {key: part if key in _VALUES else _without_prose(part) for key, part in kept}
    if isinstance(value, list):
        return [_without_prose(item) for item in value]
    return value


def exact_digest(component: Component, files: Iterable[FileEntry], block: Mapping[str, Any]) -> str:
    """SHA-256 (hex) over a head line with the card's slice and one line per file, sorted by the path's UTF-8 bytes.

    Every line is JSON, so that no path or content can be mistaken for another field. Files of other components are
    left out, whatever is passed in.
    """
    digest = hashlib.sha256()
    head = [ALGORITHM, component.value, card_slice(component, block)]
    digest.update(canonical_json(head).encode() + b"\n")
    own = [entry for entry in files if entry.component is component]
    own.sort(key=lambda e: e.path.encode())
    # What canonical_json gives for the four values of each, five times as fast.
    digest.update(
        "".join(
            f"[{encode_text(e.path)},{'true' if e.executable else 'false'},{e.size},{encode_text(e.sha256)}]\n"
            for e in own
        ).encode()
    )
    return digest.hexdigest()


def joint_digest(exact: Mapping[Component, str]) -> str:
    """SHA-256 (hex) over the exact digests of all three components: what an audit on a card says that it looked at."""
    named = {component.value: exact[component] for component in Component}
    return hashlib.sha256(canonical_json(["hfenv-audited-1", named]).encode()).hexdigest()
