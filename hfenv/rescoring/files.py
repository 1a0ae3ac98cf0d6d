"""Recorded rollouts under another reward: every reward computed again, without the environment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from hfenv.card.manifest import RewardScope
from hfenv.errors import NotFoundError
from hfenv.rescoring.tally import Rescoring, RescoringCount, exact_of, is_unscored
from hfenv.runtime.contracts import Status
from hfenv.runtime.messages import Scored, ScoreTurns
from hfenv.runtime.rollout import Episode, RolloutWriter, TurnRecord, episode_status, read_rollouts
from hfenv.runtime.scoring import Scorer, ScoringLimits
from hfenv.runtime.spec import Part
from hfenv.specify import Origin, reward_part


def rescore(
    rollouts: str | Path,
    ref: str,
    *,
    revision: str | None = None,
    out: str | Path | None = None,
    hub: str | None = None,
    offline: bool = False,
    trust_remote_code: bool = False,
    allow_unreleased: bool = False,
) -> Rescoring:
    """Score a rollout file again under the reward that a reference names; `out` gets the episodes as they are then.

    Recorded evidence is used as it is; `measure` isn't called. Raises what `load_reward` raises, UnreadableError for a
    line that is no episode, and UsageError for a reward that can't be called by itself.
    """
    origin = Origin(hub, offline, trust_remote_code, allow_unreleased, isolation="process")
    part = reward_part(ref, revision=revision, origin=origin)
    return rescore_file(Path(rollouts), part, out=Path(out) if out is not None else None)


def rescore_file(
    path: Path,
    part: Part,
    *,
    out: Path | None = None,
    limits: ScoringLimits | None = None,
    progress: Callable[[int], None] | None = None,
) -> Rescoring:
    """`rescore` for a reward that is at hand and trusted. Holds a few episodes at a time, however many there are."""
    if not path.exists():
        raise NotFoundError(f"There is no file {path}.", "Record one: hfenv run REF --out rollouts.jsonl")
    with ExitStack() as stack:
        scorer = stack.enter_context(Scorer(part, limits=limits))
        ready = scorer.ready
        writer = stack.enter_context(RolloutWriter(out)) if out is not None else None
        count = RescoringCount(part, measures=ready.measures)
        for episode, scores in _pairs(path, scorer, part):
            after = _rewarded(episode, scores, part)
            count.add(episode, after, scores)
            if writer is not None:
                writer.write(after)
            if progress is not None:
                progress(1)
    return count.report(ready.enforced, out)


def _pairs(path: Path, scorer: Scorer, part: Part) -> Iterator[tuple[Episode, tuple[Scored, ...]]]:
    """Each episode with the scores of its scored turns; none for one that was spoiled or has no task."""
    reading: list[Episode] = []
    last_only = part.manifest.reward.scope is RewardScope.EPISODE

    def jobs() -> Iterator[ScoreTurns]:
        for episode in read_rollouts(path):
            reading.append(episode)
            number = len(episode.turns)
            first = number if is_unscored(episode) else max(number - 1, 0) if last_only else 0
            yield ScoreTurns(episode.task or {}, episode.transcript, first)

    for scores in scorer.score(jobs()):
        yield reading.pop(0), scores


def _rewarded(episode: Episode, scores: tuple[Scored, ...], part: Part) -> Episode:
    """The episode as the reward would have had it; a turn without a score is an infrastructure fault, as in a run."""
    provenance = _provenance(episode.provenance, part)
    if is_unscored(episode):
        return replace(episode, provenance=provenance)
    before = len(episode.turns) - len(scores)
    unscored = [replace(turn, reward=0.0, parts={}, status="ok") for turn in episode.turns[:before]]
    scored = [_turn(turn, score) for turn, score in zip(episode.turns[before:], scores, strict=True)]
    turns = (*unscored, *scored)
    total = float(sum(turn.reward for turn in turns))
    return replace(episode, turns=turns, total=total, status=episode_status(turns), provenance=provenance)


def _turn(turn: TurnRecord, score: Scored) -> TurnRecord:
    if score.error is not None or score.status == "infra_fault":
        error = score.error or "The reward reported an infrastructure fault."
        extra = {**(turn.extra if isinstance(turn.extra, dict) else {}), "error": error}
        return replace(
            turn, reward=0.0, parts={}, status="infra_fault", terminated=False, truncated=True, extra=extra
        )  # fmt: skip
    status: Status = "agent_fault" if score.status == "agent_fault" else "ok"
    return replace(turn, reward=score.total, parts=dict(score.parts), status=status)


def _provenance(recorded: Mapping[str, Any] | None, part: Part) -> dict[str, Any] | None:
    """Where the numbers come from now. No release stands for parts of several."""
    if recorded is None:
        return None
    now = {"revision": part.revision, "version": part.version, "exact": part.exact}
    same = exact_of(recorded) == part.exact
    rest = {} if same else {"release": None, "unreleased": part.revision is None or bool(recorded.get("unreleased"))}
    return {**recorded, **rest, "reward": now}
