"""What a card says under `requires` about Python and packages: whether it can be read, and what it asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hfenv.card.quoting import short, shown
from hfenv.card.reader import Card
from hfenv.components.code.newer_syntax import Version
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

REQUIRES_RULES = ("HFE406", "HFE407")
OWN_OLDEST: Version = (3, 10)  # hfenv itself runs from here on
_NEWEST_MINOR = 40
_POINTER = "/environment/requires"
_NAME = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)")


def check_requires(card: Card) -> Iterator[Finding]:
    """`requires.python` is a set of specifiers that some Python fulfils, `requires.packages` are requirements."""
    requires = _requires(card)
    wanted = requires.get("python")
    if isinstance(wanted, str) and wanted.strip():
        yield from _python(card, wanted)
    for index, text in enumerate(_packages(card)):
        if isinstance(text, str) and text.strip():
            yield from _package(card, text, f"{_POINTER}/packages/{index}")


def oldest_python(card: Card) -> Version | None:
    """The oldest Python that the card allows and hfenv runs on; None where it says nothing that can be read."""
    wanted = _requires(card).get("python")
    if not isinstance(wanted, str) or not wanted.strip():
        return None
    return _oldest(wanted)


def allowed_pythons(card: Card) -> list[Version]:
    """The minor versions of Python that the card allows and hfenv runs on; none where it says nothing of them."""
    wanted = _requires(card).get("python")
    return list(_fulfilling(wanted)) if isinstance(wanted, str) and wanted.strip() else []


def declared_names(card: Card) -> frozenset[str]:
    """Names of the packages that the card asks for, normalised as PEP 503 says."""
    matches = (_NAME.match(text) for text in _packages(card) if isinstance(text, str))
    return frozenset(normalised(match[1]) for match in matches if match)


def normalised(name: str) -> str:
    """A distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _requires(card: Card) -> dict[str, Any]:
    requires = card.block.get("requires")
    return requires if isinstance(requires, dict) else {}


def _packages(card: Card) -> list[Any]:
    packages = _requires(card).get("packages")
    return packages if isinstance(packages, list) else []


def _python(card: Card, wanted: str) -> Iterator[Finding]:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        SpecifierSet(wanted)
    except InvalidSpecifier:
        message = f"requires.python {shown(wanted)} isn't a set of version specifiers"
        number = re.search(r"\d+(?:\.\d+)?", wanted)
        fix = f"Write {_quoted('>=' + number[0] if number else '>=3.10')} (PEP 440)."
        yield _finding(card, "HFE406", f"{_POINTER}/python", message, fix)
        return
    if _oldest(wanted) is None:
        message = f"no Python that hfenv runs on fulfils requires.python {shown(wanted)}"
        fix = f"hfenv needs Python {OWN_OLDEST[0]}.{OWN_OLDEST[1]} or newer: write {_quoted('>=3.10')} or the like."
        yield _finding(card, "HFE406", f"{_POINTER}/python", message, fix)


def _package(card: Card, text: str, pointer: str) -> Iterator[Finding]:
    from packaging.requirements import InvalidRequirement, Requirement

    reason = ""
    try:
        address = Requirement(text).url
    except InvalidRequirement as error:
        reason = str(error).partition("\n")[0].rstrip(".")
    else:
        if address and "://" not in address and not address.startswith("file:"):
            reason = "the address behind the @ has no scheme such as https://"
    if reason:
        message = f"{shown(text)} isn't a requirement of a Python package: {reason}"
        yield _finding(card, "HFE407", pointer, message, _written_rightly(text))


def _written_rightly(text: str) -> str:
    """How a requirement is written that pip reads only on its command line or in its files, or that nothing reads."""
    bare = re.sub(r"^(?:-e|--editable)[ =]+|^git\+(?=git@)", "", text.strip())
    if secure := re.match(r"([\w.-]+@[\w.-]+):(?!//)(\S+)$", bare):  # git@host:path
        bare = f"git+ssh://{secure[1]}/{secure[2]}"
    if re.match(r"(?:(?:git|hg|svn|bzr)\+)?[a-z]+(?:\+[a-z]+)?://", bare, re.IGNORECASE):
        address, _, fragment = bare.partition("#egg=")
        egg = _NAME.match(fragment.partition("&")[0])
        part = re.search(r"subdirectory=[^&\s]+", fragment)
        whole = address.strip() + (f"#{part[0]}" if part else "")
        example = f"{short(egg[1]) if egg else 'name'} @ {short(whole)}"
        return f"Write {_quoted(example)}: the name of the package stands before its address (PEP 508)."
    if bare.startswith(("-", ".", "/", "~")) or bare.endswith((".whl", ".tar.gz", ".txt")):
        return 'Options, files and folders mean nothing elsewhere: write "name>=1.2" or "name @ https://..." (PEP 508).'
    match = _NAME.match(bare)
    example = f"{short(match[1])}>=1.2" if match else "name>=1.2"
    return f"Write it like {_quoted(example)} (PEP 508)."


def _oldest(wanted: str) -> Version | None:
    return next(_fulfilling(wanted), None)


def _fulfilling(wanted: str) -> Iterator[Version]:
    """Minor versions that fulfil a set of specifiers, the oldest first."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        specifiers = SpecifierSet(wanted)
    except InvalidSpecifier:
        return
    for minor in range(OWN_OLDEST[1], _NEWEST_MINOR):
        # The first and a late patch decide nearly always; exact pins need the others.
        if any(specifiers.contains(f"3.{minor}.{patch}") for patch in (0, 99, *range(1, 40))):
            yield 3, minor
    if specifiers.contains("4.0"):
        yield 4, 0


def _quoted(text: str) -> str:
    return f'"{text}"'


def _finding(card: Card, rule: str, pointer: str, message: str, fix: str) -> Finding:
    at = card.place(pointer)
    return Finding(rule, severity(rule), card.path, message, pointer, at.line, at.column, fix)
