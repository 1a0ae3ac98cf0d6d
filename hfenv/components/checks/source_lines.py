"""Single lines of files that findings stand on, read once per file and without keeping the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from hfenv.card.regular import open_regular
from hfenv.secret_shapes import holds_secret

_LINE_BREAK = re.compile(r"\r\n|\n|\r")
_WHOLE = 4 * 1024 * 1024  # bytes up to which a file is split at every kind of line break; larger ones are task files
_SNIFFED = 8192
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"  # what stands for bytes that can't be decoded


def read_lines(file: Path, wanted: Iterable[int]) -> Mapping[int, str]:
    """The text of lines by their number, from 1, without line breaks and byte-order mark.

    Lines that don't exist, are no UTF-8 or hold what looks like a secret are left out, and so is everything of a file
    that is missing, no text or can't be read: what a "line" of a Parquet file means is a row, which has no text.
    """
    found = _read_lines(file, wanted)
    return {number: line for number, line in found.items() if _UNKNOWN not in line and not holds_secret(line)}


def _read_lines(file: Path, wanted: Iterable[int]) -> Mapping[int, str]:
    numbers = {number for number in wanted if number > 0}
    if not numbers or file.suffix == ".parquet":
        return {}
    try:
        if file.is_symlink():  # what it leads to may be no part of the environment, and nobody asked to see it
            return {}
        with open_regular(file) as stream:
            if b"\0" in stream.read(_SNIFFED):
                return {}
            stream.seek(0)
            if file.stat().st_size <= _WHOLE:
                lines = _LINE_BREAK.split(stream.read().decode("utf-8-sig", "replace"))
                return {number: lines[number - 1] for number in numbers if number <= len(lines)}
            last = max(numbers)
            found = {}
            for number, raw in enumerate(stream, start=1):
                if number in numbers:
                    found[number] = raw.rstrip(b"\r\n").decode("utf-8-sig", "replace")
                if number == last:
                    break
            return found
    except OSError:
        return {}
