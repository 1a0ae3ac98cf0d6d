"""Action and observation spaces as the card declares them: what a policy may send and what it will see."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hfenv.card.manifest import ActionSection, ObservationSection

_UNBOUNDED = 1e6  # half-width that stands for a missing bound when a value is drawn


@dataclass(frozen=True)
class Space:
    """Type, description and further keys of an action or an observation. `discrete` and `box` can be sampled."""

    type: str
    description: str = ""
    spec: Mapping[str, Any] = field(default_factory=dict)

    @property
    def can_sample(self) -> bool:
        return self.type in ("discrete", "box")

    def sample(self, rng: random.Random) -> Any:
        """`discrete`: an int of `start` .. `start + n - 1`; `box`: nested lists of floats in `shape`.

        Raises TypeError for language types, which have no distribution to draw from.
        """
        if self.type == "discrete":
            return int(self.spec.get("start", 0)) + rng.randrange(int(self.spec["n"]))
        if self.type == "box":
            low, high = self.spec.get("low"), self.spec.get("high")
            return _draw(tuple(self.spec.get("shape") or _shape(low)), low, high, rng)
        raise TypeError(f"a {self.type} space can't be sampled")


def action_space(section: ActionSection) -> Space:
    return Space(section.type, section.description, section.spec)


def observation_space(section: ObservationSection) -> Space:
    return Space(section.type, section.description, section.spec)


def _shape(bound: Any) -> tuple[int, ...]:
    return (len(bound), *_shape(bound[0])) if isinstance(bound, (list, tuple)) else ()


def _draw(shape: tuple[int, ...], low: Any, high: Any, rng: random.Random) -> Any:
    if shape:
        return [_draw(shape[1:], _entry(low, index), _entry(high, index), rng) for index in range(shape[0])]
    lower = -_UNBOUNDED if low is None else float(low)
    return rng.uniform(lower, _UNBOUNDED if high is None else float(high))


def _entry(bound: Any, index: int) -> Any:
    return bound[index] if isinstance(bound, (list, tuple)) else bound
