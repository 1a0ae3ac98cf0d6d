"""Python files of an environment as syntax trees: read, parsed for the card's Python, with places."""

from __future__ import annotations

import ast
import bisect
import gc
import importlib.util
import re
import sys
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hfenv.card.regular import read_regular
from hfenv.components.code.newer_syntax import Version, newer_syntax
from hfenv.components.ownership import FileEntry
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

SYNTAX_RULES = ("HFE401",)
MAX_BYTES = 1024 * 1024  # a syntax tree takes a hundred times the memory of its file
_LONGEST = 400  # characters of a message: a name in a file can be as long as the file
THIS_PYTHON: Version = (sys.version_info.major, sys.version_info.minor)


@dataclass(frozen=True, slots=True)
class Source:
    """One Python file: its path in the environment, its text with one kind of line break, and its tree."""

    path: str
    text: str
    tree: ast.Module
    _lines: list[str] = field(default_factory=list, repr=False)

    @property
    def folder(self) -> str:
        return self.path.partition("/")[0]

    def at(self, node: ast.AST) -> tuple[int, int]:
        """Line and column of a node, both from 1, in code points."""
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        if self.text.isascii():
            return line, offset + 1
        if not self._lines:
            self._lines.extend(self.text.split("\n"))
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        return line, len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore")) + 1

    def finding(self, rule: str, node: ast.AST, message: str, fix: str) -> Finding:
        line, column = self.at(node)
        return Finding(rule, severity(rule), self.path, _cut(message), line=line, column=column, fix=_cut(fix))

    def lines_with(self, names: Iterable[str]) -> Lines:
        """The lines on which ASCII names occur, however their letters are written: Python folds them, and so do we."""
        text = self.text if self.text.isascii() else unicodedata.normalize("NFKC", self.text)
        places = sorted(place for name in names for place in occurrences(text, name))
        numbers: list[int] = []
        line, seen = 1, 0
        for place in places:
            line, seen = line + text.count("\n", seen, place), place
            if not numbers or numbers[-1] != line:
                numbers.append(line)
        return Lines(numbers)

    def all_lines(self) -> Lines:
        return Lines(range(1, self.text.count("\n") + 2))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def occurrences(text: str, name: str) -> Iterator[int]:
    """Where a name stands as a whole word. A search for each name is faster than one pattern for all of them."""
    if text.count(name) > _MANY:  # then the pattern is the faster one
        yield from (match.start() for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text))
        return
    place = text.find(name)
    while place >= 0:
        end = place + len(name)
        if not _is_word(text[place - 1 : place]) and not _is_word(text[end : end + 1]):
            yield place
        place = text.find(name, end)


_MANY = 1_000


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


@dataclass(frozen=True, slots=True)
class Lines:
    """Line numbers in ascending order: what has none of them inside needs no look."""

    numbers: Sequence[int]

    def touch(self, node: ast.stmt) -> bool:
        """Whether one of the lines belongs to a statement, its decorators included."""
        first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
        index = bisect.bisect_left(self.numbers, first)
        return index < len(self.numbers) and self.numbers[index] <= (node.end_lineno or first)


@dataclass(frozen=True, slots=True)
class Parsed:
    """Files that have a tree, by path, and why others have none.

    `unclear` says which files this Python can't parse although the newer one that the card asks for may.
    """

    sources: dict[str, Source] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)

    def reason(self, oldest: Version | None) -> str:
        """Why nothing can be said about the syntax, for a report."""
        wanted, here = _written(oldest or THIS_PYTHON), _written(THIS_PYTHON)
        return f"the card asks for Python {wanted} or newer, and this is {here}, which can't parse {self.unclear[0]}"


def parse_files(root: Path, files: Iterable[FileEntry], oldest: Version | None = None) -> Parsed:
    """Parse all Python files as the `oldest` Python that the card allows would; None asks only this Python."""
    parsed = Parsed()
    with _quietly():
        for file in files:
            if not file.path.endswith(".py"):
                continue
            if file.size > MAX_BYTES:
                message = f"the file has {file.size:,} bytes, and code is read up to {MAX_BYTES:,}"
                parsed.findings.append(_in_file(file.path, message, "Put data into a data file that the code reads."))
                continue
            try:
                raw = read_regular(root / file.path, MAX_BYTES)
            except OSError as error:
                message = f"the file can't be read: {error.strerror or type(error).__name__}"
                parsed.findings.append(_in_file(file.path, message, "Check the file and its rights."))
                continue
            _parse(file.path, raw, oldest, parsed)
    return parsed


def _parse(path: str, raw: bytes, oldest: Version | None, parsed: Parsed) -> None:
    older = oldest is not None and oldest < THIS_PYTHON
    try:
        tree = ast.parse(raw, feature_version=oldest if older else None)
    except SyntaxError as error:
        if oldest is not None and oldest > THIS_PYTHON and not _is_certain(error):
            parsed.unclear.append(path)
            return
        parsed.findings.append(_unparsed(path, raw, error, oldest if older else None))
    except (ValueError, RecursionError, MemoryError) as error:
        # Python says nothing, or "recursion", about expressions that are nested thousands of levels deep.
        reason = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        parsed.findings.append(_in_file(path, f"Python can't parse this: {reason}", "Correct the file."))
    else:
        parsed.sources[path] = Source(path, _text(raw), tree)


def _unparsed(path: str, raw: bytes, error: SyntaxError, older: Version | None) -> Finding:
    """What `older`, a Python that the card allows, or else this one, can't parse; the newer one that can, if any."""
    tree = _tree(raw) if older else None
    line = error.lineno or 0
    column = max(error.offset or 0, 1) if line else 0
    newer = newer_syntax(error, _text(raw), tree)
    who = f"Python {_written(older)}, which the card allows," if older and (tree or newer) else "Python"
    if newer is None:
        return _in_file(path, f"{who} can't parse this: {error.msg}", "Correct the syntax.", line, column)
    line, column = (newer.line, newer.column) if newer.line else (line, column)
    who = who if older else f"Python {_written(THIS_PYTHON)}"
    message = f"{who} can't parse this: {newer.what}, which only {_written(newer.since)} and newer have"
    return _in_file(path, message, newer.cure, line, column)


def _tree(raw: bytes) -> ast.Module | None:
    try:
        return ast.parse(raw)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_certain(error: SyntaxError) -> bool:
    """Indentation and encodings are read alike by every Python."""
    said = str(error.msg)
    return isinstance(error, IndentationError) or any(word in said for word in ("encoding", "codec", "null byte"))


def _text(raw: bytes) -> str:
    try:
        return importlib.util.decode_source(raw)
    except (SyntaxError, ValueError, LookupError):
        return raw.decode("utf-8", "replace")


def _written(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


def _in_file(path: str, message: str, fix: str, line: int = 0, column: int = 0) -> Finding:
    return Finding("HFE401", severity("HFE401"), path, message, line=line, column=column, fix=fix)


@contextmanager
def _quietly() -> Iterator[None]:
    """No warnings about odd escapes, which aren't what is asked, and no collector."""
    with without_collector(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def without_collector() -> Iterator[None]:
    """Looking for garbage in a growing heap of nodes, where there is none, takes longer than parsing them."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
