"""The public ways to load: an environment, a pool of them, a task set, or a reward, by reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hfenv.components.ownership import Component
from hfenv.components.taskfiles import read_split, select
from hfenv.hub.client import connect
from hfenv.hub.references import LocalReference, parse_reference
from hfenv.hub.resolve import check_promises, resolve
from hfenv.hub.verify import verified_commit
from hfenv.runtime.pool import EnvironmentPool as RuntimePool
from hfenv.runtime.tasks import choose_split
from hfenv.specify import LocalFolder, Origin, refuse_unreleased, specify, specify_reward

if TYPE_CHECKING:
    from datasets import Dataset

    from hfenv.runtime.environment import LoadedEnvironment
    from hfenv.runtime.reward import RewardFunction


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
    ref: str,
    *,
    revision: str | None = None,
    split: str | None = None,
    hub: str | None = None,
    offline: bool = False,
    allow_unreleased: bool = False,
) -> Dataset:
    """One split's tasks as a `datasets.Dataset` with explicit features: the same values that the environment sees.

    Runs no code of the environment, so that it needs no trust; downloads the split's files only.
    """
    from hfenv.tasksets import to_dataset

    reference = parse_reference(ref, revision)
    if isinstance(reference, LocalReference):
        folder = LocalFolder.read(reference.path)
        section, root, known = folder.manifest.tasks, folder.root, [entry.path for entry in folder.entries]
        name = choose_split(section, split)
    else:
        with connect(hub, offline=offline) as opened:
            resolved = resolve(opened, reference)
            commit = resolved.commits[Component.TASKS]
            card = verified_commit(opened, resolved.repo, commit, [], lambda path: False)
            section = card.manifest.tasks
            name = choose_split(section, split)
            known = select(card.listing, section.splits[name])
            found = verified_commit(opened, resolved.repo, commit, [Component.TASKS], set(known).__contains__)
            check_promises(resolved, {Component.TASKS: found.record})
            refuse_unreleased(found, resolved, Origin(hub, offline, allow_unreleased=allow_unreleased))
        root = found.files
    return to_dataset(read_split(root, section.splits[name], known), name)


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
    from hfenv.runtime.requirements import check_requirements
    from hfenv.runtime.reward import load_reward_function

    origin = Origin(hub, offline, trust_remote_code, allow_unreleased)
    reference = parse_reference(ref, revision)
    if isinstance(reference, LocalReference):
        folder = LocalFolder.read(reference.path)
        folder.require_trust(reference, origin)
        part = folder.parts[Component.REWARD]
    else:
        part = specify_reward(reference, origin)
    check_requirements(part.manifest.requires, part.manifest.name or part.root.name)
    return load_reward_function(part)


class EnvironmentPool(RuntimePool):
    """A pool of instances of one environment, named by reference; a context manager.

    Takes what `load` takes, and of the runtime's pool: `backend` (`process`, `inline` or `auto`), `step_timeout` and
    `setup_timeout` in seconds, and `retries` of an episode that the infrastructure spoiled.
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
        backend: str = "process",
        step_timeout: float | None = None,
        setup_timeout: float = 120.0,
        retries: int = 2,
    ) -> None:
        origin = Origin(hub, offline, trust_remote_code, allow_unreleased)
        spec = specify(ref, revision=revision, split=split, config=config, origin=origin)
        super().__init__(
            spec, num_envs, backend=backend, step_timeout=step_timeout, setup_timeout=setup_timeout, retries=retries
        )
