"""Checks of what gets published: files that hold secrets, and sizes that the Hub doesn't take."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hfenv.components.ownership import FileEntry
from hfenv.components.secrets.known import CleanFiles
from hfenv.components.secrets.scanning import Hit
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

PUBLISHING_RULES = ("HFE608", "HFE609", "HFE610")

# Key files and the like are never part of an environment at all; these may be, under another meaning of the name.
_CREDENTIALS = (
    "credentials.json", "service-account*.json", "client_secret*.json", "secrets.y*ml", "secrets.json", "secrets.toml",
    "*.env",
)  # fmt: skip
_HARMLESS = ("*.example", "*.sample", "*.template", "*.pub")
# What the Hub recommends or limits: see its page on storage limits.
_LARGEST_FILE = 50 * 10**9
_MOST_IN_FOLDER = 10_000
_MOST_FILES = 100_000


def check_published(root: Path, files: Sequence[FileEntry]) -> Iterator[Finding]:
    """Secrets, files that usually hold some, and sizes that the Hub doesn't take well."""
    clean = CleanFiles.of(root)
    for file in files:
        name = file.path.rpartition("/")[2].lower()
        if _fits(name, _CREDENTIALS) and not _fits(name, _HARMLESS):
            message = f"{file.path} has the name of a file that holds credentials"
            fix = "Name it in .hfenvignore; if it was ever pushed, revoke what is in it."
            yield Finding("HFE609", severity("HFE609"), file.path, message, fix=fix)
        yield from secret_findings(file.path, clean.hits(file.path, file.sha256, root / file.path))
    clean.save(whole=True)
    yield from _sizes(files)


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def secret_findings(path: str, found: Iterable[Hit]) -> Iterator[Finding]:
    """HFE608 for what the scan found in a file; no word of the secret itself."""
    for hit in found:
        message = f"this looks like {hit.kind}" + (f" {hit.inside}" if hit.inside else "")
        yield Finding(
            "HFE608", severity("HFE608"), path, message, line=hit.line, column=hit.column, private=True,
            fix="Take it out and revoke it. If it is made up, make that plain: put 'example' into it.",
        )  # fmt: skip


def _sizes(files: Sequence[FileEntry]) -> Iterator[Finding]:
    for file in files:
        if file.size > _LARGEST_FILE:
            message = f"{file.path} has {file.size / 10**9:.0f} GB; the Hub takes at most {_LARGEST_FILE // 10**9}"
            yield Finding("HFE610", severity("HFE610"), file.path, message, fix="Split it.")
    folders = Counter(file.path.rpartition("/")[0] for file in files)
    for folder, count in folders.items():
        if count > _MOST_IN_FOLDER:
            message = f"{folder or 'the top folder'} has {count:,} files; the Hub takes {_MOST_IN_FOLDER:,} in a folder"
            fix = "Spread them over folders, or put them into one archive or Parquet file."
            yield Finding("HFE610", severity("HFE610"), folder or ".", message, fix=fix)
    if len(files) > _MOST_FILES:
        message = f"there are {len(files):,} files; the Hub recommends at most {_MOST_FILES:,}"
        yield Finding("HFE610", severity("HFE610"), ".", message, fix="Put small ones together into larger files.")
