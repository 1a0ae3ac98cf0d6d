"""Raise a component's version on the card and write its changelog entry, both relative to the last release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hfenv.card.edit import set_values
from hfenv.card.reader import manifest, read_card
from hfenv.components.changelog import changelog_path, read_changelog, with_entry
from hfenv.components.files import write_all
from hfenv.components.ownership import CARD_NAME, Component
from hfenv.components.status import ComponentStatus, folder_status
from hfenv.components.versions import Level, level_between, parse_version, raised
from hfenv.errors import UsageError

_LEVELS = {level.word: level for level in Level if level is not Level.NONE}
STEPS = (*_LEVELS, "auto")


@dataclass(frozen=True, slots=True)
class Bump:
    """A component's step: what was released (None before the first release), declared before, declared now.

    `needed` is false for one whose content is as it was released.
    """

    component: Component
    released: str | None
    before: str
    after: str
    needed: bool


def bump(root: Path, component: Component | None, step: str, message: str, *, today: str) -> tuple[Bump, ...]:
    """Raise one component, or with None every changed one, and write card and changelogs together or not at all.

    `step` is `major`, `minor`, `patch`, `auto` (the smallest legal one) or a version; `today` the date that the
    changelog's heading gets. Bumping twice before a push doesn't climb twice.
    """
    card = read_card(root / CARD_NAME)
    states = folder_status(root, manifest(card))
    if component is not None:
        chosen = [states[component]]
    else:
        chosen = [state for state in states.values() if state.released is not None and state.changed]
        if step not in STEPS:
            raise UsageError("A version can be given to one component only.", f"hfenv bump COMPONENT {step}")
    bumps = []
    files: dict[Path, bytes] = {}
    values: dict[str, str] = {}
    for state in chosen:
        after = _target(state, step)
        done = Bump(state.component, state.released, state.declared, after, state.changed)
        bumps.append(done)
        values[f"/environment/{state.component.value}/version"] = after
        files[changelog_path(root, state.component)] = _entry(root, done, message, today)
    changed = {pointer: value for pointer, value in values.items() if not _same(states, pointer, value)}
    if changed:
        files[root / CARD_NAME] = set_values(card, changed)
    write_all(files)
    return tuple(bumps)


def _same(states: Mapping[Component, ComponentStatus], pointer: str, value: str) -> bool:
    return states[Component(pointer.split("/")[2])].declared == value


def _target(state: ComponentStatus, step: str) -> str:
    name, released = state.component.value, state.released
    if step not in STEPS:
        version = str(parse_version(step))
        if released and parse_version(version) <= parse_version(released):
            smallest = raised(released, max(state.required, Level.PATCH))
            raise UsageError(
                f"{name} {version} isn't above the released {released}.", f"The smallest legal version is {smallest}."
            )
        return version
    if released is None:
        # Nothing is out yet: the first push needs no bump, and a level has nothing to be relative to.
        return state.declared
    if step == "auto" and not state.changed:
        raise UsageError(f"{name} hasn't changed since {released}.", "Name a level to raise it all the same.")
    target = state.smallest if step == "auto" else raised(released, _LEVELS[step])
    return max(target, state.declared, key=parse_version)


def _entry(root: Path, bump: Bump, message: str, today: str) -> bytes:
    text = read_changelog(root, bump.component)
    level = level_between(bump.released, bump.after) if bump.released else Level.MAJOR
    # Before the first release, and after it when the version was raised already, the declared heading is ours to move.
    unreleased = bump.before if bump.before != bump.released else bump.after
    return with_entry(
        text, title=bump.component.value, version=bump.after, date=today, level=level, message=message,
        replaces=unreleased,
    ).encode()  # fmt: skip
