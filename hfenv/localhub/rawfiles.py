"""How a file of a repository is handed to a browser: as a download, or a picture; never as a page of the hub."""

from __future__ import annotations

from urllib.parse import quote

SAFE_IMAGES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
BEGINNING = 16  # bytes that tell a picture
_OTHER = "application/octet-stream"


def raw_headers(path: str, beginning: bytes) -> dict[str, str]:
    """Headers for a file's content, which may be anything: its kind, its name, and that it is nothing to run.

    The kind is told by the first bytes, whatever the file is called; SVG can hold scripts and is a download.
    """
    kind = image_type(beginning)
    return {
        "Content-Type": kind or _OTHER,
        "Content-Disposition": f"{'inline' if kind else 'attachment'}; filename*=UTF-8''{_name(path)}",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    }


def image_type(beginning: bytes) -> str | None:
    """The kind of a picture that is safe to show, by its first bytes; None for anything else."""
    if beginning.startswith(b"RIFF") and beginning[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in SAFE_IMAGES.items() if beginning.startswith(start)), None)


def _name(path: str) -> str:
    return quote(path.rsplit("/", 1)[-1], safe="", errors="replace")
