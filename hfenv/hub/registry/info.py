"""Everything that is known of one environment on a hub, in few requests; cards there may hold anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from hfenv.card.reader import parse_card
from hfenv.card.regular import LARGEST_TEXT
from hfenv.components.marks import Marks, marks_of
from hfenv.components.ownership import CARD_NAME, Component, owner_of
from hfenv.components.release import ReleaseRecord
from hfenv.errors import HfenvError, NetworkError, NotFoundError, UsageError
from hfenv.hub.cache import RemoteFile
from hfenv.hub.client import Hub
from hfenv.hub.fetch import fetch_one, list_commit
from hfenv.hub.references import HubReference, Named, Newest
from hfenv.hub.registry.entry import Entry, entry_of, line, mapping, number, rating, texts
from hfenv.hub.registry.reviews import Talk, talk
from hfenv.hub.resolve import Resolved, check_promises, read_refs, read_remote_record, remembered_refs, resolve

EXPAND = ["author", "cardData", "downloads", "lastModified", "likes", "private", "tags", "gated", "createdAt", "sha"]
_BENCHMARKS = 100


@dataclass(frozen=True, slots=True)
class Rating:
    """The author's own rating; `fresh` says whether what was audited is what the release holds.

    It is False too where that isn't `known`: the card doesn't say what was audited, or this is no release.
    """

    grade: str
    score: float | None
    ruleset: str | None
    sandbox: str | None
    fresh: bool
    known: bool = True


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A result on the card; `current` is False where another release was measured than the one that is shown."""

    policy: str
    split: str
    metric: str
    value: float
    release: str | None
    current: bool


@dataclass(frozen=True, slots=True)
class Needs:
    """What the environment wants of a machine, as its card says."""

    python: str | None
    packages: tuple[str, ...]
    system: tuple[str, ...]
    secrets: tuple[str, ...]
    network: str | None


@dataclass(frozen=True, slots=True)
class Info:
    """One environment at one revision. `release` is None for a revision that is none, `talk` where nothing is known.

    `sizes` are bytes by component, `rest` those of all other files. `rows` counts the tasks of each split.
    """

    entry: Entry
    release: str | None
    versions: Mapping[Component, str]
    marks: Marks
    notices: tuple[str, ...]
    rating: Rating | None
    benchmarks: tuple[Benchmark, ...]
    needs: Needs
    observation: str
    rows: Mapping[str, int]
    gated: bool
    created: str | None
    packages: Mapping[str, str] = field(default_factory=dict)
    revision: str = ""
    head: str | None = None
    releases: int = 0
    sizes: Mapping[Component, int] = field(default_factory=dict)
    rest: int = 0
    talk: Talk | None = None
    url: str = ""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(self.sizes.values()) + self.rest


def info(hub: Hub, reference: HubReference) -> Info:
    """What is known of an environment; a bare name shows the newest release that isn't yanked, else the head.

    At most nine requests beside those for lists of discussions (at most ten): the repository, the refs, the tree, the
    card and the record of the revision, and tree and card of the head. Rating, benchmarks and marks are those of the
    head's card, since they come after a release; the rest is the revision's own. Raises NotFoundError.
    """
    if hub.offline:
        raise NetworkError(
            "What is known of an environment is asked of the hub, and offline mode is on.", "Turn it off."
        )
    item = _repository(hub, reference.repo)
    resolved = _resolved(hub, reference)
    if len(set(resolved.commits.values())) > 1:
        raise UsageError(f"{reference.text} mixes revisions.", "Name one release, or the repository alone.")
    refs = read_refs(hub, reference.repo) if resolved.head is None else remembered_refs(hub, reference.repo)
    head = refs.branches.get("main") if refs is not None else None
    record = read_remote_record(hub, reference.repo, resolved.revision)
    if record is not None:
        check_promises(resolved, dict.fromkeys(Component, record))
    own = _front(hub, reference.repo, resolved.revision)
    newest = _front(hub, reference.repo, head) if head and head != resolved.revision else own
    released = tuple(refs.versions("v")) if refs is not None else ()
    known = _of_card(item, own, mapping(newest.get("environment")), record)
    sizes, rest = _sizes(list_commit(hub, reference.repo, resolved.revision))
    return replace(
        known,
        revision=resolved.revision,
        head=head,
        releases=len(released),
        sizes=sizes,
        rest=rest,
        talk=talk(hub, reference.repo, released),
        url=hub.url(reference.repo, None),
    )


def _of_card(
    item: Mapping[str, Any], own: Mapping[str, Any], latest: Mapping[str, Any], record: ReleaseRecord | None
) -> Info:
    """What the hub's list, the revision's card and record, and the head's block say."""
    block = mapping(own.get("environment"))
    entry = entry_of({**item, "cardData": {**own, "environment": block}})
    if entry is None:
        raise NotFoundError(f"{item['id']} can't be shown.", "Is it an environment?")
    marks = marks_of(latest)
    release = record.release if record else None
    versions = {c: record.components[c].version for c in Component} if record else {}
    return Info(
        entry=entry,
        release=release,
        versions=versions,
        marks=marks,
        notices=marks.notices(entry.repo, release, versions),
        rating=_rating(latest, record),
        benchmarks=tuple(_benchmarks(latest, release)),
        needs=_needs(block),
        observation=line(mapping(block.get("observation")).get("type")) or "",
        rows={name: split.rows for name, split in record.splits.items()} if record else {},
        gated=bool(item.get("gated")),
        created=_day(item.get("createdAt")),
        packages=record.packages if record else {},
    )


def _sizes(listing: Mapping[str, RemoteFile]) -> tuple[dict[Component, int], int]:
    """Bytes by component, and of all other files."""
    found = {c: sum(file.size for path, file in listing.items() if owner_of(path) is c) for c in Component}
    return found, sum(file.size for file in listing.values()) - sum(found.values())


def _repository(hub: Hub, repo: str) -> Mapping[str, Any]:
    """The repository as the hub tells of it, as plain JSON: the client's object stumbles over odd cards."""
    from hfenv.hub.wire import LARGEST_ANSWER, get_json

    with hub.translated(repo):
        found, _ = get_json(hub, repo, "", urlencode({"expand": EXPAND}, doseq=True), limit=LARGEST_ANSWER)
    return {**found, "id": repo} if isinstance(found, dict) else {"id": repo}


def _resolved(hub: Hub, reference: HubReference) -> Resolved:
    """What the reference means; for a bare name without any release that could be loaded, the head."""
    try:
        return resolve(hub, reference)
    except NotFoundError:
        if not isinstance(reference.selector, Newest):
            raise
        return resolve(hub, HubReference(reference.repo, Named("main"), reference.text))


def _front(hub: Hub, repo: str, commit: str) -> Mapping[str, Any]:
    """The front matter of a commit's card; empty where there is none that can be read."""
    file = list_commit(hub, repo, commit).get(CARD_NAME)
    if file is None or file.size > LARGEST_TEXT:
        return {}
    try:
        return parse_card(fetch_one(hub, repo, commit, CARD_NAME).read_bytes()).front_matter
    except NetworkError:
        raise
    except HfenvError:
        return {}


def _rating(block: Mapping[str, Any], record: ReleaseRecord | None) -> Rating | None:
    audit = mapping(block.get("audit"))
    grade = rating(audit.get("rating"))
    if grade is None:
        return None
    score, ruleset, sandbox = number(audit.get("score")), line(audit.get("ruleset")), line(audit.get("sandbox"))
    fresh = record is not None and audit.get("digests") == record.audited
    return Rating(grade, score, ruleset, sandbox, fresh, known=record is not None and "digests" in audit)


def _benchmarks(block: Mapping[str, Any], release: str | None) -> Iterator[Benchmark]:
    items = block.get("benchmarks")
    for item in items[:_BENCHMARKS] if isinstance(items, list) else ():
        found = mapping(item)
        policy, split, metric = (line(found.get(key)) for key in ("policy", "split", "metric"))
        value, measured = number(found.get("value")), line(found.get("release"))
        if policy and split and metric and value is not None:
            yield Benchmark(policy, split, metric, value, measured, measured is not None and measured == release)


def _needs(block: Mapping[str, Any]) -> Needs:
    requires, sandbox = mapping(block.get("requires")), mapping(block.get("sandbox"))
    network = requires.get("network", sandbox.get("network"))
    return Needs(
        line(requires.get("python")),
        texts(requires.get("packages")),
        texts(requires.get("system")),
        texts(requires.get("secrets")),
        ", ".join(texts(network)) or None,
    )


def _day(value: Any) -> str | None:
    try:
        return datetime.fromisoformat(value.replace("Z", "+00:00")).date().isoformat()
    except (AttributeError, ValueError):
        return None
