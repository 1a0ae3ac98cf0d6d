"""What the environments of a lock file need of Python and its packages, as one file for pip and uv."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from hfenv.card.quoting import one_line, short
from hfenv.errors import UnreadableError
from hfenv.findings import Finding, Severity
from hfenv.hub.locking.lockfile import Entry, LockFile

if TYPE_CHECKING:
    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet

_PYTHON = "Python"


@dataclass(frozen=True, slots=True)
class Need:
    """What one environment asks for: its entry, the text on its card, and the same parsed."""

    entry: Entry
    text: str
    requirement: Requirement

    @property
    def name(self) -> str:
        from packaging.utils import canonicalize_name

        return canonicalize_name(self.requirement.name)

    @property
    def marker(self) -> str:
        return str(self.requirement.marker or "")

    def __str__(self) -> str:
        return f"{self.entry.ref} needs {short(self.text)}"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Needs for one package, or for Python, that no version meets together."""

    name: str
    needs: tuple[tuple[Entry, str], ...]

    def __str__(self) -> str:
        if len(self.needs) == 1:
            entry, text = self.needs[0]
            return f"{entry.ref} needs {short(text)}, which no version of {self.name} is"
        said = " and ".join(f"{entry.ref} needs {short(text)}" for entry, text in self.needs)
        return f"no version of {self.name} fits: {said}"


@dataclass(frozen=True, slots=True)
class Line:
    """A requirement with everything that was asked of it, and the entries that ask for it."""

    requirement: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Needs:
    """`python` is empty where nobody asks for one; with `contradictions`, the lines can't be installed."""

    python: str
    lines: tuple[Line, ...]
    contradictions: tuple[Contradiction, ...]

    def to_text(self, source: str) -> str:
        """A requirements file; `source` names the lock file. Each line says from where it comes."""
        head = [f"# Made from {one_line(source)} by hfenv lock --requirements; don't edit."]
        head += [f"# Needs Python {self.python}"] if self.python else []
        blocks = [
            f"{line.requirement}\n    # for {', '.join(one_line(entry.ref) for entry in line.entries)}"
            for line in self.lines
        ]
        return "\n".join([*head, *blocks]) + "\n"


def needs_of(entries: Sequence[Entry]) -> Needs:
    """All needs together. Raises UnreadableError, with the environment, for what is no requirement or isn't safe."""
    needs = [need for entry in entries for need in _packages(entry)]
    pythons = [(entry, _python(entry)) for entry in entries if entry.python.strip()]
    lines = sorted(_lines(needs), key=lambda line: line.requirement.lower())
    contradictions = {str(one): one for one in (*_of_python(pythons), *_of_packages(needs))}
    return Needs(_joined(spec for _, spec in pythons), tuple(lines), tuple(contradictions.values()))


def _packages(entry: Entry) -> Iterator[Need]:
    from packaging.requirements import InvalidRequirement, Requirement

    for text in entry.packages:
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            reason = short(str(error).partition("\n")[0].rstrip("."))
            raise UnreadableError(
                f"{entry.ref} needs '{short(text)}', which is no requirement: {reason}.", "Tell its author."
            ) from None
        # pip and uv fill in variables of the process, tokens among them, and take a new line for an option.
        if not str(requirement).isprintable() or "${" in text:
            raise UnreadableError(
                f"{entry.ref} needs '{short(text)}', which a requirements file would make something else of.",
                "Tell its author, and install it by hand if you trust it.",
            )
        yield Need(entry, text, requirement)


def _python(entry: Entry) -> SpecifierSet:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return SpecifierSet(entry.python)
    except InvalidSpecifier:
        raise UnreadableError(
            f"{entry.ref} needs Python '{short(entry.python)}', which is no set of specifiers.", "Tell its author."
        ) from None


def _joined(specifiers: Iterable[SpecifierSet]) -> str:
    from packaging.specifiers import SpecifierSet

    whole = SpecifierSet()
    for one in specifiers:
        whole &= one
    return str(whole)


def _lines(needs: Iterable[Need]) -> Iterator[Line]:
    """One line for each package, marker and address, with all specifiers and extras."""
    from packaging.requirements import Requirement

    groups: dict[tuple[str, str, str], list[Need]] = {}
    for need in needs:
        groups.setdefault((need.name, need.marker, need.requirement.url or ""), []).append(need)
    for (name, _, _), own in groups.items():
        whole = Requirement(own[0].text)
        whole.name = name
        for need in own[1:]:
            whole.specifier &= need.requirement.specifier
            whole.extras |= need.requirement.extras
        yield Line(str(whole), tuple({need.entry.ref: need.entry for need in own}.values()))


def _of_python(pythons: Sequence[tuple[Entry, SpecifierSet]]) -> Iterator[Contradiction]:
    yield from _impossible(_PYTHON, [(entry, entry.python, spec) for entry, spec in pythons], prefix=f"{_PYTHON} ")


def _of_packages(needs: Iterable[Need]) -> Iterator[Contradiction]:
    by_name: dict[str, list[Need]] = {}
    for need in needs:
        by_name.setdefault(need.name, []).append(need)
    for name, own in sorted(by_name.items()):
        for together in _installed_together(own):
            addressed = {need.requirement.url: need for need in together if need.requirement.url}
            if len(addressed) > 1:
                yield Contradiction(name, tuple((need.entry, need.text) for need in addressed.values()))
            yield from _impossible(name, [(need.entry, need.text, need.requirement.specifier) for need in together])


def _installed_together(needs: Sequence[Need]) -> list[list[Need]]:
    """The needs that meet on some machine: those under one marker with those under none, and those that hold here."""
    always = [need for need in needs if not need.marker]
    groups = [always, [need for need in needs if need.requirement.marker is None or need.requirement.marker.evaluate()]]
    for marker in dict.fromkeys(need.marker for need in needs if need.marker):
        groups.append([need for need in needs if need.marker in ("", marker)])
    distinct: list[list[Need]] = []
    for group in groups:
        if not any(set(map(id, group)) <= set(map(id, other)) for other in distinct):
            distinct = [other for other in distinct if not set(map(id, other)) <= set(map(id, group))] + [group]
    return distinct


def _impossible(
    name: str, asked: Sequence[tuple[Entry, str, SpecifierSet]], prefix: str = ""
) -> Iterator[Contradiction]:
    """Single needs that nothing meets, then pairs; all together only where neither explains it."""
    found = [((entry, text),) for entry, text, spec in asked if spec.is_unsatisfiable()]
    pairs = [
        ((one[0], one[1]), (other[0], other[1]))
        for one, other in combinations([each for each in asked if not each[2].is_unsatisfiable()], 2)
        if (one[2] & other[2]).is_unsatisfiable()
    ]
    whole: list[tuple[tuple[Entry, str], ...]] = [*found, *pairs]
    if not whole and asked:
        together = asked[0][2]
        for _, _, spec in asked[1:]:
            together &= spec
        whole = [tuple((entry, text) for entry, text, _ in asked)] if together.is_unsatisfiable() else []
    for needs in whole:
        yield Contradiction(name, tuple((entry, prefix + text) for entry, text in needs))


def contradictory(lock: LockFile, needs: Needs) -> Iterator[Finding]:
    """A finding for each contradiction, at the first of the environments."""
    for one in needs.contradictions:
        entry = one.needs[0][0]
        fix = "Pin releases whose needs fit together, or run these environments in separate ones of Python."
        yield Finding("lock-needs", Severity.ERROR, str(lock.path), str(one), line=entry.line, fix=fix)
