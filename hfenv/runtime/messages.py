"""What a pool or a scorer and its workers say to each other, and the frames that carry it between processes.

A frame is a length, the request's id and a pickle. Ids are never used twice by one worker, so a late answer can't be
taken for the next one. The pool reads answers with an unpickler that builds plain data, arrays and our own records
only: a worker can't make the pool's process run code.
"""

from __future__ import annotations

import io
import pickle
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hfenv.errors import UsageError
from hfenv.runtime.contracts import Turn
from hfenv.runtime.episode import Beginning, Job, Stepped
from hfenv.runtime.rollout import Episode, TurnRecord
from hfenv.runtime.spec import EnvironmentSpec, Part

HEADER = struct.Struct(">IQ")
MAX_FRAME = 1 << 30  # bytes; a worker that announces more is broken


@dataclass(frozen=True)
class SetUp:
    """The first request to a worker: what to load, where to work."""

    spec: EnvironmentSpec
    folder: str


@dataclass(frozen=True)
class Reset:
    """Begin an episode."""

    job: Job
    record: bool
    options: Any = None


@dataclass(frozen=True)
class Act:
    """Carry out one action."""

    action: Any
    record: bool


@dataclass(frozen=True)
class Play:
    """Play a whole episode with a policy beside the environment."""

    job: Job
    policy: str


@dataclass(frozen=True)
class Ready:
    """A slot is set up."""


@dataclass(frozen=True)
class Failed:
    """A request failed with an error of `hfenv.errors`: its class, message and hint."""

    kind: str
    message: str
    hint: str


@dataclass(frozen=True)
class Lost:
    """No answer will come: the slot hung past its limit or died; `error` says which and the last it wrote."""

    error: str


@dataclass(frozen=True)
class LoadReward:
    """The first request to a scorer's worker: the reward, and what its process may use.

    `cpu_s` are seconds of processor time of one score, `memory_mb` megabytes of the whole process; `trace` has it
    note the lines that are run.
    """

    part: Part
    cpu_s: float
    memory_mb: int
    trace: bool = False


@dataclass(frozen=True)
class ScoreTurns:
    """Score a transcript: every turn from number `first` (from 0) on, each as the latest of its own prefix."""

    task: Mapping[str, Any]
    turns: tuple[Turn, ...]
    first: int


@dataclass(frozen=True)
class TellLines:
    """Ask which lines were run."""


@dataclass(frozen=True)
class RewardReady:
    """The reward is loaded. `measures` says whether it has a `measure`, `enforced` what holds its process."""

    measures: bool
    enforced: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scored:
    """One score, or the text of what went wrong."""

    total: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    status: str = "ok"
    error: str | None = None


@dataclass(frozen=True)
class LinesRun:
    """Lines of the functions that were called, by file: those that can be reached, and those that were."""

    possible: Mapping[str, frozenset[int]]
    reached: Mapping[str, frozenset[int]]


Request = SetUp | Reset | Act | Play | LoadReward | ScoreTurns | TellLines
Answer = Ready | Beginning | Stepped | TurnRecord | Episode | RewardReady | Scored | LinesRun | Failed | Lost


@dataclass(frozen=True)
class SlotAnswer:
    """An answer of one slot; a TurnRecord says that an episode goes on, everything else ends the request."""

    slot: int
    answer: Answer


def encode(request_id: int, message: Any) -> bytes:
    """A frame; UsageError for values that can't be sent."""
    try:
        payload = pickle.dumps(message, protocol=5)
    except Exception as error:  # a value's own __reduce__ may raise anything
        raise unreadable(error) from error
    return HEADER.pack(len(payload), request_id) + payload


def unreadable(error: BaseException) -> UsageError:
    """What is told of an action that can't be sent to an environment's process, or be read there."""
    reason = str(error) or type(error).__name__
    return UsageError(
        f"An action can't be sent to the environment's process: {reason.rstrip('.')}.",
        "Let the policy return plain data or arrays.",
    )


_OWN = {("hfenv.runtime.messages", name) for name in ("Ready", "Failed", "RewardReady", "Scored", "LinesRun")} | {
    ("hfenv.runtime.episode", "Beginning"),
    ("hfenv.runtime.episode", "Stepped"),
    ("hfenv.runtime.contracts", "StepResult"),
    ("hfenv.runtime.driver", "TurnFacts"),
    ("hfenv.runtime.rollout", "TurnRecord"),
    ("hfenv.runtime.rollout", "Episode"),
}
_PLAIN = {("builtins", name) for name in ("set", "frozenset", "complex", "bytearray", "range", "slice")} | {
    ("collections", "OrderedDict"),
    ("datetime", "datetime"),
    ("datetime", "date"),
    ("datetime", "time"),
    ("datetime", "timedelta"),
    ("decimal", "Decimal"),
}
_NUMPY = {"_reconstruct", "scalar", "ndarray", "dtype", "_frombuffer"}


class _Answers(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str) -> Any:
        key = (module_name, global_name)
        numpy = module_name == "numpy" or module_name.startswith(("numpy.core.", "numpy._core.", "numpy.dtypes"))
        if key in _OWN or key in _PLAIN or (numpy and global_name in _NUMPY):
            return super().find_class(module_name, global_name)
        raise pickle.UnpicklingError(f"{module_name}.{global_name} is no plain data")


def decode_answer(payload: bytes) -> Answer:
    """An answer from a worker; a value that isn't plain data or an array makes it a `Failed`."""
    try:
        answer: Answer = _Answers(io.BytesIO(payload)).load()
    except Exception as error:
        return unsendable(error)
    return answer


def unsendable(error: BaseException) -> Failed:
    return Failed(
        "AuthorCodeError",
        f"What the environment returned can't be sent between processes: {error}.",
        "Return plain data or arrays as observations and info.",
    )
