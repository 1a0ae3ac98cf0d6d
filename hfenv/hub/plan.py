"""What a push would publish: the folder's files, with the card and the release record as the release writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hfenv.card.configs import configs_from
from hfenv.card.edit import set_values
from hfenv.card.manifest import Manifest
from hfenv.card.reader import Card
from hfenv.components.changelog import changelog_name, read_changelog, with_release
from hfenv.components.evidence import bump_command, needs, told
from hfenv.components.history import first_release, releases_of
from hfenv.components.ignoring import LeftOut, left_out
from hfenv.components.ownership import CARD_NAME, RECORD_NAME, Component, FileEntry
from hfenv.components.release import ReleaseRecord, component_tag, release_tag
from hfenv.components.releasing import new_record
from hfenv.components.snapshot import Snapshot
from hfenv.components.status import Settle, Statuses, status
from hfenv.components.taskfiles import select
from hfenv.components.tasks.facts import SplitFacts, card_values, split_facts
from hfenv.errors import FindingsError, IntegrityError
from hfenv.hub.cache import ContentId, RemoteFile, content_id, content_id_of
from hfenv.hub.wire_errors import from_os_error

_LARGE = 1 << 20  # bytes


@dataclass(frozen=True, slots=True)
class LargeContent:
    """The digest of a large file; its git blob id is computed where a hub keeps it as no large one."""

    sha256: str
    source: Path

    def is_content_of(self, file: RemoteFile) -> bool:
        """Whether these are the bytes that the commit's tree promises."""
        return self.sha256 == file.sha256 if file.sha256 else _same(self.source, self.sha256).oid == file.oid


@dataclass(frozen=True, slots=True)
class PushPlan:
    """Everything a push needs to know about the folder; made without asking the hub.

    `files` maps each path to its source on disk, `written` the files that hfenv itself writes to their new bytes,
    and `contents` every path to the digests that it had when the record was computed. `releases` is false for a push of
    documentation, policies or a rating, which moves no version.
    """

    root: Path
    manifest: Manifest
    states: Statuses
    record: ReleaseRecord
    releases: bool
    files: Mapping[str, Path]
    written: Mapping[str, bytes]
    contents: Mapping[str, ContentId | LargeContent]

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


@dataclass(frozen=True, slots=True)
class Preview:
    """What a dry run tells besides paths and bytes.

    `digests` has the SHA-256 (hex) of each file that would be sent, `components` the exact digest of each component as
    the record would have it, `moved` those whose version is new, `ignored` what ignore rules leave out.
    """

    digests: Mapping[str, str]
    components: Mapping[Component, str]
    moved: frozenset[Component]
    ignored: tuple[LeftOut, ...]


def preview(plan: PushPlan, uploads: Iterable[str]) -> Preview:
    """The preview of a plan that would send some of its files; reads folders that are left out to count their files."""
    return Preview(
        {path: plan.contents[path].sha256 for path in sorted(uploads)},
        {component: recorded.exact for component, recorded in plan.record.components.items()},
        frozenset(component for component, state in plan.states.items() if state.moved),
        left_out(plan.root),
    )


def make_plan(root: Path, settle: Settle | None = None) -> PushPlan:
    """Plan a push of an environment's folder as it lies on disk.

    `settle` may lower what a change needs, where running something tells more than reading it. Raises FindingsError for
    a change that the declared versions don't cover.
    """
    folder = Snapshot.of(root)
    card, block, entries, previous = folder.card, folder.manifest, folder.files, folder.record
    states = status(folder)
    if settle is not None:
        states = settle(folder, states)
    _refuse_unbumped(states, root)
    paths = [entry.path for entry in entries]
    splits = {split: select(paths, patterns) for split, patterns in block.tasks.splits.items()}
    roles = {name: role.value for name, role in block.tasks.fields.items()}
    seeds = block.tasks.seeds
    facts = {split: split_facts(root, roles, files, seeds.get(split)) for split, files in splits.items()}
    releases = previous is None or any(state.moved for state in states.values())
    record = previous
    if record is None or releases:
        rows = {split: fact.rows for split, fact in facts.items()}
        record = new_record(folder, states, rows)
    written = {CARD_NAME: _card_with_facts(card, block, record, facts, root), **_changelogs(folder, record)}
    if releases:
        written[RECORD_NAME] = record.to_bytes()
    # Card and record go along whatever an ignore file says: without them it is no environment.
    files = {path: root / path for path in sorted({CARD_NAME, RECORD_NAME, *(entry.path for entry in entries)})}
    listed = {entry.path: entry for entry in entries}
    contents = {
        path: _content(root, listed[path])
        if path in listed and path not in written
        else content_id_of(written.get(path, source))
        for path, source in files.items()
    }
    return PushPlan(root, block, states, record, releases, files, written, contents)


def _content(root: Path, entry: FileEntry) -> ContentId | LargeContent:
    source = root / entry.path
    return LargeContent(entry.sha256, source) if entry.size > _LARGE else _same(source, entry.sha256)


def _same(source: Path, sha256: str) -> ContentId:
    """Both digests of a file that still has the one that the record goes by."""
    try:
        content = content_id(source)
    except OSError as error:
        raise from_os_error(error, str(source)) from error
    if content.sha256 != sha256:
        raise IntegrityError(f"{source} changed while it was being pushed.", "Nothing was published; push again.")
    return content


def _refuse_unbumped(states: Statuses, root: Path) -> None:
    # Validation says so too, with more words; but a file may have changed since, and callers may leave it out.
    for component, state in states.items():
        if state.unclear is not None:
            raise state.unclear
        if not state.satisfied:
            raise FindingsError(
                f"{component.value} changed since {state.released} and declares {state.declared}, but {needs(state)}: "
                f"{told(state)}.",
                bump_command(state, root),
            )


def _changelogs(folder: Snapshot, record: ReleaseRecord) -> dict[str, bytes]:
    """The changelogs in which the newest version doesn't say yet in which release it went out."""
    found, paths = {}, {entry.path for entry in folder.files}
    for component, recorded in record.components.items():
        release = first_release(releases_of(record), component, recorded.version)
        path = changelog_name(component)
        text = read_changelog(folder.root, component) if path in paths else ""
        marked = with_release(text, recorded.version, release or record.release)
        if marked != text:
            found[path] = marked.encode()
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
