"""How seeds become tasks, random generators and further seeds: the same on every machine and for ever."""

from __future__ import annotations

import hashlib
import operator
import random
import secrets

from hfenv.errors import UsageError


def number(text: str) -> int:
    """The 256-bit number that a text stands for."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")


def pick(seed: int, count: int) -> int:
    """Index of the task that a seed selects among `count`."""
    return number(f"hfenv:{seed}") % count


def generator(seed: int, purpose: str = "") -> random.Random:
    """A generator for one purpose of an episode; without one, the `rng` that `start` gets."""
    return random.Random(number(f"hfenv:{seed}:{purpose}" if purpose else f"hfenv:{seed}"))  # noqa: S311 - seeded on purpose


def derive(seed: int, index: int) -> int:
    """Seed number `index` of the stream that `seed` begins: 63 bits, so that every framework takes it."""
    return number(f"hfenv:{seed}:{index}") >> 193


def as_seed(value: object) -> int:
    """A caller's seed as an int (numpy's integers too); UsageError for anything else."""
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise UsageError(f"A seed is an integer, not {value!r}.", "Pass seed=0 or another whole number.") from None


def fresh() -> int:
    """A seed for a stream that nobody seeded."""
    return secrets.randbits(63)


class SeedStream:
    """The seeds of one environment's episodes: a given seed starts a stream, a reset without one continues it."""

    def __init__(self) -> None:
        self._base: int | None = None
        self._index = 0

    def next(self, seed: object = None) -> int:
        """The seed of the next episode."""
        if seed is not None:
            self._base, self._index = as_seed(seed), 0
            return self._base
        if self._base is None:
            self._base = fresh()
        self._index += 1
        return derive(self._base, self._index)
