"""The one room that joins hub and runtime: reference -> verified folder -> environment, pool, tasks or reward."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hfenv.card.reader import manifest, read_card
from hfenv.components.ownership import CARD_NAME, RECORD_NAME, Component, owner_of, walk
from hfenv.components.release import ReleaseRecord, read_record, with_recorded_modes
from hfenv.components.status import ComponentStatus, status
from hfenv.components.taskfiles import read_split
from hfenv.errors import IntegrityError, TrustError, UsageError
from hfenv.hub.client import Hub, connect
from hfenv.hub.references import HubReference, LocalReference, parse_reference
from hfenv.hub.resolve import Resolved, check_promises, resolve
from hfenv.hub.resources import local_resources
from hfenv.hub.state import read_state
from hfenv.hub.verify import Verified, verified_commit
from hfenv.runtime.pool import EnvironmentPool as RuntimePool
from hfenv.runtime.spec import EnvironmentSpec, Part
from hfenv.runtime.tasks import choose_split
from hfenv.runtime.trust import TrustStore

if TYPE_CHECKING:
    from datasets import Dataset

    from hfenv.runtime.environment import LoadedEnvironment
    from hfenv.runtime.reward import RewardFunction

log = logging.getLogger("hfenv")

# Folders that no component owns but that a loaded environment needs: the policies on its card.
_POLICY_FOLDER = "audit/"


@dataclass(frozen=True, slots=True)
class Origin:
    """How and from where to load: the hub, and what the caller allows."""

    hub: str | None = None
    offline: bool = False
    trust_remote_code: bool = False
    allow_unreleased: bool = False


def load(
    ref: str,
    *,
    revision: str | None = None,
    split: str | None = None,
    config: Mapping[str, Any] | None = None,
    hub: str | None = None,
    offline: bool = False,
    trust_remote_code: bool = False,
    allow_unreleased: bool = False,
) -> LoadedEnvironment:
    """Load an environment by reference; see `hfenv.hub.references` for the forms a reference has.

    A full commit hash that is in the cache is loaded without any request. Raises NotFoundError, TrustError,
    IntegrityError, MissingPackagesError or NetworkError; nothing of the environment is imported before these checks.
    """
    from hfenv.runtime.loader import load_environment

    origin = Origin(hub, offline, trust_remote_code, allow_unreleased)
    return load_environment(specify(ref, revision=revision, split=split, config=config, origin=origin))


def load_tasks(
    ref: str, *, revision: str | None = None, split: str | None = None, hub: str | None = None, offline: bool = False
) -> Dataset:
    """One split's tasks as a `datasets.Dataset` with explicit features: the same values that the environment sees.

    Runs no code of the environment, so that it needs no trust; downloads the split's files only.
    """
    from hfenv.tasksets import to_dataset

    reference = parse_reference(ref, revision)
    if isinstance(reference, LocalReference):
        block = manifest(read_card(reference.path / CARD_NAME))
        root, name = reference.path, choose_split(block.tasks, split)
    else:
        with connect(hub, offline=offline) as opened:
            resolved = resolve(opened, reference)
            verified = _tasks_of_split(opened, resolved, split)
        block, root = verified.manifest, verified.files
        name = choose_split(block.tasks, split)
    return to_dataset(read_split(root, block.tasks.splits[name]), name)


def load_reward(
    ref: str,
    *,
    revision: str | None = None,
    hub: str | None = None,
    offline: bool = False,
    trust_remote_code: bool = False,
    allow_unreleased: bool = False,
) -> RewardFunction:
    """The reward component alone: call it with `(task, transcript)` to get a Score; downloads nothing else."""
    from hfenv.runtime.reward import load_reward_function

    origin = Origin(hub, offline, trust_remote_code, allow_unreleased)
    reference = parse_reference(ref, revision)
    if isinstance(reference, LocalReference):
        return load_reward_function(_local_spec(reference, None, {}, origin).reward)
    with connect(hub, offline=offline) as opened:
        resolved = resolve(opened, reference)
        commit = resolved.commits[Component.REWARD]
        verified = verified_commit(opened, resolved.repo, commit, [Component.REWARD], _owned_by([Component.REWARD]))
        check_promises(resolved, {Component.REWARD: verified.record})
        _refuse_unreleased(verified, resolved, origin)
        exact = verified.components[Component.REWARD].exact
        _require_trust(opened.key, resolved.repo, (_recorded_exact(verified, Component.CODE), exact), origin)
    return load_reward_function(_part(verified, Component.REWARD))


class EnvironmentPool(RuntimePool):
    """A pool of instances of one environment, named by reference; a context manager.

    Takes what `load` takes, and what the runtime's pool takes (`num_envs`, `backend`, `step_timeout`, ...).
    """

    def __init__(
        self,
        ref: str,
        num_envs: int = 1,
        *,
        revision: str | None = None,
        split: str | None = None,
        config: Mapping[str, Any] | None = None,
        hub: str | None = None,
        offline: bool = False,
        trust_remote_code: bool = False,
        allow_unreleased: bool = False,
        **options: Any,
    ) -> None:
        origin = Origin(hub, offline, trust_remote_code, allow_unreleased)
        spec = specify(ref, revision=revision, split=split, config=config, origin=origin)
        super().__init__(spec, num_envs, **options)


def specify(
    ref: str,
    *,
    origin: Origin,
    revision: str | None = None,
    split: str | None = None,
    config: Mapping[str, Any] | None = None,
    opened: Hub | None = None,
) -> EnvironmentSpec:
    """What `load` and a pool load: verified, trusted, plain data that other processes can rebuild it from.

    `opened` is a connection of the caller's; without one, a connection is made to the hub that `origin` names.
    """
    reference = parse_reference(ref, revision)
    if isinstance(reference, LocalReference):
        if not ref.startswith((".", "/", "~")) and "/" in ref:
            log.warning("Loading the local folder %s; write %s@main for the one on the hub.", reference.path, ref)
        return _local_spec(reference, split, config or {}, origin)
    if opened is not None:
        return _hub_spec(opened, reference, split, config or {}, origin)
    with connect(origin.hub, offline=origin.offline) as connected:
        return _hub_spec(connected, reference, split, config or {}, origin)


@dataclass(frozen=True, slots=True)
class Identity:
    """What trust is about: one hub's repository, and the exact digests of its code and reward."""

    endpoint: str
    repo: str
    code: str
    reward: str


def identify(ref: str, *, origin: Origin) -> Identity:
    """The identity of a release on a hub, or of a folder that `pull` made; imports nothing of it."""
    reference = parse_reference(ref)
    if isinstance(reference, LocalReference):
        state = read_state(reference.path)
        if state is None or not state.pulled:
            raise UsageError(
                f"{ref} is your own folder, which needs no trust.", "Name a repository or a pulled folder."
            )
        states = _local_states(reference.path)
        exact = [states[c].current.exact for c in (Component.CODE, Component.REWARD)]
        return Identity(state.endpoint, state.repo, *exact)
    with connect(origin.hub, offline=origin.offline) as opened:
        verified = _verified(opened, resolve(opened, reference))
        exact = [verified[c].components[c].exact for c in (Component.CODE, Component.REWARD)]
        return Identity(opened.key, reference.repo, *exact)


def _local_states(root: Path) -> Mapping[Component, ComponentStatus]:
    record = read_record(root)
    block = manifest(read_card(root / CARD_NAME))
    return status(block, with_recorded_modes(walk(root), record), record)


def _local_spec(
    reference: LocalReference, split: str | None, config: Mapping[str, Any], origin: Origin
) -> EnvironmentSpec:
    root = reference.path.resolve()
    block = manifest(read_card(root / CARD_NAME))
    record = read_record(root)
    states = _local_states(root)
    state = read_state(root)
    if state is not None and state.pulled:
        exact = states[Component.CODE].current.exact, states[Component.REWARD].current.exact
        _require_trust(state.endpoint, state.repo, exact, origin)
    parts = {c: Part(root, block, s.declared, s.current.exact) for c, s in states.items()}
    unreleased = record is None or any(s.changed or s.moved for s in states.values())
    return EnvironmentSpec(
        name=block.name or root.name,
        repo=state.repo if state else None,
        release=None if unreleased or record is None else record.release,
        split=choose_split(block.tasks, split),
        code=parts[Component.CODE],
        tasks=parts[Component.TASKS],
        reward=parts[Component.REWARD],
        config=dict(config),
        resources=local_resources(root, block),
        unreleased=unreleased,
    )


def _hub_spec(
    hub: Hub, reference: HubReference, split: str | None, config: Mapping[str, Any], origin: Origin
) -> EnvironmentSpec:
    resolved = resolve(hub, reference)
    verified = _verified(hub, resolved)
    _refuse_split_reward(verified)
    for found in {found.commit: found for found in verified.values()}.values():
        _refuse_unreleased(found, resolved, origin)
    exact = {component: found.components[component].exact for component, found in verified.items()}
    _require_trust(hub.key, resolved.repo, (exact[Component.CODE], exact[Component.REWARD]), origin)
    records = {found.record.release if found.record else None for found in verified.values()}
    tasks = verified[Component.TASKS]
    return EnvironmentSpec(
        name=verified[Component.CODE].manifest.name or resolved.repo.split("/")[1],
        repo=resolved.repo,
        release=records.pop() if len(records) == 1 else None,
        split=choose_split(tasks.manifest.tasks, split),
        code=_part(verified[Component.CODE], Component.CODE),
        tasks=_part(tasks, Component.TASKS),
        reward=_part(verified[Component.REWARD], Component.REWARD),
        config=dict(config),
        resources=local_resources(tasks.files, tasks.manifest, hub),
        unreleased=any(found.unreleased for found in verified.values()),
    )


def _verified(hub: Hub, resolved: Resolved) -> dict[Component, Verified]:
    """Every component from its own commit, verified against that commit's own record."""
    verified: dict[Component, Verified] = {}
    for commit in dict.fromkeys(resolved.commits.values()):
        own = [component for component, sha in resolved.commits.items() if sha == commit]
        found = verified_commit(hub, resolved.repo, commit, own, _owned_by(own))
        verified.update(dict.fromkeys(own, found))
    check_promises(resolved, {component: found.record for component, found in verified.items()})
    return verified


def _owned_by(components: Sequence[Component]) -> Callable[[str], bool]:
    """Which files loading these components needs; the code brings the policies along."""

    def wanted(path: str) -> bool:
        return owner_of(path) in components or (Component.CODE in components and path.startswith(_POLICY_FOLDER))

    return wanted


def _tasks_of_split(hub: Hub, resolved: Resolved, split: str | None) -> Verified:
    from fnmatch import fnmatchcase

    commit = resolved.commits[Component.TASKS]
    head = verified_commit(hub, resolved.repo, commit, [], lambda path: False)
    patterns = head.manifest.tasks.splits[choose_split(head.manifest.tasks, split)]
    found = verified_commit(
        hub,
        resolved.repo,
        commit,
        [Component.TASKS],
        lambda path: any(fnmatchcase(path, pattern) for pattern in patterns),
    )
    check_promises(resolved, {Component.TASKS: found.record})
    return found


def _part(found: Verified, component: Component) -> Part:
    recorded = found.components[component]
    return Part(found.files, found.manifest, recorded.version, recorded.exact, found.commit)


def _refuse_split_reward(verified: Mapping[Component, Verified]) -> None:
    code, reward = verified[Component.CODE], verified[Component.REWARD]
    if code.commit != reward.commit and (code.manifest.reward.builtin or reward.manifest.reward.builtin):
        raise UsageError(
            "This environment computes its reward itself (reward.builtin), so that code and reward can't be mixed.",
            "Name one release or one commit.",
        )


def _recorded_exact(found: Verified, component: Component) -> str:
    record: ReleaseRecord | None = found.record
    return record.components[component].exact if record else ""


def _refuse_unreleased(found: Verified, resolved: Resolved, origin: Origin) -> None:
    if not found.unreleased:
        return
    what = "differs from its release record" if found.record else f"has no release record ({RECORD_NAME})"
    if origin.allow_unreleased and resolved.explicit:
        log.warning("%s@%s %s: what it gives can't be compared with any release.", found.repo, found.commit, what)
        return
    raise IntegrityError(
        f"{found.repo}@{found.commit} {what}, so that it is no release.",
        f"Load a release, or exactly this commit: {found.repo}@{found.commit} with allow_unreleased=True.",
    )


def _require_trust(endpoint: str, repo: str, exact: tuple[str, str], origin: Origin) -> None:
    code, reward = exact
    if origin.trust_remote_code or TrustStore().is_trusted(endpoint, repo, code, reward):
        return
    raise TrustError(
        f"{repo} brings code that was not trusted on this machine; nothing of it was imported.",
        "Read it, then pass trust_remote_code=True (--trust-remote-code), or trust exactly this code and reward: "
        f"hfenv trust add {repo}.",
    )
