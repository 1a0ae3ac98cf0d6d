"""What several commands need: the environment's folder, the repository a push goes to, and load's origin."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from hfenv.card.manifest import Manifest
from hfenv.card.reader import manifest, read_card
from hfenv.components.ownership import CARD_NAME, Component
from hfenv.errors import UsageError

if TYPE_CHECKING:
    from hfenv.cli.output import Output
    from hfenv.components.snapshot import Snapshot


_AGE = re.compile(r"(\d{1,6})([smhdw])", re.ASCII)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def age_seconds(age: str) -> int:
    """Seconds of an age such as 12h, 30d or 8w; raises UsageError for anything else."""
    match = _AGE.fullmatch(age)
    if match is None:
        raise UsageError(f"'{age}' is no age.", "Write a number and s, m, h, d or w, for example 30d.")
    return int(match[1]) * _SECONDS[match[2]]


def environment_folder(path: Path) -> Path:
    """The folder of an environment; raises UsageError when there is none."""
    if not (path / CARD_NAME).is_file():
        raise UsageError(
            f"{path.resolve()} has no Environment Card ({CARD_NAME}).",
            "Name an environment's folder, or make one: hfenv init NAME",
        )
    return path


def read_manifest(path: Path) -> Manifest:
    """The card's `environment` block of a folder."""
    return manifest(read_card(environment_folder(path) / CARD_NAME))


def compared_folder(path: Path, against: str | None, *, hub: str, offline: bool) -> Snapshot:
    """An environment's folder with the release that it is compared with: its last one, or what `against` names."""
    from hfenv.components.snapshot import Snapshot

    folder = Snapshot.of(environment_folder(path), remembers=True)
    if against is None:
        return folder
    from hfenv.against import against as compared_with

    return compared_with(folder, against, hub=hub, offline=offline)


def tell_loosened(manifest: Manifest, output: Output) -> list[str]:
    """Warn of each level that the card sets below the policy table's: a verdict rests on it. Returns the sentences."""
    if "change_policy" not in manifest.raw:
        return []
    from hfenv.components.status import own_policy

    sentences = [adjustment.sentence for adjustment in own_policy(manifest).loosened]
    for sentence in sentences:
        output.warn(f"{sentence}.")
    return sentences


def component_named(name: str) -> Component:
    """One of the three components; raises UsageError with their names."""
    try:
        return Component(name)
    except ValueError:
        raise UsageError(f"'{name}' is no component.", "Write code, tasks or reward.") from None
