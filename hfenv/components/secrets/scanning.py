"""Look through one file for secrets: text, text in columns of Parquet, compressed text, and what is neither."""

from __future__ import annotations

import codecs
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hfenv.components.secrets import library
from hfenv.components.tasks.batches import batches
from hfenv.errors import UnreadableError
from hfenv.secret_shapes import IN_ADDRESS, find_secrets

SCANNED = 32 << 20  # bytes of one file that are looked through
_SMALL = 512 << 10  # what people write is no longer
_DATA = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".arrow", ".sqlite", ".sqlite3", ".db", ".duckdb", ".ipynb")
_CONFIG = (".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".properties", ".env", ".sh")
# Packed: a token would not be found in the bytes, and none is likely to be in there.
_PACKED = (
    ".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf", ".zip", ".xz", ".zst", ".bz2", ".7z", ".npz", ".mp3", ".mp4",
    ".wav", ".ogg", ".woff", ".woff2", ".ttf", ".otf", ".safetensors",
)  # fmt: skip
# Signs of text as `x`, all others as zero: a token is longer than such a run.
_TEXT = bytes(120 if 32 <= code < 127 or code in b"\t\n\r" else 0 for code in range(256))
_RUN = b"x" * 16


class Kind(str, Enum):
    """How a file is looked at; data gets only the shapes that issuers give, so that hashes in rows are no alarm."""

    TASKS = "t"
    DATA = "d"
    CONFIG = "c"
    TEXT = "x"
    PACKED = "p"

    @classmethod
    def of(cls, path: str) -> Kind:
        """The kind of a file by its path in the environment."""
        name = path.lower().removesuffix(".gz")
        if name.endswith(_PACKED):
            return cls.PACKED
        if path.startswith("tasks/"):
            return cls.TASKS
        if name.endswith(_DATA):
            return cls.DATA
        return cls.CONFIG if name.endswith(_CONFIG) else cls.TEXT


@dataclass(frozen=True, slots=True)
class Hit:
    """One secret: its kind, and where it stands, from 1; `inside` says where, for files that have no lines."""

    kind: str
    line: int
    column: int
    inside: str = ""


def hits(path: str, source: Path | bytes) -> Iterator[Hit]:
    """What in a file looks like a secret, at most one for each place; never the secret itself.

    Reads at most 32 MiB. A file that can't be read as what it claims to be yields nothing: other rules tell of that.
    """
    kind = Kind.of(path)
    if kind is Kind.PACKED:
        return
    if path.lower().endswith(".parquet"):
        yield from _in_parquet(source)
        return
    content = source[:SCANNED] if isinstance(source, bytes) else _read(source)
    if path.lower().endswith((".gz", ".tgz")):
        content = _unpacked(content)
    content = _as_utf8(content)
    if b"\0" in content[:8192]:
        yield from _in_binary(content)
        return
    for what, start in _places(content, kind):
        line_start = content.rfind(b"\n", 0, start) + 1
        line = content.count(b"\n", 0, start) + 1
        yield Hit(what, line, len(content[line_start:start].decode("utf-8", "replace")) + 1)


def _in_binary(content: bytes) -> Iterator[Hit]:
    """Only what is text in it: of random bytes that is next to nothing, and of a database what people wrote."""
    signs = content.translate(_TEXT)
    texts: list[bytes] = []
    begins: list[int] = []
    length: list[int] = []  # of all texts before
    at = 0
    while (start := signs.find(_RUN, at)) >= 0:
        at = signs.find(b"\0", start)
        at = at if at >= 0 else len(signs)
        length.append(length[-1] + len(texts[-1]) + 1 if texts else 0)
        texts.append(content[start:at])
        begins.append(start)
    for what, start in _places(b"\n".join(texts), Kind.TASKS):
        text = bisect_right(length, start) - 1
        yield Hit(what, 0, 0, f"at byte {begins[text] + start - length[text]:,}")


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(SCANNED)
    except OSError:
        return b""  # the walk has hashed it, so that it was there: a file in motion is the walk's matter


def _unpacked(content: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(content, SCANNED)
    except zlib.error:
        return b""


def _as_utf8(content: bytes) -> bytes:
    """Text as some tools of Windows write it, sixteen bits a sign, in the form that is looked through."""
    if not content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content
    return content.decode("utf-16", "replace").encode("utf-8", "replace")


def _places(content: bytes, kind: Kind) -> list[tuple[str, int]]:
    """Kind and offset of each secret, in order; what several detectors see is one."""
    # Addresses with a made-up user and password are common in texts that tasks are made of.
    shaped = ((what, at, at + len(text)) for what, at, text in find_secrets(content) if _counts(what, kind))
    found = [*shaped, *library.marked(content)]
    if kind in (Kind.TEXT, Kind.CONFIG) and len(content) <= _SMALL:
        found += library.unmarked(content, quoted=kind is Kind.TEXT)
    places: list[tuple[str, int]] = []
    covered = -1
    for what, start, end in sorted(found, key=lambda each: (each[1], -each[2], each[0] == library.UNDER_A_NAME)):
        if start >= covered:
            places.append((what, start))
        covered = max(covered, end)
    return places


def _counts(what: str, kind: Kind) -> bool:
    return what != IN_ADDRESS or kind is not Kind.TASKS


def _in_parquet(source: Path | bytes) -> Iterator[Hit]:
    if isinstance(source, bytes):
        with TemporaryDirectory(prefix="hfenv-scan-") as folder:
            file = Path(folder) / "scanned.parquet"
            file.write_bytes(source)
            yield from _in_parquet(file)
        return
    left = SCANNED
    try:
        for row, batch in batches(source):
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                texts = (text for leaf in _texts(column) for text in leaf.drop_null().to_pylist())
                content = b"\n".join(text if isinstance(text, bytes) else text.encode() for text in texts)
                left -= len(content)
                if _places(content[:SCANNED], Kind.TASKS):
                    yield from _in_column(name, column, row)
            if left <= 0:
                return
    except (UnreadableError, ValueError):
        return


def _in_column(name: str, column: Any, before: int) -> Iterator[Hit]:
    for index, value in enumerate(column):
        for what, _ in _places(repr(value.as_py()).encode()[:SCANNED], Kind.TASKS):
            yield Hit(what, 0, 0, f"in row {before + index + 1:,}, column {name}")


def _texts(column: Any) -> Iterator[Any]:
    """The arrays of strings in a column, however deep they stand in it."""
    from pyarrow import types as t

    kind = column.type
    if t.is_dictionary(kind):
        yield from _texts(column.dictionary)
    elif t.is_struct(kind):
        for child in column.flatten():
            yield from _texts(child)
    elif t.is_map(kind):
        yield from _texts(column.keys)
        yield from _texts(column.items)
    elif t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind):
        yield from _texts(column.flatten())
    elif t.is_string(kind) or t.is_large_string(kind) or t.is_binary(kind) or t.is_large_binary(kind):
        yield column
