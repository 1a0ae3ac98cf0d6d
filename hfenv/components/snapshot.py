"""An environment's folder at one moment: its card, its files, and the release that it is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hfenv.card.manifest import Manifest
from hfenv.card.reader import Card, manifest, read_card
from hfenv.components.journal import finish
from hfenv.components.ownership import CARD_NAME, FileEntry, walk
from hfenv.components.release import ReleaseRecord, read_record, with_recorded_modes
from hfenv.components.statcache import StatCache


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What lies in a folder; `record` is the release that counts as its last one, None before the first.

    `files` have the executable bits that the record keeps and a file system or hub may lose.
    """

    root: Path
    card: Card
    manifest: Manifest
    files: tuple[FileEntry, ...]
    record: ReleaseRecord | None

    @classmethod
    def of(cls, root: Path, *, remembers: bool = False) -> Snapshot:
        """Read a folder with its own record; with `remembers`, files that can't have changed aren't read again.

        Raises UnreadableError for what can't be read, and NotFoundError where there is no card.
        """
        finish(root)
        card, record = read_card(root / CARD_NAME), read_record(root)
        files = walk(root, StatCache.of(root) if remembers else None)
        return cls(root, card, manifest(card), with_recorded_modes(files, record), record)
