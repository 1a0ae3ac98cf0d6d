"""Scores probes again, twice under each reward, and compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from hfenv.components.probes import Expected, Probe
from hfenv.probing.report import Failure, Flake, Move, ProbeRef, ProbeReport, Side, compare
from hfenv.runtime.contracts import RecordedOutcome, Turn
from hfenv.runtime.messages import Scored, ScoreTurns
from hfenv.runtime.scoring import Scorer, ScoringLimits
from hfenv.runtime.spec import Part

_MOST_PARTS = 8  # of a score, for which all sets of parts that may be new are tried


@dataclass(frozen=True)
class Twice:
    """The two scores that one reward gave each probe, in the probes' order."""

    first: tuple[Scored, ...]
    second: tuple[Scored, ...]
    enforced: tuple[str, ...]


def replay(
    new: Part,
    probes: Sequence[Probe],
    *,
    known: frozenset[str] | None = None,
    old: Part | None = None,
    limits: ScoringLimits | None = None,
) -> ProbeReport:
    """Score every probe under the new reward, and say how that compares with the old one.

    Runs the rewards' code, held as `hfenv.runtime.scoring` says, twice each: in two processes, with two hash seeds, the
    second time in reverse order, so that whatever isn't a function of task and transcript shows as flaky. With `old`
    every probe is compared. Without it, a probe whose digest is in `known` (the last release's record) is compared
    with its own expected score, which is what the released reward gave; no other can tell anything about that. A digest
    in `known` that no probe has makes the verdict unclear: nobody gets one by removing the probes that moved. A probe
    that expects new parts since, and all else as before, is taken for what it was.

    Raises AuthorCodeError when a reward can't be imported, UsageError for one that can't be called by itself (builtin,
    scope group), MissingPackagesError for packages that aren't there. Any other trouble is in the report.
    """
    released = [_released(probe, known or frozenset()) for probe in probes]
    missing = len((known or frozenset()) - {found[1] for found in released if found}) if old is None else 0
    if not probes:
        return ProbeReport(0, 0, missing)
    scores = score_twice(new, probes, limits)
    now, flaky, failed = settle(Side.NEW, probes, scores)
    if old is not None:
        then, more_flaky, more_failed = settle(Side.OLD, probes, score_twice(old, probes, limits))
        flaky, failed = flaky + more_flaky, failed + more_failed
    else:
        then = [found[0] if found else None for found in released]
    pairs = [(p, b, a) for p, b, a in zip(probes, then, now, strict=True) if b is not None and a is not None]
    stale = [compare(p, p.expected, a) for p, a in zip(probes, now, strict=True) if a is not None]
    moved = [compare(*pair) for pair in pairs]
    return ProbeReport(
        len(probes), len(pairs), missing, _found(moved), _found(stale), tuple(flaky), tuple(failed), scores.enforced,
    )  # fmt: skip


def _released(probe: Probe, known: frozenset[str]) -> tuple[Expected, str] | None:
    """What the released reward gave for a probe, and the digest that says so; None where no release says anything."""
    expected = probe.expected
    names = list(expected.parts) if known and len(expected.parts) <= _MOST_PARTS else []
    for number in range(len(names) + 1):
        for new in combinations(names, number):
            parts = {name: value for name, value in expected.parts.items() if name not in new}
            before = Expected(expected.total, parts, expected.status)
            if (digest := probe.digest_expecting(before)) in known:
                return before, digest
    return None


def score_twice(part: Part, probes: Sequence[Probe], limits: ScoringLimits | None = None) -> Twice:
    """Two scores of each probe under one reward, from two processes that start side by side."""
    jobs = [as_job(probe) for probe in probes]
    with Scorer(part, limits=limits, hash_seed=0) as one, Scorer(part, limits=limits, hash_seed=1) as other:
        first = [scores[0] for scores in one.score(jobs)]
        second = [scores[0] for scores in other.score(reversed(jobs))]
        return Twice(tuple(first), tuple(reversed(second)), one.ready.enforced)


def as_job(probe: Probe) -> ScoreTurns:
    """What a scorer is asked about a probe: the score of its last turn."""
    turns = tuple(
        Turn(turn.action, RecordedOutcome(turn.data, turn.terminated, turn.truncated), turn.evidence)
        for turn in probe.turns
    )
    return ScoreTurns(probe.task, turns, len(turns) - 1)


def as_expected(scored: Scored) -> Expected:
    """A score as a probe expects it."""
    return Expected(scored.total + 0.0, dict(scored.parts), scored.status)


def settle(
    side: Side, probes: Sequence[Probe], scores: Twice
) -> tuple[list[Expected | None], list[Flake], list[Failure]]:
    """Each probe's score, None where it has none or two; and those that are flaky or failed."""
    found: list[Expected | None] = []
    flaky: list[Flake] = []
    failed: list[Failure] = []
    for probe, first, second in zip(probes, scores.first, scores.second, strict=True):
        found.append(None)
        error = first.error or second.error
        if error is not None:
            failed.append(Failure(ProbeRef.of(probe), side, error))
        elif compare(probe, as_expected(first), as_expected(second)) is not None:
            flaky.append(Flake(ProbeRef.of(probe), side, as_expected(first), as_expected(second)))
        else:
            found[-1] = as_expected(first)
    return found, flaky, failed


def _found(moves: Sequence[Move | None]) -> tuple[Move, ...]:
    return tuple(move for move in moves if move is not None)
