"""Which entry of a lock file a reference means."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hfenv.components.ownership import Component
from hfenv.components.versions import matches
from hfenv.errors import NotLockedError, UsageError
from hfenv.hub.locking.lockfile import Entry, LockFile, same_hub
from hfenv.hub.locking.reading import read_lock
from hfenv.hub.references import Commit, HubReference, LocalReference, Mixed, Named, Release, hub_reference, is_hash
from hfenv.hub.references import parse_reference as parse

_FOLDER = "A folder can't be locked: leave out the lock file (lock=, --lock, HFENV_LOCK), or name a repository."


def satisfies(entry: Entry, reference: HubReference) -> bool:
    """Whether what is locked is something that a reference could mean, told without asking a hub.

    A branch or another name means what it was locked as.
    """
    selector = reference.selector
    if isinstance(selector, Commit):
        return set(entry.commits.values()) == {selector.sha}
    if isinstance(selector, Release):
        return bool(entry.release) and matches(entry.release, selector.spec)
    if isinstance(selector, Mixed):
        return all(_has(entry, component, wanted) for component, wanted in selector.versions.items())
    if isinstance(selector, Named):
        return entry.ref == reference.text
    return bool(entry.release) or entry.ref == reference.text


def _has(entry: Entry, component: Component, wanted: str) -> bool:
    locked = entry.components[component]
    return wanted == (locked.commit if is_hash(wanted) else locked.version)


def locked_entry(path: Path, text: str, revision: str | None = None, hub: str | None = None) -> Entry:
    """The entry of a lock file that a reference means.

    A reference as it was locked means its entry, a bare `org/name` the only one of its repository, any other one that
    it could mean. Of equal ones on several hubs, it is that of `hub`. Raises NotLockedError where there is none.
    """
    lock = read_lock(path)
    if isinstance(parse(text, revision), LocalReference) and not _is_locked_name(lock, text):
        raise NotLockedError(f"{text} is a folder, and only what {path} locks is loaded.", _FOLDER)
    return _chosen(lock, hub_reference(text, revision), hub)


def _is_locked_name(lock: LockFile, text: str) -> bool:
    """A folder here never takes the place of what is locked under its name."""
    return bool(lock.of(text))


def _chosen(lock: LockFile, reference: HubReference, hub: str | None) -> Entry:
    own = lock.of(reference.repo)
    found = _narrowed(own, reference, hub)
    if len(found) == 1:
        if not satisfies(found[0], found[0].reference):
            raise NotLockedError(
                f"{lock.path} asks for {found[0].ref} and has locked {_what(found[0])}.",
                f"Lock it again: hfenv lock --lock-file {lock.path}",
            )
        return found[0]
    if found:
        several = ", ".join(f"{entry.ref} ({entry.hub})" for entry in found)
        raise UsageError(f"{reference.text} means several entries of {lock.path}: {several}.", "Name one of them.")
    where = f" --lock-file {lock.path}"
    if own:
        has = ", ".join(f"{entry.ref} ({_what(entry)})" for entry in own)
        raise NotLockedError(
            f"{reference.text} isn't locked: {lock.path} has {has}.",
            f"Name what is locked, or lock this: hfenv lock {reference.text}{where}",
        )
    raise NotLockedError(
        f"{reference.repo} isn't locked in {lock.path}, and only what it locks is loaded.",
        f"Lock it: hfenv lock {reference.text}{where}",
    )


def _narrowed(own: Sequence[Entry], reference: HubReference, hub: str | None) -> list[Entry]:
    exact = [entry for entry in own if entry.ref == reference.text]
    bare = "@" not in reference.text
    found = exact or [entry for entry in own if bare or satisfies(entry, reference)]
    return [entry for entry in found if same_hub(entry, hub)] if len(found) > 1 and _on_several(found) else found


def _on_several(entries: Sequence[Entry]) -> bool:
    return len({entry.hub for entry in entries}) > 1


def _what(entry: Entry) -> str:
    return f"release {entry.release}" if entry.release else "mixed components"
