"""The line to copy that moves a pin off a release with a problem."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from hfenv.components.marks import Advisory, Marks
from hfenv.components.release import component_tag
from hfenv.components.versions import is_version, matches, parse_version
from hfenv.errors import HfenvError
from hfenv.hub.client import DEFAULT_ENDPOINT
from hfenv.hub.locking.lockfile import LOCK_NAME, Entry
from hfenv.hub.references import Newest, Release, check_repo_id
from hfenv.hub.resolve import Refs


@dataclass(frozen=True, slots=True)
class Upgrades:
    """Where an entry could move, told by the repository's tags and marks; `refs` is None where nobody knows them."""

    path: Path
    entry: Entry
    refs: Refs | None
    marks: Marks

    def line(self, advisory: Advisory | None = None) -> str:
        """The command for the newest release without the problem, and whether it leaves what was asked for."""
        if self.refs is None:
            return self.command("--upgrade", self.entry.ref)
        released = self._without(advisory)
        within = [version for version in released if self._fits(version)]
        if within:
            return f"Move within {self.entry.ref} to {within[-1]}: {self.command('--upgrade', self.entry.ref)}"
        if released:
            target = f"{self.entry.repo}@{released[-1]}"
            return f"{released[-1]} is out: {self.command(target, hub=True)}"
        return f"No other release is out. To give it up: {self.command('--remove', self.entry.ref)}"

    def successor(self) -> str:
        """The command for what takes the place of an environment that isn't kept up."""
        successor = self.marks.lifecycle.successor
        remove = self.command("--remove", self.entry.ref)
        try:
            return f"{self.command(check_repo_id(successor), hub=True)}, then {remove}" if successor else remove
        except HfenvError:  # an address, a sentence: whatever its author wrote
            return remove

    def command(self, *words: str, hub: bool = False) -> str:
        """A call of `hfenv lock` on this file."""
        options = [] if self.path == Path(LOCK_NAME) else ["--lock-file", str(self.path)]
        if hub and self.entry.hub != DEFAULT_ENDPOINT:
            options += ["--hub", self.entry.hub]
        return " ".join(["hfenv lock", *map(shlex.quote, [*words, *options])])

    def _without(self, advisory: Advisory | None) -> list[str]:
        """Releases that could take the entry's place, oldest first: newer ones that nothing is said against."""
        tags = self.refs.versions("v") if self.refs is not None else {}
        lowest = self._fixed_in(tags, advisory) or self.entry.release
        found = [
            version
            for version in tags
            if self.marks.yank_of(version) is None
            and not parse_version(version).prerelease
            and not self.marks.advisories_on({}, version)
            and (not lowest or _at_least(version, lowest, inclusive=lowest != self.entry.release))
        ]
        return sorted(found, key=parse_version)

    def _fixed_in(self, tags: dict[str, str], advisory: Advisory | None) -> str | None:
        """The release in which a problem's cure went out: the one that was tagged together with the cured version."""
        if advisory is None or advisory.fixed_in is None or not is_version(advisory.fixed_in) or self.refs is None:
            return None
        if advisory.component is None:
            return advisory.fixed_in
        commit = self.refs.tags.get(component_tag(advisory.component, advisory.fixed_in))
        return next((version for version, sha in tags.items() if sha == commit), None)

    def _fits(self, version: str) -> bool:
        selector = self.entry.reference.selector
        return isinstance(selector, Newest) or (isinstance(selector, Release) and matches(version, selector.spec))


def _at_least(version: str, lowest: str, *, inclusive: bool) -> bool:
    found, bound = parse_version(version), parse_version(lowest)
    return found > bound or (inclusive and found == bound)
