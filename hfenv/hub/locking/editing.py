"""Change a lock file: add what is asked for, keep what still is what was asked for, move, remove."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hfenv.errors import NotFoundError, UsageError
from hfenv.hub.client import Hub, connect
from hfenv.hub.locking.lockfile import Entry, LockFile
from hfenv.hub.locking.lookup import satisfies
from hfenv.hub.locking.pinning import pin
from hfenv.hub.locking.reaching import Reach
from hfenv.hub.locking.reading import read_lock
from hfenv.hub.references import HubReference, LocalReference, hub_reference, parse_reference


@dataclass(frozen=True, slots=True)
class Change:
    """What became of an entry: `before` is None for a new one, `after` for one that was removed."""

    before: Entry | None
    after: Entry | None

    @property
    def entry(self) -> Entry:
        """The entry as it is now, or was."""
        found = self.after or self.before
        if found is None:
            raise ValueError("a change of nothing")
        return found

    @property
    def word(self) -> str:
        """`added`, `kept`, `moved` or `removed`."""
        if self.before is None:
            return "added"
        if self.after is None:
            return "removed"
        return "kept" if self.before == self.after else "moved"


def lock_or_new(path: Path) -> LockFile:
    """The lock file at a path, an empty one where there is none yet."""
    try:
        return read_lock(path)
    except NotFoundError:
        return LockFile(path)


def chosen(lock: LockFile, names: Sequence[str]) -> tuple[Entry, ...]:
    """The entries that were named, by what was asked for or by repository; all of them without names."""
    if not names:
        return lock.entries
    found: list[Entry] = []
    for name in names:
        text = hub_reference(name).text
        own = [entry for entry in lock.entries if entry.ref == text] or list(lock.of(text))
        if not own:
            known = ", ".join(entry.ref for entry in lock.entries[:12]) or "nothing"
            raise NotFoundError(f"{name} isn't in {lock.path}.", f"It has {known}.")
        found += [entry for entry in own if entry not in found]
    return tuple(found)


def add(lock: LockFile, names: Sequence[str], reach: Reach, *, beside: bool = False) -> tuple[LockFile, list[Change]]:
    """Lock references of the hub that the user named. What is there and still fits is kept, without a request.

    Another reference to a repository takes the place of the one that is there, unless it is to stand `beside` it.
    """
    changes: list[Change] = []
    references = [_on_a_hub(name) for name in names]
    with connect(reach.hub, offline=reach.offline) as opened:
        for reference in references:
            change = _add(lock, opened, reference, beside=beside)
            others = [entry for entry in lock.entries if entry is not change.before]
            lock = lock.with_entries([*others, *([change.after] if change.after else [])])
            changes.append(change)
    return lock, changes


def _on_a_hub(name: str) -> HubReference:
    if isinstance(parse_reference(name), LocalReference):
        raise UsageError(f"{name} is a local folder, which can't be locked.", "Push it, then lock its repository.")
    return hub_reference(name)


def _add(lock: LockFile, hub: Hub, reference: HubReference, *, beside: bool) -> Change:
    own = [entry for entry in lock.of(reference.repo) if entry.key == hub.key]
    same = next((entry for entry in own if entry.ref == reference.text), None)
    if same is not None:
        return Change(same, same if satisfies(same, reference) else pin(hub, reference))
    if len(own) > 1 and not beside:
        raise UsageError(
            f"{lock.path} has {' and '.join(entry.ref for entry in own)}, and {reference.text} could replace each.",
            "Add it with --beside, or take one out first with --remove.",
        )
    return Change(own[0] if own and not beside else None, pin(hub, reference))


def settle(lock: LockFile, reach: Reach) -> tuple[LockFile, list[Change]]:
    """Lock again what isn't what it asks for, as after an edit of `ref` by hand; asks nothing about the rest."""
    return _moved(lock, [entry for entry in lock.entries if not satisfies(entry, entry.reference)], reach)


def upgrade(lock: LockFile, names: Sequence[str], reach: Reach) -> tuple[LockFile, list[Change]]:
    """Resolve entries anew, each within what was asked for."""
    return _moved(lock, chosen(lock, names), reach)


def _moved(lock: LockFile, entries: Sequence[Entry], reach: Reach) -> tuple[LockFile, list[Change]]:
    found: dict[int, Entry] = {}
    for entry in entries:
        with reach.to(entry) as opened:
            found[id(entry)] = pin(opened, entry.reference)
    changes = [Change(entry, found.get(id(entry), entry)) for entry in lock.entries]
    return lock.with_entries(change.entry for change in changes), changes


def remove(lock: LockFile, names: Sequence[str]) -> tuple[LockFile, list[Change]]:
    """Take entries out."""
    if not names:
        raise UsageError("What should be removed isn't named.", "Name it: hfenv lock --remove org/name")
    gone = chosen(lock, names)
    return lock.with_entries(e for e in lock.entries if e not in gone), [Change(entry, None) for entry in gone]
