"""Changes in words: one line for each, the gate's short form, and the draft of a changelog entry."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hfenv.card.quoting import one_line
from hfenv.components.changelog import Item
from hfenv.components.changes.change import Change
from hfenv.components.status import ComponentStatus
from hfenv.components.versions import Level, smallest

_DIGEST = re.compile(r"(?:[a-z]+ )?(?:[0-9a-f]{16}|[0-9a-f]{64})")
_MOST = 3  # changes that a finding names
_MOST_DRAFTED = 12  # and a draft, of each level


def line_of(change: Change) -> str:
    """What changed and where: `reward/reward.py:18: EXACT has another value (0.6 -> 0.5)`."""
    place = f"{change.path}:{change.line}" if change.line else change.path
    what = what_of(change)
    return what if what.startswith(f"{change.path} ") and not change.line else f"{one_line(place)}: {what}"


def what_of(change: Change) -> str:
    """What changed, on one line, with short values before and after where both say something that isn't said yet."""
    before, after = change.before, change.after
    unsaid = before and after and not (before in change.message and after in change.message)
    legible = not _DIGEST.fullmatch(before) and not _DIGEST.fullmatch(after)
    values = f" ({before} -> {after})" if unsaid and legible else ""
    return one_line(f"{change.message}{values}")


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


def needs(state: ComponentStatus) -> str:
    """The version that a change needs, and the lower one that is enough where probes score alike."""
    level = state.required
    if state.unclear is not None or state.released is None:
        return "needs to be read first"
    found = f"needs {smallest(state.released, level)} ({level.word})"
    lower = smallest(state.released, state.at_least)
    return found if state.at_least is level else f"{found}, or {lower} if its probes score alike"


def bump_command(state: ComponentStatus, root: Path) -> str:
    """The command that raises a component as far as it needs, from where the folder's name was given."""
    where = "" if root == Path() else f" --path {shlex.quote(str(root))}"
    return f"hfenv bump {state.component.value} auto -m 'what changed'{where}"


def draft(state: ComponentStatus) -> tuple[Item, ...]:
    """A changelog entry for what changed, for its author to improve: the weightiest first, the rest counted."""
    changes = [change for change in by_weight(state.changes) if change.level is not Level.PATCH]
    changes = changes or by_weight(state.changes)
    items = [Item(_group(change), _sentence(change)) for change in changes[:_MOST_DRAFTED]]
    if (more := len(changes) - _MOST_DRAFTED) > 0:
        items.append(Item("Changed", f"And {more:,} more changes."))
    if state.alike and state.required is not Level.MAJOR:
        items.append(Item("Changed", f"Scores are {state.probed}."))
    return tuple(items)


def _group(change: Change) -> str:
    kind = change.kind.value
    return "Added" if "added" in kind else "Removed" if "removed" in kind else "Changed"


def _sentence(change: Change) -> str:
    text = what_of(change)
    place = "" if not change.path or one_line(change.path) in text else f" ({one_line(change.path)})"
    if change.level is Level.MAJOR:
        return f"Breaking: {text}{place}."
    # Paths and names keep their first letter.
    return f"The{text[3:]}{place}." if text.startswith("the ") else f"{text}{place}."


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
