"""What a rollout amounts to: means over the episodes that count, and how many don't."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hfenv.runtime.rollout import Episode


@dataclass(frozen=True)
class Summary:
    """`episodes` counts all, `faults` those left out of the means because the infrastructure spoiled them.

    `mean_return` is in the card's units, `mean_u` in [0, 1]; both are None where no episode counts.
    """

    episodes: int
    faults: int
    mean_return: float | None
    mean_u: float | None


def summarise(episodes: Iterable[Episode]) -> Summary:
    """Summarise episodes; holds two numbers an episode, so that a rollout can be streamed through it."""
    count, returns, us = 0, [], []
    for episode in episodes:
        count += 1
        if episode.masked:
            continue
        returns.append(episode.total)
        if episode.u is not None:
            us.append(episode.u)
    return Summary(count, count - len(returns), _mean(returns), _mean(us))


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
