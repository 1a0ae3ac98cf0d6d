"""What a replay of probes found: which score otherwise, which can't be relied on, and the sentence that says so."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from hfenv.components.probes import Expected, Probe

TOLERANCE = 1e-9  # relative and absolute: what two machines' sums may differ by
_TOLD = 3  # probes that a sentence names
_LONGEST_NAME = 40


class Side(str, Enum):
    """Which of the two rewards."""

    NEW = "new"
    OLD = "old"


class Verdict(str, Enum):
    """What the probes say about the new reward against the old one.

    ALIKE: every probe that can tell scores as before. ADDS_PARTS: totals, statuses and all parts that were there are as
    before, and some scores have parts that are new. MOVED: a score differs. UNCLEAR: nothing can be said, since no
    probe can be compared, or some have no score that can be relied on, or some of the last release are missing.
    """

    ALIKE = "alike"
    ADDS_PARTS = "adds-parts"
    MOVED = "moved"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class ProbeRef:
    """Which probe: its digest, its line in reward/probes.jsonl, its task's id, and its note."""

    digest: str
    line: int
    task_id: str
    note: str

    @classmethod
    def of(cls, probe: Probe) -> ProbeRef:
        return cls(probe.digest, probe.line, probe.task_id, probe.note)


@dataclass(frozen=True)
class Move:
    """A probe that scores otherwise. `parts` are the names of parts that differ, are gone or are new (`added`)."""

    probe: ProbeRef
    before: Expected
    after: Expected
    parts: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    @property
    def only_adds_parts(self) -> bool:
        """Whether all that was there before is as it was."""
        same = close(self.before.total, self.after.total) and self.before.status == self.after.status
        return same and set(self.parts) == set(self.added)

    @property
    def told(self) -> str:
        """The difference as `total 1 -> 0.5, overlap 0.4 -> 0.2`."""
        texts = []
        if not close(self.before.total, self.after.total):
            texts.append(f"total {self.before.total:.6g} -> {self.after.total:.6g}")
        if self.before.status != self.after.status:
            texts.append(f"status {self.before.status} -> {self.after.status}")
        for name in self.parts:
            texts.append(f"{_plain(name)} {_shown(self.before.parts, name)} -> {_shown(self.after.parts, name)}")
        return ", ".join(texts)


@dataclass(frozen=True, slots=True)
class Flake:
    """A probe that one reward scored in two ways in two runs."""

    probe: ProbeRef
    side: Side
    first: Expected
    second: Expected


@dataclass(frozen=True, slots=True)
class Failure:
    """A probe that one reward gave no score in at least one of two runs."""

    probe: ProbeRef
    side: Side
    error: str


@dataclass(frozen=True)
class ProbeReport:
    """A replay's result. `compared` probes could tell about the old reward, `moved` are those of them that differ.

    `missing` probes of the last release aren't there any more, or expect another score: whoever removes what would
    move gets no verdict. `stale` are probes whose expected score isn't what the new reward gives; each moved probe is
    among them, unless the old reward was at hand. `enforced` names what held the reward's process.
    """

    probes: int
    compared: int
    missing: int = 0
    moved: tuple[Move, ...] = ()
    stale: tuple[Move, ...] = ()
    flaky: tuple[Flake, ...] = ()
    failed: tuple[Failure, ...] = ()
    enforced: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """A difference outweighs what can't be told: it was seen, whatever other probes do."""
        if any(not move.only_adds_parts for move in self.moved):
            return Verdict.MOVED
        if self.flaky or self.failed or self.missing or not self.compared:
            return Verdict.UNCLEAR
        return Verdict.ADDS_PARTS if self.moved else Verdict.ALIKE

    @property
    def alike(self) -> bool:
        """True where at least one probe could be compared and none moved, flickered or failed. No proof of anything."""
        return self.verdict is Verdict.ALIKE

    @property
    def sentence(self) -> str:
        """The verdict in words, without a full stop."""
        if not self.probes and not self.missing:
            return "there are no probes"
        if self.flaky or self.failed:
            texts = [f"{_count(len(self.flaky), 'probe')} scored differently in two runs"] if self.flaky else []
            lost = len({failure.probe.digest for failure in self.failed})
            texts += [f"{_count(lost, 'probe')} got no score"] if lost else []
            moved = f", and {len(self.moved)} of {self.compared} score otherwise" if self.moved else ""
            return " and ".join(texts) + f" ({self._named()}){moved}"
        if self.missing and self.verdict is not Verdict.MOVED:
            told = _count(self.missing, "probe")
            verb = "is" if self.missing == 1 else "are"
            return f"{told} of the last release {verb} gone or edited, so that the others can't tell"
        if not self.compared:
            return f"none of {_count(self.probes, 'probe')} was in the last release, so that they can't tell"
        if not self.moved:
            return f"unchanged on {_count(self.compared, 'probe')}"
        what = "have new parts" if self.verdict is Verdict.ADDS_PARTS else "score otherwise"
        return f"{len(self.moved)} of {_count(self.compared, 'probe')} {what}: {self._named()}"

    @property
    def sound(self) -> bool:
        """Whether every probe has one score under the new reward, and expects it."""
        return not (self.stale or self.flaky or self.failed)

    @property
    def soundness(self) -> str:
        """In words, whether the probes expect what the new reward gives."""
        if not self.probes:
            return "there are no probes"
        if self.sound:
            return f"{_count(self.probes, 'probe')}, each scores as it expects"
        lost = len({failure.probe.digest for failure in self.failed})
        found = [(len(self.stale), "expect another score"), (len(self.flaky), "scored differently in two runs")]
        texts = [f"{number} {what}" for number, what in (*found, (lost, "got no score")) if number]
        return f"of {_count(self.probes, 'probe')}, {', '.join(texts)}"

    def _named(self) -> str:
        trouble: tuple[Flake | Failure, ...] = (*self.flaky, *self.failed)
        found: tuple[Flake | Failure | Move, ...] = trouble or self.moved
        texts = []
        for entry in found[:_TOLD]:
            where = f"line {entry.probe.line}"
            told = f"{where}, {entry.told}" if isinstance(entry, Move) else where
            texts.append(told)
        more = f"; and {len(found) - _TOLD} more" if len(found) > _TOLD else ""
        return "; ".join(texts) + more


def close(left: float, right: float) -> bool:
    """Equal as scores: within a billionth."""
    return math.isclose(left, right, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def compare(probe: Probe, before: Expected, after: Expected) -> Move | None:
    """What differs between two scores of a probe; None where nothing does."""
    names = sorted(before.parts.keys() | after.parts.keys())
    parts = tuple(name for name in names if not _same_part(before.parts, after.parts, name))
    added = tuple(name for name in parts if name not in before.parts)
    if not parts and close(before.total, after.total) and before.status == after.status:
        return None
    return Move(ProbeRef.of(probe), before, after, parts, added)


def _same_part(before: Mapping[str, float], after: Mapping[str, float], name: str) -> bool:
    return name in before and name in after and close(before[name], after[name])


def _plain(name: str) -> str:
    """A part's name for a sentence: code chose it, and a terminal mustn't obey it."""
    text = name if name.isprintable() else name.encode("unicode_escape").decode()
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 3] + "..."


def _shown(parts: Mapping[str, float], name: str) -> str:
    return f"{parts[name]:.6g}" if name in parts else "none"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
