"""What has become of what is locked: findings for each entry, with the line that cures it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from hfenv.card.manifest import LifecycleStatus
from hfenv.card.reader import parse_card
from hfenv.components.marks import Marks, marks_of, said_of_lifecycle
from hfenv.components.ownership import CARD_NAME, RECORD_NAME, Component
from hfenv.components.release import ReleaseRecord, component_tag, parse_record, release_tag
from hfenv.errors import NetworkError, NotFoundError, UnreadableError
from hfenv.findings import Finding, Report, Severity, Skipped
from hfenv.hub.cache import RepositoryCache
from hfenv.hub.client import Hub
from hfenv.hub.locking.known import known_marks, remember_marks
from hfenv.hub.locking.lockfile import Entry, LockFile
from hfenv.hub.locking.peek import peek
from hfenv.hub.locking.reaching import Reach
from hfenv.hub.locking.upgrades import Upgrades
from hfenv.hub.references import Mixed, Named, Release, is_hash
from hfenv.hub.references import Newest as Bare
from hfenv.hub.resolve import Refs, read_refs, read_remote_record

LOCK_RULES = ("lock-advised", "lock-digests", "lock-lifecycle", "lock-moved", "lock-vanished", "lock-yanked")
_LARGEST_RECORD = 64 << 20
_REMOTE = ("lock-moved", "lock-vanished")


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at a repository gave; `refs` is None where the hub couldn't be asked, because it mustn't be."""

    refs: Refs | None
    marks: Marks


def check_lock(lock: LockFile, entries: Iterable[Entry], reach: Reach) -> Report:
    """Ask the hubs about entries. For each repository: its refs, its card, and the record of a pin that isn't cached.

    Offline, only what was heard before is told, and what is left out is skipped with its reason. Raises NetworkError
    and AccessError, since nothing can be told then.
    """
    findings: list[Finding] = []
    skipped: list[Skipped] = []
    by_hub: dict[str, dict[str, list[Entry]]] = {}
    for entry in entries:
        by_hub.setdefault(entry.key, {}).setdefault(entry.repo, []).append(entry)
    for repos in by_hub.values():
        with reach.to(next(iter(repos.values()))[0]) as opened:
            for repo, own in repos.items():
                findings += _repository(opened, lock, repo, own)
            if opened.offline:
                skipped += [Skipped(rule, "offline mode is on") for rule in _REMOTE]
    return Report.of(findings, LOCK_RULES if not skipped else set(LOCK_RULES) - set(_REMOTE), dict.fromkeys(skipped))


def _repository(hub: Hub, lock: LockFile, repo: str, entries: Iterable[Entry]) -> Iterator[Finding]:
    try:
        seen = look(hub, repo)
    except NotFoundError as error:
        for entry in entries:
            yield _finding(lock, entry, "lock-vanished", error.message, f"hfenv lock --remove {entry.ref}")
        return
    for entry in entries:
        yield from _entry(hub, lock, entry, seen)


def look(hub: Hub, repo: str) -> Look:
    """One look at a repository: two requests, none offline. Keeps the marks for loads, which don't ask."""
    if hub.offline:
        return Look(None, known_marks(hub.key, repo) or Marks())
    refs = read_refs(hub, repo)
    marks = Marks()
    if (head := refs.branches.get("main")) is not None:
        # A head without a card that can be read says nothing.
        with suppress(NotFoundError, UnreadableError):
            marks = marks_of(parse_card(peek(hub, repo, head, CARD_NAME)).block)
    remember_marks(hub.key, repo, marks)
    return Look(refs, marks)


def _entry(hub: Hub, lock: LockFile, entry: Entry, seen: Look) -> Iterator[Finding]:
    upgrades = Upgrades(lock.path, entry, seen.refs, seen.marks)
    records, problems = _records(hub, entry, seen.refs)
    for problem in problems:
        yield _finding(lock, entry, "lock-vanished", problem, upgrades.line())
    yield from _digests(lock, entry, records)
    if seen.refs is not None:
        for problem in _moved(entry, seen.refs):
            yield _finding(lock, entry, "lock-moved", problem, upgrades.line())
    yield from _marked(lock, entry, records, seen.marks, upgrades)


def _records(hub: Hub, entry: Entry, refs: Refs | None) -> tuple[dict[Component, ReleaseRecord | None], list[str]]:
    """The records at an entry's commits as far as they can be had, and which commits are gone."""
    targets = {*refs.branches.values(), *refs.tags.values(), *refs.pulls.values()} if refs is not None else set()
    found: dict[str, ReleaseRecord | None] = {}
    gone: list[str] = []
    for commit in dict.fromkeys(entry.commits.values()):
        try:
            cached = RepositoryCache(hub, entry.repo).commit(commit)
            # What a ref points at is there; of anything else, the hub has to show that it is.
            if refs is None or (commit in targets and (cached.files / RECORD_NAME).is_file()):
                found[commit] = read_remote_record(hub, entry.repo, commit)
            else:
                raw = peek(hub, entry.repo, commit, RECORD_NAME, limit=_LARGEST_RECORD)
                found[commit] = parse_record(raw, f"{RECORD_NAME} of {entry.repo}@{commit}")
        except NotFoundError:
            gone.append(f"{entry.repo} has no commit {commit} any more, or no {RECORD_NAME} in it")
        except UnreadableError:
            found[commit] = None
        except NetworkError:
            if refs is not None:
                raise
    return {c: found[commit] for c, commit in entry.commits.items() if commit in found}, gone


def _digests(lock: LockFile, entry: Entry, records: Mapping[Component, ReleaseRecord | None]) -> Iterator[Finding]:
    for component, record in records.items():
        locked = entry.components[component]
        recorded = record.components[component] if record is not None else None
        if recorded is None or (recorded.exact, recorded.version) != (locked.exact, locked.version):
            has = f"{recorded.version} ({recorded.exact[:12]})" if recorded is not None else "nothing"
            message = (
                f"{component.value} {locked.version} ({locked.exact[:12]}) is locked, and {RECORD_NAME} of "
                f"{entry.repo}@{locked.commit} says {has}"
            )
            yield _finding(
                lock,
                entry,
                "lock-digests",
                message,
                f"Take {lock.path.name} back from version control; who wrote that?",
            )


def _moved(entry: Entry, refs: Refs) -> Iterator[str]:
    """Tags through which an entry was found, and which lead elsewhere now, or nowhere."""
    selector = entry.reference.selector
    tags: dict[str, Component] = {}
    if isinstance(selector, Mixed):
        named = {c: version for c, version in selector.versions.items() if not is_hash(version)}
        tags = {component_tag(component, version): component for component, version in named.items()}
    elif isinstance(selector, (Bare, Release)) or (isinstance(selector, Named) and selector.name not in refs.branches):
        # Another name is a tag's, or an alias for a release.
        name = selector.name if isinstance(selector, Named) and selector.name in refs.tags else None
        tags = {name or release_tag(entry.release): Component.CODE} if name or entry.release else {}
    for tag, component in tags.items():
        commit, now = entry.components[component].commit, refs.tags.get(tag)
        if now is None:
            yield f"tag {tag} of {entry.repo}, by which {commit[:12]} was locked, is gone"
        elif now != commit:
            yield f"tag {tag} of {entry.repo} was moved from {commit[:12]}, which is locked, to {now[:12]}"


def _marked(
    lock: LockFile,
    entry: Entry,
    records: Mapping[Component, ReleaseRecord | None],
    marks: Marks,
    upgrades: Upgrades,
) -> Iterator[Finding]:
    versions = {component: locked.version for component, locked in entry.components.items()}
    releases = {record.release for record in records.values() if record is not None} | {entry.release} - {""}
    for release in sorted(releases):
        if (yanked := marks.yank_of(release)) is not None:
            reason = f": {yanked.reason}" if yanked.reason else ""
            yield _finding(lock, entry, "lock-yanked", f"{entry.repo}@{release} is yanked{reason}", upgrades.line())
    for advisory in marks.advisories_on(versions, entry.release or None):
        message = f"{entry.repo}: {advisory.line}"
        yield _finding(lock, entry, "lock-advised", message, upgrades.line(advisory))
    if marks.lifecycle.status is not LifecycleStatus.ACTIVE:
        message = said_of_lifecycle(entry.repo, marks.lifecycle)
        yield _finding(lock, entry, "lock-lifecycle", message, upgrades.successor())


def _finding(lock: LockFile, entry: Entry, rule: str, message: str, fix: str) -> Finding:
    return Finding(rule, Severity.ERROR, str(lock.path), message, line=entry.line, fix=fix or None)
