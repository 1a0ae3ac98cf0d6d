"""The help of every command: placeholders that say what to write, and lists that aren't cut."""

from __future__ import annotations

import re

import pytest

from hfenv.cli.app import ENTRIES
from tests.support import run_cli


@pytest.mark.parametrize("name", [entry.name for entry in ENTRIES])
def test_help_names_what_to_write_and_cuts_nothing(name):
    text = run_cli(name, "--help").stdout
    assert text.startswith("Usage:")
    assert not re.search(r"<[a-z|]+|\{", text)
    assert not re.search(r"^  \w+ +.*\.\.\.$", text.partition("\nCommands:")[2], re.MULTILINE)
