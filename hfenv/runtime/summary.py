"""What a rollout amounts to: means over the episodes that count, how many don't, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hfenv.runtime.rollout import Episode


@dataclass(frozen=True)
class Summary:
    """`episodes` counts all, `faults` those left out of the means because the infrastructure spoiled them.

    `mean_return` is in the card's units, `mean_u` in [0, 1]; both are None where no episode counts. `first_fault` is
    the text of the first fault, `provenance` that of the first episode that has one.
    """

    episodes: int
    faults: int
    mean_return: float | None
    mean_u: float | None
    first_fault: str | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)


def summarise(episodes: Iterable[Episode]) -> Summary:
    """Summarise episodes; holds two numbers an episode, so that a rollout can be streamed through it."""
    count, returns, us = 0, [], []
    fault: str | None = None
    provenance: Mapping[str, Any] = {}
    for episode in episodes:
        count += 1
        provenance = provenance or episode.provenance or {}
        if episode.masked:
            fault = fault or episode.error
            continue
        returns.append(episode.total)
        if episode.u is not None:
            us.append(episode.u)
    return Summary(count, count - len(returns), _mean(returns), _mean(us), fault, provenance)


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
