"""How a failure in author code is told: one sentence with file and line, or a short traceback."""

from __future__ import annotations

import traceback
from pathlib import Path

_LIMIT = 4000  # characters of a traceback that travel with an episode


def describe(error: BaseException, root: Path | None = None) -> str:
    """`env/environment.py, line 12: NameError: name 'x' is not defined`: the deepest frame in the author's files."""
    lines = "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()
    what = lines[-1] if isinstance(error, SyntaxError) else lines[0]
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_relative(error.filename, root)}, line {error.lineno}: {what}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if root is not None and _inside(frame.filename, root)]
    if own:
        return f"{_relative(own[-1].filename, root)}, line {own[-1].lineno}: {what}"
    return what


def short_traceback(error: BaseException) -> str:
    """The end of a traceback, without hfenv's own frames; what `info["error"]` holds after a fault."""
    own = str(Path(__file__).parent)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(own)]
    lines = traceback.format_list(frames[-8:]) + traceback.format_exception_only(type(error), error)
    return "".join(lines).strip()[-_LIMIT:]


def _inside(filename: str, root: Path) -> bool:
    return Path(filename).is_relative_to(root)


def _relative(filename: str, root: Path | None) -> str:
    path = Path(filename)
    return path.relative_to(root).as_posix() if root is not None and path.is_relative_to(root) else filename
