"""Loads an environment from verified folders: checks what it needs, imports its parts, builds its instances."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hfenv.errors import AuthorCodeError
from hfenv.runtime.config import resolve_config
from hfenv.runtime.contracts import Environment, TaskEnvironment
from hfenv.runtime.driver import BuiltinDriver, Driver, TaskDriver
from hfenv.runtime.environment import LoadedEnvironment
from hfenv.runtime.faults import describe
from hfenv.runtime.imports import import_entry, source_of
from hfenv.runtime.requirements import check_requirements
from hfenv.runtime.reward import RewardFunction, load_reward_function
from hfenv.runtime.spec import EnvironmentSpec, check_file, provenance
from hfenv.runtime.tasks import TaskSet, read_tasks

CODE_FOLDERS = ("env",)
_ENTRY = "environment.code.entry"


@dataclass(frozen=True)
class Prepared:
    """A specification with everything imported and read, from which any number of environments can be built."""

    spec: EnvironmentSpec
    factory: Any
    reward: RewardFunction | None
    tasks: TaskSet
    config: Mapping[str, Any]

    def environment(self, work_root: Path | None = None) -> LoadedEnvironment:
        """A new environment with an instance of its own; its working folder is made in `work_root`."""
        return LoadedEnvironment(
            spec=self.spec,
            tasks=self.tasks,
            provenance=provenance(self.spec, self.tasks.split, self.config),
            build=self._driver,
            asynchronous=self._asynchronous(),
            work_root=work_root,
        )

    def _driver(self, work_dir: Path) -> Driver:
        limits = self.spec.code.manifest.limits
        instance = self._instance(work_dir)
        if isinstance(instance, TaskEnvironment):
            if self.reward is None:
                raise AuthorCodeError(
                    f"{type(instance).__name__} is a TaskEnvironment, and the card says reward.builtin.",
                    "Give the card a reward.entry, or write an Environment that computes its reward.",
                )
            return TaskDriver(instance, limits, self.reward)
        if self.reward is not None:
            raise AuthorCodeError(
                f"{type(instance).__name__} computes its reward itself, and the card has a reward.entry.",
                "Say reward: {builtin: true} on the card, or derive from hfenv.TaskEnvironment.",
            )
        if not all(callable(getattr(instance, name, None)) for name in ("reset", "step", "close")):
            raise AuthorCodeError(
                f"{self.spec.code.manifest.code.entry} is a {type(instance).__name__}, without reset, step and close.",
                "Derive from hfenv.TaskEnvironment, hfenv.Environment or gymnasium.Env.",
            )
        return BuiltinDriver(instance, limits)

    def _instance(self, work_dir: Path) -> Any:
        """An author's instance with what hfenv hands in already there when `__init__` runs."""
        factory = self.factory
        try:
            if inspect.isclass(factory) and issubclass(factory, Environment):
                instance = factory.__new__(factory)
                handed: dict[str, Any] = {
                    "tasks": self.tasks,
                    "reward": self.reward,
                    "work_dir": work_dir,
                    "config": self.config,
                    "services": {},
                    "_resources": self.spec.resources,
                }
                for name, value in handed.items():
                    setattr(instance, name, value)
                instance.__init__()  # type: ignore[misc]
                return instance
            return factory(**self.config)
        except (Exception, SystemExit) as error:
            raise AuthorCodeError(
                f"{self.spec.code.manifest.code.entry} can't be built: {describe(error, self.spec.code.root)}.",
                "Correct the code.",
            ) from error

    def _asynchronous(self) -> bool:
        """Whether any method of the author's class is `async def`, so that its code needs an event loop."""
        names = ("start", "execute", "reset", "step", "close", "state")
        return any(inspect.iscoroutinefunction(getattr(self.factory, name, None)) for name in names)


def prepare(spec: EnvironmentSpec, *, checked: bool = False) -> Prepared:
    """Check and import a specification; `checked` skips what the process that made this one has checked already.

    MissingPackagesError before anything is imported; AuthorCodeError for author code that fails or has a wrong shape;
    UsageError for a configuration that the card doesn't allow.
    """
    manifest = spec.code.manifest
    if checked:
        config = dict(spec.config)
    else:
        check_requirements(manifest.requires, spec.name)
        config = resolve_config(manifest.config, spec.config)
    for name, digest in spec.resource_digests.items():
        check_file(spec.resources[name], digest)
    tasks = read_tasks(spec.tasks, spec.split)
    source = source_of("code", spec.code, CODE_FOLDERS)
    factory = import_entry(source, manifest.code.entry, _ENTRY)
    if not callable(factory):
        raise AuthorCodeError(f"{manifest.code.entry} is neither a class nor a function.", "Name the class.")
    if inspect.isabstract(factory):
        missing = ", ".join(sorted(factory.__abstractmethods__))
        raise AuthorCodeError(f"{manifest.code.entry} doesn't define {missing}.", "Write the missing methods.")
    reward = None if spec.reward.manifest.reward.builtin else load_reward_function(spec.reward)
    return Prepared(spec, factory, reward, tasks, config)


def load_environment(spec: EnvironmentSpec, *, work_root: Path | None = None) -> LoadedEnvironment:
    """Load one environment into this process; errors as in `prepare`."""
    return prepare(spec).environment(work_root)
