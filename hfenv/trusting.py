"""What trusting a reference would trust, and what of it changed since something of its repository was trusted last."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hfenv.card.regular import MIB, read_regular
from hfenv.components.digest import card_slice
from hfenv.components.ownership import Component, owner_of
from hfenv.diffing.files import patch
from hfenv.errors import HfenvError, NotFoundError, UnreadableError, UsageError
from hfenv.hub.client import Hub
from hfenv.hub.references import Commit, HubReference, LocalReference, parse_reference
from hfenv.hub.resolve import resolve
from hfenv.runtime.trust import Seen, TrustEntry, TrustStore
from hfenv.selecting import is_policy
from hfenv.specify import LocalFolder, Origin, digests_of, verified_components

PARTS = ("code", "reward", "policies", "tasks")
_LARGEST = MIB  # bytes of a file whose lines are shown
_MOST = 4 * MIB  # code points of all patches together


@dataclass(frozen=True, slots=True)
class Running:
    """Everything of a reference that would run: its entry, its commit, and its files by path.

    `commit` is empty where several are mixed. `parts` has the part that each file belongs to, `settings` what the card
    says of it, as text.
    """

    entry: TrustEntry
    commit: str
    files: Mapping[str, Path]
    parts: Mapping[str, str]
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that differs: `kind` is added, removed or edited; `unseen` says why it has no patch."""

    path: str
    part: str
    kind: str
    patch: str = ""
    unseen: str = ""


@dataclass(frozen=True, slots=True)
class TrustChange:
    """What changed since the last trust; `trusted` where exactly this is trusted, and nothing else was compared.

    `parts` are those whose digest differs from what was trusted last. `files` is None where the revision that was
    trusted isn't known or can't be had any more, with the reason in `why`.
    """

    now: Running
    last: TrustEntry | None
    seen: Seen | None
    trusted: bool
    parts: tuple[str, ...]
    files: tuple[FileChange, ...] | None
    why: str = ""


def running(ref: str, *, origin: Origin) -> Running:
    """What trusting a reference would trust: a release on a hub, or a pulled folder. Imports nothing of it."""
    reference = parse_reference(ref)
    if isinstance(reference, LocalReference):
        return _of_folder(ref, LocalFolder.read(reference.path))
    with origin.connected() as hub:
        return _of_hub(hub, reference)


def trust(ref: str, *, origin: Origin, now: float) -> Running:
    """Trust exactly what a reference would run; `now` is the time in seconds since 1970."""
    found = running(ref, origin=origin)
    TrustStore().add(found.entry, Seen(found.commit, now) if found.commit else None)
    return found


def since_trusted(ref: str, *, origin: Origin) -> TrustChange:
    """What changed in code, reward and policies since something of this repository was trusted last.

    Raises NotFoundError where nothing was. Fetches the revision that was trusted where the cache doesn't have it.
    """
    found = running(ref, origin=origin)
    store, entry = TrustStore(), found.entry
    digests = {name: value for name in PARTS if (value := getattr(entry, name))}
    last = store.last(entry.endpoint, entry.repo)
    if last is None:
        raise NotFoundError(
            f"Nothing of {entry.repo} was trusted on this machine.", f"Read it, then: hfenv trust add {ref}"
        )
    if store.is_trusted(entry.endpoint, entry.repo, **digests):
        return TrustChange(found, *last, True, (), ())
    trusted, seen = last
    parts = tuple(name for name in PARTS if getattr(entry, name) != getattr(trusted, name))
    if seen is None:
        return TrustChange(found, trusted, None, False, parts, None, "its commit wasn't remembered")
    try:
        with origin.connected() as hub:
            before = _of_hub(hub, HubReference(entry.repo, Commit(seen.commit), f"{entry.repo}@{seen.commit}"))
    except HfenvError as error:
        return TrustChange(found, trusted, seen, False, parts, None, error.message)
    return TrustChange(found, trusted, seen, False, parts, _changes(before, found))


def _of_folder(ref: str, folder: LocalFolder) -> Running:
    state = folder.state
    if state is None or not state.pulled:
        raise UsageError(f"{ref} is your own folder, which needs no trust.", "Name a repository or a pulled folder.")
    entry = TrustEntry(state.endpoint, state.repo, **folder.digests())
    parts = {e.path: part for e in folder.entries if (part := _part(e.path, bool(entry.tasks)))}
    raw = folder.manifest.raw
    # A folder that was edited is no commit: what it builds on isn't what is trusted.
    commit = state.base if folder.release is not None else ""
    return Running(entry, commit, {path: folder.root / path for path in parts}, parts, _settings(raw, raw))


def _of_hub(hub: Hub, reference: HubReference) -> Running:
    resolved = resolve(hub, reference)
    verified = verified_components(hub, resolved)
    entry = TrustEntry(hub.key, reference.repo, **digests_of(verified))
    files: dict[str, Path] = {}
    parts: dict[str, str] = {}
    for component, found in verified.items():
        for path in found.digests:
            part = _part(path, bool(entry.tasks))
            if part and _home(part) is component:
                files[path], parts[path] = found.files / path, part
    commits = set(resolved.commits.values())
    commit = commits.pop() if len(commits) == 1 else ""
    settings = _settings(verified[Component.CODE].manifest.raw, verified[Component.REWARD].manifest.raw)
    return Running(entry, commit, files, parts, settings)


def _part(path: str, generated: bool) -> str | None:
    """The part of an entry that a file belongs to, None for one that never runs."""
    owner = owner_of(path)
    if owner is Component.TASKS:
        return "tasks" if generated and path.endswith(".py") else None
    if owner is not None:
        return str(owner.value)
    return "policies" if is_policy(path) and path.endswith(".py") else None


def _home(part: str) -> Component:
    return Component.CODE if part == "policies" else Component(part)


def _settings(code: Mapping[str, Any], reward: Mapping[str, Any]) -> dict[str, str]:
    values = {
        "code": card_slice(Component.CODE, code),
        "reward": card_slice(Component.REWARD, reward),
        "policies": code.get("policies") or {},
    }
    return {part: json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) for part, value in values.items()}


def _changes(before: Running, now: Running) -> tuple[FileChange, ...]:
    found, left = [], _MOST
    for part, text in now.settings.items():
        if text != before.settings[part]:
            name = f"README.md ({part})"
            lines = patch(f"{before.settings[part]}\n".encode(), f"{text}\n".encode(), name, name)
            found.append(FileChange("README.md", part, "edited", lines))
    for path in sorted({*before.files, *now.files}):
        change = _change(path, before, now)
        if change is None:
            continue
        left -= len(change.patch)
        if left < 0:
            change = FileChange(path, change.part, change.kind, unseen="the lines that differ are too many to be shown")
        found.append(change)
    return tuple(found)


def _change(path: str, before: Running, now: Running) -> FileChange | None:
    part = now.parts.get(path) or before.parts[path]
    kind = "added" if path not in before.files else "removed" if path not in now.files else "edited"
    try:
        texts = [read_regular(side.files[path], _LARGEST) if path in side.files else b"" for side in (before, now)]
    except OSError as error:
        if path in before.files and path in now.files and _same_size_and_bytes(before.files[path], now.files[path]):
            return None
        return FileChange(path, part, kind, unseen=error.strerror or "it can't be read")
    if texts[0] == texts[1] and kind == "edited":
        return None
    if any(b"\0" in text for text in texts):
        return FileChange(path, part, kind, unseen="binary")
    return FileChange(path, part, kind, patch(texts[0], texts[1], path, path))


def _same_size_and_bytes(one: Path, other: Path) -> bool:
    import filecmp

    try:
        return filecmp.cmp(one, other, shallow=False)
    except OSError as error:
        raise UnreadableError(f"{one.name} can't be read: {error.strerror}.", "Check its rights.") from None
