"""What changed since the last release, per component, and whether the declared versions allow it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hfenv.card.manifest import Manifest
from hfenv.card.reader import Card
from hfenv.components.changelog import changelog_path, entry_for, read_changelog
from hfenv.components.ownership import Component, FileEntry, walk
from hfenv.components.release import (
    RecordedComponent,
    ReleaseRecord,
    read_record,
    record_component,
    with_recorded_modes,
)
from hfenv.components.statcache import StatCache
from hfenv.components.versions import Level, is_version, level_between, parse_version, raised
from hfenv.findings import Finding, Repair, Severity


@dataclass(frozen=True, slots=True)
class FileChange:
    """One path of a component that differs from the release: `added`, `removed`, `edited` or `mode`."""

    path: str
    kind: str


@dataclass(frozen=True, slots=True)
class ComponentStatus:
    """Where a component stands: what was released, what the card declares, what differs and the smallest legal bump."""

    component: Component
    released: str | None
    declared: str
    current: RecordedComponent
    changes: tuple[FileChange, ...]
    required: Level

    @property
    def changed(self) -> bool:
        """True when the exact digest differs from the released one, or nothing was released yet."""
        return self.released is None or self.required is not Level.NONE

    @property
    def smallest(self) -> str:
        """The lowest version that the change may be released under."""
        if self.released is None or self.required is Level.NONE:
            return self.released or self.declared
        before = parse_version(self.released)
        # After a release candidate the next one is enough: it promises nothing yet.
        return str(before.bump_prerelease()) if before.prerelease else raised(self.released, self.required)

    @property
    def satisfied(self) -> bool:
        """True when the declared version is at least the smallest legal one."""
        return self.released is None or parse_version(self.declared) >= parse_version(self.smallest)

    @property
    def moved(self) -> bool:
        """True when the next push gives this component a new version."""
        return self.released != self.declared


def declared_versions(manifest: Manifest) -> dict[Component, str]:
    """The three versions on the card."""
    return {
        Component.CODE: manifest.code.version,
        Component.TASKS: manifest.tasks.version,
        Component.REWARD: manifest.reward.version,
    }


def status(
    manifest: Manifest, files: Sequence[FileEntry], record: ReleaseRecord | None
) -> Mapping[Component, ComponentStatus]:
    """Compare files and card with the last release's record; needs neither network nor git history."""
    files = with_recorded_modes(files, record)
    found = {}
    for component, declared in declared_versions(manifest).items():
        released = record.components[component] if record else None
        current = record_component(component, files, manifest.raw, declared, known=released)
        differs = released is not None and released.exact != current.exact
        found[component] = ComponentStatus(
            component=component,
            released=released.version if released else None,
            declared=declared,
            current=current,
            changes=_changes(released, current) if released and differs else (),
            required=Level.PATCH if differs else Level.NONE,
        )
    return found


def folder_status(root: Path, manifest: Manifest) -> Mapping[Component, ComponentStatus]:
    """`status` of an environment's folder as it lies on disk; files that can't have changed aren't read again."""
    return status(manifest, walk(root, StatCache.of(root)), read_record(root))


def _changes(released: RecordedComponent, current: RecordedComponent) -> tuple[FileChange, ...]:
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
    return tuple(changes) or (FileChange("README.md", "edited"),)


def check_versions(root: Path, files: Sequence[FileEntry], card: Card, manifest: Manifest) -> list[Finding]:
    """The gate: findings for changed components without a bump, versions going backwards, missing entries, and
    executable bits that were lost."""
    record = read_record(root)
    findings = [
        Finding(
            "HFE207", Severity.WARNING, path, f"{path} was released executable and isn't now", fix=f"chmod +x {path}",
            repair=Repair(executable=True),
        )
        for path in _lost_modes(files, record)
    ]  # fmt: skip
    for component, state in status(manifest, files, record).items():
        pointer = f"/environment/{component.value}/version"
        position = card.position(pointer)
        name = component.value

        def finding(
            rule: str, message: str, fix: str, *, pointer: str = pointer, line: int = position.line,
            column: int = position.column,
        ) -> Finding:  # fmt: skip
            return Finding(rule, Severity.ERROR, "README.md", message, pointer, line, column, fix)

        if state.released and parse_version(state.declared) < parse_version(state.released):
            message = f"{name} declares {state.declared}, below the released {state.released}"
            findings.append(finding("HFE502", message, f"hfenv bump {name} {state.smallest} -m '...'"))
        elif not state.satisfied:
            what = ", ".join(f"{change.path} ({change.kind})" for change in state.changes[:3])
            more = f" and {len(state.changes) - 3} more" if len(state.changes) > 3 else ""
            message = f"{name} changed since {state.released} ({what}{more}) but declares {state.declared}"
            findings.append(finding("HFE501", message, f"hfenv bump {name} {state.required.word} -m 'what changed'"))
        if entry_for(read_changelog(root, component), state.declared) is None:
            path = changelog_path(root, component).relative_to(root).as_posix()
            there = changelog_path(root, component).is_file()
            message = f"{path} has no entry for {name} {state.declared}" if there else f"there is no {path}"
            findings.append(
                Finding("HFE503", Severity.ERROR, path, message, fix=f"Add a heading '## [{state.declared}] - DATE'.")
            )
    return findings


def _lost_modes(files: Sequence[FileEntry], record: ReleaseRecord | None) -> list[str]:
    if os.name == "nt":  # where no file has the bit
        return []
    restored = with_recorded_modes(files, record)
    return [now.path for now, then in zip(files, restored, strict=True) if then.executable and not now.executable]


def release_level(states: Mapping[Component, ComponentStatus]) -> Level:
    """The highest level among the steps from released to declared versions; it raises the release's own version."""
    steps = [level_between(s.released, s.declared) for s in states.values() if s.released and is_version(s.declared)]
    return max(steps, default=Level.NONE)
