"""Exact digests of components (`hfenv-tree-1`): the one implementation that status, push, pull and load share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from hfenv.components.ownership import Component, FileEntry

ALGORITHM = "hfenv-tree-1"

# What a component owns of the card's `environment` block. Versions, descriptions and licences are not behaviour.
_SLICES: Mapping[Component, tuple[str, ...]] = {
    Component.CODE: (
        "code/entry", "action", "observation", "limits", "requires", "config", "services", "sandbox",
        "determinism", "volatile_info",
    ),
    Component.TASKS: ("tasks/splits", "tasks/fields", "resources"),
    Component.REWARD: (
        "reward/entry", "reward/range", "reward/floor", "reward/parts", "reward/scope", "reward/builtin",
    ),
}  # fmt: skip
_DESCRIBING = {"action": ("description",), "observation": ("description",)}


def canonical_json(value: Any) -> str:
    """One JSON text per value: sorted keys, no spaces, ASCII only; NaN and infinities raise ValueError."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def card_slice(component: Component, block: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the card's `environment` block that belongs to a component, as written, without absent keys."""
    found: dict[str, Any] = {}
    for path in _SLICES[component]:
        value: Any = block
        for key in path.split("/"):
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is None:
            continue
        if isinstance(value, Mapping):
            value = {key: item for key, item in value.items() if key not in _DESCRIBING.get(path, ())}
        found[path] = value
    return found


def exact_digest(component: Component, files: Iterable[FileEntry], block: Mapping[str, Any]) -> str:
    """SHA-256 (hex) over a head line with the card's slice and one line per file, sorted by the path's UTF-8 bytes.

    Every line is JSON, so that no path or content can be mistaken for another field. Files of other components are
    left out, whatever is passed in.
    """
    digest = hashlib.sha256()
    head = [ALGORITHM, component.value, card_slice(component, block)]
    digest.update(canonical_json(head).encode() + b"\n")
    own = [entry for entry in files if entry.component is component]
    for entry in sorted(own, key=lambda e: e.path.encode()):
        line = [entry.path, entry.executable, entry.size, entry.sha256]
        digest.update(canonical_json(line).encode() + b"\n")
    return digest.hexdigest()
