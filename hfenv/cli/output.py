"""The one output object: data on standard output, everything else on standard error, in the format asked for."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any, TextIO

from hfenv.errors import HfenvError

FORMAT_VERSION = 1


class Format(str, Enum):
    """How a command prints its result."""

    HUMAN = "human"
    JSON = "json"
    QUIET = "quiet"


def _write(stream: TextIO, text: str) -> None:
    # A redirected stream may be unable to encode a sign (cp1252, ASCII): print the nearest thing, never crash.
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")
        stream.flush()
    except BrokenPipeError:
        # The reader (head, less) has gone. The work goes on, and the exit code tells of it, not of the reader; what
        # is left in the buffer must not fail again when the interpreter ends.
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, stream.fileno())
        os.close(devnull)


class Output:
    """What commands print with; nothing else in hfenv prints."""

    def __init__(self, fmt: Format = Format.HUMAN) -> None:
        self.format = fmt

    def result(self, command: str, data: Mapping[str, Any], human: str | Callable[[], str], quiet: str = "") -> None:
        """Print a command's result once: JSON as one object, the human text, or the quiet line (an id, a hash)."""
        if self.format is Format.JSON:
            payload = {"format": FORMAT_VERSION, "command": command, **data}
            # Where the stream can't hold every sign, JSON escapes them: a name must come back as it was.
            plain = not (sys.stdout.encoding or "utf-8").lower().startswith("utf")
            _write(sys.stdout, json.dumps(payload, ensure_ascii=plain, allow_nan=False))
        elif self.format is Format.QUIET:
            if quiet:
                _write(sys.stdout, quiet)
        else:
            _write(sys.stdout, human if isinstance(human, str) else human())

    def note(self, text: str) -> None:
        """A line for people about what happens; left out when quiet."""
        if self.format is not Format.QUIET:
            _write(sys.stderr, text)

    def warn(self, text: str) -> None:
        _write(sys.stderr, f"warning: {text}")

    def error(self, error: HfenvError) -> None:
        _write(sys.stderr, f"error: {error.message}")
        if error.hint:
            _write(sys.stderr, f"  {error.hint}")

    @contextmanager
    def progress(self, total: int | None, label: str, unit: str = "it") -> Iterator[Callable[[int], None]]:
        """A progress bar on standard error, where that is a terminal; yields the function that advances it."""
        from tqdm import tqdm

        hidden = self.format is not Format.HUMAN or not sys.stderr.isatty()
        scale = unit == "B"
        with tqdm(
            total=total, desc=label, unit=unit, unit_scale=scale, unit_divisor=1024, disable=hidden, leave=False
        ) as bar:

            def advance(step: int) -> None:
                bar.update(step)

            yield advance


def table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Left-aligned columns for people; wide (East Asian) characters count as two cells."""
    cells = [[str(value) for value in row] for row in [headers, *rows]]
    widths = [max(_cells(row[i]) for row in cells) for i in range(len(headers))]
    lines = ["  ".join(v + " " * (w - _cells(v)) for v, w in zip(row, widths, strict=True)).rstrip() for row in cells]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def _cells(text: str) -> int:
    from unicodedata import east_asian_width

    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)
