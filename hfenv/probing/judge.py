"""What probes say about a changed reward, as evidence beside what reading its code said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hfenv.card.manifest import RewardScope
from hfenv.components.changes.change import Change, ChangeKind, Difference
from hfenv.components.changes.policy import Policy
from hfenv.components.describe import recorded_probes
from hfenv.components.meaning.digest import PROBES
from hfenv.components.ownership import Component
from hfenv.components.probes import Probe, read_probes
from hfenv.components.snapshot import Snapshot
from hfenv.components.status import ComponentStatus, Statuses, own_policy
from hfenv.errors import FindingsError
from hfenv.probing.replay import replay
from hfenv.probing.report import ProbeReport, Verdict
from hfenv.runtime.spec import Part

_TOLD = 3


@dataclass(frozen=True)
class Judged:
    """Where the components stand after their probes were replayed; `report` is None where there was nothing to."""

    states: Statuses
    probes: tuple[Probe, ...] = ()
    report: ProbeReport | None = None

    def refreshed(self) -> bytes | None:
        """The file of probes with the scores that the present reward gives; None where it says them already.

        Raises FindingsError where some have no score that can be relied on.
        """
        if self.report is None or not (self.report.stale or self._troubled):
            return None
        self.require_reliable()
        scores = {move.probe.line: move.after for move in self.report.stale}
        return b"".join(
            replace(probe, expected=scores.get(probe.line, probe.expected)).to_line() for probe in self.probes
        )

    def require_reliable(self) -> None:
        """Raise FindingsError for probes that the reward scores in two ways, or not at all."""
        if self.report is not None and self._troubled:
            failed = self.report.failed
            cause = f" {failed[0].error.splitlines()[0]}" if failed and failed[0].error else ""
            raise FindingsError(
                f"{PROBES}: {self.report.sentence}.{cause}",
                "A score is a function of task and transcript alone; hfenv probe check shows each.",
            )

    def require_fresh(self) -> None:
        """Raise FindingsError unless every probe expects what the reward gives: the next release rests on them."""
        self.require_reliable()
        if self.report is not None and self.report.stale:
            stale = self.report.stale
            named = "; ".join(f"line {move.probe.line}, {move.told}" for move in stale[:_TOLD])
            more = f"; and {len(stale) - _TOLD} more" if len(stale) > _TOLD else ""
            raise FindingsError(
                f"{PROBES}: {len(stale)} of {self.report.probes} probes expect other scores than the reward gives "
                f"({named}{more}).",
                "hfenv bump reward takes the new scores over, if they are meant.",
            )

    @property
    def _troubled(self) -> bool:
        return self.report is not None and bool(self.report.flaky or self.report.failed)


def probes_to_replay(folder: Snapshot, states: Statuses) -> tuple[Probe, ...]:
    """The probes that can tell something: those of a reward that changed or was never released.

    None of one that can't be called by itself (builtin, scope group): nothing lowers what its changes need.
    """
    section = folder.manifest.reward
    alone = section.entry is not None and not section.builtin and section.scope is not RewardScope.GROUP
    if not alone or not states[Component.REWARD].changed:
        return ()
    return read_probes(folder.root, folder.files)


def judge(folder: Snapshot, states: Statuses, *, old: Part | None = None) -> Judged:
    """Replay the probes that can tell something, and add what they showed to where the components stand.

    Scores alike lower what changes of code need where the policy says so; a score that moved is a change of its own.
    `old` is the reward to compare with, where its code is at hand. Runs the reward's code; raises as `replay` does.
    """
    state, probes = states[Component.REWARD], probes_to_replay(folder, states)
    if not probes:
        return Judged(states)
    released = folder.record.components[Component.REWARD] if folder.record else None
    known = recorded_probes(released) if released is not None else frozenset()
    report = replay(reward_part(folder, state), probes, known=known, old=old)
    if released is None:
        return Judged(states, probes, report)
    return Judged({**states, Component.REWARD: _with_evidence(folder, state, report)}, probes, report)


def reward_part(folder: Snapshot, state: ComponentStatus) -> Part:
    """The reward as it lies in a folder, ready to be loaded."""
    files = {entry.path: entry.sha256 for entry in folder.files if entry.component is Component.REWARD}
    return Part(folder.root, folder.manifest, state.declared, state.current.exact, files=files)


def _with_evidence(folder: Snapshot, state: ComponentStatus, report: ProbeReport) -> ComponentStatus:
    changes = with_probes(state.changes, report, own_policy(folder.manifest))
    return replace(state, changes=changes, probed=report.sentence, alike=report.alike)


def with_probes(changes: Sequence[Change], report: ProbeReport, policy: Policy) -> tuple[Change, ...]:
    """A reward's changes with what probes showed: at their lower level where scores are alike, and what moved."""
    if report.verdict in (Verdict.ALIKE, Verdict.ADDS_PARTS):
        changes = [change.settled() for change in changes]
    return (*changes, *policy.judge(Component.REWARD, _differences(report)))


def _differences(report: ProbeReport) -> Iterator[Difference]:
    for kind, chosen in (
        (ChangeKind.PROBE_MOVED, [move for move in report.moved if not move.only_adds_parts]),
        (ChangeKind.PROBE_PARTS, [move for move in report.moved if move.only_adds_parts]),
    ):
        if chosen:
            first = chosen[0]
            what = "score otherwise" if kind is ChangeKind.PROBE_MOVED else "have new parts"
            such = "" if len(chosen) == 1 else f"such as that of task {first.probe.task_id}: "
            message = f"{len(chosen)} of {report.compared} probes {what}, {such}{first.told}"
            ids = tuple(move.probe.task_id for move in chosen[:_TOLD])
            yield Difference(kind, PROBES, "probes", message, line=first.probe.line, count=len(chosen), examples=ids)
