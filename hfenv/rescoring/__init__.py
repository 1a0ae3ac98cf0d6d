"""Rescoring: what another reward version makes of recorded rollouts."""

from hfenv.rescoring.files import rescore, rescore_file
from hfenv.rescoring.tally import EpisodeMove, Groups, Rescoring, Tally

__all__ = ["EpisodeMove", "Groups", "Rescoring", "Tally", "rescore", "rescore_file"]
