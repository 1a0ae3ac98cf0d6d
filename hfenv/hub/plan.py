"""What a push would publish: the folder's files, with the card and the release record as the release writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from hfenv.card.configs import configs_from
from hfenv.card.edit import set_values
from hfenv.card.manifest import Manifest
from hfenv.card.reader import Card, manifest, read_card
from hfenv.components.ownership import CARD_NAME, RECORD_NAME, Component, walk
from hfenv.components.release import (
    RecordedFile,
    RecordedSplit,
    ReleaseRecord,
    component_tag,
    read_record,
    release_tag,
    with_recorded_modes,
)
from hfenv.components.status import ComponentStatus, release_level, status
from hfenv.components.taskfiles import select
from hfenv.components.tasks.facts import SplitFacts, card_values, split_facts
from hfenv.components.versions import Level, level_between, next_release, parse_version
from hfenv.errors import FindingsError
from hfenv.hub.cache import ContentId, content_id_of


@dataclass(frozen=True, slots=True)
class PushPlan:
    """Everything a push needs to know about the folder; made without asking the hub.

    `files` maps each path to its source on disk, `written` the files that hfenv itself writes to their new bytes,
    and `contents` every path to the digests that it had when the record was computed. `releases` is false for a push of
    documentation, policies or a rating, which moves no version.
    """

    root: Path
    manifest: Manifest
    states: Mapping[Component, ComponentStatus]
    record: ReleaseRecord
    releases: bool
    files: Mapping[str, Path]
    written: Mapping[str, bytes]
    contents: Mapping[str, ContentId]

    @property
    def new_tags(self) -> frozenset[str]:
        """Tags of the versions that this release gives out for the first time."""
        if not self.releases:
            return frozenset()
        moved = (component_tag(s.component, s.declared) for s in self.states.values() if s.moved)
        return frozenset((release_tag(self.record.release), *moved))

    def content(self, path: str) -> bytes | Path:
        """What goes to the hub under a path."""
        return self.written.get(path, self.files[path])

    def size(self, path: str) -> int:
        """Bytes that go to the hub under a path."""
        content = self.content(path)
        return len(content) if isinstance(content, bytes) else content.stat().st_size


def make_plan(root: Path) -> PushPlan:
    """Plan a push of an environment's folder as it lies on disk."""
    card = read_card(root / CARD_NAME)
    block = manifest(card)
    previous = read_record(root)
    entries = with_recorded_modes(walk(root), previous)
    states = status(block, entries, previous)
    _refuse_unbumped(states)
    paths = [entry.path for entry in entries]
    splits = {split: select(paths, patterns) for split, patterns in block.tasks.splits.items()}
    roles = {name: role.value for name, role in block.tasks.fields.items()}
    facts = {split: split_facts(root, roles, files) for split, files in splits.items()}
    releases = previous is None or any(state.moved for state in states.values())
    record = previous
    if record is None or releases:
        record = _record(block, states, facts, previous)
    written = {CARD_NAME: _card_with_facts(card, block, record, facts, root)}
    if releases:
        written[RECORD_NAME] = record.to_bytes()
    # Card and record go along whatever an ignore file says: without them it is no environment.
    files = {path: root / path for path in sorted({CARD_NAME, RECORD_NAME, *(entry.path for entry in entries)})}
    contents = {path: content_id_of(written.get(path, source)) for path, source in files.items()}
    return PushPlan(root, block, states, record, releases, files, written, contents)


def _refuse_unbumped(states: Mapping[Component, ComponentStatus]) -> None:
    # Validation says so too, with more words; but a file may have changed since, and callers may leave it out.
    for component, state in states.items():
        if not state.satisfied:
            raise FindingsError(
                f"{component.value} changed since {state.released} but declares {state.declared}.",
                f"hfenv bump {component.value} {max(state.required, Level.PATCH).word} -m 'what changed'",
            )


def _record(
    block: Manifest,
    states: Mapping[Component, ComponentStatus],
    facts: Mapping[str, SplitFacts],
    previous: ReleaseRecord | None,
) -> ReleaseRecord:
    from hfenv import __version__

    release = next_release(
        previous.release if previous else None,
        release_level(states),
        prerelease=any(parse_version(state.declared).prerelease for state in states.values()),
        components=[state.declared for state in states.values()],
    )
    splits = {}
    for name, fact in facts.items():
        since = _comparable_since(name, fact.files, states, previous) or release
        splits[name] = RecordedSplit(fact.rows, since)
    components = {component: state.current for component, state in states.items()}
    return ReleaseRecord(release, __version__, components, splits, _packages(block))


def _comparable_since(
    split: str, paths: frozenset[str], states: Mapping[Component, ComponentStatus], previous: ReleaseRecord | None
) -> str | None:
    """Since when numbers on a split may stand in one table: as before, when only patches happened around equal rows."""
    if previous is None or split not in previous.splits:
        return None
    steps = (level_between(previous.components[c].version, state.declared) for c, state in states.items())
    if max(steps) > Level.PATCH:
        return None

    def rows(files: tuple[RecordedFile, ...]) -> set[tuple[str, str]]:
        return {(file.path, file.sha256) for file in files if file.path in paths}

    same = rows(previous.components[Component.TASKS].files) == rows(states[Component.TASKS].current.files)
    return previous.splits[split].comparable_since if same else None


def _packages(block: Manifest) -> dict[str, str]:
    """Installed versions of the packages that the card requires: what this release was made with."""
    from packaging.requirements import InvalidRequirement, Requirement

    found = {}
    for text in block.requires.packages:
        try:
            name = Requirement(text).name
            found[name] = metadata.version(name)
        except (InvalidRequirement, metadata.PackageNotFoundError):
            continue
    return found


def _card_with_facts(
    card: Card, block: Manifest, record: ReleaseRecord, facts: Mapping[str, SplitFacts], root: Path
) -> bytes:
    """The card with what hfenv itself writes: the release, task counts, and the config that the Hub's viewer reads."""
    values: dict[str, Any] = {"/environment/release": record.release}
    values |= card_values(facts.values())
    values["/configs"] = configs_from(card.front_matter.get("configs"), block.tasks.splits)
    changed = {pointer: value for pointer, value in values.items() if _at(card, pointer) != value}
    return set_values(card, changed) if changed else (root / CARD_NAME).read_bytes()


def _at(card: Card, pointer: str) -> Any:
    value: Any = card.front_matter
    for key in pointer.strip("/").split("/"):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
