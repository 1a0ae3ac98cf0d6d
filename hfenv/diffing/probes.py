"""What probes say of two rewards, both at hand: runs their code, where that was asked for and is trusted."""

from __future__ import annotations

from dataclasses import dataclass

from hfenv.components.ownership import Component
from hfenv.components.probes import Probe, read_probes
from hfenv.diffing.sides import Side
from hfenv.errors import AuthorCodeError, MissingPackagesError, UnreadableError, UsageError
from hfenv.hub.references import Commit, HubReference, LocalReference
from hfenv.probing.replay import replay
from hfenv.probing.report import ProbeReport
from hfenv.runtime.spec import Part
from hfenv.specify import LocalFolder, Origin, specify_reward


@dataclass(frozen=True, slots=True)
class Probed:
    """The replay, or the `problem` that it met."""

    report: ProbeReport | None
    problem: str = ""


def probed(sides: tuple[Side, Side], origin: Origin) -> Probed:
    """Score the probes of both sides under both rewards; what both have counts once.

    Raises TrustError for a reward that isn't trusted, before anything of either is run.
    """
    parts = [_part(side, origin) for side in sides]
    try:
        probes: dict[str, Probe] = {}
        for side in reversed(sides):
            folder = side.places[Component.REWARD].of(Component.REWARD)
            for probe in read_probes(folder.root, folder.files):
                probes.setdefault(probe.question, probe)
        return Probed(replay(parts[1], list(probes.values()), old=parts[0]))
    except (UnreadableError, UsageError, AuthorCodeError, MissingPackagesError) as error:
        return Probed(None, f"{error.message} {error.hint}".strip())


def _part(side: Side, origin: Origin) -> Part:
    """A side's reward, trusted; of the commit that was compared, whatever its name stands for by now."""
    place = side.places[Component.REWARD]
    if side.repo is None or place.commit is None:
        folder = LocalFolder.read(place.root)
        folder.require_trust(LocalReference(place.root), origin, "reward")
        return folder.parts[Component.REWARD]
    return specify_reward(HubReference(side.repo, Commit(place.commit), f"{side.repo}@{place.commit}"), origin)
