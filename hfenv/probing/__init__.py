"""Probes at work: replayed under a reward and its predecessor, recorded from rollouts, and judged as a set.

`replay` is what a verdict about a changed reward rests on; it runs the reward's code, so that only author commands
call it, and it never proves that two rewards are the same.
"""

from hfenv.probing.replay import replay
from hfenv.probing.report import Failure, Flake, Move, ProbeRef, ProbeReport, Side, Verdict

__all__ = ["Failure", "Flake", "Move", "ProbeRef", "ProbeReport", "Side", "Verdict", "replay"]
