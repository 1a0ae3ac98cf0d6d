"""What a set of probes leaves out: kinds of attempts, statuses, parts, and lines of the reward that none reaches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from hfenv.card.manifest import Manifest
from hfenv.components.probes import Probe
from hfenv.probing.record import LONG
from hfenv.probing.replay import as_job
from hfenv.runtime.jsondata import as_text
from hfenv.runtime.scoring import Scorer, ScoringLimits
from hfenv.runtime.spec import Part

_FULL, _LITTLE = 0.95, 0.1  # of u: what counts as a full mark, and as nothing
_WRITTEN = frozenset({"text", "code", "sql", "tool_calls", "messages", "json"})  # actions that can be malformed
_STATUSES = ("ok", "agent_fault")


class Attempt(str, Enum):
    """Kinds of attempts that a good set of probes holds at least one of; the value says what it is."""

    FULL_MARK = "a full mark"
    ZERO = "a zero"
    MALFORMED = "a malformed attempt"
    EMPTY = "an empty attempt"
    OVER_LONG = "an over-long attempt"
    NON_ASCII = "an attempt with signs beyond ASCII"
    FORMAT_ONLY = "an attempt that keeps the format and earns nothing"


@dataclass(frozen=True, slots=True)
class LineRange:
    """Lines of a file that no probe reaches, both ends included; all in functions that some probe enters."""

    path: str
    first: int
    last: int

    @property
    def told(self) -> str:
        lines = f"line {self.first}" if self.first == self.last else f"lines {self.first} to {self.last}"
        return f"{self.path}, {lines}"


@dataclass(frozen=True)
class Quality:
    """How many probes are of each kind that matters for these actions, and what never occurs."""

    attempts: Mapping[Attempt, int]
    statuses: Mapping[str, int]
    unused_parts: tuple[str, ...]
    unreached: tuple[LineRange, ...]

    @property
    def missing(self) -> tuple[Attempt, ...]:
        return tuple(attempt for attempt, count in self.attempts.items() if not count)

    @property
    def hints(self) -> tuple[str, ...]:
        """What to add, as sentences; none where the set is good as far as can be told."""
        found = [f"There is no probe of {attempt.value}." for attempt in self.missing]
        found += [f"No probe has the status {name}." for name, count in self.statuses.items() if not count]
        found += [f"In no probe the part '{name}' is anything but 0." for name in self.unused_parts]
        if self.unreached:
            shown = "; ".join(entry.told for entry in self.unreached[:8])
            more = f"; and {len(self.unreached) - 8} more places" if len(self.unreached) > 8 else ""
            found.append(f"No probe reaches {shown}{more}.")
        return tuple(found)


def judge(part: Part, probes: Sequence[Probe], limits: ScoringLimits | None = None) -> Quality:
    """Judge probes by what they expect, and score them once more to see which lines of the reward they reach.

    Reads marks as u of one score: of rewards that pay over several turns, the last one's share.
    """
    manifest = part.manifest
    attempts = Counter(attempt for probe in probes for attempt in _attempts(probe, manifest))
    wanted = [attempt for attempt in Attempt if _applies(attempt, manifest)]
    statuses = Counter(probe.expected.status for probe in probes)
    used = {name for probe in probes for name, value in probe.expected.parts.items() if value}
    parts = dict.fromkeys([*manifest.reward.parts, *(name for probe in probes for name in probe.expected.parts)])
    return Quality(
        {attempt: attempts[attempt] for attempt in wanted},
        {name: statuses[name] for name in _STATUSES},
        tuple(name for name in parts if name not in used),
        _unreached(part, probes, limits) if probes else (),
    )


def _attempts(probe: Probe, manifest: Manifest) -> Iterable[Attempt]:
    reward = manifest.reward
    total, status = probe.expected.total, probe.expected.status
    action = probe.turns[-1].action
    text = action if isinstance(action, str) else as_text(action)
    empty = not text.strip() if isinstance(action, str) else action in (None, [], {})
    u = reward.normalise(total)
    if u >= _FULL:
        yield Attempt.FULL_MARK
    if total == 0:
        yield Attempt.ZERO
    if empty:
        yield Attempt.EMPTY
    elif status == "agent_fault":
        yield Attempt.MALFORMED
    elif u < _LITTLE:
        yield Attempt.FORMAT_ONLY
    if len(text) >= LONG:
        yield Attempt.OVER_LONG
    if not text.isascii():
        yield Attempt.NON_ASCII


def _applies(attempt: Attempt, manifest: Manifest) -> bool:
    if attempt is Attempt.ZERO:
        return manifest.reward.low <= 0 <= manifest.reward.high
    return attempt is Attempt.FULL_MARK or manifest.action.type in _WRITTEN


def _unreached(part: Part, probes: Sequence[Probe], limits: ScoringLimits | None) -> tuple[LineRange, ...]:
    with Scorer(part, limits=limits, trace=True) as scorer:
        for _ in scorer.score(as_job(probe) for probe in probes):
            pass
        lines = scorer.lines_run()
    found = []
    for path in sorted(lines.possible):
        possible = sorted(lines.possible[path])
        reached = lines.reached.get(path, frozenset())
        found += [LineRange(path, first, last) for first, last in _ranges(possible, reached)]
    return tuple(found)


def _ranges(possible: Sequence[int], reached: Any) -> Iterable[tuple[int, int]]:
    """Runs of lines with code that were not reached; a line that was ends a run, one without code doesn't."""
    first = last = 0
    for line in possible:
        if line in reached:
            if first:
                yield first, last
            first = 0
        else:
            first, last = first or line, line
    if first:
        yield first, last
