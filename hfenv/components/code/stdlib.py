"""Modules that only some Pythons have in their standard library, compared with those that the card allows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache

from hfenv.components.code.imports import Imported
from hfenv.components.code.newer_syntax import Version
from hfenv.components.code.requires import normalised
from hfenv.components.code.source import Source
from hfenv.findings import Finding

STDLIB_RULES = ("HFE427",)
# The minor versions of Python 3 since which there are modules, and names in modules that are imported by `from`.
_ADDED = """
11: tomllib wsgiref.types asyncio.taskgroups asyncio.timeouts importlib.resources.abc
11: enum.StrEnum enum.ReprEnum enum.verify enum.EnumCheck enum.FlagBoundary enum.member enum.nonmember enum.property
11: datetime.UTC typing.Self typing.LiteralString typing.Never typing.Required typing.NotRequired typing.Unpack
11: typing.TypeVarTuple typing.assert_never typing.assert_type typing.reveal_type typing.dataclass_transform
11: asyncio.TaskGroup asyncio.timeout asyncio.timeout_at asyncio.Runner asyncio.Barrier contextlib.chdir math.cbrt
11: math.exp2 hashlib.file_digest operator.call
12: itertools.batched typing.override typing.TypeAliasType collections.abc.Buffer math.sumprod
13: dbm.sqlite3 typing.ReadOnly typing.TypeIs typing.NoDefault warnings.deprecated copy.replace queue.ShutDown
14: annotationlib compression concurrent.interpreters string.templatelib pathlib.types
14: concurrent.futures.InterpreterPoolExecutor
"""
# The minor versions in which they were taken out.
_REMOVED = """
11: binhex asyncio.coroutine inspect.getargspec inspect.formatargspec
12: asynchat asyncore distutils imp smtpd configparser.SafeConfigParser pkgutil.ImpImporter ssl.wrap_socket
13: aifc audioop cgi cgitb chunk crypt imghdr lib2to3 mailcap msilib nis nntplib ossaudiodev pipes sndhdr spwd sunau
13: telnetlib uu xdrlib
14: ast.Num ast.Str ast.Bytes ast.NameConstant
"""
_NEWEST = 14  # the last minor version that the tables know
# Distributions that bring a module back.
_BACK: Mapping[str, tuple[str, ...]] = {
    "distutils": ("setuptools",),
    "imp": ("zombie-imp",),
    "asyncore": ("pyasyncore",),
    "asynchat": ("pyasynchat",),
    "audioop": ("audioop-lts",),
    "cgi": ("legacy-cgi",),
    "cgitb": ("legacy-cgi",),
    "lib2to3": ("fissix",),
}
_INSTEAD: Mapping[str, str] = {
    "tomllib": "import tomli where it is missing",
    "distutils": "use shutil, sysconfig or packaging",
    "imp": "use importlib",
    "asyncore": "use asyncio",
    "asynchat": "use asyncio",
    "smtpd": "use aiosmtpd",
    "cgi": "use html, urllib.parse or email",
    "crypt": "use hashlib",
    "imghdr": "use PIL.Image",
    "pipes": "use subprocess and shlex.quote",
    "telnetlib": "use asyncio.open_connection",
    "binhex": "use binascii",
    "inspect.getargspec": "use inspect.getfullargspec",
}


def check_stdlib(
    source: Source, imported: Iterable[Imported], allowed: Sequence[Version], declared: Set[str]
) -> Iterator[Finding]:
    """Imports of what one of the `allowed` Pythons doesn't have; those that a check of the version guards may."""
    seen: set[str] = set()
    for one in imported:
        if one.level or one.is_optional or one.by_version:
            continue
        for name in (one.module, *(f"{one.module}.{name}" for name in one.names)):
            if (known := _known(name)) in seen or known is None:
                continue
            if (lacking := _lacking(known, allowed)) is None or _is_back(known, declared):
                continue
            seen.add(known)
            yield source.finding("HFE427", one.node, *_said(known, lacking))


def _said(name: str, lacking: Version) -> tuple[str, str]:
    added, removed = _tables()
    python = f"{lacking[0]}.{lacking[1]}"
    instead = _INSTEAD.get(name)
    other = f"{instead[0].upper()}{instead[1:]}" if instead else "Write it without"
    if name in removed and lacking[1] >= removed[name]:
        message = f"Python {python}, which the card allows, has no '{name}' any more: it went with 3.{removed[name]}"
        return message, f'{other}, or leave newer Pythons out: add "<3.{removed[name]}" to requires.python.'
    message = f"Python {python}, which the card allows, has no '{name}': it came with 3.{added[name]}"
    return message, f'{other}, or ask for that Python on the card: requires: {{python: ">=3.{added[name]}"}}.'


def _lacking(name: str, allowed: Sequence[Version]) -> Version | None:
    added, removed = _tables()
    minors = [minor for major, minor in allowed if major == 3 and minor <= _NEWEST]
    early = [minor for minor in minors if minor < added.get(name, 0)]
    late = [minor for minor in minors if name in removed and minor >= removed[name]]
    return (3, (early or late)[0]) if early or late else None


def _known(name: str) -> str | None:
    """The entry of the tables that a dotted name is, or is inside of."""
    added, removed = _tables()
    while name:
        if name in added or name in removed:
            return name
        name = name.rpartition(".")[0]
    return None


def _is_back(name: str, declared: Set[str]) -> bool:
    top = normalised(name.partition(".")[0])
    return not declared.isdisjoint((top, f"standard-{top}", *_BACK.get(name, ())))


@lru_cache(maxsize=1)
def _tables() -> tuple[Mapping[str, int], Mapping[str, int]]:
    return _minors(_ADDED), _minors(_REMOVED)


def _minors(table: str) -> Mapping[str, int]:
    lines = [line.partition(":") for line in table.split("\n") if line]
    return {name: int(minor) for minor, _, names in lines for name in names.split()}
