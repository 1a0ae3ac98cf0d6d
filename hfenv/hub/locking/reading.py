"""Read `hfenv.lock`: refuses what this version doesn't know, and names the line of what is damaged."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from hfenv.card.quoting import short
from hfenv.card.regular import MIB, read_regular
from hfenv.components.ownership import Component
from hfenv.components.versions import is_version
from hfenv.errors import HfenvError, NotFoundError, UnreadableError
from hfenv.hub.client import checked_hub
from hfenv.hub.locking.lockfile import FORMAT, LOCAL, Entry, LockedComponent, LockedResource, LockFile
from hfenv.hub.references import hub_reference, is_hash

_LARGEST = 16 * MIB
_DIGEST = re.compile(r"[0-9a-f]{64}")
_CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?: |$)", re.MULTILINE)
_PLACE = re.compile(r"\(at line (\d+), column \d+\)")
_TOP = {"version", "environment"}
_ENTRY = {"ref", "hub", "release", "requires", "resource", *(c.value for c in Component)}
_COMPONENT = {"commit", "version", "exact", "semantic", "license"}
_REQUIRES = {"python", "packages", "resolved"}
_RESOURCE = {"name", "uri", "license"}


def read_lock(path: Path) -> LockFile:
    """Raises NotFoundError where there is no such file, UnreadableError, with the line, for what is no lock file."""
    try:
        raw = read_regular(path, _LARGEST)
    except FileNotFoundError:
        raise NotFoundError(f"There is no lock file {path}.", "Make one: hfenv lock org/name") from None
    except OSError as error:
        raise UnreadableError(f"{path} can't be read: {error.strerror}.", "Check the file and its rights.") from None
    return parse_lock(raw, path)


def parse_lock(raw: bytes, path: Path) -> LockFile:
    """The entries of a lock file's bytes; UnreadableError, with the line, for what is none."""
    reader = _Reader(path, "")
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        reader.fail(raw.count(b"\n", 0, error.start) + 1, "it isn't UTF-8")
    if conflict := _CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start()) + 1
        raise UnreadableError(
            f"{path}, line {line}: a merge left its marks here.",
            "Take either side whole (git checkout --ours or --theirs), then add what the other had: hfenv lock REF",
        )
    return _Reader(path, text).read()


@dataclass(frozen=True, slots=True)
class _Reader:
    path: Path
    text: str

    def read(self) -> LockFile:
        data = self._parsed()
        version = data.get("version")
        if type(version) is not int or version < 1:
            self.fail(self._line("", "version"), "it has no 'version', a whole number")
        if version != FORMAT:
            raise UnreadableError(
                f"{self.path}, line {self._line('', 'version')}: format version {version}, and this hfenv reads "
                f"{FORMAT}.",
                "Upgrade hfenv.",
            )
        self._known(data, _TOP, "")
        tables = data.get("environment", [])
        if not isinstance(tables, list):
            self.fail(self._line("", "environment"), "'environment' is no list of tables")
        starts = self._starts()
        places = starts if len(starts) == len(tables) else [0] * len(tables)
        entries = tuple(self._entry(table, line) for table, line in zip(tables, places, strict=True))
        seen: dict[tuple[str, str], int] = {}
        for entry in entries:
            if (entry.ref, entry.hub) in seen:
                self.fail(entry.line, f"{entry.ref} stands here a second time")
            seen[entry.ref, entry.hub] = entry.line
        return LockFile(self.path, entries)

    def _parsed(self) -> dict[str, Any]:
        if sys.version_info >= (3, 11):
            import tomllib
        else:
            import tomli as tomllib
        try:
            found: dict[str, Any] = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            place = _PLACE.search(str(error))
            line = int(place[1]) if place else self.text.count("\n") + 1
            self.fail(line, f"it isn't TOML ({short(_PLACE.sub('', str(error)).strip())})")
        except RecursionError:
            self.fail(1, "it nests too deeply")
        except ValueError:  # what Python refuses to make of it, such as a number of thousands of digits
            self.fail(1, "it holds a number that is too long")
        return found

    def _starts(self) -> list[int]:
        lines = enumerate(self.text.split("\n"), start=1)
        return [number for number, line in lines if re.match(r"\s*\[\[\s*environment\s*\]\]", line)]

    def _line(self, table: str, key: str, start: int = 0) -> int:
        """The line of a key in a table below a line; that of the table, or `start`, where it can't be found."""
        found, inside = start or 1, not table
        for number, line in enumerate(self.text.split("\n")[start:], start=start + 1):
            if re.match(r"\s*\[\[\s*environment\s*\]\]", line):
                break
            if header := re.match(r"\s*\[+\s*([\w.]+)\s*\]+", line):
                inside = header[1] == f"environment.{table}"
                found = number if inside else found
            elif inside and re.match(rf"\s*\"?{re.escape(key)}\"?\s*=", line):
                return number
        return found

    def _entry(self, table: Any, line: int) -> Entry:
        if not isinstance(table, dict):
            self.fail(line, "an environment is no table")
        self._known(table, _ENTRY, "", line)
        ref = self._str(table, "ref", line)
        try:
            hub_reference(ref)
        except HfenvError as error:
            self.fail(self._line("", "ref", line), f"ref: {error.message.rstrip('.')}")
        release = self._str(table, "release", line, needed=False)
        if release and not is_version(release):
            self.fail(self._line("", "release", line), f"'{short(release)}' is no version")
        requires = self._table(table, "requires", _REQUIRES, line) if "requires" in table else {}
        return Entry(
            ref=ref,
            hub=self._hub(table, line),
            release=release,
            components={c: self._component(table, c, line) for c in Component},
            python=self._str(requires, "python", line, "requires", needed=False),
            packages=self._strings(requires, "packages", line),
            resolved=dict(self._resolved(text, line) for text in self._strings(requires, "resolved", line)),
            resources=self._resources(table, line),
            line=line,
        )

    def _hub(self, table: Mapping[str, Any], line: int) -> str:
        hub = self._str(table, "hub", line)
        try:
            return hub if hub == LOCAL else checked_hub(hub)
        except HfenvError as error:
            self.fail(self._line("", "hub", line), error.message.rstrip("."))

    def _component(self, table: Mapping[str, Any], component: Component, line: int) -> LockedComponent:
        name = component.value
        own = self._table(table, name, _COMPONENT, line)
        values = {key: self._str(own, key, line, name, needed=key in ("commit", "version", "exact"))
                  for key in sorted(_COMPONENT)}  # fmt: skip
        checks = {
            "commit": is_hash(values["commit"]),
            "version": is_version(values["version"]),
            "exact": _DIGEST.fullmatch(values["exact"]) is not None,
        }
        for key, fine in checks.items():
            if not fine:
                kind = {"commit": "commit of 40 hex digits", "version": "version", "exact": "digest of 64 hex digits"}
                self.fail(self._line(name, key, line), f"{name}.{key} is no {kind[key]}: '{short(values[key])}'")
        return LockedComponent(**values)

    def _resources(self, table: Mapping[str, Any], line: int) -> tuple[LockedResource, ...]:
        found = table.get("resource", [])
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            self.fail(line, "'resource' is no list of tables")
        for one in found:
            self._known(one, _RESOURCE, "resource", line)
        return tuple(
            LockedResource(*(self._str(one, key, line, "resource", needed=key == "name")
                             for key in ("name", "uri", "license")))
            for one in found
        )  # fmt: skip

    def _resolved(self, text: str, line: int) -> tuple[str, str]:
        name, equals, version = text.partition("==")
        if not name or not equals or not version:
            self.fail(self._line("requires", "resolved", line), f"'{short(text)}' is no name==version")
        return name, version

    def _table(self, table: Mapping[str, Any], name: str, keys: set[str], line: int) -> dict[str, Any]:
        found = table.get(name)
        if not isinstance(found, dict):
            self.fail(line, f"this environment has no table [environment.{name}]")
        self._known(found, keys, name, line)
        return found

    def _str(self, table: Mapping[str, Any], key: str, line: int, within: str = "", *, needed: bool = True) -> str:
        value = table.get(key, "")
        if not isinstance(value, str) or (needed and not value):
            name = f"{within}.{key}" if within else key
            self.fail(self._line(within, key, line), f"{name} is {'missing' if key not in table else 'no text'}")
        return value

    def _strings(self, table: Mapping[str, Any], key: str, line: int) -> tuple[str, ...]:
        values = table.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            self.fail(self._line("requires", key, line), f"requires.{key} is no list of texts")
        return tuple(values)

    def _known(self, table: Mapping[str, Any], keys: set[str], within: str, line: int = 0) -> None:
        unknown: Sequence[str] = sorted(set(table) - keys)
        if unknown:
            self.fail(self._line(within, unknown[0], line), f"'{short(unknown[0])}' has no meaning here")

    def fail(self, line: int, why: str) -> NoReturn:
        raise UnreadableError(
            f"{self.path}, line {line}: {why}.",
            "hfenv writes this file; take it back from version control, or lock again: hfenv lock REF",
        )
