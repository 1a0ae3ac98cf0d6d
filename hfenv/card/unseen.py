"""Characters that nobody sees, and where a script has a use for them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_JOINERS = "\u200c\u200d"
_DIRECTION = "\u200e\u200f\u061c"
# Those that YAML refuses have an error of their own; variation selectors choose how the sign before them looks.
_UNSEEN = re.compile(
    "[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164\uffa0"
    "\ufff9-\ufffb\U000e0001\U000e0020-\U000e007f]+"
)
# Scripts without spaces between words, in which a zero-width space says where a line may break.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaa7f]")
_FLAG = "\U0001f3f4"  # the flags of regions are spelt in tag characters behind it
_END_OF_FLAG = "\U000e007f"


def unseen(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of runs of invisible characters in a part of a text, where the script around them has no use for them."""
    if text.isascii():
        return
    for match in _UNSEEN.finditer(text, start, end):
        if not all(_is_of_use(text, index, *match.span()) for index in range(*match.span())):
            yield match.span()


def as_seen(text: str) -> str:
    """The text as everybody sees it."""
    return _UNSEEN.sub("", text).strip()


def _is_of_use(text: str, index: int, start: int, end: int) -> bool:
    """Whether a script needs the character where it stands in the run from `start` to `end`."""
    sign, before, after = text[index], text[start - 1 : start], text[end : end + 1]
    if sign in _JOINERS:
        # Behind a sign of Persian, Hindi or an emoji, or between letters that would be joined otherwise.
        return end - start == 1 and (
            (not before.isascii() and not before.isspace()) or (before.isalpha() and after.isalpha())
        )
    if sign == "\u200b":
        return end - start == 1 and all(_UNSPACED.match(near) for near in (before, after))
    if sign in _DIRECTION:
        line = text[_line_start(text, start) : start] + re.split(r"[\r\n]", text[end : end + 1000], maxsplit=1)[0]
        return end - start == 1 and any(unicodedata.bidirectional(near) in ("R", "AL") for near in line)
    return before == _FLAG and text[end - 1] == _END_OF_FLAG and "\U000e0020" <= sign <= _END_OF_FLAG


def _line_start(text: str, index: int) -> int:
    return max(text.rfind("\n", 0, index), text.rfind("\r", 0, index)) + 1
