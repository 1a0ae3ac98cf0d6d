"""Text from repositories as a page may show it: signs that hide or turn text around are spelt out."""

from __future__ import annotations

import re
from urllib.parse import quote

# Signs that steer devices, separate lines, turn the direction of what follows, or are half a pair.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# In a name, what nobody sees could make two of them look alike.
_UNSEEN = re.compile(
    "[\t\n\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2060-\u2065\u206a-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_BREAKS = re.compile("\r\n?")


def plain_text(text: str) -> str:
    """A text of several lines, with LF between them."""
    return _STEERING.sub(_spelt, _BREAKS.sub("\n", text))


def name(text: object, longest: int = 300) -> str:
    """A name, a path or a title in one line of bounded length."""
    line = _UNSEEN.sub(_spelt, _STEERING.sub(_spelt, str(text)))
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _spelt(match: re.Match[str]) -> str:
    return f"[U+{ord(match[0]):04X}]"


def in_address(text: str, *, path: bool = False) -> str:
    """A text as a part of an address; with `path`, its slashes stay."""
    return quote(text, safe="/" if path else "", errors="replace")


def is_unicode(text: str) -> bool:
    """Whether the hub's addresses can name it: git may hold paths of any bytes."""
    return "\ufffd" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def size(count: int) -> str:
    """Bytes for people, such as `1.4 MB`."""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"
