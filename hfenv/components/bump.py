"""Raise a component's version on the card and write its changelog entry, both relative to the last release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from hfenv.card.edit import set_values
from hfenv.components.changelog import GROUPS, Item, changelog_path, read_changelog, with_entry
from hfenv.components.drafts import drafts_files, read_drafts
from hfenv.components.evidence import draft
from hfenv.components.files import write_all
from hfenv.components.meaning.digest import PROBES
from hfenv.components.ownership import CARD_NAME, Component
from hfenv.components.snapshot import Snapshot
from hfenv.components.status import ComponentStatus, Statuses
from hfenv.components.versions import Level, level_between, parse_version, raised, smallest
from hfenv.errors import ConflictError, UsageError

_LEVELS = {level.word: level for level in Level if level is not Level.NONE}
STEPS = (*_LEVELS, "auto")


@dataclass(frozen=True, slots=True)
class Bump:
    """A component's step: what was released (None before the first release), declared before, declared now.

    `state` is where it stood, with what the step has to cover. `entry` is what was written into the changelog,
    `drafted` whether hfenv wrote it from the evidence.
    """

    state: ComponentStatus
    before: str
    after: str
    entry: tuple[Item, ...]
    drafted: bool

    @property
    def component(self) -> Component:
        return self.state.component

    @property
    def released(self) -> str | None:
        return self.state.released

    @property
    def covers(self) -> bool:
        """Whether the step is as high as the change asks for, or may be so by what probes will show."""
        after = replace(self.state, declared=self.after)
        return after.satisfied or after.rests_on_probes


def bump(
    folder: Snapshot,
    states: Statuses,
    component: Component | None,
    *,
    step: str,
    message: str,
    today: str,
    probes: bytes | None = None,
) -> tuple[Bump, ...]:
    """Raise one component, or with None every changed one, and write card and changelogs together or not at all.

    `states` is where its components stand; `step` is `major`, `minor`, `patch`, `auto` (the smallest legal one) or a
    version; an empty `message` is drafted from what changed, in the place of an earlier draft; `today` is the date of
    the heading. `probes` is their file with the scores of the present reward, which a step of the reward that covers
    what changed takes over. Bumping twice before a push doesn't climb twice. Raises UsageError for a step that doesn't
    fit, and ConflictError, with nothing written, where card or probes were edited meanwhile.
    """
    if component is not None:
        chosen = [states[component]]
    else:
        chosen = [state for state in states.values() if state.released is not None and state.changed]
        if step not in STEPS:
            raise UsageError("A version can be given to one component only.", f"hfenv bump COMPONENT {step}")
    bumps = []
    files: dict[Path, bytes] = {}
    values: dict[str, str] = {}
    drafts = read_drafts(folder.root)
    for state in chosen:
        done = _step(state, step, message)
        bumps.append(done)
        values[f"/environment/{state.component.value}/version"] = done.after
        files |= _entry_files(folder.root, done, today, drafts)
        if probes is not None and state.component is Component.REWARD and done.covers:
            files[folder.root / PROBES] = probes
    changed = {pointer: value for pointer, value in values.items() if not _same(states, pointer, value)}
    if changed:
        files[folder.root / CARD_NAME] = set_values(folder.card, changed)
    _write(folder, files)
    return tuple(bumps)


def _step(state: ComponentStatus, step: str, message: str) -> Bump:
    after = _target(state, step)
    if message.strip():
        level = level_between(state.released, after) if state.released else Level.MAJOR
        return Bump(state, state.declared, after, (Item(GROUPS[level], message),), drafted=False)
    if not state.changes:
        raise UsageError(
            f"A bump of {state.component.value} needs the changelog entry that goes with it.",
            "Add -m 'what changed for users'.",
        )
    return Bump(state, state.declared, after, draft(state), drafted=True)


def _write(folder: Snapshot, files: Mapping[Path, bytes]) -> None:
    """Write all, or raise ConflictError for a card or probes that something else wrote since they were read."""
    read = {entry.path: entry.sha256 for entry in folder.files if entry.path == PROBES}
    read[CARD_NAME] = sha256(folder.card.raw).hexdigest()
    for name, digest in read.items():
        path = folder.root / name
        try:
            same = path not in files or sha256(path.read_bytes()).hexdigest() == digest
        except OSError:
            same = False
        if not same:
            raise ConflictError(f"{name} changed while it was being looked at.", "Nothing was written; bump again.")
    write_all(files)


def _same(states: Statuses, pointer: str, value: str) -> bool:
    return states[Component(pointer.split("/")[2])].declared == value


def _target(state: ComponentStatus, step: str) -> str:
    name, released = state.component.value, state.released
    if state.unclear is not None and step == "auto":
        raise state.unclear
    if step not in STEPS:
        version = str(parse_version(step))
        if released and parse_version(version) <= parse_version(released):
            lowest = smallest(released, max(state.required, Level.PATCH))
            raise UsageError(
                f"{name} {version} isn't above the released {released}.", f"The smallest legal version is {lowest}."
            )
        return version
    if released is None:
        # Nothing is out yet: the first push needs no bump, and a level has nothing to be relative to.
        return state.declared
    if step == "auto" and not state.changed:
        raise UsageError(f"{name} hasn't changed since {released}.", "Name a level to raise it all the same.")
    target = state.smallest if step == "auto" else raised(released, _LEVELS[step])
    return max(target, state.declared, key=parse_version)


def _entry_files(root: Path, done: Bump, today: str, drafts: dict[Component, Sequence[str]]) -> dict[Path, bytes]:
    """The changelog with the entry; a drafted one is remembered in `drafts`, and takes the place of the one there."""
    earlier = drafts[done.component] if done.drafted else ()
    files = {changelog_path(root, done.component): _written(root, done, today, earlier)}
    if done.drafted:
        drafts[done.component] = [item.text for item in done.entry]
        files |= drafts_files(root, drafts)
    return files


def _written(root: Path, bump: Bump, today: str, drafted: Sequence[str]) -> bytes:
    text = read_changelog(root, bump.component)
    # Before the first release, and after it when the version was raised already, the declared heading is ours to move.
    unreleased = bump.before if bump.before != bump.released else bump.after
    return with_entry(
        text,
        title=bump.component.value,
        version=bump.after,
        date=today,
        items=bump.entry,
        replaces=unreleased,
        without=drafted,
    ).encode()
