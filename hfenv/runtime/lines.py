"""Which lines of an author's functions are run: those of every function that is called at all."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from hfenv.runtime.messages import LinesRun


class LineTracer:
    """Notes lines of code below a folder while `watching`; a call costs several times as much meanwhile."""

    def __init__(self, root: Path) -> None:
        self._root = f"{root}/"
        self._codes: dict[CodeType, set[int]] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Trace this thread."""
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(None)

    def lines(self) -> LinesRun:
        """What was noted so far; paths are relative to the folder."""
        possible: dict[str, set[int]] = {}
        reached: dict[str, set[int]] = {}
        for code, lines in self._codes.items():
            path = code.co_filename.removeprefix(self._root)
            known = {line for _, _, line in code.co_lines() if line is not None and line > 0}
            possible.setdefault(path, set()).update(known)
            reached.setdefault(path, set()).update(lines)
        return LinesRun(
            {path: frozenset(lines) for path, lines in possible.items()},
            {path: frozenset(lines) for path, lines in reached.items()},
        )

    def _enter(self, frame: FrameType, event: str, _value: Any) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(self._root) or code.co_name == "<module>":
            return None
        lines = self._codes.setdefault(code, set())
        lines.add(code.co_firstlineno)
        lines.add(frame.f_lineno)

        def note(inner: FrameType, event: str, _value: Any) -> Any:
            lines.add(inner.f_lineno)
            return note

        return note
