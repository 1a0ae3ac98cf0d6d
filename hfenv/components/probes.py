"""Probes (`reward/probes.jsonl`): recorded turns with the score that the reward gives them, read strictly."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hfenv.card.regular import open_regular
from hfenv.components.digest import canonical_json
from hfenv.components.meaning.digest import PROBES
from hfenv.components.ownership import FileEntry
from hfenv.components.tasks.json import LineReader
from hfenv.errors import UnreadableError
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

FORMAT = 1
MOST = 1000  # probes of a file: each is scored twice whenever the reward changes
MAX_LINE = 1 << 20  # bytes of one
MAX_DEPTH = 400  # lists and objects inside each other; what scores them can go a little deeper
PROBE_RULES = ("HFE429",)
STATUSES = ("ok", "agent_fault", "infra_fault")
_KEYS = {"format", "task", "turns", "expected", "note"}
_TURN_KEYS = {"action", "completion", "data", "evidence", "terminated", "truncated"}
_EXPECTED_KEYS = {"total", "parts", "status"}
_CURE = "Correct the line, remove it, or record the probes anew: hfenv probe record ROLLOUTS"


@dataclass(frozen=True)
class ProbeTurn:
    """One turn as a rollout records it. `completion` is a model's raw text: kept for people, no reward sees it."""

    action: Any
    data: Any = None
    evidence: Any = None
    terminated: bool = False
    truncated: bool = False
    completion: Any = None


@dataclass(frozen=True)
class Expected:
    """The score of the last turn: its total, its parts by name, its status."""

    total: float
    parts: Mapping[str, float] = field(default_factory=dict)
    status: str = "ok"


@dataclass(frozen=True)
class Probe:
    """A task's whole row, a transcript, and the score that the reward gave its last turn.

    `line` is where it stands in its file, 0 for one that stands in none.
    """

    task: Mapping[str, Any]
    turns: tuple[ProbeTurn, ...]
    expected: Expected
    note: str = ""
    line: int = field(default=0, compare=False)

    @cached_property
    def question(self) -> str:
        """64 hex characters over what the reward is asked: task and transcript as it sees them."""
        seen = [[t.action, t.data, t.evidence, t.terminated, t.truncated] for t in self.turns]
        return hashlib.sha256(canonical_json(["hfenv-probe-1", self.task, seen]).encode()).hexdigest()

    @cached_property
    def digest(self) -> str:
        """16 hex characters over all that counts: question and expected score, neither note nor completions."""
        return self.digest_expecting(self.expected)

    def digest_expecting(self, expected: Expected) -> str:
        """The digest that the probe would have if it expected that score."""
        wanted = [expected.total, dict(expected.parts), expected.status]
        return hashlib.sha256(canonical_json([self.question, wanted]).encode()).hexdigest()[:16]

    @property
    def task_id(self) -> str:
        """The task's id, empty where the row has none."""
        return str(self.task.get("id", ""))

    def to_json(self) -> dict[str, Any]:
        """The probe as its line holds it; raises nothing for a probe that was read."""
        turns: list[dict[str, Any]] = []
        for turn in self.turns:
            line = {"action": turn.action}
            if turn.completion is not None:
                line["completion"] = turn.completion
            rest = {"evidence": turn.evidence, "terminated": turn.terminated, "truncated": turn.truncated}
            turns.append({**line, "data": turn.data, **rest})
        wanted = {"total": self.expected.total, "parts": dict(self.expected.parts), "status": self.expected.status}
        note = {"note": self.note} if self.note else {}
        return {"format": FORMAT, **note, "expected": wanted, "turns": turns, "task": dict(self.task)}

    def to_line(self) -> bytes:
        """The line of the file, with its end; ValueError for what JSON can't hold."""
        return json.dumps(self.to_json(), ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n"


@dataclass(frozen=True, slots=True)
class BadProbe:
    """A line that is no probe, or one that stands there already."""

    line: int
    message: str


class NotAProbeError(ValueError):
    """A value isn't what a probe has in its place; the message names it."""


def read_probes(root: Path, files: Sequence[FileEntry] | None = None) -> tuple[Probe, ...]:
    """The probes of an environment's folder, in file order; none where it has no such file.

    `files` is the folder's walk, where it's at hand: a file that is no part of the environment counts as none. Raises
    UnreadableError, with file and line, for the first line that is no probe or stands there twice.
    """
    found = []
    for entry in scan_probes(root, files):
        if isinstance(entry, BadProbe):
            raise UnreadableError(f"{PROBES}:{entry.line}: {entry.message}.", _CURE)
        found.append(entry)
    return tuple(found)


def check_probes(root: Path, files: Sequence[FileEntry]) -> Iterator[Finding]:
    """HFE429: lines that are no probe, and probes that stand there twice. Scores nothing."""
    for entry in scan_probes(root, files):
        if isinstance(entry, BadProbe):
            yield Finding("HFE429", severity("HFE429"), PROBES, entry.message, line=entry.line, column=1, fix=_CURE)


def scan_probes(root: Path, files: Sequence[FileEntry] | None = None) -> Iterator[Probe | BadProbe]:
    """Every line of the file as a probe or as what is wrong with it; `files` as in `read_probes`."""
    if files is not None and all(entry.path != PROBES for entry in files):
        return
    try:
        stream = open_regular(root / PROBES)
    except FileNotFoundError:
        return
    except OSError as error:
        yield BadProbe(1, f"it can't be read: {error.strerror}")
        return
    reader, seen, count, number, offset = LineReader(), dict[str, Probe](), 0, 0, 0
    with stream:
        while data := stream.readline(MAX_LINE + 2):
            number += 1
            if len(data.rstrip(b"\r\n")) > MAX_LINE:
                yield BadProbe(number, f"the line has more than {MAX_LINE >> 20} MiB")
                return  # nothing after it has a number that could be told
            line, offset = (data, offset), offset + len(data)  # the reader's errors name bytes of the file
            if not data.strip():
                continue
            count += 1
            if count > MOST:
                yield BadProbe(number, f"there are more than {MOST} probes")
                return
            try:
                probe = parse_probe(*line, number, reader)
            except NotAProbeError as error:
                yield BadProbe(number, str(error))
                continue
            before = seen.setdefault(probe.question, probe)
            if before is probe:
                yield probe
            elif before.expected == probe.expected:
                yield BadProbe(number, f"the probe stands on line {before.line} already")
            else:
                yield BadProbe(number, f"line {before.line} expects another score for the same task and transcript")


def parse_probe(data: bytes, offset: int = 0, line: int = 0, reader: LineReader | None = None) -> Probe:
    """The probe on one line, which starts at byte `offset` of its file; NotAProbeError says what is wrong with it."""
    return _probe(_parse(reader or LineReader(), data, offset), line)


def _parse(reader: LineReader, data: bytes, offset: int) -> Mapping[str, Any]:
    values = reader.read(data.rstrip(), offset)
    if reader.problems or values is None:
        raise NotAProbeError(reader.problems[0].message if reader.problems else "not JSON")
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and _too_deep(values):
        raise NotAProbeError("lists and objects are nested too deeply")
    return values


def _probe(values: Mapping[str, Any], line: int) -> Probe:
    _keys(values, _KEYS, {"format", "task", "turns", "expected"}, "the probe")
    if values["format"] != FORMAT or isinstance(values["format"], bool):
        raise NotAProbeError(f"its format isn't {FORMAT}, the one that this hfenv reads")
    task, turns = values["task"], values["turns"]
    if not isinstance(task, dict) or not isinstance(task.get("id"), str) or not task["id"]:
        raise NotAProbeError("task is no row of a task file: it has no string 'id'")
    if not isinstance(turns, list) or not turns:
        raise NotAProbeError("turns is no list with a turn in it")
    note = values.get("note", "")
    if not isinstance(note, str):
        raise NotAProbeError("note is no text")
    read = tuple(_turn(turn, f"turn {index}") for index, turn in enumerate(turns, start=1))
    try:
        canonical_json(values)
    except ValueError:
        raise NotAProbeError("it holds NaN or an infinity, which are no JSON numbers") from None
    return Probe(task, read, _expected(values["expected"]), note, line)


def _turn(values: Any, where: str) -> ProbeTurn:
    _keys(values, _TURN_KEYS, {"action", "data"}, where)
    terminated, truncated = values.get("terminated", False), values.get("truncated", False)
    if not isinstance(terminated, bool) or not isinstance(truncated, bool):
        raise NotAProbeError(f"terminated and truncated of {where} are true or false")
    evidence, completion = values.get("evidence"), values.get("completion")
    return ProbeTurn(values["action"], values["data"], evidence, terminated, truncated, completion)


def _expected(values: Any) -> Expected:
    _keys(values, _EXPECTED_KEYS, {"total"}, "expected")
    parts = values.get("parts", {})
    if not isinstance(parts, dict):
        raise NotAProbeError("the expected parts are no object with a number for each name")
    status = values.get("status", "ok")
    if status not in STATUSES:
        raise NotAProbeError(f"the expected status is none of {', '.join(STATUSES)}")
    numbers = {name: _number(value, f"the expected part '{name[:60]}'") for name, value in parts.items()}
    return Expected(_number(values["total"], "the expected total"), numbers, status)


def _number(value: Any, where: str) -> float:
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, (int, float)) else float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise NotAProbeError(f"{where} is no finite number")
    return number + 0.0  # -0.0 is 0.0: two records of one score are one


def _keys(values: Any, allowed: set[str], needed: set[str], where: str) -> None:
    if not isinstance(values, dict):
        raise NotAProbeError(f"{where} is no JSON object")
    if missing := sorted(needed - values.keys()):
        raise NotAProbeError(f"{where} has no '{missing[0]}'")
    if unknown := sorted(values.keys() - allowed):
        raise NotAProbeError(f"{where} has the unknown key '{unknown[0][:60]}'")


def _too_deep(value: Any) -> bool:
    pending = [(value, 1)]
    while pending:
        item, depth = pending.pop()
        if depth > MAX_DEPTH:
            return True
        inner = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
        pending.extend((entry, depth + 1) for entry in inner if isinstance(entry, (dict, list)))
    return False
