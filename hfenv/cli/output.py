"""The one output object: data on standard output, everything else on standard error, in the format asked for."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Any, TextIO

from hfenv.cli.escapes import escaped_json, said, said_in_lines, unlike_a_command
from hfenv.errors import HfenvError

if TYPE_CHECKING:
    from tqdm import tqdm

FORMAT_VERSION = 1


class Format(str, Enum):
    """How a command prints its result."""

    HUMAN = "human"
    JSON = "json"
    QUIET = "quiet"


class FindingsFormat(str, Enum):
    """How a command that finds things prints them: as every command does, or as what reads findings wants them."""

    HUMAN = "human"
    JSON = "json"
    QUIET = "quiet"
    GITHUB = "github"
    SARIF = "sarif"
    JUNIT = "junit"

    @property
    def plain(self) -> Format:
        """The nearest of the formats that every command has."""
        return Format(self.value) if self.value in Format._value2member_map_ else Format.HUMAN


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:  # closed before Python started
        return
    # A redirected stream may be unable to encode a sign (cp1252, ASCII): print the nearest thing, never crash.
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")
        stream.flush()
    except BrokenPipeError:
        _let_go(stream)


def _let_go(stream: TextIO) -> None:
    """The reader (head, less) has gone. The work goes on, and the exit code tells of it, not of the reader."""
    # What is left in the buffer must not fail again when the interpreter ends.
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
            _write(sys.stdout, as_json({"format": FORMAT_VERSION, "command": command, **data}))
        elif self.format is Format.QUIET:
            if quiet:
                _write(sys.stdout, quiet)
        else:
            _write(sys.stdout, human if isinstance(human, str) else human())

    def document(self, text: str) -> None:
        """Print a finished document, whatever the format; nothing where it is empty."""
        if text:
            _write(sys.stdout, text)

    def raw(self, content: bytes) -> None:
        """Print bytes as they are: no line break is added or changed, and UTF-8 stays UTF-8 on every terminal."""
        if sys.stdout is None:
            return
        stream = getattr(sys.stdout, "buffer", None)
        if stream is None:  # standard output was replaced by a text stream
            sys.stdout.write(content.decode("utf-8", "replace"))
            return
        try:
            sys.stdout.flush()
            stream.write(content)
            stream.flush()
        except BrokenPipeError:
            _let_go(sys.stdout)

    def note(self, text: str) -> None:
        """A line for people about what happens; left out when quiet."""
        if self.format is not Format.QUIET:
            _write(sys.stderr, unlike_a_command(said(text)))

    def warn(self, text: str) -> None:
        _write(sys.stderr, f"warning: {said(text)}")

    def error(self, error: HfenvError) -> None:
        """The message on one line and the hint below it, whatever names they repeat."""
        _write(sys.stderr, f"error: {said(error.message)}")
        if error.hint:
            _write(sys.stderr, f"  {said_in_lines(error.hint)}")

    @property
    def shows_bars(self) -> bool:
        """Whether somebody looks: people at a terminal, who didn't ask for what programs read."""
        return self.format is Format.HUMAN and _is_terminal(sys.stderr)

    @contextmanager
    def progress(self, total: int | None, label: str, unit: str = "it") -> Iterator[Progress]:
        """A progress bar on standard error, where that is a terminal; yields the function that advances it.

        The label may be a name that somebody else chose.
        """
        if not self.shows_bars:
            # Even a bar that is switched off would start a thread that watches over all bars.
            yield Progress(None)
            return
        from tqdm import tqdm

        scale = unit == "B"
        with tqdm(total=total, desc=said(label), unit=unit, unit_scale=scale, unit_divisor=1024, leave=False) as bar:
            yield Progress(bar)


class Progress:
    """Advances a bar, if there is one; it has a time left once it was told how much is coming."""

    def __init__(self, bar: tqdm[Any] | None) -> None:
        self._bar = bar

    def __call__(self, step: int) -> None:
        if self._bar is not None:
            self._bar.update(step)

    def expect(self, amount: int) -> None:
        """So much more is coming."""
        if self._bar is not None:
            self._bar.total = (self._bar.total or 0) + amount
            self._bar.refresh()


def as_json(payload: Mapping[str, Any]) -> str:
    """One JSON object on one line, with escapes for signs that a terminal would obey."""
    # Where the stream can't hold every sign, JSON escapes them: a name must come back as it was.
    plain = not (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    return escaped_json(json.dumps(payload, ensure_ascii=plain, allow_nan=False))


def coloured() -> bool:
    """Whether standard output takes colours: a terminal does, unless the user says otherwise either way."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0").lower() not in ("", "0", "false"):
        return True
    return _is_terminal(sys.stdout) and os.environ.get("TERM") != "dumb"


def width() -> int:
    """Cells in a line of standard output: the terminal's, else 120."""
    return max(40, shutil.get_terminal_size().columns) if _is_terminal(sys.stdout) else 120


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Left-aligned columns for people; wide (East Asian) characters count as two cells."""
    texts = [[str(value) for value in row] for row in [headers, *rows]]
    widths = [max(cells(row[i]) for row in texts) for i in range(len(headers))]
    lines = ["  ".join(v + " " * (w - cells(v)) for v, w in zip(row, widths, strict=True)).rstrip() for row in texts]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def cells(text: str) -> int:
    """How many cells of a terminal a text fills: emoji and East Asian wide characters take two, marks none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
