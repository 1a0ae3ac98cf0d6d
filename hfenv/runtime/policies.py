"""Policies by name: `random`, those on the card, and a caller's own `module:function`."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import random
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hfenv.card.manifest import ActionSection, Manifest
from hfenv.errors import AuthorCodeError, NotFoundError, UsageError
from hfenv.runtime.faults import describe
from hfenv.runtime.imports import import_entry, source_of
from hfenv.runtime.spaces import Space
from hfenv.runtime.spec import Part

Policy = Callable[[Mapping[str, Any], Any, Mapping[str, Any], random.Random], Any]
POLICY_FOLDERS = ("audit", "env")
RANDOM, ORACLE = "random", "oracle"


@dataclass(frozen=True)
class Reply:
    """What a policy may return instead of a bare action: the raw completion and anything to keep go into the record."""

    action: Any
    completion: Any = None
    extra: Any = None


def settled(answer: Any) -> Any:
    """What a policy answered; an `async def` policy is waited for."""
    if not inspect.isawaitable(answer):
        return answer
    from hfenv.runtime.eventloop import run_blocking, settle

    return run_blocking(settle(answer))


@dataclass(frozen=True)
class PolicySource:
    """A policy before an episode: `make` gives the callable, a new one per episode where it is a class.

    `sees_targets` is true for the oracle alone, which gets the whole row as its task.
    """

    name: str
    target: Any
    sees_targets: bool = False

    def make(self) -> Policy:
        policy: Any = self.target
        if inspect.isclass(policy):
            policy = policy()
        made: Policy = policy
        return made


def on_card(name: str, manifest: Manifest) -> bool:
    """Whether a policy runs beside the environment: `random`, or a name on the card."""
    return name == RANDOM or name in manifest.policies


def check_policy(name: str, manifest: Manifest) -> None:
    """UsageError, with the names there are, for a policy that is neither on the card nor `module:function`."""
    if not on_card(name, manifest) and ":" not in name:
        known = ", ".join([RANDOM, *manifest.policies])
        raise UsageError(f"There is no policy '{name}'.", f"Policies: {known}, or your own as module:function.")


def card_policy(name: str, part: Part, space: Any) -> PolicySource:
    """`random` for an action space, or a policy on the card, imported from the code's revision."""
    check_policy(name, part.manifest)
    if name == RANDOM:
        return PolicySource(name, RandomPolicy(part.manifest.action, space))
    source = source_of("policies", part, POLICY_FOLDERS)
    target = import_entry(source, part.manifest.policies[name], f"environment.policies.{name}")
    if not callable(target):
        raise AuthorCodeError(f"The policy '{name}' is no function or class.", "Correct environment.policies.")
    return PolicySource(name, target, sees_targets=name == ORACLE)


def callers_policy(name: str) -> PolicySource:
    """A caller's own policy: `package.module:function` from the working folder or the path, or `file.py:function`."""
    place, _, attribute = name.rpartition(":")
    try:
        module = _module(place)
    except ModuleNotFoundError as error:
        raise NotFoundError(f"The policy '{name}' isn't there: {error}.", "Write it as module:function.") from None
    except (Exception, SystemExit) as error:
        raise UsageError(f"The policy '{name}' can't be imported: {describe(error)}.", "Correct its code.") from error
    if not callable(getattr(module, attribute, None)):
        raise NotFoundError(f"{place} defines no policy '{attribute}'.", "Write it as module:function.")
    return PolicySource(name, getattr(module, attribute))


def _module(place: str) -> Any:
    if place.endswith(".py"):
        path = Path(place).resolve()
        spec = importlib.util.spec_from_file_location(f"hfenv_policy_{path.stem}", path)
        if spec is None or spec.loader is None or not path.is_file():
            raise ModuleNotFoundError(f"no file {place}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses and type hints look their module up
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[spec.name]
            raise
        return module
    here = str(Path.cwd())
    added = here not in sys.path and "" not in sys.path
    if added:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(place)
    finally:
        if added and here in sys.path:
            sys.path.remove(here)


class RandomPolicy:
    """Acts at random for every type of action: samples where there is a space, else words of the observation."""

    def __init__(self, section: ActionSection, space: Any) -> None:
        self._type = section.type
        self._space = space

    def __call__(self, task: Mapping[str, Any], observation: Any, info: Mapping[str, Any], rng: random.Random) -> Any:
        if self._type in ("discrete", "box") or _is_foreign(self._space):
            return _sample(self._space, rng)
        words = _words(observation) or _words(task) or ["nothing"]
        some = [rng.choice(words) for _ in range(rng.randint(1, 5))]
        if self._type == "sql":
            column, table = re.sub(r"\W", "", rng.choice(some)), re.sub(r"\W", "", rng.choice(words))
            return f"SELECT {column or '1'} FROM {table or 'nothing'}"  # noqa: S608 - nonsense is the purpose
        if self._type == "code":
            return f"print({' '.join(some)!r})"
        if self._type == "tool_calls":
            return [{"name": re.sub(r"\W", "", some[0]), "arguments": {some[-1]: " ".join(some)}}]
        if self._type == "messages":
            return [{"role": "assistant", "content": " ".join(some)}]
        if self._type in ("json", "multimodal"):
            return {some[0]: " ".join(some)}
        return " ".join(some)


def _is_foreign(space: Any) -> bool:
    """Whether a space is of Gymnasium's kind, which can always be sampled: only ours may be one of language."""
    return not isinstance(space, Space) and hasattr(space, "sample")


def _sample(space: Any, rng: random.Random) -> Any:
    """A sample of our own space, or of a Gymnasium space seeded from `rng`."""
    if isinstance(space, Space):
        return space.sample(rng)
    space.seed(rng.getrandbits(31))
    return space.sample()


def _words(value: Any) -> list[str]:
    """The words in the texts of an observation, in order."""
    if isinstance(value, str):
        return value.split()
    if isinstance(value, Mapping):
        return [word for entry in value.values() for word in _words(entry)]
    if isinstance(value, (list, tuple)):
        return [word for entry in value for word in _words(entry)]
    return []
