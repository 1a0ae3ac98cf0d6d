"""Merge text by lines, as git does, with git's markers where both sides changed the same ones."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from tempfile import TemporaryDirectory

HERE, HUB = "here", "hub"  # how markers name the two sides
LARGEST = 16 << 20  # bytes; what is longer is kept on both sides instead


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged bytes; `conflict` says that they have markers in them."""

    content: bytes
    conflict: bool


def is_text(content: bytes | None) -> bool:
    """Whether content can be merged by lines; what isn't there can."""
    if content is None:
        return True
    if len(content) > LARGEST or b"\0" in content:
        return False
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def line_end(content: bytes) -> bytes | None:
    """How all lines of a text end, None where they differ, or where there is only one."""
    ends, windows = content.count(b"\n"), content.count(b"\r\n")
    return None if not ends or windows not in (0, ends) else b"\r\n" if windows else b"\n"


def with_line_end(content: bytes, end: bytes | None) -> bytes:
    """The text with lines that end so; as it is for None."""
    if end is None or line_end(content) == end:
        return content
    return content.replace(b"\r\n", b"\n").replace(b"\n", end)


def merge_lines(base: bytes | None, here: bytes, hub: bytes) -> Merged:
    """The three-way merge of texts; `base` is None where both sides added the file.

    Lines end as they do here: an editor that writes them otherwise has changed none.
    """
    import pygit2

    end = line_end(here)
    base, hub = base if base is None else with_line_end(base, end), with_line_end(hub, end)
    with TemporaryDirectory(prefix="hfenv-") as folder:
        repository = pygit2.init_repository(folder, bare=True)

        def entry(content: bytes, name: str) -> pygit2.IndexEntry:
            return pygit2.IndexEntry(name, repository.create_blob(content), pygit2.enums.FileMode.BLOB)

        ancestor = None if base is None else entry(base, HERE)
        done = repository.merge_file_from_index(ancestor, entry(here, HERE), entry(hub, HUB))
    return Merged(done.contents.encode(), not done.automergeable)


def marked(here: str, hub: str) -> str:
    """Both texts in one: lines that are the same once, the others between markers."""
    end = (line_end(here.encode()) or b"\n").decode()
    ours, theirs = here.splitlines(keepends=True), hub.splitlines(keepends=True)
    lines: list[str] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += ours[a:b]
        else:
            lines += [f"<<<<<<< {HERE}{end}", *ours[a:b], f"======={end}", *theirs[c:d], f">>>>>>> {HUB}{end}"]
    return "".join(lines)
