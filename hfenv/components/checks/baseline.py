"""A baseline: findings that an old environment had when it adopted the checks, and that don't count."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from hfenv.card.regular import MIB, read_regular
from hfenv.components.checks.fingerprint import Fingerprint, fingerprints
from hfenv.components.files import check_replaceable, write_all
from hfenv.errors import NotFoundError, StorageError, UnreadableError, UsageError
from hfenv.findings import Finding, Report, Suppressed, SuppressedBy
from hfenv.rules.catalogue import RULES

FORMAT = 1
_LONGEST_PATH = 4096  # characters; an environment's own paths are far shorter
_LARGEST = 64 * MIB


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """`count` places with one fingerprint, whose path is relative to the baseline's folder.

    A finding that stands for several rows counts as many times: one row more is a new mistake.
    """

    fingerprint: Fingerprint
    count: int


@dataclass(frozen=True, slots=True)
class Baseline:
    """The entries of a baseline file, sorted."""

    file: Path
    entries: tuple[Entry, ...]


def read_baseline(file: Path) -> Baseline:
    """Raises NotFoundError where there is no such file, UnreadableError for one that is no baseline."""
    try:
        data = json.loads(read_regular(file, _LARGEST).decode("utf-8"))
    except FileNotFoundError:
        raise NotFoundError(f"There is no baseline {file}.", f"Make one: --write-baseline {file}") from None
    except OSError as error:
        raise UnreadableError(f"The baseline {file} can't be read: {error.strerror}.", "Check the file.") from None
    except (ValueError, RecursionError):
        raise _bad(file, "it isn't JSON") from None
    if not isinstance(data, dict) or not isinstance(data.get("findings"), list):
        raise _bad(file, "it is no object with a list 'findings'")
    if data.get("format") != FORMAT:
        raise _bad(file, f"its format is {json.dumps(data.get('format'))[:40]}, this hfenv reads {FORMAT}")
    return Baseline(file, tuple(sorted(_entry(item, index, file) for index, item in enumerate(data["findings"]))))


def require_replaceable(file: Path) -> None:
    """Raises UsageError where writing a baseline would replace something else, StorageError for what is no file."""
    check_replaceable(file)
    try:
        content = read_regular(file, _LARGEST)
        data = json.loads(content.decode("utf-8")) if content.strip() else None
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(f"{file} can't be replaced: {error.strerror}.", "Name another file.") from None
    except (ValueError, RecursionError):
        data = ()
    ours = isinstance(data, dict) and set(data) == {"format", "findings"} and isinstance(data["findings"], list)
    if data is not None and not ours:
        raise UsageError(f"{file} is there already, and it is no baseline.", "Name another file, or delete this one.")


def write_baseline(file: Path, reports: Mapping[Path, Report]) -> Baseline:
    """Write what was found in environments or bare cards, except what makes a card unreadable. Raises StorageError."""
    counts: Counter[Fingerprint] = Counter()
    for path, report in reports.items():
        for finding, one in zip(report.findings, _prints(path, report.findings, file), strict=True):
            if one is not None:
                counts[one] += finding.count
    entries = tuple(sorted(Entry(one, count) for one, count in counts.items()))
    items = [{"path": e.fingerprint.path, "rule": e.fingerprint.rule, "at": e.fingerprint.at, "count": e.count}
             for e in entries]  # fmt: skip
    lines = ",\n".join(f"    {json.dumps(item, ensure_ascii=False)}" for item in items)
    listed = f"[\n{lines}\n  ]" if lines else "[]"
    # A name on disk that is no Unicode becomes the JSON escape of what Python makes of it, and comes back as that.
    text = f'{{\n  "format": {FORMAT},\n  "findings": {listed}\n}}\n'
    write_all({file: text.encode("utf-8", "backslashreplace")})
    return Baseline(file, entries)


def covered(baseline: Baseline, reports: Mapping[Path, Report]) -> tuple[dict[Path, Report], tuple[Entry, ...]]:
    """The reports without what the baseline covers, and what of the baseline isn't found any more.

    An entry of an environment that isn't among the reports, or of a rule that didn't run, is left in peace.
    """
    left = Counter({entry.fingerprint: entry.count for entry in baseline.entries})
    after = {}
    for path, report in reports.items():
        kept: list[Finding] = []
        taken: list[Suppressed] = []
        for finding, one in zip(report.findings, _prints(path, report.findings, baseline.file), strict=True):
            if one is not None and left[one] >= finding.count:
                left[one] -= finding.count
                taken.append(Suppressed(finding, SuppressedBy.BASELINE, f"in the baseline {baseline.file.name}"))
            else:
                kept.append(finding)
        after[path] = replace(report, findings=tuple(kept), suppressed=(*report.suppressed, *taken))
    looked_for = _looked_for(reports, baseline.file)
    stale = (Entry(one, count) for one, count in sorted(left.items()) if count > 0 and looked_for(one))
    return after, tuple(stale)


def _prints(path: Path, findings: Sequence[Finding], file: Path) -> Iterator[Fingerprint | None]:
    """A fingerprint relative to the baseline for each finding; None for those that no baseline covers."""
    folder = _folder(path)
    start = _relative(folder, file)
    for finding, one in zip(findings, fingerprints(findings, folder), strict=True):
        fatal = finding.rule in RULES and RULES[finding.rule].fatal
        yield None if fatal else replace(one, path=os.path.normpath(start / one.path).replace(os.sep, "/"))


def _folder(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def _relative(path: Path, file: Path) -> PurePath:
    return PurePath(os.path.relpath(path.resolve(), file.parent.resolve()))


def _looked_for(reports: Mapping[Path, Report], file: Path) -> Callable[[Fingerprint], bool]:
    """Tells of a fingerprint whether this run would have found it again."""
    ran: dict[str, set[str]] = defaultdict(set)
    for path, report in reports.items():
        ran[_relative(path, file).as_posix()].update(report.ran)

    def looked_for(one: Fingerprint) -> bool:
        return any(one.rule in rules and _is_below(one.path, place) for place, rules in ran.items())

    return looked_for


def _is_below(path: str, place: str) -> bool:
    """Whether a path is, or lies in, a place; both from the baseline's folder."""
    if place == ".":
        return not path.startswith(("/", "../"))
    return path == place or path.startswith(f"{place}/")


def _entry(item: Any, index: int, file: Path) -> Entry:
    if isinstance(item, dict) and set(item) == {"path", "rule", "at", "count"}:
        path, rule, at, count = item["path"], item["rule"], item["at"], item["count"]
        texts = all(isinstance(value, str) for value in (path, rule, at))
        if texts and len(path) > _LONGEST_PATH:
            raise _bad(file, f"the path of entry {index + 1} has more than {_LONGEST_PATH:,} characters")
        if texts and isinstance(count, int) and not isinstance(count, bool) and count > 0:
            return Entry(Fingerprint(path, rule, at), count)
    raise _bad(file, f"entry {index + 1} isn't an object of path, rule, at and a positive count")


def _bad(file: Path, why: str) -> UnreadableError:
    return UnreadableError(
        f"{file} is no baseline: {why}.", f"Correct it, or delete it and write it again: --write-baseline {file}"
    )
