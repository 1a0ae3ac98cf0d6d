"""The gate: findings for versions that don't cover what changed since the last release, each with its evidence."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hfenv.components.changelog import FOLDER, changelog_path, entry_for, read_changelog
from hfenv.components.ownership import CARD_NAME, Component, FileEntry
from hfenv.components.snapshot import Snapshot
from hfenv.components.status import ComponentStatus, own_policy, status
from hfenv.components.versions import skips
from hfenv.errors import UnreadableError
from hfenv.findings import Finding, Repair
from hfenv.rules.catalogue import severity

GATE_RULES = ("HFE207", "HFE501", "HFE502", "HFE503", "HFE505", "HFE506", "HFE507", "HFE508", "HFE509", "HFE510")
_POLICY = "/environment/change_policy"


def check_versions(folder: Snapshot, files: Sequence[FileEntry]) -> list[Finding]:
    """Findings of the gate; `files` is the walk as it is, without the executable bits that the record keeps.

    Raises UnreadableError for a record or a changelog that can't be read.
    """
    findings = [*_lost_modes(files, folder.files), *_strangers(files), *_policy(folder)]
    if any(finding.rule == "HFE508" for finding in findings):
        return findings  # what a change needs can't be told
    for state in status(folder).values():
        findings += _Gate(folder, state).findings()
    return findings


@dataclass(frozen=True, slots=True)
class _Gate:
    folder: Snapshot
    state: ComponentStatus

    def findings(self) -> Iterator[Finding]:
        yield from self._version()
        yield from self._entry()

    def _version(self) -> Iterator[Finding]:
        state, name = self.state, self.state.component.value
        if state.released is None:
            return
        if state.backwards:
            message = f"{name} declares {state.declared}, below the released {state.released}"
            back = f"Write {state.released} on the card, or what is needed after it."
            yield self._on_card("HFE502", message, _command(state, self.folder.root) if state.changed else back)
        elif state.changed and not state.moved:
            message = f"{name} changed since {state.released} and still declares it; it {_told(state)}"
            yield self._on_card("HFE501", message, _command(state, self.folder.root))
        elif state.rests_on_probes:
            message = f"{name} {state.declared} is enough only if its probes score alike, else it {_told(state)}"
            yield self._on_card("HFE509", message, "hfenv status --probe; a push replays them, too")
        elif not state.satisfied:
            message = f"{name} declares {state.declared} after {state.released} but {_told(state)}"
            yield self._on_card("HFE505", message, _command(state, self.folder.root))
        elif skips(state.declared, state.released):
            message = f"{name} goes from {state.released} to {state.declared} and leaves versions out"
            yield self._on_card("HFE506", message, f"hfenv bump {name} auto, or keep it if that is meant.")

    def _entry(self) -> Iterator[Finding]:
        state, name = self.state, self.state.component.value
        entry = entry_for(read_changelog(self.folder.root, state.component), state.declared)
        if entry is not None and entry.body:
            return
        file = changelog_path(self.folder.root, state.component)
        path = file.relative_to(self.folder.root).as_posix()
        message = f"{path} has no entry for {name} {state.declared}" if file.is_file() else f"there is no {path}"
        fix = f"Add a heading '## [{state.declared}] - DATE', and say below it what changed."
        yield Finding("HFE503", severity("HFE503"), path, message, fix=fix)

    def _on_card(self, rule: str, message: str, fix: str) -> Finding:
        pointer = f"/environment/{self.state.component.value}/version"
        at = self.folder.card.position(pointer)
        return Finding(rule, severity(rule), CARD_NAME, message, pointer, at.line, at.column, fix)


# The words are imported by what needs them: in most folders nothing changed.
def _told(state: ComponentStatus) -> str:
    from hfenv.components.evidence import needs, told

    return f"{needs(state)}: {told(state)}"


def _command(state: ComponentStatus, root: Path) -> str:
    from hfenv.components.evidence import bump_command

    return bump_command(state, root) if state.unclear is None else "Correct it first."


def _strangers(files: Sequence[FileEntry]) -> Iterator[Finding]:
    """Changelogs of components that there aren't: what they tell is read by nobody."""
    names = [component.value for component in Component]
    for file in files:
        folder, _, name = file.path.partition("/")
        stem, dot, suffix = name.rpartition(".")
        if folder == FOLDER and dot and suffix == "md" and "/" not in name and stem not in names:
            message = f"{file.path} is the changelog of a component that there isn't"
            fix = f"Components are {', '.join(names)}; rename it, or move its entries."
            yield Finding("HFE507", severity("HFE507"), file.path, message, fix=fix)


def _policy(folder: Snapshot) -> Iterator[Finding]:
    if "change_policy" not in folder.manifest.raw:
        return
    at = folder.card.position(_POLICY)
    try:
        policy = own_policy(folder.manifest)
    except UnreadableError as error:
        message = error.message.rstrip(".")
        yield Finding("HFE508", severity("HFE508"), CARD_NAME, message, _POLICY, at.line, at.column, error.hint)
        return
    for adjustment in policy.loosened:
        yield Finding("HFE510", severity("HFE510"), CARD_NAME, adjustment.sentence, _POLICY, at.line, at.column)


def _lost_modes(files: Sequence[FileEntry], restored: Sequence[FileEntry]) -> Iterator[Finding]:
    if os.name == "nt":  # where no file has the bit
        return
    for now, then in zip(files, restored, strict=True):
        if then.executable and not now.executable:
            message = f"{now.path} was released executable and isn't now"
            repair = Repair(executable=True)
            yield Finding("HFE207", severity("HFE207"), now.path, message, fix=f"chmod +x {now.path}", repair=repair)
