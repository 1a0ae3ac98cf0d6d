"""A real browser for tests of pages: found on PATH, run without a screen, bounded in time, always ended."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import struct
import subprocess
import zlib
from dataclasses import dataclass
from pathlib import Path

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
)
_LONGEST_S = 60

PROGRAM = next(filter(None, map(shutil.which, _NAMES)), None)
needs_browser = pytest.mark.skipif(PROGRAM is None, reason=f"no browser on PATH: none of {', '.join(_NAMES)}")


@dataclass(frozen=True)
class Picture:
    """A screenshot: its size in pixels, the colour of its upper left corner, and how many bytes differ from pixel to
    pixel, which is next to none on an empty page."""

    width: int
    height: int
    corner: tuple[int, int, int]
    detail: int


def screenshot(page: Path, target: Path, size: tuple[int, int], *, dark: bool = False) -> Picture:
    """Show a page in a window of a size, and write what is seen to a PNG file."""
    target.unlink(missing_ok=True)
    scheme = [f"--blink-settings=preferredColorScheme={0 if dark else 1}"]
    _browse(page, [*scheme, f"--screenshot={target}", f"--window-size={size[0]},{size[1]}"], target.parent)
    return read_png(target)


def dom(page: Path, profile: Path, size: tuple[int, int] = (1280, 800)) -> str:
    """The page's elements after everything on it has run, as HTML."""
    return _browse(page, ["--dump-dom", "--virtual-time-budget=2000", f"--window-size={size[0]},{size[1]}"], profile)


def _browse(page: Path, options: list[str], parent: Path) -> str:
    assert PROGRAM is not None
    profile = parent / f".profile-{os.getpid()}"
    command = [PROGRAM, *_QUIET, f"--user-data-dir={profile}", *options, page.resolve().as_uri()]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True
    )
    try:
        out, problems = process.communicate(timeout=_LONGEST_S)
    finally:
        # Its helpers belong to its session; some outlive the first process for a moment.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        shutil.rmtree(profile, ignore_errors=True)
    assert process.returncode == 0, problems
    return out


def read_png(path: Path) -> Picture:
    """Read a PNG of 8 bits a channel; raises AssertionError for anything else."""
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, at = [], 8
    while at < len(content):
        length, kind = struct.unpack(">I4s", content[at : at + 8])
        chunks.append((kind, content[at + 8 : at + 8 + length]))
        at += length + 12
    width, height, depth, colour = struct.unpack(">IIBB", chunks[0][1][:10])
    assert depth == 8
    assert colour in (2, 6)  # RGB, with or without transparency
    raw = zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))
    assert len(raw) == height * (1 + width * (3 if colour == 2 else 4))
    # Rows hold differences to neighbours, and the first pixel, which has none, its own colour.
    return Picture(width, height, (raw[1], raw[2], raw[3]), len(raw) - raw.count(0))
