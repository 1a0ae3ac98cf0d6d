"""What a task file is by its first bytes: files that no line of can be read get one finding instead of thousands."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path

from hfenv.card.regular import open_regular
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

_HEAD = 4096


@dataclass(frozen=True, slots=True)
class Sniffed:
    """A file's size in bytes, what is wrong with it as a whole, and whether its rows are worth a look."""

    size: int
    findings: tuple[Finding, ...] = ()
    is_readable: bool = True


def sniff(path: Path, name: str) -> Sniffed:
    """Look at the beginning of a task file; `name` is how findings call it."""
    try:
        size = path.stat().st_size
        with open_regular(path) as stream:
            head = stream.read(_HEAD)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return Sniffed(0, (_unreadable(name, f"can't be read: {reason}", "Check the file and its rights."),), False)
    if head.startswith(b"version https://git-lfs.github.com/spec/"):
        problem = "this is a pointer of Git LFS, not the file itself"
        return Sniffed(size, (_unreadable(name, problem, "`git lfs pull` fetches it."),), False)
    if path.suffix == ".parquet":
        return Sniffed(size)
    if wrong := _not_lines(head):
        return Sniffed(size, (_unreadable(name, *wrong),), False)
    if head.startswith(codecs.BOM_UTF8):
        message = "the file starts with a byte-order mark, which isn't part of JSON"
        fix = "Save it as UTF-8 without a byte-order mark."
        mark = Finding("HFE315", severity("HFE315"), name, message, line=1, column=1, fix=fix)
        return Sniffed(size, (mark,))
    return Sniffed(size)


def _not_lines(head: bytes) -> tuple[str, str] | None:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "byte 0 of the file begins a mark of UTF-16, not UTF-8", "Save the file as UTF-8."
    if head.startswith((b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ")):
        return "the file is compressed", "Unpack it; Parquet is compressed by itself."
    if head.startswith(b"PAR1"):
        return "the file is Parquet by its content", "Let its name end in .parquet."
    if head.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"["):
        return "the file is one JSON list, not JSON Lines", "Write each task on a line of its own, as one JSON object."
    return None


def _unreadable(name: str, message: str, fix: str) -> Finding:
    return Finding("HFE301", severity("HFE301"), name, message, fix=fix)
