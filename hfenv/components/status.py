"""What changed since the last release, per component, with the evidence, and which versions that allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hfenv.card.manifest import Manifest, RewardScope
from hfenv.components.ownership import CARD_NAME, Component, FileEntry
from hfenv.components.release import RecordedComponent, ReleaseRecord, record_component
from hfenv.components.snapshot import Snapshot
from hfenv.components.versions import Level, covers, is_version, level_between, parse_version, smallest
from hfenv.errors import HfenvError

if TYPE_CHECKING:
    from hfenv.components.changes.change import Change
    from hfenv.components.changes.policy import Policy
    from hfenv.components.tasks.since import SinceRelease


@dataclass(frozen=True, slots=True)
class FileChange:
    """One path of a component that differs from the release: `added`, `removed`, `edited` or `mode`."""

    path: str
    kind: str


@dataclass(frozen=True, slots=True)
class ComponentStatus:
    """Where a component stands: what was released, what the card declares, and what differs.

    `files` are the paths that differ, `changes` what that means. `unclear` says why the latter can't be told. `probed`
    is what replaying probes showed, and `alike` whether they scored as before; until then changes that probes can tell
    about have their upper level. `tasks` compares the two task sets.
    """

    component: Component
    released: str | None
    declared: str
    current: RecordedComponent
    files: tuple[FileChange, ...] = ()
    changes: tuple[Change, ...] = ()
    unclear: HfenvError | None = None
    probed: str = ""
    alike: bool = False
    tasks: SinceRelease | None = None

    @property
    def changed(self) -> bool:
        """True when the exact digest differs from the released one, or nothing was released yet."""
        return self.released is None or bool(self.files)

    @property
    def required(self) -> Level:
        """The level that the change needs; any change needs a patch."""
        levels = [change.level for change in self.changes]
        return max(levels, default=Level.NONE) if levels or not self.files else Level.PATCH

    @property
    def at_least(self) -> Level:
        """The level that is needed even where probes score alike."""
        return max((change.settled().level for change in self.changes), default=self.required)

    @property
    def smallest(self) -> str:
        """The lowest version that the change may be released under."""
        return self.declared if self.released is None else smallest(self.released, self.required)

    @property
    def satisfied(self) -> bool:
        """True when the declared version is high enough."""
        return self.released is None or covers(self.declared, self.released, self.required)

    @property
    def backwards(self) -> bool:
        """True when the declared version is below the released one."""
        return self.released is not None and parse_version(self.declared) < parse_version(self.released)

    @property
    def moved(self) -> bool:
        """True when the next push gives this component a new version."""
        return self.released != self.declared

    @property
    def rests_on_probes(self) -> bool:
        """True when the declared version is enough only if probes score alike under the old and the new reward."""
        return not self.satisfied and self.released is not None and covers(self.declared, self.released, self.at_least)


Statuses = Mapping[Component, ComponentStatus]
Settle = Callable[[Snapshot, Statuses], Statuses]
"""Says of a folder's components what running something told about their changes."""


def declared_versions(manifest: Manifest) -> dict[Component, str]:
    """The three versions on the card."""
    return {
        Component.CODE: manifest.code.version,
        Component.TASKS: manifest.tasks.version,
        Component.REWARD: manifest.reward.version,
    }


def current_components(
    manifest: Manifest, files: Sequence[FileEntry], record: ReleaseRecord | None
) -> dict[Component, RecordedComponent]:
    """The components as they stand, in the form in which they would be recorded; what is as released keeps its meaning.

    `files` have the executable bits that the record keeps, see `with_recorded_modes`.
    """
    return {
        component: record_component(
            component, files, manifest.raw, declared, known=record.components[component] if record else None
        )
        for component, declared in declared_versions(manifest).items()
    }


def own_policy(manifest: Manifest) -> Policy:
    """The policy table as an environment's card adjusts it."""
    from hfenv.components.changes.policy import load_policy

    return load_policy(manifest.raw.get("change_policy"))


def status(folder: Snapshot) -> Statuses:
    """Compare a folder with the record of its last release; needs neither network nor git history.

    Raises UnreadableError for a record or a policy that can't be read; what is wrong with the folder is `unclear`.
    """
    found, record = {}, folder.record
    for component, current in current_components(folder.manifest, folder.files, record).items():
        released = record.components[component] if record else None
        state = ComponentStatus(component, released.version if released else None, current.version, current)
        if released is not None and released.exact != current.exact:
            state = _compared(replace(state, files=_files(released, current)), released, folder)
        found[component] = state
    return found


def _compared(state: ComponentStatus, released: RecordedComponent, folder: Snapshot) -> ComponentStatus:
    from hfenv.components.classify import classify, placed
    from hfenv.components.describe import recorded_meaning, recorded_probes

    component, policy = state.component, own_policy(folder.manifest)
    meaning = recorded_meaning(component, released)  # whose errors are the record's and not the folder's
    paths = [change.path for change in state.files if change.path != CARD_NAME]
    try:
        found = classify(component, meaning, folder, paths, policy)
    except HfenvError as error:
        return replace(state, unclear=error)
    changes = tuple(placed(change, folder.card) for change in found.changes)
    if not recorded_probes(released) or folder.manifest.reward.scope is RewardScope.GROUP:  # nothing could lower any
        changes = tuple(replace(change, unless_probes=None) for change in changes)
    return replace(state, changes=changes, tasks=found.tasks)


def _files(released: RecordedComponent, current: RecordedComponent) -> tuple[FileChange, ...]:
    before = {f.path: f for f in released.files}
    after = {f.path: f for f in current.files}
    changes = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old is None:
            changes.append(FileChange(path, "added"))
        elif new is None:
            changes.append(FileChange(path, "removed"))
        elif old.sha256 != new.sha256:
            changes.append(FileChange(path, "edited"))
        elif old.executable != new.executable:
            changes.append(FileChange(path, "mode"))
    # The files are equal, so that the difference lies in the component's slice of the card.
    return tuple(changes) or (FileChange(CARD_NAME, "edited"),)


def release_level(states: Statuses) -> Level:
    """The highest level among the steps from released to declared versions; it raises the release's own version."""
    steps = [level_between(s.released, s.declared) for s in states.values() if s.released and is_version(s.declared)]
    return max(steps, default=Level.NONE)
