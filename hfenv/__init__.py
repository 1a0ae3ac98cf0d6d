"""hfenv: registry and packaging tool for reinforcement-learning environments on the Hugging Face Hub.

The names below are the public API; each is imported from its module when it is first used, so that
`import hfenv` stays quick and workers never meet dependencies they don't need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from hfenv.errors import HfenvError
    from hfenv.loading import EnvironmentPool, load, load_reward, load_tasks
    from hfenv.rescoring import rescore
    from hfenv.runtime.contracts import Environment, MeasureContext, Outcome, Score, StepResult, TaskEnvironment, Turn

_HOMES = {
    "HfenvError": "hfenv.errors",
    "EnvironmentPool": "hfenv.loading",
    "load": "hfenv.loading",
    "load_reward": "hfenv.loading",
    "load_tasks": "hfenv.loading",
    "rescore": "hfenv.rescoring",
    "Environment": "hfenv.runtime.contracts",
    "MeasureContext": "hfenv.runtime.contracts",
    "Outcome": "hfenv.runtime.contracts",
    "Score": "hfenv.runtime.contracts",
    "StepResult": "hfenv.runtime.contracts",
    "TaskEnvironment": "hfenv.runtime.contracts",
    "Turn": "hfenv.runtime.contracts",
}

__all__ = [
    "Environment",
    "EnvironmentPool",
    "HfenvError",
    "MeasureContext",
    "Outcome",
    "Score",
    "StepResult",
    "TaskEnvironment",
    "Turn",
    "load",
    "load_reward",
    "load_tasks",
    "rescore",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("hfenv")
    if name not in _HOMES:
        raise AttributeError(f"module 'hfenv' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
