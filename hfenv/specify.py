"""The one room that joins hub and runtime: a reference becomes verified, trusted, plain data to load from."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hfenv.card.manifest import Manifest
from hfenv.card.reader import manifest, read_card
from hfenv.components.ownership import CARD_NAME, RECORD_NAME, Component, FileEntry, walk
from hfenv.components.release import read_record, with_recorded_modes
from hfenv.components.status import current_components
from hfenv.errors import IntegrityError, TrustError, UsageError
from hfenv.hub.allowed import check_folder
from hfenv.hub.client import Hub, connect, hub_name
from hfenv.hub.locking.reaching import Reach
from hfenv.hub.locking.using import check_used
from hfenv.hub.notices import tell_marks
from hfenv.hub.policy import check_flag, check_run, flags_allowed
from hfenv.hub.references import HubReference, LocalReference, Reference, parse_reference
from hfenv.hub.resolve import Resolved, check_promises, resolve
from hfenv.hub.resources import local_resources
from hfenv.hub.state import FolderState, read_state, state_path
from hfenv.hub.verify import Verified, verified_commit
from hfenv.runtime.spec import EnvironmentSpec, Part
from hfenv.runtime.tasks import choose_split
from hfenv.runtime.trust import TrustStore
from hfenv.selecting import both, files_of, needed_by, policies_digest, split_only

if TYPE_CHECKING:
    from hfenv.hub.locking.lockfile import Entry

log = logging.getLogger("hfenv")


@dataclass(frozen=True, slots=True)
class Origin:
    """How and from where to load: the hub (or an open connection to it), and what the caller allows.

    With a `lock` file, only what it locks is loaded; `pin` is the entry that a reference turned out to be.
    `isolation` is how the code will be kept apart: `inline` in this process, `process` in others.
    """

    hub: str | None = None
    offline: bool = False
    trust_remote_code: bool = False
    allow_unreleased: bool = False
    opened: Hub | None = None
    lock: Path | None = None
    pin: Entry | None = None
    isolation: str = "inline"

    @contextmanager
    def connected(self) -> Iterator[Hub]:
        """The open connection, else one for as long as the context lasts."""
        if self.opened is not None:
            yield self.opened
        elif self.pin is not None:
            with Reach(self.hub, self.offline).to(self.pin) as hub:
                yield hub
        else:
            with connect(self.hub, offline=self.offline) as hub:
                yield hub

    def resolve(self, hub: Hub, reference: HubReference) -> Resolved:
        """The commits that a reference means: as they are locked, else as the hub says now."""
        return resolve(hub, reference) if self.pin is None else self.pin.resolved_commits()


def located(ref: str, revision: str | None, origin: Origin) -> tuple[Reference, Origin]:
    """A reference, and the origin to load it from: under a lock file, its entry's hub, and never another revision.

    Raises NotLockedError for what the file doesn't lock.
    """
    if origin.lock is None:
        return parse_reference(ref, revision), origin
    from hfenv.hub.locking.lookup import locked_entry

    entry = locked_entry(origin.lock, ref, revision, origin.hub)
    if origin.opened is not None and origin.opened.key != entry.key:
        raise UsageError(f"{entry.ref} is locked on {entry.hub}, and another hub is open.", "Open the hub it is on.")
    return entry.pinned, replace(origin, pin=entry)


def specify(
    ref: str,
    *,
    origin: Origin,
    revision: str | None = None,
    split: str | None = None,
    config: Mapping[str, Any] | None = None,
) -> EnvironmentSpec:
    """What `load` and a pool load: verified, trusted, plain data that other processes can rebuild it from."""
    reference, origin = located(ref, revision, origin)
    if isinstance(reference, HubReference):
        return _hub_spec(reference, split, config or {}, origin)
    if not ref.startswith((".", "/", "~")) and "/" in ref:
        log.warning("Loading the local folder %s; write %s@main for the one on the hub.", reference.path, ref)
    return _local_spec(reference, split, config or {}, origin)


def specify_reward(reference: HubReference, origin: Origin) -> Part:
    """The reward alone, verified and trusted; downloads nothing else of the release."""
    with origin.connected() as hub:
        resolved = origin.resolve(hub, reference)
        commit = resolved.commits[Component.REWARD]
        verified = verified_commit(hub, resolved.repo, commit, [Component.REWARD], needed_by(Component.REWARD))
        check_promises(resolved, {Component.REWARD: verified.record})
        tell_marks(hub, resolved, {Component.REWARD: verified})
        refuse_unreleased(verified, resolved, origin)
        check_used(origin.pin, {Component.REWARD: verified})
        exact = verified.components[Component.REWARD].exact
        _require_trust(hub.key, reference, origin, reward=exact)
    return hub_part(verified, Component.REWARD)


def specify_generated(reference: HubReference, commit: str, origin: Origin, hub: Hub) -> Verified:
    """The tasks of a commit whose generator is to be run: all of their files, verified and trusted."""
    found = verified_commit(hub, reference.repo, commit, [Component.TASKS], needed_by(Component.TASKS))
    origin = replace(origin, isolation="process")  # generators run in processes of their own
    _require_trust(hub.key, reference, origin, tasks=found.components[Component.TASKS].exact)
    return found


def reward_part(ref: str, *, origin: Origin, revision: str | None = None) -> Part:
    """The reward that a reference names, of a folder or a hub: verified and trusted, nothing of it imported."""
    reference, origin = located(ref, revision, origin)
    if isinstance(reference, HubReference):
        return specify_reward(reference, origin)
    folder = LocalFolder.read(reference.path)
    folder.require_trust(reference, origin)
    return folder.parts[Component.REWARD]


@dataclass(frozen=True, slots=True)
class LocalFolder:
    """An environment's folder on this machine, as it lies on disk."""

    root: Path
    manifest: Manifest
    entries: tuple[FileEntry, ...]
    parts: Mapping[Component, Part]
    release: str | None
    state: FolderState | None

    @classmethod
    def read(cls, path: Path) -> LocalFolder:
        """Read and digest a folder; `release` is the recorded one if nothing changed since, else None."""
        root = path.resolve()
        card = read_card(root / CARD_NAME)
        block = manifest(card)
        record = read_record(root)
        entries = with_recorded_modes(walk(root), record)
        current = current_components(block, entries, record)
        files = {entry.path: entry.sha256 for entry in entries}
        parts = {c: Part(root, block, now.version, now.exact, files=files_of(c, files)) for c, now in current.items()}
        release = record.release if record is not None and record.components == current else None
        state = _state_of(root)
        if state is not None and state.pulled:
            check_folder(state.endpoint, state.repo, card.front_matter, {c: part.exact for c, part in parts.items()})
        return cls(root, block, entries, parts, release, state)

    def require_trust(self, reference: LocalReference, origin: Origin, *only: str) -> None:
        """Raises TrustError for a folder that `pull` made, unless it was trusted; any other is the user's own.

        `only` are the keys of `digests` that are going to run, by default all of them.
        """
        if self.state is not None and self.state.pulled:
            digests = {name: digest for name, digest in self.digests().items() if not only or name in only}
            _require_trust(self.state.endpoint, reference, origin, repo=self.state.repo, **digests)

    def digests(self) -> dict[str, str]:
        """What trust in the folder is about."""
        files = {entry.path: entry.sha256 for entry in self.entries}
        exact = {component: part.exact for component, part in self.parts.items()}
        return _trusted(exact, policies_digest(self.manifest, files), self.manifest)


def _state_of(root: Path) -> FolderState | None:
    """The folder's own state, else that of a pulled folder that it lies in: what came along isn't the user's own."""
    own = read_state(root)
    if own is not None:
        return own
    above = (read_state(parent) for parent in root.parents if state_path(parent).is_file())
    return next((state for state in above if state is not None and state.pulled), None)


def hub_part(found: Verified, component: Component) -> Part:
    """A component of a verified commit, limited to the files that were checked."""
    recorded = found.components[component]
    files = files_of(component, found.digests)
    return Part(found.files, found.manifest, recorded.version, recorded.exact, found.commit, files)


def refuse_unreleased(found: Verified, resolved: Resolved, origin: Origin) -> None:
    """Raises IntegrityError for a commit that is no release, unless the caller named its hash and allowed it."""
    if not found.unreleased:
        return
    what = "differs from its release record" if found.record else f"has no release record ({RECORD_NAME})"
    if origin.allow_unreleased and found.commit in resolved.explicit:
        log.warning("%s@%s %s: what it gives can't be compared with any release.", found.repo, found.commit, what)
        return
    raise IntegrityError(
        f"{found.repo}@{found.commit} {what}, so that it is no release.",
        f"Load a release; or exactly this commit, {found.repo}@{found.commit}, from Python with allow_unreleased=True.",
    )


def _local_spec(
    reference: LocalReference, split: str | None, config: Mapping[str, Any], origin: Origin
) -> EnvironmentSpec:
    folder = LocalFolder.read(reference.path)
    folder.require_trust(reference, origin)
    known = {entry.path: entry.sha256 for entry in folder.entries}
    resources = local_resources(folder.root, folder.manifest, known, origin.connected)
    return EnvironmentSpec(
        name=folder.manifest.name or folder.root.name,
        repo=folder.state.repo if folder.state else None,
        release=folder.release,
        split=choose_split(folder.manifest.tasks, split),
        code=folder.parts[Component.CODE],
        tasks=folder.parts[Component.TASKS],
        reward=folder.parts[Component.REWARD],
        config=dict(config),
        resources={name: resource.path for name, resource in resources.items()},
        resource_digests={name: resource.sha256 for name, resource in resources.items()},
        unreleased=folder.release is None,
    )


def _hub_spec(reference: HubReference, split: str | None, config: Mapping[str, Any], origin: Origin) -> EnvironmentSpec:
    with origin.connected() as hub:
        resolved = origin.resolve(hub, reference)
        verified = verified_components(hub, resolved, lambda card: split_only(card, split))
        tell_marks(hub, resolved, verified)
        refuse_split_reward(verified)
        for found in {found.commit: found for found in verified.values()}.values():
            refuse_unreleased(found, resolved, origin)
        check_used(origin.pin, verified)
        _require_trust(hub.key, reference, origin, **digests_of(verified))
        tasks = verified[Component.TASKS]
        resources = local_resources(
            tasks.files, tasks.manifest, tasks.digests, Origin(origin.hub, opened=hub).connected
        )
    releases = {found.record.release if found.record else None for found in verified.values()}
    return EnvironmentSpec(
        name=verified[Component.CODE].manifest.name or resolved.repo.split("/")[1],
        repo=resolved.repo,
        release=releases.pop() if len(releases) == 1 else None,
        split=choose_split(tasks.manifest.tasks, split),
        code=hub_part(verified[Component.CODE], Component.CODE),
        tasks=hub_part(tasks, Component.TASKS),
        reward=hub_part(verified[Component.REWARD], Component.REWARD),
        config=dict(config),
        resources={name: resource.path for name, resource in resources.items()},
        resource_digests={name: resource.sha256 for name, resource in resources.items()},
        unreleased=any(found.unreleased for found in verified.values()),
    )


def verified_components(
    hub: Hub, resolved: Resolved, narrowed: Callable[[Verified], Callable[[str], bool]] | None = None
) -> dict[Component, Verified]:
    """Every component from its own commit, verified against that commit's own record.

    `narrowed` says, by the card that brings the tasks, which of the commit's files needn't be there.
    """
    verified: dict[Component, Verified] = {}
    for commit in dict.fromkeys(resolved.commits.values()):
        own: Sequence[Component] = [component for component, sha in resolved.commits.items() if sha == commit]
        wanted = needed_by(*own)
        if narrowed is not None and Component.TASKS in own:
            kept = narrowed(verified_commit(hub, resolved.repo, commit, [], lambda path: False))
            wanted = both(wanted, kept)
        found = verified_commit(hub, resolved.repo, commit, own, wanted)
        verified.update(dict.fromkeys(own, found))
    check_promises(resolved, {component: found.record for component, found in verified.items()})
    return verified


def digests_of(verified: Mapping[Component, Verified]) -> dict[str, str]:
    """What trust in components of commits is about, by the fields of a trust entry."""
    code = verified[Component.CODE]
    exact = {component: found.components[component].exact for component, found in verified.items()}
    return _trusted(exact, policies_digest(code.manifest, code.digests), verified[Component.TASKS].manifest)


def _trusted(exact: Mapping[Component, str], policies: str, tasks: Manifest) -> dict[str, str]:
    """Everything that runs, by its digest; tasks are among that where their card has a generator."""
    found = {"code": exact[Component.CODE], "reward": exact[Component.REWARD], "policies": policies}
    return found | ({"tasks": exact[Component.TASKS]} if tasks.tasks.generator is not None else {})


def refuse_split_reward(verified: Mapping[Component, Verified]) -> None:
    """Raises UsageError for code and reward of two commits where the code computes the reward itself."""
    code, reward = verified[Component.CODE], verified[Component.REWARD]
    if code.commit != reward.commit and (code.manifest.reward.builtin or reward.manifest.reward.builtin):
        raise UsageError(
            "This environment computes its reward itself (reward.builtin), so that code and reward can't be mixed.",
            "Name one release or one commit.",
        )


def _require_trust(
    endpoint: str, reference: HubReference | LocalReference, origin: Origin, *, repo: str = "", **digests: str
) -> None:
    text = reference.text if isinstance(reference, HubReference) else str(reference.path)
    repo = reference.repo if isinstance(reference, HubReference) else repo
    pinned = origin.pin.hub_argument if origin.pin else origin.hub
    name = origin.opened.name if origin.opened else hub_name(pinned)
    where = f" --hub {name}" if isinstance(reference, HubReference) and name != "hf" else ""
    check_run(text, origin.isolation)
    if origin.trust_remote_code and flags_allowed():
        return
    if TrustStore().is_trusted(endpoint, repo, **digests):
        return
    if origin.trust_remote_code:
        check_flag(text)
    what = f"The tasks of {text} are made by" if [*digests] == ["tasks"] else f"{text} brings"
    exactly = (
        "this code, reward, policies and generator of tasks" if "tasks" in digests else "this code, reward and policies"
    )
    raise TrustError(
        f"{what} code that was not trusted on this machine; nothing of it was imported.",
        "Read it, then pass trust_remote_code=True (--trust-remote-code), or trust exactly "
        f"{exactly}: hfenv trust add {text}{where}",
    )
