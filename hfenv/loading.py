"""The public ways to load: an environment, a pool of them, a task set, or a reward, by reference."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hfenv.components.ownership import Component
from hfenv.components.taskfiles import read_split, select
from hfenv.errors import UsageError
from hfenv.hub.locking.using import check_used
from hfenv.hub.notices import tell_marks
from hfenv.hub.references import LocalReference
from hfenv.hub.resolve import check_promises
from hfenv.hub.verify import verified_commit
from hfenv.runtime.pool import EnvironmentPool as RuntimePool
from hfenv.runtime.spec import Part
from hfenv.runtime.tasks import Row, choose_split, read_tasks
from hfenv.specify import (
    LocalFolder,
    Origin,
    hub_part,
    located,
    refuse_unreleased,
    reward_part,
    specify,
    specify_generated,
)

MOST_GENERATED = 100_000  # tasks of a generated split that `load_tasks` makes without being told how many

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
    lock: str | os.PathLike[str] | None = None,
    offline: bool = False,
    trust_remote_code: bool = False,
    allow_unreleased: bool = False,
) -> LoadedEnvironment:
    """Load an environment by reference; see `hfenv.hub.references` for the forms a reference has.

    A full commit hash that is in the cache is loaded without any request. With `lock`, the path of a lock file (or
    HFENV_LOCK), a name means what is locked, its digests have to agree, and whatever isn't locked is refused
    (NotLockedError). Raises NotFoundError, TrustError, IntegrityError, MissingPackagesError or NetworkError; nothing of
    the environment is imported before these checks.
    """
    from hfenv.runtime.loader import load_environment

    origin = _origin(hub, lock, offline, trust_remote_code, allow_unreleased)
    return load_environment(specify(ref, revision=revision, split=split, config=config, origin=origin))


def load_tasks(
    ref: str,
    *,
    revision: str | None = None,
    split: str | None = None,
    hub: str | None = None,
    lock: str | os.PathLike[str] | None = None,
    offline: bool = False,
    trust_remote_code: bool = False,
    allow_unreleased: bool = False,
    most: int | None = None,
) -> Dataset:
    """One split's tasks as a `datasets.Dataset` with explicit features: the same values that the environment sees.

    Runs no code of the environment, so that it needs no trust; downloads the split's files only. A generated split is
    the exception: its generator makes the tasks here, which needs trust (TrustError), and of more than 100,000 asks for
    `most` (UsageError), the number of first tasks that are wanted. AuthorCodeError for a generator that fails.
    """
    from hfenv.tasksets import to_dataset

    _check_most(most)
    reference, origin = located(ref, revision, _origin(hub, lock, offline, trust_remote_code, allow_unreleased))
    if isinstance(reference, LocalReference):
        folder = LocalFolder.read(reference.path)
        section = folder.manifest.tasks
        name, known = choose_split(section, split), [entry.path for entry in folder.entries]
        if name in section.seeds:
            folder.require_trust(reference, origin, "tasks")
            return to_dataset(_generated(folder.parts[Component.TASKS], name, most), name)
    else:
        with origin.connected() as opened:
            resolved = origin.resolve(opened, reference)
            commit = resolved.commits[Component.TASKS]
            card = verified_commit(opened, resolved.repo, commit, [], lambda path: False)
            section, name = card.manifest.tasks, choose_split(card.manifest.tasks, split)
            if name in section.seeds:
                found, known = specify_generated(reference, commit, origin, opened), []
            else:
                known = select(card.listing, section.splits[name])
                found = verified_commit(opened, resolved.repo, commit, [Component.TASKS], set(known).__contains__)
            check_promises(resolved, {Component.TASKS: found.record})
            tell_marks(opened, resolved, {Component.TASKS: found})
            refuse_unreleased(found, resolved, origin)
            check_used(origin.pin, {Component.TASKS: found})
        if name in section.seeds:
            return to_dataset(_generated(hub_part(found, Component.TASKS), name, most), name)
        rows = read_split(found.files, section.splits[name], known)[:most]
        found.let_go()
        return to_dataset(rows, name)
    return to_dataset(read_split(folder.root, section.splits[name], known)[:most], name)


def _check_most(most: int | None) -> None:
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
        raise UsageError(f"most is {most!r}.", "Give the number of tasks that you want, 1 or more.")


def _origin(
    hub: str | None,
    lock: str | os.PathLike[str] | None,
    offline: bool,
    trust_remote_code: bool,
    allow_unreleased: bool,
) -> Origin:
    """How to load; HFENV_LOCK names a lock file for every load of a process and its children."""
    wanted = lock if lock is not None else os.environ.get("HFENV_LOCK") or None
    path = Path(wanted) if wanted is not None else None
    return Origin(hub, offline, trust_remote_code, allow_unreleased, lock=path)


def _generated(part: Part, split: str, most: int | None) -> list[Row]:
    """The first tasks of a generated split; without `most`, all of them, where that isn't too much."""
    from hfenv.runtime.requirements import check_requirements

    count = part.manifest.tasks.seeds[split].count
    if most is None and count > MOST_GENERATED:
        raise UsageError(
            f"Split '{split}' has {count:,} generated tasks, which is too much for one data set.",
            "Pass most=10_000, or another number of first tasks up to your memory; load() draws from all of them.",
        )
    check_requirements(part.manifest.requires, part.manifest.name or part.root.name)
    return read_tasks(part, split)[: count if most is None else most]


def load_reward(
    ref: str,
    *,
    revision: str | None = None,
    hub: str | None = None,
    lock: str | os.PathLike[str] | None = None,
    offline: bool = False,
    trust_remote_code: bool = False,
    allow_unreleased: bool = False,
) -> RewardFunction:
    """The reward component alone: call it with `(task, transcript)` to get a Score; downloads nothing else."""
    from hfenv.runtime.requirements import check_requirements
    from hfenv.runtime.reward import load_reward_function

    part = reward_part(ref, revision=revision, origin=_origin(hub, lock, offline, trust_remote_code, allow_unreleased))
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
        lock: str | os.PathLike[str] | None = None,
        offline: bool = False,
        trust_remote_code: bool = False,
        allow_unreleased: bool = False,
        backend: str = "process",
        step_timeout: float | None = None,
        setup_timeout: float = 120.0,
        retries: int = 2,
    ) -> None:
        origin = _origin(hub, lock, offline, trust_remote_code, allow_unreleased)
        origin = replace(origin, isolation="inline" if backend == "inline" else "process")
        spec = specify(ref, revision=revision, split=split, config=config, origin=origin)
        super().__init__(
            spec, num_envs, backend=backend, step_timeout=step_timeout, setup_timeout=setup_timeout, retries=retries
        )
