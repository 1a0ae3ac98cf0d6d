"""What a merge left open: conflict markers in a text, and both sides of a file that is none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from hfenv.card.regular import read_regular
from hfenv.components.journal import REMOTE_SUFFIX
from hfenv.components.ownership import FileEntry
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

UNMERGED_RULES = ("HFE611",)

_LARGEST = 16 << 20  # bytes; what is longer is never merged by lines
_MARKERS = re.compile(rb"^<{7} .{0,200}\r?\n(?:.*\n)*?={7}\r?\n(?:.*\n)*?>{7} ", re.MULTILINE)


def check_unmerged(root: Path, files: Sequence[FileEntry]) -> Iterator[Finding]:
    """HFE611 for each conflict that waits for somebody's decision."""
    paths = {file.path for file in files}
    for file in files:
        if file.path.endswith(REMOTE_SUFFIX) and file.path.removesuffix(REMOTE_SUFFIX) in paths:
            message = f"{file.path} is the hub's side of a file that changed on both sides"
            yield Finding("HFE611", severity("HFE611"), file.path, message, fix="Keep one of the two under its name.")
        elif (line := conflict_line(root / file.path, file.size)) is not None:
            fix = "Keep what is right of both sides, and remove the three lines of markers."
            yield Finding("HFE611", severity("HFE611"), file.path, "a conflict isn't settled", line=line, fix=fix)


def conflict_line(file: Path, size: int) -> int | None:
    """The line, from 1, of the first conflict marker in a text, None where there is none."""
    if size > _LARGEST:
        return None
    try:
        content = read_regular(file, _LARGEST)
    except OSError:
        return None  # the walk has hashed it: a file in motion is the walk's matter
    if b"<<<<<<< " not in content or (match := _MARKERS.search(content)) is None:
        return None
    return content.count(b"\n", 0, match.start()) + 1
