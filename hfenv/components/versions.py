"""Semantic versions as hfenv uses them: parsing, levels, the next release, and ranges such as `^1.2`."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache

from semver import Version

from hfenv.errors import UsageError

LONGEST = 100  # characters: a version is part of a tag's name, which the hub keeps as a file's


class Level(IntEnum):
    """How much a change means; ordered, so that the highest of several is `max`."""

    NONE = 0
    PATCH = 1
    MINOR = 2
    MAJOR = 3

    @property
    def word(self) -> str:
        return self.name.lower()


@lru_cache(maxsize=4096)
def parse_version(text: str) -> Version:
    """A semantic version without build metadata; raises UsageError with the form that was probably meant."""
    try:
        if len(text) > LONGEST:
            raise UsageError(
                f"'{text[:20]}...' is no version: it has {len(text):,} characters, and {LONGEST} are the most.",
                "Write it like '1.0.0'.",
            )
        version = Version.parse(text)
    except (ValueError, TypeError):
        raise UsageError(f"'{text}' is no semantic version.", f"Write it like '{_proposal(text)}'.") from None
    if version.build:
        raise UsageError(
            f"'{text}' carries build metadata, which versions can't be told apart by.",
            f"Write '{version.replace(build=None)}'.",
        )
    return version


def is_version(text: str) -> bool:
    """True for a semantic version without build metadata."""
    try:
        return parse_version(text) is not None
    except UsageError:
        return False


def _proposal(text: str) -> str:
    numbers = re.findall(r"\d+", text)[:3]
    return ".".join([str(int(n)) for n in numbers] + ["0"] * (3 - len(numbers))) if numbers else "1.0.0"


def level_between(old: str, new: str) -> Level:
    """The level of the step from `old` up to `new`; NONE when `new` isn't higher."""
    before, after = parse_version(old), parse_version(new)
    if after <= before:
        return Level.NONE
    if after.major != before.major:
        return Level.MAJOR
    if after.minor != before.minor:
        return Level.MINOR
    return Level.PATCH


def raised(version: str, level: Level) -> str:
    """`version` raised by a level; a pre-release is finished first when the level is already in it."""
    if level is Level.NONE:
        return version
    return str(parse_version(version).next_version(level.word))


def needed(released: str, level: Level) -> Level:
    """The level that a change of `level` needs after a version: below 1.0.0, a minor step may break."""
    return min(level, Level.MINOR) if parse_version(released).major == 0 else level


def smallest(released: str, level: Level) -> str:
    """The lowest version that a change of `level` may go out under after `released`.

    After a release candidate the next one is enough where the step that it announces is large enough.
    """
    if level is Level.NONE:
        return released
    before, core = parse_version(released), parse_version(raised(released, needed(released, level)))
    if not before.prerelease:
        return str(core)
    return str(before.bump_prerelease()) if core == before.finalize_version() else f"{core}-rc.1"


def covers(declared: str, released: str, level: Level) -> bool:
    """Whether a change of `level` may go out as `declared`; a candidate counts as the version that it announces."""
    if level is Level.NONE:
        return parse_version(declared) >= parse_version(released)
    step = raised(released, needed(released, level))
    after = parse_version(declared)
    return after > parse_version(released) and after.finalize_version() >= parse_version(step)


def skips(declared: str, released: str) -> bool:
    """Whether a version leaves one out between itself and the released one, such as 1.3.0 after 1.1.0."""
    before, core = parse_version(released), parse_version(declared).finalize_version()
    nearest = {before.finalize_version(), *(parse_version(raised(released, level)) for level in list(Level)[1:])}
    return core > before and core not in nearest


def next_release(previous: str | None, level: Level, *, prerelease: bool, components: list[str]) -> str:
    """The release's own version: raised by the highest component level, a release candidate while a component is one.

    Without a previous release: 1.0.0, or 0.1.0 while every component is below 1.0.0.
    """
    if previous is None:
        first = "0.1.0" if all(parse_version(version).major == 0 for version in components) else "1.0.0"
        return f"{first}-rc.1" if prerelease else first
    last = parse_version(previous)
    core = parse_version(raised(previous, level))
    if not prerelease:
        return str(core)
    if last.prerelease and core == last.finalize_version():
        return str(last.bump_prerelease())
    return f"{core}-rc.1"


def matches(version: str, spec: str) -> bool:
    """Whether a version lies in `^1.2` (compatible), `~1.2` (same minor) or equals an exact version.

    As usual for these forms, `^0.2` stays below 0.3.0, and pre-releases are only met by naming them exactly.
    """
    if not spec.startswith(("^", "~")):
        return parse_version(version) == parse_version(spec)
    candidate = parse_version(version)
    if candidate.prerelease:
        return False
    numbers = _range_numbers(spec)
    low = Version(*[*numbers, 0, 0][:3])
    if spec[0] == "^":
        high = low.bump_major() if low.major or len(numbers) == 1 else low.bump_minor()
        if len(numbers) == 3 and not low.major and not low.minor:
            high = low.bump_patch()
    else:
        high = low.bump_minor() if len(numbers) > 1 else low.bump_major()
    return bool(low <= candidate < high)


def _range_numbers(spec: str) -> list[int]:
    if not re.fullmatch(r"[\^~]\d+(\.\d+){0,2}", spec):
        raise UsageError(f"'{spec}' is no version range.", "Write '^1.2', '~1.2' or an exact version such as '1.2.0'.")
    return [int(number) for number in spec[1:].split(".")]


def is_range(text: str) -> bool:
    """True for what `matches` reads as a range."""
    return text.startswith(("^", "~"))
