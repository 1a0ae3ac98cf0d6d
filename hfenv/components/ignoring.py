"""What never belongs to an environment: a fixed list of names, and what .gitignore and .hfenvignore leave out.

`.gitignore` files are read as git reads them, but only those inside of the environment: its digests must not depend on
where the folder lies. `.hfenvignore` comes on top, in the same form; where it names a path, it has the last word.
Nothing switches the fixed list off.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hfenv.card.regular import MIB, read_regular
from hfenv.components.files import is_staged
from hfenv.errors import UnreadableError

STATE_FOLDER = ".hfenv"
IGNORE_FILES = (".gitignore", ".hfenvignore")
BUILT_IN = "built-in"
_LARGEST = MIB

# Lower case: what has such a name in any case is left out.
EXCLUDED_NAMES = frozenset(
    {
        ".git", ".hg", ".svn", STATE_FOLDER, "hfenv.lock",  # version control and our own
        ".cache", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".ipynb_checkpoints",
        ".venv", "venv", ".tox", ".nox", "node_modules",
        ".env", ".netrc", ".pypirc", ".npmrc", ".htpasswd", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519",  # secrets
        ".idea", ".vscode", ".ds_store", "thumbs.db", "desktop.ini", ".trashes", ".spotlight-v100", "$recycle.bin",
    }
)  # fmt: skip
EXCLUDED_ENDS = (".pem", ".p12", ".pfx", ".ppk", ".jks", ".keystore", ".swp", ".swo", "~")
EXCLUDED_STARTS = ("._", ".#", ".env.")
_SHOWN = (".example", ".sample", ".template")  # .env.example says which names are needed, and no value


def excluded_by(name: str) -> str | None:
    """The part of the fixed list that leaves a file or folder of this name out, None where it has no say."""
    name = name.lower()
    if name in EXCLUDED_NAMES:
        return name
    if name.endswith(EXCLUDED_ENDS):
        return f"*{next(end for end in EXCLUDED_ENDS if name.endswith(end))}"
    if name[0] in ".#":
        start = next((start for start in EXCLUDED_STARTS if name.startswith(start)), None)
        if start is not None and not (start == ".env." and name.endswith(_SHOWN)):
            return f"{start}*"
        if name[0] == "#" and name[-1] == "#" and len(name) > 1:
            return "#*#"
    return ".hfenv-*.part" if is_staged(name) else None


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file: the file, its line from 1, the pattern as written, and whether it leaves out."""

    source: str
    line: int
    text: str
    leaves_out: bool
    regex: re.Pattern[str]

    def names(self, path: str, *, is_folder: bool) -> bool:
        """Whether the pattern names this very path, not only a folder above it: that one was judged before."""
        # What holds for every name, such as `*/`, isn't anchored.
        match = self.regex.search(path)
        if match is not None and _folder_end(match) < 0:
            return True
        return is_folder and any(_folder_end(found) == len(path) + 1 for found in self.regex.finditer(f"{path}/"))


def _folder_end(match: re.Match[str]) -> int:
    """Where the slash behind the matched name ends, -1 where the pattern matched without one."""
    return match.end("ps_d") if "ps_d" in match.re.groupindex else -1


@dataclass(frozen=True, slots=True)
class Ignores:
    """The ignore files that hold in one folder: layer by layer, of each the rules of the outermost folder first."""

    layers: tuple[tuple[tuple[str, tuple[Rule, ...]], ...], ...] = ((),) * len(IGNORE_FILES)

    def within(self, prefix: str, children: Sequence[os.DirEntry[str]]) -> Ignores:
        """The same with those that stand in a folder itself; `prefix` is its path with a slash, or empty."""
        present = {child.name: child for child in children if child.name in IGNORE_FILES}
        if not present:
            return self
        layers = list(self.layers)
        for index, name in enumerate(IGNORE_FILES):
            if name in present and present[name].is_file(follow_symlinks=False):
                layers[index] = (*layers[index], (prefix, read_rules(Path(present[name].path), prefix + name)))
        return Ignores(tuple(layers))

    def rule_for(self, path: str, *, is_folder: bool) -> Rule | None:
        """The rule that decides about a path whose folders are in: the last that names it, None where none does."""
        for layer in reversed(self.layers):
            for prefix, rules in reversed(layer):
                local = path[len(prefix) :]
                for rule in reversed(rules):
                    if rule.names(local, is_folder=is_folder):
                        return rule
        return None

    def __bool__(self) -> bool:
        return any(self.layers)


def read_rules(file: Path, name: str) -> tuple[Rule, ...]:
    """The rules of one ignore file; raises UnreadableError for one that holds none, or isn't UTF-8."""
    try:
        text = read_regular(file, _LARGEST).decode("utf-8-sig")
        return tuple(_rules(text.split("\n"), name))
    except (ValueError, OSError) as error:
        raise UnreadableError(f"{name} can't be read: {error}", "Write gitignore patterns, UTF-8.") from None


_FOLDERS_BELOW = re.compile(r"/(?:\*\*/)+(?= *$)")


def _rules(lines: Iterable[str], name: str) -> Iterator[Rule]:
    from pathspec import GitIgnoreSpec

    for number, line in enumerate(lines, start=1):
        written = line.removesuffix("\r")
        # To git, `a/**/` is each folder in `a`; the library takes it for `a/`.
        meant = _FOLDERS_BELOW.sub("/**/*/", written)
        for pattern in GitIgnoreSpec.from_lines([meant]).patterns:
            if pattern.include is not None and pattern.regex is not None:
                yield Rule(name, number, written.strip(), bool(pattern.include), pattern.regex)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A path that is no part of the environment, by which rule, and how many files it stands for.

    A folder ends in a slash. `source` is the ignore file and `line` where the rule stands in it, or `built-in` and 0.
    """

    path: str
    pattern: str
    source: str
    line: int
    files: int

    @property
    def rule(self) -> str:
        """The rule as people are told it."""
        return f"{self.source}: {self.pattern}"


def children_of(folder: Path, prefix: str) -> list[os.DirEntry[str]]:
    """What lies in a folder of an environment; `prefix` is its path there with a slash, empty for the environment's."""
    try:
        return list(os.scandir(folder))
    except OSError as error:
        raise UnreadableError(f"{prefix or folder} can't be read: {error.strerror}.", "Check its rights.") from error


def left_out(root: Path) -> tuple[LeftOut, ...]:
    """All that ignore rules leave out of an environment, sorted by path; of a folder, how many files lie in it."""
    found = []
    pending = [("", root, Ignores())]
    while pending:
        prefix, folder, ignores = pending.pop()
        children = children_of(folder, prefix)
        ignores = ignores.within(prefix, children)
        for child in children:
            path, is_folder = prefix + child.name, child.is_dir(follow_symlinks=False)
            pattern = excluded_by(child.name)
            rule = ignores.rule_for(path, is_folder=is_folder) if pattern is None and ignores else None
            if pattern is not None or (rule is not None and rule.leaves_out):
                source, line = (BUILT_IN, 0) if rule is None else (rule.source, rule.line)
                files = _count(child.path) if is_folder else 1
                text = pattern if rule is None else rule.text
                found.append(LeftOut(f"{path}/" if is_folder else path, text or "", source, line, files))
            elif is_folder:
                pending.append((f"{path}/", Path(child.path), ignores))
    return tuple(sorted(found, key=lambda out: out.path))


def _count(folder: str) -> int:
    return sum(len(files) for _, _, files in os.walk(folder))
