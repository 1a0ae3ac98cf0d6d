"""Changes in words: one line for each, the gate's short form, and the draft of a changelog entry."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hfenv.components.changelog import Item
from hfenv.components.changes.change import Change
from hfenv.components.status import ComponentStatus
from hfenv.components.versions import Level

_MOST = 3  # changes that a finding names
_MOST_DRAFTED = 12  # and a draft, of each level


def line_of(change: Change) -> str:
    """What changed and where: `reward/reward.py:18: EXACT has another value (0.6 -> 0.5)`."""
    place = f"{change.path}:{change.line}" if change.line else change.path
    return f"{place}: {what_of(change)}"


def what_of(change: Change) -> str:
    """What changed, with short values before and after where both say something."""
    values = f" ({change.before} -> {change.after})" if change.before and change.after else ""
    return f"{change.message}{values}"


def by_weight(changes: Iterable[Change]) -> list[Change]:
    """The weightiest first, else in their order."""
    return sorted(changes, key=lambda change: -change.level)


def told(state: ComponentStatus) -> str:
    """The evidence for the level that a component needs, in one line, the weightiest first."""
    if state.unclear is not None:
        return f"what changed can't be told, since {state.unclear.message.rstrip('.')}"
    changes = by_weight(state.changes)
    shown = "; ".join(line_of(change) for change in changes[:_MOST])
    more = f"; and {len(changes) - _MOST} more" if len(changes) > _MOST else ""
    return f"{shown}{more}"


def draft(state: ComponentStatus) -> tuple[Item, ...]:
    """A changelog entry for what changed, for its author to improve: the weightiest first, the rest counted."""
    changes = [change for change in by_weight(state.changes) if change.level is not Level.PATCH]
    changes = changes or by_weight(state.changes)
    items = [Item(_group(change), _sentence(change)) for change in changes[:_MOST_DRAFTED]]
    if (more := len(changes) - _MOST_DRAFTED) > 0:
        items.append(Item("Changed", f"And {more:,} more changes."))
    if state.alike:
        items.append(Item("Changed", f"Scores are {state.probed}."))
    return tuple(items)


def _group(change: Change) -> str:
    kind = change.kind.value
    return "Added" if "added" in kind else "Removed" if "removed" in kind else "Changed"


def _sentence(change: Change) -> str:
    text = what_of(change)
    place = "" if not change.path or change.path in text else f" ({change.path})"
    if change.level is Level.MAJOR:
        return f"Breaking: {text}{place}."
    return f"{text[:1].upper()}{text[1:]}{place}."


def change_data(change: Change) -> dict[str, Any]:
    """A change as plain JSON."""
    return {
        "kind": change.kind.value,
        "level": change.level.word,
        "unless_probes": None if change.unless_probes is None else change.unless_probes.word,
        "path": change.path,
        "line": change.line,
        "name": change.name,
        "message": change.message,
        "before": change.before,
        "after": change.after,
        "why": change.why,
        "count": change.count,
        "examples": list(change.examples),
    }
