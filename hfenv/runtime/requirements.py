"""Which of an environment's requirements this Python doesn't meet, found before anything of it is imported."""

from __future__ import annotations

import platform

from hfenv.card.manifest import Requires
from hfenv.errors import MissingPackagesError, UnreadableError


def check_requirements(requires: Requires, name: str) -> None:
    """Raise MissingPackagesError with the line that installs what is missing, UnreadableError for a bad requirement."""
    if requires.python:
        _check_python(requires.python, name)
    problems: dict[str, str] = {}
    for text in requires.packages:
        if problem := _problem(text):
            problems[text] = problem
    if problems:
        line = " ".join(f"'{text}'" for text in problems)
        raise MissingPackagesError(f"{name} needs {'; '.join(problems.values())}.", f"pip install {line}")


def _check_python(wanted: str, name: str) -> None:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        fits = SpecifierSet(wanted).contains(platform.python_version(), prereleases=True)
    except InvalidSpecifier:
        raise UnreadableError(
            f"The card's requires.python is '{wanted}'.", "Write it as '>=3.10' (PEP 440 specifiers)."
        ) from None
    if not fits:
        raise MissingPackagesError(
            f"{name} needs Python {wanted}, and this is {platform.python_version()}.",
            "Run it with a Python that fits.",
        )


def _problem(text: str) -> str:
    from importlib import metadata

    from packaging.requirements import InvalidRequirement, Requirement

    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        raise UnreadableError(
            f"The card's requires.packages has '{text}': {error}.", "Write requirements as 'name>=1.2' (PEP 508)."
        ) from None
    if requirement.marker is not None and not requirement.marker.evaluate():
        return ""
    try:
        installed = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return f"{requirement.name}, which isn't installed"
    if not requirement.specifier.contains(installed, prereleases=True):
        return f"{requirement.name}{requirement.specifier}, and {installed} is installed"
    return ""
