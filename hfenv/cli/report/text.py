"""Text for terminals: nothing an author wrote can move the cursor, and a caret stands under the column it means."""

from __future__ import annotations

from hfenv.cli.escapes import visible
from hfenv.cli.output import cells

__all__ = ["excerpt", "visible"]

_TAB = "    "
_CUT = "…"
_ENOUGH = 4  # code points for each cell: some signs take none


def excerpt(line: str, number: int, column: int, width: int) -> list[str]:
    """A source line with its number, and under it a caret, where `column` (in code points, from 1) isn't 0.

    A line that is longer than `width` cells allow is cut around the column. Nothing for a blank line.
    """
    if not line.strip():
        return []
    gutter = f"{number:>6} | "
    room = width - len(gutter)
    start = max(column - 1, 0)
    # Of a line of megabytes, no more than could ever be shown is looked at.
    before, after = line[max(start - _ENOUGH * room, 0) : start], line[start : start + _ENOUGH * room]
    before, after = _cut(_shown(before), _shown(after).rstrip(), room)
    lines = [f"{gutter}{before}{after}".rstrip()]
    if column:
        lines.append(f"{'':>6} | {' ' * cells(before)}^")
    return lines


def _shown(text: str) -> str:
    # Tabs at a fixed width: a terminal's own stops would shift behind the gutter.
    return visible(text.replace("\t", _TAB))


def _cut(before: str, after: str, room: int) -> tuple[str, str]:
    """Both halves of a line shortened until they fit, the column a little behind the middle at most."""
    if cells(before) + cells(after) <= room:
        return before, after
    left = max(room - cells(after[:room]) - 1, room // 2)
    if cells(before) > left:
        before = before[-left:]
        while cells(before) > left - 1:
            before = before[1:]
        before = _CUT + before
    right = room - cells(before)
    if cells(after[: right + 1]) > right or len(after) > right:
        after = after[:right]
        while cells(after) > right - 1:
            after = after[:-1]
        after += _CUT
    return before, after


def number(count: int, word: str) -> str:
    """`1 file`, `2 files`, `1,200 repositories`."""
    if count == 1:
        return f"1 {word}"
    return f"{count:,} {word[:-1] + 'ies' if word.endswith('ry') else word + 's'}"
