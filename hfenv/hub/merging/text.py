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


def merge_lines(base: bytes | None, here: bytes, hub: bytes) -> Merged:
    """The three-way merge of texts; `base` is None where both sides added the file."""
    import pygit2

    with TemporaryDirectory(prefix="hfenv-") as folder:
        repository = pygit2.init_repository(folder, bare=True)

        def entry(content: bytes, name: str) -> pygit2.IndexEntry:
            return pygit2.IndexEntry(name, repository.create_blob(content), pygit2.enums.FileMode.BLOB)

        ancestor = None if base is None else entry(base, HERE)
        done = repository.merge_file_from_index(ancestor, entry(here, HERE), entry(hub, HUB))
    return Merged(done.contents.encode(), not done.automergeable)


def marked(here: str, hub: str) -> str:
    """Both texts in one: lines that are the same once, the others between markers."""
    ours, theirs = here.splitlines(keepends=True), hub.splitlines(keepends=True)
    lines: list[str] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += ours[a:b]
        else:
            lines += [f"<<<<<<< {HERE}\n", *ours[a:b], "=======\n", *theirs[c:d], f">>>>>>> {HUB}\n"]
    return "".join(lines)
