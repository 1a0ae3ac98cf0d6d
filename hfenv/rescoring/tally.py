"""What another reward moves: counts, means, groups and the largest moves, in a size that doesn't grow."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hfenv.runtime.messages import Scored
from hfenv.runtime.rollout import Episode, TurnRecord
from hfenv.runtime.spec import Part

TOLERANCE = 1e-9  # relative and absolute; a smaller difference is none
_MOVES, _ERRORS = 10, 5
_NAMES = 100  # splits, policies and versions that are told apart; more would be no table
_OTHERS = "(others)"


@dataclass(frozen=True)
class Tally:
    """Episodes that were scored whole, and their means before and after; None where there are no such episodes.

    `relabelled_turns` kept their reward and have other parts or another status. Both u are of the new reward's range.
    """

    episodes: int = 0
    turns: int = 0
    changed_episodes: int = 0
    changed_turns: int = 0
    relabelled_turns: int = 0
    return_before: float | None = None
    return_after: float | None = None
    u_before: float | None = None
    u_after: float | None = None


@dataclass(frozen=True, slots=True)
class EpisodeMove:
    """An episode whose return changed."""

    index: int
    task_id: str | None
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of episodes that began alike: how many changed their order, and how many have no spread to learn from."""

    groups: int = 0
    reordered: int = 0
    flat_before: int = 0
    flat_after: int = 0


@dataclass(frozen=True)
class Rescoring:
    """What another reward makes of recorded rollouts.

    `masked` episodes were spoiled when they were recorded and `failed` ones have a turn that the reward gave no score,
    or called an infrastructure fault; both are in no mean. `unmeasured` episodes have no evidence although the reward
    has a `measure`, `measured_elsewhere` ones have that of another reward, whose `measure` may differ: their rewards
    are what the recorded evidence says. `recorded_under` counts episodes by reward version and exact digest.
    """

    version: str
    exact: str
    revision: str | None
    episodes: int
    masked: int
    failed: int
    errors: int
    overall: Tally
    by_split: Mapping[str, Tally]
    by_policy: Mapping[str, Tally]
    groups: Groups
    moves: tuple[EpisodeMove, ...]
    first_errors: tuple[str, ...]
    unmeasured: int
    measured_elsewhere: int
    recorded_under: Mapping[str, int]
    enforced: tuple[str, ...]
    out: Path | None = None


def is_unscored(episode: Episode) -> bool:
    """Whether an episode was spoiled, or was recorded without its task: nothing can be said about its rewards."""
    return episode.masked or episode.task is None


def exact_of(provenance: Mapping[str, Any] | None) -> str | None:
    """The exact digest of the reward that an episode was recorded under, None where it doesn't say."""
    reward = (provenance or {}).get("reward")
    exact = reward.get("exact") if isinstance(reward, Mapping) else None
    return exact if isinstance(exact, str) else None


@dataclass
class _Sums:
    """A tally while it is counted."""

    episodes: int = 0
    turns: int = 0
    changed_episodes: int = 0
    changed_turns: int = 0
    relabelled_turns: int = 0
    sums: list[float] = field(default_factory=lambda: [0.0] * 4)

    def tally(self) -> Tally:
        means = [total / self.episodes if self.episodes else None for total in self.sums]
        counts = (self.changed_episodes, self.changed_turns, self.relabelled_turns)
        return Tally(self.episodes, self.turns, *counts, *means)


class RescoringCount:
    """Counts episodes one after the other; its size doesn't grow with their number."""

    def __init__(self, part: Part, *, measures: bool) -> None:
        self._part = part
        self._measures = measures
        self._all = _Sums()
        self._splits: dict[str, _Sums] = {}
        self._policies: dict[str, _Sums] = {}
        self._under: Counter[str] = Counter()
        self._moves: list[tuple[float, int, EpisodeMove]] = []
        self._first_errors: dict[str, None] = {}
        self._episodes = self._masked = self._failed = self._errors = 0
        self._unmeasured = self._elsewhere = 0
        self._groups = _GroupCount()

    def add(self, before: Episode, after: Episode, scores: tuple[Scored, ...]) -> None:
        """Count an episode as it was recorded and as it is under the other reward."""
        self._episodes += 1
        provenance = before.provenance or {}
        self._under[_name(_version(provenance), self._under)] += 1
        if is_unscored(before):
            self._masked += 1
            return
        self._count_evidence(before, len(scores))
        for score in scores:
            if score.error is not None:
                self._errors += 1
                if len(self._first_errors) < _ERRORS:
                    self._first_errors[score.error] = None
        if after.masked:
            self._failed += 1
            return
        changed = sum(not _close(old.reward, new.reward) for old, new in zip(before.turns, after.turns, strict=True))
        relabelled = sum(_is_relabelled(*pair) for pair in zip(before.turns, after.turns, strict=True))
        for sums in self._sums(before.split, provenance.get("policy")):
            self._add(sums, before, after, changed, relabelled)
        self._groups.add(before.group_id, before.total, after.total)
        if not _close(before.total, after.total):
            move = EpisodeMove(before.index, before.task_id, before.total, after.total)
            entry = (abs(after.total - before.total), -self._episodes, move)
            (heapq.heappush if len(self._moves) < _MOVES else heapq.heappushpop)(self._moves, entry)

    def report(self, enforced: tuple[str, ...], out: Path | None) -> Rescoring:
        return Rescoring(
            version=self._part.version, exact=self._part.exact, revision=self._part.revision,
            episodes=self._episodes, masked=self._masked, failed=self._failed, errors=self._errors,
            overall=self._all.tally(),
            by_split={name: sums.tally() for name, sums in sorted(self._splits.items())},
            by_policy={name: sums.tally() for name, sums in sorted(self._policies.items())},
            groups=self._groups.done(),
            moves=tuple(move for _, _, move in sorted(self._moves, key=lambda entry: (-entry[0], -entry[1]))),
            first_errors=tuple(self._first_errors),
            unmeasured=self._unmeasured, measured_elsewhere=self._elsewhere,
            recorded_under=dict(self._under.most_common()), enforced=enforced, out=out,
        )  # fmt: skip

    def _sums(self, split: str | None, policy: Any) -> Iterator[_Sums]:
        yield self._all
        if isinstance(split, str):
            yield self._splits.setdefault(_name(split, self._splits), _Sums())
        if isinstance(policy, str):
            yield self._policies.setdefault(_name(policy, self._policies), _Sums())

    def _add(self, sums: _Sums, before: Episode, after: Episode, changed: int, relabelled: int) -> None:
        section = self._part.manifest.reward
        sums.episodes += 1
        sums.turns += len(before.turns)
        sums.changed_turns += changed
        sums.changed_episodes += not _close(before.total, after.total)
        sums.relabelled_turns += relabelled
        values = (before.total, after.total, section.normalise(before.total), section.normalise(after.total))
        sums.sums = [total + value for total, value in zip(sums.sums, values, strict=True)]

    def _count_evidence(self, episode: Episode, scored: int) -> None:
        if not self._measures or exact_of(episode.provenance) == self._part.exact:
            return
        if all(turn.evidence is None for turn in episode.turns[len(episode.turns) - scored :]):
            self._unmeasured += 1
        else:
            self._elsewhere += 1


class _GroupCount:
    """Groups, which stand together in a rollout file; only the one that is being read is held."""

    def __init__(self) -> None:
        self._id: int | None = None
        self._members: list[tuple[float, float]] = []
        self._found = [0, 0, 0, 0]

    def add(self, group_id: int | None, before: float, after: float) -> None:
        if group_id != self._id:
            self._end()
            self._id = group_id
        if group_id is not None:
            self._members.append((before, after))

    def done(self) -> Groups:
        self._end()
        return Groups(*self._found)

    def _end(self) -> None:
        if len(self._members) > 1:
            before, after = (_ranks(list(values)) for values in zip(*self._members, strict=True))
            flags = (True, before != after, not any(before), not any(after))
            self._found = [count + flag for count, flag in zip(self._found, flags, strict=True)]
        self._members = []


def _ranks(values: list[float]) -> list[int]:
    order = {value: rank for rank, value in enumerate(sorted({round(value, 9) for value in values}))}
    return [order[round(value, 9)] for value in values]


def _version(provenance: Mapping[str, Any]) -> str:
    reward = provenance.get("reward")
    version = reward.get("version") if isinstance(reward, Mapping) else None
    exact = exact_of(provenance)
    return f"{version} ({exact[:12]})" if isinstance(version, str) and exact else "unknown"


def _name(name: str, known: Mapping[str, Any]) -> str:
    return name if name in known or len(known) < _NAMES else _OTHERS


def _is_relabelled(before: TurnRecord, after: TurnRecord) -> bool:
    if not _close(before.reward, after.reward):
        return False
    same_names = before.parts.keys() == after.parts.keys()
    same = same_names and all(_close(before.parts[name], after.parts[name]) for name in before.parts)
    return not same or before.status != after.status


def _close(left: float, right: float) -> bool:
    return math.isclose(left, right, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
