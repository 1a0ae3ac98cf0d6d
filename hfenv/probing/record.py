"""Makes probes of recorded rollouts: a few turns that differ as much as possible, with the present reward's scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hfenv.card.manifest import RewardScope
from hfenv.components.files import write_all
from hfenv.components.meaning.digest import PROBES
from hfenv.components.probes import MOST, Expected, NotAProbeError, Probe, ProbeTurn, parse_probe
from hfenv.probing.replay import score_twice, settle
from hfenv.probing.report import ProbeRef, Side, compare
from hfenv.runtime.jsondata import as_text
from hfenv.runtime.rollout import Episode, TurnRecord
from hfenv.runtime.scoring import ScoringLimits, check_scorable
from hfenv.runtime.spec import Part
from hfenv.secret_shapes import holds_secret

LARGEST = 64 << 10  # bytes of a probe that is recorded: what is larger is left to be written by hand
_KINDS, _SHADES, _EACH = 200, 32, 4  # sorts of turns, shades of each, and probes of each of those, at most
_WORD = 24  # characters of a text in an outcome's data that may name a case
LONG = 2000  # characters of an action that count as over-long


@dataclass(frozen=True)
class Recorded:
    """What was recorded: the probes as they stand in the file now, and what became of the rest.

    `kept` were there before, `added` are new. `updated` of the kept ones expect another score than before; `differed`
    of the new ones have another than the rollout recorded. `flaky` and `failed` were left out, or left as they were. Of
    the `turns` that were looked at, `unfit` were too large (more than LARGEST bytes) or too deep, and `secret` hold
    what looks like a token: none of these is ever written.
    """

    probes: tuple[Probe, ...]
    kept: int
    added: int
    updated: int
    differed: int
    flaky: tuple[ProbeRef, ...]
    failed: tuple[tuple[ProbeRef, str], ...]
    turns: int = 0
    unfit: int = 0
    secret: int = 0


def record(
    part: Part, rollouts: Iterable[Episode], present: Sequence[Probe], *, most: int = 60,
    limits: ScoringLimits | None = None,
) -> Recorded:  # fmt: skip
    """Choose turns of rollouts until there are `most` probes with those present, or more would be like others.

    The choice is the same for the same rollouts, and a second time adds nothing. Every expected score, also of the
    present ones, is what the reward gives now, in two runs. Holds a bounded number of candidates, however long the
    rollouts are. Raises what `hfenv.probing.replay` raises.
    """
    check_scorable(part)
    pile = _Pile(present)
    last_only = part.manifest.reward.scope is RewardScope.EPISODE
    for episode in rollouts:
        for probe in _candidates(episode, last_only=last_only):
            pile.add(probe)
    chosen = pile.choose(min(most, MOST) - len(present))
    result = rescored(part, [*present, *chosen], limits)
    before = {probe.question: probe for probe in chosen}
    kept = tuple(p for p in result.probes if p.question not in before)
    troubled = {ref.digest for ref in (*result.flaky, *(ref for ref, _ in result.failed))}
    added = tuple(p for p in result.probes if p.question in before and before[p.question].digest not in troubled)
    differed = sum(compare(p, before[p.question].expected, p.expected) is not None for p in added)
    return replace(
        result, probes=(*kept, *added), kept=len(kept), added=len(added),
        updated=sum(old.digest != now.digest for old, now in zip(present, kept, strict=True)),
        differed=differed, turns=pile.turns, unfit=pile.unfit, secret=pile.secret,
    )  # fmt: skip


def rescored(part: Part, probes: Sequence[Probe], limits: ScoringLimits | None = None) -> Recorded:
    """The same probes, each expecting what the reward gives now; one that is flaky or fails stays as it is."""
    if not probes:
        return Recorded((), 0, 0, 0, 0, (), ())
    now, flaky, failed = settle(Side.NEW, probes, score_twice(part, probes, limits))
    found = tuple(
        probe if score is None or compare(probe, probe.expected, score) is None else replace(probe, expected=score)
        for probe, score in zip(probes, now, strict=True)
    )
    updated = sum(old is not new for old, new in zip(probes, found, strict=True))
    lost = tuple((failure.probe, failure.error) for failure in failed)
    return Recorded(found, len(found), 0, updated, 0, tuple(flake.probe for flake in flaky), lost)


def write_probes(root: Path, probes: Sequence[Probe]) -> None:
    """Replace reward/probes.jsonl as a whole; StorageError leaves it as it was."""
    write_all({root / PROBES: b"".join(probe.to_line() for probe in probes)})


def _candidates(episode: Episode, *, last_only: bool) -> Iterator[Probe]:
    """The scored turns of an episode, each with all turns before it."""
    if episode.masked or not episode.task or not isinstance(episode.task.get("id"), str) or not episode.task["id"]:
        return
    turns = tuple(_turn(turn) for turn in episode.turns)
    first = len(turns) - 1 if last_only else 0
    for index in range(max(first, 0), len(turns)):
        scored = episode.turns[index]
        expected = Expected(float(scored.reward), {n: float(v) for n, v in scored.parts.items()}, scored.status)
        note = scored.extra.get("note") if isinstance(scored.extra, dict) else None
        yield Probe(episode.task, turns[: index + 1], expected, note if isinstance(note, str) else "")


def _turn(turn: TurnRecord) -> ProbeTurn:
    return ProbeTurn(turn.action, turn.data, turn.evidence, turn.terminated, turn.truncated, turn.completion)


class _Pile:
    """Candidates by what sort of turn they are; never more than a few of a sort, the small ones first."""

    def __init__(self, present: Sequence[Probe]) -> None:
        self._taken = {probe.question for probe in present}
        self._present = Counter(_sort(probe) for probe in present)
        self._tasks = Counter(probe.task_id for probe in present)
        self._sorts: dict[str, dict[str, list[tuple[int, str, Probe]]]] = {}
        self.turns = self.unfit = self.secret = 0

    def add(self, probe: Probe) -> None:
        """Look at one turn; it is held if nothing smaller of its sort is."""
        self.turns += 1
        sort, shade = _sort(probe)
        shades = self._sorts.get(sort)
        if shades is None:
            if len(self._sorts) >= _KINDS:
                return
            shades = self._sorts[sort] = {}
        if shade not in shades and len(shades) >= _SHADES:
            return
        text = as_text(probe.to_json())
        line = text.encode()
        size = len(line)
        held = shades.setdefault(shade, [])
        room = _EACH - self._present[sort, shade]
        if room <= 0 or (len(held) == room and size >= held[-1][0]):
            return
        try:
            # What reads the file decides what may be written to it.
            plain = None if size > LARGEST else parse_probe(line)
        except NotAProbeError:
            plain = None
        if plain is None:
            self.unfit += 1
            return
        if plain.question in self._taken:
            return
        if holds_secret(text):
            self.secret += 1
            return
        self._taken.add(plain.question)
        held.append((size, plain.question, plain))
        held.sort(key=lambda entry: entry[:2])
        for _, question, _ in held[room:]:
            self._taken.discard(question)
        del held[room:]

    def choose(self, number: int) -> list[Probe]:
        """Up to so many: round after round one of each sort, of the shade and the task that were taken least."""
        chosen: list[Probe] = []
        tasks, used = Counter(self._tasks), Counter(self._present)
        left = {
            sort: {shade: list(held) for shade, held in sorted(shades.items()) if held}
            for sort, shades in sorted(self._sorts.items())
        }
        while len(chosen) < number and any(left.values()):
            for sort, shades in left.items():
                if not shades or len(chosen) >= number:
                    continue
                shade = min(shades, key=lambda name: (used[sort, name], name))
                entry = min(shades[shade], key=lambda one: (tasks[one[2].task_id], *one[:2]))
                shades[shade].remove(entry)
                if not shades[shade]:
                    del shades[shade]
                used[sort, shade] += 1
                tasks[entry[2].task_id] += 1
                chosen.append(entry[2])
        return chosen


def _sort(probe: Probe) -> tuple[str, str]:
    """What sort of turn it is, by its score; and which shade of it, by what the agent did and what came of it."""
    expected = probe.expected
    parts = sorted((name, (value > 0) - (value < 0)) for name, value in expected.parts.items())
    sort = as_text([expected.status, round(expected.total, 1), parts])
    last = probe.turns[-1]
    text = last.action if isinstance(last.action, str) else as_text(last.action)
    length = 0 if not text.strip() else 1 if len(text) < LONG // 10 else 2 if len(text) < LONG else 3
    switches = sorted((name, value) for name, value in probe.task.items() if isinstance(value, bool))
    turns = min(len(probe.turns), 8).bit_length()
    # Whoever gives a turn a note has chosen it: no two notes are the same shade.
    return sort, as_text([length, text.isascii(), turns, last.truncated, _words(last.data), switches, probe.note])


def _words(data: Any) -> list[Any]:
    """Names of cases in an outcome's data: short texts without spaces, truth values, and what is missing."""
    if not isinstance(data, dict):
        return [type(data).__name__]
    found = []
    for name, value in sorted(data.items())[:20]:
        named = isinstance(value, str) and len(value) <= _WORD and value.replace("_", "").replace("-", "").isalpha()
        if named or value is None or isinstance(value, bool):
            found.append([name, value])
    return found
