"""Recorded episodes: what a turn and an episode hold, and rollout files (JSON Lines, one episode each)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from errno import EISDIR
from pathlib import Path
from types import NoneType, TracebackType
from typing import IO, Any

from hfenv.card.manifest import RewardSection
from hfenv.errors import StorageError, UnreadableError, UsageError
from hfenv.runtime.contracts import STATUSES, RecordedOutcome, Status, Transcript, Turn
from hfenv.runtime.driver import TurnFacts
from hfenv.runtime.jsondata import NotJsonError, as_text, round_trip, shown

FORMAT = 1
_MAX_LINE = 256 << 20  # bytes of an episode; a file without line ends isn't read into memory whole


@dataclass(frozen=True)
class TurnRecord:
    """One turn as it is recorded. `completion` is a model's raw text; `extra` is opaque and kept."""

    action: Any
    completion: Any = None
    data: Any = None
    evidence: Any = None
    reward: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    status: Status = "ok"
    terminated: bool = False
    truncated: bool = False
    extra: Any = None

    @classmethod
    def of(cls, facts: TurnFacts, completion: Any = None, extra: Any = None) -> TurnRecord:
        """Record what happened in one turn; the text of a fault goes into `extra`."""
        if facts.status == "infra_fault":
            extra = {**(extra if isinstance(extra, dict) else {}), "error": facts.error}
        return cls(
            action=_as_json(facts.action),
            completion=_as_json(completion),
            data=facts.data,
            evidence=facts.evidence,
            reward=facts.reward,
            parts=dict(facts.parts),
            status=facts.status,
            terminated=facts.terminated,
            truncated=facts.truncated,
            extra=_as_json(extra),
        )


@dataclass(frozen=True)
class Episode:
    """One recorded episode. `task` is the whole row, so that it can be scored again; `u` is in [0, 1] where known.

    `seed` and `task_id` reproduce it: `env.reset(seed=seed, task_id=task_id)`. Episodes of one `group_id` began alike.
    """

    index: int
    group_id: int | None
    seed: int | None
    task_id: str | None
    split: str | None
    task: Mapping[str, Any] | None
    turns: tuple[TurnRecord, ...]
    total: float
    status: Status
    provenance: Mapping[str, Any] | None
    u: float | None = field(default=None, compare=False)

    @property
    def masked(self) -> bool:
        """True for an infrastructure fault: counted, but left out of means and groups."""
        return self.status == "infra_fault"

    @property
    def error(self) -> str | None:
        """What the infrastructure fault was."""
        last = self.turns[-1].extra if self.masked and self.turns else None
        return last.get("error") if isinstance(last, Mapping) else None

    @property
    def transcript(self) -> Transcript:
        """The turns as the reward sees them."""
        return tuple(
            Turn(turn.action, RecordedOutcome(turn.data, turn.terminated, turn.truncated), turn.evidence)
            for turn in self.turns
        )

    def to_json(self) -> dict[str, Any]:
        """The episode as one line of a rollout file holds it."""
        values = {name: getattr(self, name) for name in _EPISODE_KEYS}
        values["turns"] = [{name: getattr(turn, name) for name in _TURN_KEYS} for turn in self.turns]
        return {"format": FORMAT, **values}

    @classmethod
    def from_json(cls, values: Mapping[str, Any], reward: RewardSection | None = None) -> Episode:
        """An episode from its line; KeyError, TypeError or ValueError for anything else."""
        if values["format"] != FORMAT:
            raise ValueError(f"format {values['format']!r} isn't {FORMAT}, the one that this hfenv reads")
        if values["status"] not in STATUSES:
            raise ValueError(f"status is {values['status']!r}")
        turns = tuple(TurnRecord(**{name: turn[name] for name in _TURN_KEYS}) for turn in values["turns"])
        _check_types(values, turns)
        u = reward.normalise(values["total"]) if reward is not None else None
        return cls(**{**{name: values[name] for name in _EPISODE_KEYS}, "turns": turns}, u=u)


_ENORMOUS = re.compile(rb"[eE]\+?\d{3}|\d{300}")
_EPISODE_KEYS = tuple(entry.name for entry in fields(Episode) if entry.name != "u")
_TURN_KEYS = tuple(entry.name for entry in fields(TurnRecord))


def _check_types(values: Mapping[str, Any], turns: tuple[TurnRecord, ...]) -> None:
    """Raise ValueError for numbers, parts, statuses and rows that are none: files come from other programs, too."""
    numbers = [values["total"], *(turn.reward for turn in turns)]
    for turn in turns:
        if not isinstance(turn.parts, Mapping) or turn.status not in STATUSES:
            raise ValueError("a turn's parts or its status are no such thing")
        if not isinstance(turn.terminated, bool) or not isinstance(turn.truncated, bool):
            raise ValueError("terminated and truncated are true or false")
        numbers.extend(turn.parts.values())
    if not all(isinstance(number, (int, float)) and math.isfinite(number) for number in numbers):
        raise ValueError("a reward, a part or a total is no finite number")
    for name in ("task", "provenance"):
        if not isinstance(values[name], (Mapping, NoneType)):
            raise ValueError(f"{name} is no object")


def episode_status(turns: tuple[TurnRecord, ...]) -> Status:
    """An episode's status: a fault of the infrastructure outweighs the agent's, which outweighs ok."""
    found = {turn.status for turn in turns}
    return max(found, key=STATUSES.index, default="ok")


class RolloutWriter:
    """Writes episodes to a rollout file as they come. The file gets its name when it is complete.

    Until then, and after an interruption, it is `NAME.part`. `policy`, where given, is added to each provenance: which
    one acted is nothing that an environment knows.
    """

    def __init__(self, path: Path, *, policy: str | None = None) -> None:
        self.path = path
        self._policy = policy
        self._part = path.with_name(path.name + ".part")
        self._stream: IO[str] | None = None

    def __enter__(self) -> RolloutWriter:
        try:
            if self.path.is_dir():
                raise IsADirectoryError(EISDIR, "it is a folder")
            self._stream = self._part.open("w", encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(
                f"{self.path} can't be written: {error.strerror}.", "Choose another file for the rollouts."
            ) from None
        return self

    def write(self, episode: Episode) -> None:
        """Add one episode."""
        if self._stream is None:
            raise UsageError("The rollout file isn't open.", "Use the writer in a with statement.")
        try:
            values = episode.to_json()
            if self._policy is not None and values["provenance"] is not None:
                values["provenance"] = {**values["provenance"], "policy": self._policy}
            self._stream.write(as_text(values) + "\n")
            self._stream.flush()
        except OSError as error:
            raise StorageError(
                f"{self._part} can't be written any further: {error.strerror}.",
                "What was written so far is kept there.",
            ) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None
            if error is None:
                self._part.replace(self.path)


def read_rollouts(path: Path, reward: RewardSection | None = None) -> Iterator[Episode]:
    """The episodes of a rollout file, one at a time; with a reward section they carry u.

    UnreadableError names the file and the line.
    """
    with path.open("rb") as stream:
        for number, line in enumerate(iter(lambda: stream.readline(_MAX_LINE + 1), b""), start=1):
            if not line.strip():
                continue
            if len(line) > _MAX_LINE:
                raise UnreadableError(
                    f"{path.name}:{number}: the line has more than {_MAX_LINE >> 20} MiB.", "Record the rollout again."
                )
            try:
                yield Episode.from_json(_read_json(line), reward)
            except KeyError as error:
                raise UnreadableError(f"{path.name}:{number}: no key {error}.", "Record the rollout again.") from None
            except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
                raise UnreadableError(
                    f"{path.name}:{number}: not a recorded episode: {error}.", "Record the rollout again."
                ) from None


def _read_json(line: bytes) -> Any:
    """A line's value; ValueError for NaN and infinities, which nothing that is made of it could hold."""
    values = json.loads(line.decode("utf-8"), parse_constant=_no_number)
    if _ENORMOUS.search(line):  # perhaps a float beyond what there is, which only writing it shows
        as_text(values)
    return values


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _as_json(value: Any) -> Any:
    """A value as JSON, or its text where it has no JSON form: a record is never lost for it."""
    try:
        return round_trip(value, "value")
    except NotJsonError:
        return shown(value)
