"""What a rule is: an id that never changes its meaning, how much it matters, why it is there, and an example."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from hfenv.findings import Severity


class Group(str, Enum):
    """What a rule is about; the value is the heading under which it is listed."""

    HEADER = "Header and YAML"
    SCHEMA = "Schema"
    SECTIONS = "Sections"
    LAYOUT = "Layout and ownership of files"
    NAMES = "Portability of names"
    TASKS = "Tasks"
    CODE = "Code and reward"
    VERSIONS = "Versions and changelogs"
    PUBLISHING = "Links, licence, tags and configs"
    SECRETS = "Secrets and size"


@dataclass(frozen=True, slots=True)
class Example:
    """A piece of an environment that shows a rule broken or kept.

    `text` is a part of the file at `path`, put into an environment that is fine otherwise: of README.md entries of the
    header, with their parents (`environment:` and an entry below it), a section with its heading, or a whole card that
    begins with three dashes; of any other file, all of it. `text` is None where the file is missing.
    """

    text: str | None
    path: str = "README.md"


@dataclass(frozen=True, slots=True)
class Rule:
    """`fixable` says that `validate --fix` cures it, at least where the cure is certain.

    `fatal` rules are about cards that can't be read at all: exit 3 instead of 1. They can't be ignored.
    """

    id: str
    severity: Severity
    group: Group
    title: str
    explanation: str
    bad: Example | None = None
    good: Example | None = None
    fixable: bool = False
    fatal: bool = False
