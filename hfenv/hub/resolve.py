"""From a reference to commit hashes: resolved once, explicitly, and never replaced by another revision."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path

from hfenv.card.regular import read_regular
from hfenv.components.files import write_all
from hfenv.components.marks import LATEST, Marks
from hfenv.components.ownership import RECORD_NAME, Component
from hfenv.components.release import ReleaseRecord, component_tag, parse_record, release_tag
from hfenv.components.versions import is_range, is_version, matches, parse_version
from hfenv.errors import IntegrityError, NetworkError, NotFoundError, StorageError
from hfenv.hub.cache import REPAIR, RepositoryCache
from hfenv.hub.client import Hub
from hfenv.hub.fetch import fetch_one, list_commit
from hfenv.hub.marks import read_marks
from hfenv.hub.references import Commit, HubReference, Mixed, Named, Release, is_hash

log = logging.getLogger("hfenv")
LARGEST_REFS = 32 << 20  # bytes of all branches and tags together


@dataclass(frozen=True, slots=True)
class Refs:
    """Branches, tags and pull requests (`refs/pr/N`) of a repository, by name, each with its commit."""

    branches: Mapping[str, str]
    tags: Mapping[str, str]
    pulls: Mapping[str, str] = field(default_factory=dict)
    asked: int = 0  # when, in seconds since the epoch; 0 where nobody noted it

    def versions(self, prefix: str) -> dict[str, str]:
        """Versions that have a tag with this prefix (`v`, `reward-v`, ...), each with its commit."""
        found = {tag[len(prefix) :]: sha for tag, sha in self.tags.items() if tag.startswith(prefix)}
        return {version: sha for version, sha in found.items() if is_version(version)}


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a reference means now: the commit that each component comes from, and what was promised about it.

    `release` and `versions` are what the reference named; the records at the commits must agree with them. `explicit`
    are the commits that it named by their hash. `marks` is what the card at the head says about releases, where it was
    read to resolve the reference; `head` is that commit, None where no refs were asked for.
    """

    repo: str
    commits: Mapping[Component, str]
    release: str | None = None
    versions: Mapping[Component, str] = field(default_factory=dict)
    explicit: frozenset[str] = frozenset()
    marks: Marks | None = None
    head: str | None = None

    @property
    def revision(self) -> str:
        """The code's commit, where everything that no component owns comes from."""
        return self.commits[Component.CODE]


def resolve(hub: Hub, reference: HubReference) -> Resolved:
    """Resolve a reference; a full hash needs no request, everything else one look at the repository's refs."""
    selector = reference.selector
    if isinstance(selector, Commit):
        return Resolved(reference.repo, _everywhere(selector.sha), explicit=frozenset((selector.sha,)))
    refs = read_refs(hub, reference.repo)
    resolved = replace(_among(hub, reference, refs), head=refs.branches.get("main"))
    if hub.offline:
        asked = f"{datetime.fromtimestamp(refs.asked, timezone.utc):%Y-%m-%d %H:%M} UTC" if refs.asked else "some time"
        commits = ", ".join(dict.fromkeys(resolved.commits.values()))
        log.warning("Offline: %s is %s, as the hub had it on %s.", reference.text, commits, asked)
    return resolved


def _among(hub: Hub, reference: HubReference, refs: Refs) -> Resolved:
    match reference.selector:
        case Mixed() as selector:
            return _resolve_mixed(hub, reference, selector, refs)
        case Named(name):
            return _resolve_named(hub, reference, name, refs)
        case Release(spec):
            return _resolve_release(hub, reference, spec, refs)
        case _:
            return _newest(hub, reference, refs)


def read_refs(hub: Hub, repo: str) -> Refs:
    """Branches and tags as the hub has them now; offline, as they were when they were last asked for."""
    cache = RepositoryCache(hub, repo)
    if hub.offline:
        return read_cached_refs(cache.refs, repo)
    from hfenv.hub.wire import get_json

    with hub.translated(repo):
        data, _ = get_json(hub, repo, "refs", "include_prs=1", limit=LARGEST_REFS)
    try:
        refs = Refs(
            {ref["name"]: _commit(ref) for ref in data["branches"]},
            {ref["name"]: _commit(ref) for ref in data["tags"]},
            {ref["ref"]: _commit(ref) for ref in data.get("pullRequests") or ()},
            asked=int(time.time()),
        )
    except (KeyError, TypeError, AttributeError):
        raise NetworkError(
            f"The branches and tags of {repo} aren't what a hub gives.",
            "Check the address; a proxy or a login page may stand in between.",
        ) from None
    with suppress(StorageError):  # what was resolved is as good when the cache can't be written
        write_all({cache.refs: json.dumps(asdict(refs)).encode()})
        cache.note_endpoint(hub)
    return refs


def remembered_refs(hub: Hub, repo: str) -> Refs | None:
    """Branches and tags as they were when the hub was last asked, without a request; None where that never was."""
    try:
        return read_cached_refs(RepositoryCache(hub, repo).refs, repo)
    except (NetworkError, IntegrityError):
        return None


def _commit(ref: Mapping[str, str]) -> str:
    """The commit of a reference as the hub names it; it becomes the name of a folder."""
    if not isinstance(ref["name"], str) or not is_hash(ref["targetCommit"]):
        raise TypeError
    return ref["targetCommit"]


def read_cached_refs(path: Path, repo: str) -> Refs:
    """References as they were looked up last; raises IntegrityError for a damaged file, NetworkError without one."""
    try:
        data = json.loads(read_regular(path, LARGEST_REFS))
        branches, tags, pulls, asked = data["branches"], data["tags"], data.get("pulls", {}), data.get("asked", 0)
        if (
            not all(is_hash(sha) for names in (branches, tags, pulls) for sha in names.values())
            or type(asked) is not int
            or not 0 <= asked < 1 << 33  # some date
        ):
            raise TypeError
        return Refs(branches, tags, pulls, asked)
    except FileNotFoundError:
        raise NetworkError(
            f"{repo} was never looked up here, and offline mode is on.", "Name a cached commit by its full hash."
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise IntegrityError(f"refs.json of {repo} is damaged in the cache.", f"Repair it: {REPAIR}") from None


def read_remote_record(hub: Hub, repo: str, commit: str) -> ReleaseRecord | None:
    """The release record at a commit, None when the commit has none."""
    if RECORD_NAME not in list_commit(hub, repo, commit):
        return None
    return parse_record(fetch_one(hub, repo, commit, RECORD_NAME).read_bytes(), f"{RECORD_NAME} of {repo}@{commit}")


def _everywhere(sha: str) -> dict[Component, str]:
    return dict.fromkeys(Component, sha)


def _resolve_named(hub: Hub, reference: HubReference, name: str, refs: Refs) -> Resolved:
    """A branch, tag or pull request; only a name that git doesn't know can be an alias of the card's."""
    sha = refs.branches.get(name) or refs.tags.get(name) or refs.pulls.get(name)
    if sha is not None:
        return Resolved(reference.repo, _everywhere(sha))
    marks = read_marks(hub, reference.repo, refs) if refs.versions("v") else Marks()
    if name in marks.aliases:
        return _resolve_alias(reference, name, refs, marks)
    if name == LATEST:
        return _newest(hub, reference, refs)
    known = ", ".join([*sorted(marks.aliases), *sorted(refs.branches), *sorted(refs.tags)][:12]) or "nothing"
    short = " A hash is written in full (40 characters)." if _is_short_hash(name) else ""
    raise NotFoundError(f"{reference.repo} has no revision '{name}'.", f"It has {known}.{short}")


def _resolve_alias(reference: HubReference, name: str, refs: Refs, marks: Marks) -> Resolved:
    version = marks.aliases[name]
    released = refs.versions("v")
    if version not in released:
        raise NotFoundError(
            f"{reference.repo}@{name} is release {version}, which isn't there.", _known(released, marks)
        )
    if marks.yank_of(version) is not None:
        raise NotFoundError(
            f"{reference.repo}@{name} is release {version}, which is yanked.",
            f"Load {reference.repo}@{version} if it has to be this one, else {reference.repo}.",
        )
    return Resolved(reference.repo, _everywhere(released[version]), release=version, marks=marks)


def _is_short_hash(name: str) -> bool:
    return len(name) >= 4 and is_hash(name.lower().rjust(40, "0"))


def _resolve_release(hub: Hub, reference: HubReference, spec: str, refs: Refs) -> Resolved:
    released = refs.versions("v")
    if is_range(spec):
        marks = read_marks(hub, reference.repo, refs)
        version = _highest(v for v in released if matches(v, spec) and marks.yank_of(v) is None)
    else:
        marks = None
        version = spec if spec in released else None
    if version is None:
        raise NotFoundError(f"{reference.repo} has no release {spec}.", _known(released, marks))
    return Resolved(reference.repo, _everywhere(released[version]), release=version, marks=marks)


def _newest(hub: Hub, reference: HubReference, refs: Refs) -> Resolved:
    released = refs.versions("v")
    marks = read_marks(hub, reference.repo, refs) if released else Marks()
    version = newest_release(refs, marks)
    if version is None:
        yanked = ", ".join(version for version in released if marks.yank_of(version) is not None)
        raise NotFoundError(
            f"{reference.repo} has no release that could be loaded" + (f" (yanked: {yanked})." if yanked else "."),
            f"{_known(released)} The head is {reference.repo}@main.",
        )
    return Resolved(reference.repo, _everywhere(released[version]), release=version, marks=marks)


def newest_release(refs: Refs, marks: Marks) -> str | None:
    """The release that a bare name means: the newest one that is neither yanked nor a pre-release."""
    released = refs.versions("v")
    return _highest(v for v in released if marks.yank_of(v) is None and not parse_version(v).prerelease)


def _resolve_mixed(hub: Hub, reference: HubReference, selector: Mixed, refs: Refs) -> Resolved:
    found: dict[Component, str] = {}
    named = frozenset(version for version in selector.versions.values() if is_hash(version))
    promised: dict[Component, str] = {}
    for component, version in selector.versions.items():
        if is_hash(version):
            found[component] = version
            continue
        released = refs.versions(f"{component.value}-v")
        if version not in released:
            raise NotFoundError(f"{reference.repo} has no {component.value} {version}.", _known(released))
        found[component], promised[component] = released[version], version
    rest = [component for component in Component if component not in found]
    if rest:
        base = found.get(Component.CODE) or _newest(hub, reference, refs).revision
        found.update(dict.fromkeys(rest, base))
    return Resolved(reference.repo, found, versions=promised, explicit=named)


def _highest(versions: Iterable[str]) -> str | None:
    return max(versions, key=parse_version, default=None)


def _known(released: Mapping[str, str], marks: Marks | None = None) -> str:
    """The newest releases; where marks were read, with those that a range passes over."""
    newest = sorted(released, key=parse_version, reverse=True)[:8]
    shown = [f"{version} (yanked)" if marks and marks.yank_of(version) else version for version in newest]
    return f"Released: {', '.join(shown)}." if shown else "Nothing is released there yet."


def check_promises(resolved: Resolved, records: Mapping[Component, ReleaseRecord | None]) -> None:
    """Tags are labels: refuse a tag that points at a commit whose record says something else.

    `records` has the record at the commit of each component that is going to be used.
    """
    cure = "The tag was moved after the release; name the release by its commit hash."
    for component, record in records.items():
        if resolved.release is not None and (record is None or record.release != resolved.release):
            found = f"release {record.release}" if record else "no release"
            raise IntegrityError(
                f"Tag {release_tag(resolved.release)} of {resolved.repo} points at {resolved.revision}, {found}.", cure
            )
        version = resolved.versions.get(component)
        if version is not None and (record is None or record.components[component].version != version):
            tag = component_tag(component, version)
            raise IntegrityError(f"Tag {tag} of {resolved.repo} points at a commit that doesn't hold it.", cure)
