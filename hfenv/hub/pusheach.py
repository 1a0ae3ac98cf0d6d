"""Push several environments one after the other: each succeeds or fails by itself, and one table tells of all."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from hfenv.components.checks.nearby import is_environment
from hfenv.components.ownership import CARD_NAME
from hfenv.errors import HfenvError, NotFoundError
from hfenv.hub.push import PushResult


class Outcome(str, Enum):
    """What became of one environment."""

    PUSHED = "pushed"
    PLANNED = "planned"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class EachResult:
    """One environment of several; `revision` is what the hub has of it, as far as that is known.

    `SKIPPED` was found unchanged without a request, `UNCHANGED` with some.
    """

    folder: Path
    outcome: Outcome
    repo: str | None = None
    revision: str | None = None
    result: PushResult | None = None
    error: HfenvError | None = None

    @property
    def exit_code(self) -> int:
        return int(self.error.exit_code) if self.error is not None else 0


def matching_folders(patterns: Sequence[str]) -> list[Path]:
    """Folders with a card that a pattern names, by pattern and then by name, each once.

    Raises NotFoundError for a pattern that names none: a slip there would push nothing and look like success.
    """
    found: dict[Path, None] = {}
    for pattern in patterns:
        paths = (Path(name) for name in sorted(glob.glob(str(Path(pattern).expanduser()), recursive=True)))  # noqa: PTH207
        named = [path for path in paths if (path / CARD_NAME).is_file() and is_environment(path)]
        if not named:
            raise NotFoundError(f"'{pattern}' names no environment.", "Quote the pattern: hfenv push --all 'envs/*'")
        found |= dict.fromkeys(named)
    return list(found)


def push_each(
    folders: Iterable[Path],
    repo_of: Callable[[Path], str],
    push_one: Callable[[Path, str], PushResult],
    known: Callable[[Path, str], str | None] | None = None,
    failed: Callable[[Path, HfenvError], None] | None = None,
    *,
    dry_run: bool = False,
) -> list[EachResult]:
    """Push each folder, whatever becomes of the others.

    `known` gives the revision under which the hub has a folder's content already, where that is known without asking;
    such a folder is skipped. `failed` hears of each error when it happens.
    """
    results = []
    for folder in folders:
        repo = None
        try:
            repo = repo_of(folder)
            if known is not None and (revision := known(folder, repo)) is not None:
                results.append(EachResult(folder, Outcome.SKIPPED, repo, revision))
                continue
            result = push_one(folder, repo)
        except HfenvError as error:
            if failed is not None:
                failed(folder, error)
            results.append(EachResult(folder, Outcome.FAILED, repo, error=error))
            continue
        would = dry_run and bool(result.uploaded or result.deleted or result.tags)
        outcome = Outcome.PUSHED if result.created else Outcome.PLANNED if would else Outcome.UNCHANGED
        results.append(EachResult(folder, outcome, repo, result.revision, result))
    return results
