"""What a comparison of two environments found, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from hfenv.components.changes.change import Change, required
from hfenv.components.ownership import Component
from hfenv.components.tasks.pair import TaskPair
from hfenv.components.versions import Level

if TYPE_CHECKING:
    from hfenv.diffing.probes import Probed


class FileDifferenceKind(str, Enum):
    """How a file differs; `mode` is its executable bit alone. One that was renamed may be edited too."""

    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    EDITED = "edited"
    MODE = "mode"


@dataclass(frozen=True, slots=True)
class FileDifference:
    """A file that differs, by its path now (a removed one's: before), and the path that it had under another name.

    `patch` is the unified diff, empty where none was asked for or `unseen` says why there is none.
    """

    kind: FileDifferenceKind
    path: str
    before_path: str
    patch: str = ""
    unseen: str = ""


@dataclass(frozen=True, slots=True)
class ComponentDifference:
    """One component on both sides. `commits` are None for a folder.

    `same` says that files and slices of the card are equal to the byte. A `problem` is why changes couldn't be told;
    then there are none.
    """

    component: Component
    versions: tuple[str, str]
    commits: tuple[str | None, str | None]
    same: bool
    changes: tuple[Change, ...] = ()
    files: tuple[FileDifference, ...] = ()
    problem: str = ""

    @property
    def level(self) -> Level:
        """The version step that the changes need."""
        return required(self.changes)

    @property
    def step(self) -> str:
        """Such as "reward 1.0.1 -> 2.0.0", or "reward 1.0.1" where both have that version."""
        before, after = self.versions
        return f"{self.component.value} {before}" + ("" if before == after else f" -> {after}")


class Verdict(str, Enum):
    """Whether numbers of both sides may stand in one table: on every evaluation split, on none, or on some."""

    YES = "yes"
    NO = "no"
    PARTLY = "partly"


@dataclass(frozen=True, slots=True)
class SplitVerdict:
    """The answer for one split. `on_both` is False for one that only one side has, which the verdict leaves out."""

    split: str
    evaluation: bool
    comparable: bool
    reason: str
    on_both: bool = True


@dataclass(frozen=True, slots=True)
class Comparability:
    """The answer, the reasons that hold for all splits (code and reward), and the answer for each split."""

    verdict: Verdict
    reasons: tuple[str, ...]
    splits: tuple[SplitVerdict, ...]
    line: str


@dataclass(frozen=True, slots=True)
class KeyDifference:
    """A value of the card that no component owns, before and after as JSON text, cut; None where it is absent."""

    key: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class SectionDifference:
    """A section of the card's text: `added`, `removed` or `edited`, with the number of its lines before and after."""

    kind: str
    title: str
    lines: tuple[int, int]


@dataclass(frozen=True, slots=True)
class CardDifference:
    """What differs on the card and in files beside the components."""

    keys: tuple[KeyDifference, ...]
    sections: tuple[SectionDifference, ...]
    files: tuple[FileDifference, ...]


@dataclass(frozen=True, slots=True)
class PackageDifference:
    """A package as required on both cards, and the versions that the releases were made with; None where absent."""

    name: str
    required: tuple[str | None, str | None]
    resolved: tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class SideFacts:
    """One side: what the user wrote, the repository or None for a folder, and the release that it is, if it is one.

    `note` says why it is none.
    """

    name: str
    repo: str | None
    release: str | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class EnvironmentDifference:
    """Everything that differs. `tasks` reads the rows when they are asked for; None where there are none to read.

    `probes` is None where none were replayed.
    """

    sides: tuple[SideFacts, SideFacts]
    comparable: Comparability
    components: Mapping[Component, ComponentDifference]
    tasks: TaskPair | None
    card: CardDifference
    packages: Sequence[PackageDifference]
    probes: Probed | None = None
