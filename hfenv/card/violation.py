"""One keyword of the schema that a value of a card breaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hfenv.card.guessing import nearest, same


@dataclass(frozen=True, slots=True)
class Violation:
    """`key` is a missing or unknown key, `known` are those allowed, `limit` is the keyword's value."""

    pointer: str
    keyword: str
    value: Any
    schema: Mapping[str, Any]
    key: str = ""
    known: tuple[str, ...] = ()
    limit: Any = None

    @property
    def guess(self) -> str | None:
        """For an unknown key, the known one that was probably meant and isn't there yet."""
        absent = [key for key in self.known if key not in self.value]
        return same(self.key, absent) or nearest(self.key, absent)
