"""The bar for reading large files: its bytes, and where it isn't shown."""

from __future__ import annotations

import io
import sys

import pytest

from hfenv.cli import hashing
from hfenv.cli.output import Format, Output
from hfenv.components.ownership import walk
from tests.support import write_environment


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("fmt", "stream", "shown"),
    [(Format.HUMAN, Terminal, True), (Format.JSON, Terminal, False), (Format.HUMAN, io.StringIO, False)],
)
def test_who_looks_at_a_terminal_sees_bytes_and_the_time_left(tmp_path, monkeypatch, fmt, stream, shown):
    root = write_environment(tmp_path / "e", files={"tasks/resources/big.bin": b"x" * 3_000_000})
    monkeypatch.setattr(hashing, "_WORTH_A_BAR", 1 << 20)
    monkeypatch.setattr(hashing, "_DELAY_S", 0)
    seen = stream()
    monkeypatch.setattr(sys, "stderr", seen)
    with hashing.hashing_shown(root, Output(fmt)):
        once, again = walk(root), walk(root)
    assert once == again
    assert ("Reading" in seen.getvalue() and "/2.86M" in seen.getvalue()) is shown


def test_small_folders_have_none(tmp_path, monkeypatch):
    root = write_environment(tmp_path / "e")
    seen = Terminal()
    monkeypatch.setattr(sys, "stderr", seen)
    with hashing.hashing_shown(root, Output()):
        walk(root)
    assert seen.getvalue() == ""
