"""Pictures of an environment's folder as data: URIs, within bounds; nothing outside of the folder is ever read."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

LARGEST = 2 * 1024 * 1024
LARGEST_TOGETHER = 8 * 1024 * 1024
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_DATA = re.compile(r"data:image/[a-z+.-]+;base64,(.*)", re.DOTALL | re.IGNORECASE)
_SVG = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*(?:<!DOCTYPE[^>\[]*>\s*)?<svg[\s>]", re.DOTALL)


class Pictures:
    """Reads the pictures that a card shows. `folder` is the environment's, or None where the card has none.

    `read` takes the place of the folder: it gets a path without `..`, and returns at most `LARGEST` bytes or None.
    """

    def __init__(self, folder: Path | None, read: Callable[[str], bytes | None] | None = None) -> None:
        self._folder = folder
        self._read = read or self._on_disk
        self._left = LARGEST_TOGETHER

    def inline(self, source: str) -> str | None:
        """The picture as a data: URI; None for an address elsewhere, and for what isn't there, too large or no picture.

        `source` is a link as Markdown has it: percent-encoded, perhaps with a query or a fragment.
        """
        content = self._embedded(source) if source[:5].lower() == "data:" else self._file(source)
        kind = media_type(content) if content else None
        if content is None or kind is None or len(content) > self._left:
            return None
        self._left -= len(content)
        return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"

    def _embedded(self, source: str) -> bytes | None:
        match = _DATA.fullmatch(source)
        if match is None or len(match[1]) > LARGEST * 2:
            return None
        try:
            return base64.b64decode(unquote(match[1]), validate=True)
        except (binascii.Error, ValueError):
            return None

    def _file(self, source: str) -> bytes | None:
        name = unquote(re.split(r"[?#]", source, maxsplit=1)[0])
        names = name.removeprefix("./").split("/")
        if is_elsewhere(source) or "\\" in name or "\0" in name or {"", ".."} & {*names}:
            return None
        return self._read("/".join(names))

    def _on_disk(self, name: str) -> bytes | None:
        if self._folder is None:
            return None
        try:
            root = self._folder.resolve()
            path = root.joinpath(*name.split("/")).resolve()
            # Links are followed first, so that one that leaves the folder is seen; pipes and devices aren't opened.
            if not path.is_relative_to(root) or not path.is_file() or path.stat().st_size > LARGEST:
                return None
            with path.open("rb") as stream:
                content = stream.read(LARGEST + 1)
        except (OSError, ValueError, RuntimeError):  # names that are too long, loops of links, missing rights
            return None
        return content if len(content) <= LARGEST else None


def is_elsewhere(source: str) -> bool:
    """True for an address with a scheme or a host: nothing that lies in the folder."""
    return _SCHEME.match(unquote(source).lstrip()) is not None


def media_type(content: bytes) -> str | None:
    """The kind of picture that the bytes are, whatever the file is called; None if they are none that is shown."""
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image/webp"
    # In an <img> a browser runs no script of an SVG and fetches nothing for it.
    return "image/svg+xml" if _SVG.match(content.removeprefix(b"\xef\xbb\xbf")[:65536]) else None
