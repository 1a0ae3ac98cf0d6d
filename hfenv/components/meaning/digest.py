"""Semantic digests of code and reward (`hfenv-meaning-1`): what of a component's bytes matters for how it runs."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hfenv.card.regular import open_regular, read_regular
from hfenv.components.code.source import Source, parse_files
from hfenv.components.digest import MEANING, canonical_json, card_slice
from hfenv.components.meaning.data import MOST_PARSED, NoValueError, data_kind, parse_data, written_data
from hfenv.components.meaning.docstrings import Reads, keeper
from hfenv.components.meaning.written import written
from hfenv.components.ownership import Component, FileEntry
from hfenv.errors import UnreadableError

PROBES = "reward/probes.jsonl"
_CHUNK = 1 << 20


def semantic_digest(
    component: Component,
    root: Path,
    files: Iterable[FileEntry],
    block: Mapping[str, Any],
    *,
    tasks: str = "",
    found: Mapping[str, str] | None = None,
) -> str:
    """SHA-256 (hex) over a head line with the card's slice and one line per file, sorted by the path's UTF-8 bytes.

    `root` is the environment's folder, `files` its walk. Paths count, executable bits and probes don't. A Python file
    is its syntax tree without comments and docstrings, unless code reads those; JSON, YAML and TOML are values; other
    text is its bytes with LF and without a byte order mark; everything else is its exact bytes. The tasks' meaning is
    in their rows, so that for them `tasks` is what stands for the files. `found` are the `meanings` where they're there
    already. Raises UnreadableError, with file and line, for Python that this Python can't parse.
    """
    digest = hashlib.sha256()
    digest.update(canonical_json([MEANING, component.value, card_slice(component, block)]).encode() + b"\n")
    if component is Component.TASKS:
        digest.update(canonical_json(["tasks", tasks]).encode() + b"\n")
        return digest.hexdigest()
    for path, meaning in (meanings(root, parts_of(component, files)) if found is None else found).items():
        digest.update(canonical_json([path, meaning]).encode() + b"\n")
    return digest.hexdigest()


def parts_of(component: Component, files: Iterable[FileEntry]) -> list[FileEntry]:
    """The files that a component's meaning lies in, sorted by the path's UTF-8 bytes."""
    own = [entry for entry in files if entry.component is component and entry.path != PROBES]
    return sorted(own, key=lambda entry: entry.path.encode())


def meanings(root: Path, files: Sequence[FileEntry], sources: Mapping[str, Source] | None = None) -> dict[str, str]:
    """What each file of one component means, as kind and SHA-256: `python 0a1b...`; in the order of `files`.

    `sources` are the trees of the Python files, where they're there already.
    """
    sources = python_sources(root, files) if sources is None else sources
    reads = Reads.of(sources.values())
    found = {}
    for entry in files:
        source = sources.get(entry.path)
        if source is not None:
            text = written(source.tree, keeps_doc=keeper(source, reads))
            text += source.text if reads.text else ""
            found[entry.path] = f"python {hashlib.sha256(text.encode()).hexdigest()}"
        else:
            found[entry.path] = _other(root, entry)
    return found


def python_sources(root: Path, files: Iterable[FileEntry]) -> dict[str, Source]:
    """Trees of the Python files among `files`; raises UnreadableError for the first that has none."""
    parsed = parse_files(root, files)
    if parsed.findings:
        first = parsed.findings[0]
        raise UnreadableError(f"{first.place}: {first.message}.", first.fix or "")
    return parsed.sources


def _other(root: Path, entry: FileEntry) -> str:
    kind = data_kind(entry.path)
    try:
        if kind is not None and entry.size <= MOST_PARSED:
            raw = read_regular(root / entry.path, MOST_PARSED)
            try:
                return f"{kind} {hashlib.sha256(written_data(parse_data(kind, decoded(raw))).encode()).hexdigest()}"
            except NoValueError:
                pass  # whoever reads it gets text, or an error
        text = _short_text(root / entry.path) if entry.size <= _CHUNK else _text(root / entry.path)
        return text or f"bytes {entry.sha256}"
    except OSError as error:
        raise UnreadableError(f"{entry.path} can't be read: {error.strerror}.", "Check its permissions.") from error


def decoded(raw: bytes) -> str:
    """UTF-8 without a byte order mark; raises NoValueError for anything else."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NoValueError(str(error)) from None


def _short_text(path: Path) -> str | None:
    """As `_text`, for what fits into memory well: most files are small, and there are many of them."""
    raw = read_regular(path, 2 * _CHUNK).removeprefix(codecs.BOM_UTF8)
    if b"\0" in raw:
        return None
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    unified = raw.replace(b"\r\n", b"\n")
    return f"text {hashlib.sha256(unified).hexdigest()}"


def _text(path: Path) -> str | None:
    """The digest of a text with LF and without a byte order mark; None for what is no UTF-8 text."""
    digest = hashlib.sha256()
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_regular(path) as stream:
        held = b""
        chunk = stream.read(_CHUNK).removeprefix(codecs.BOM_UTF8)
        while chunk:
            if b"\0" in chunk:
                return None
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                return None
            chunk = held + chunk
            held = b"\r" if chunk.endswith(b"\r") else b""  # its LF may come with the next chunk
            digest.update(chunk[: len(chunk) - len(held)].replace(b"\r\n", b"\n"))
            chunk = stream.read(_CHUNK)
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return None
    digest.update(held)
    return f"text {digest.hexdigest()}"
