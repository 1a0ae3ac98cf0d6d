"""Which files belong to an environment, to whom, and which can't be part of one."""

from __future__ import annotations

import os
import unicodedata

import pytest

from hfenv.components.files import write_all
from hfenv.components.ownership import Component, name_problem, owner_of, scan, walk
from hfenv.errors import UnreadableError
from tests.support import write_environment


def paths(root):
    return [entry.path for entry in walk(root)]


def test_walk_is_sorted_and_knows_the_owners(tmp_path):
    entries = {entry.path: entry.component for entry in walk(write_environment(tmp_path))}
    assert list(entries) == sorted(entries)
    assert entries["env/environment.py"] is Component.CODE
    assert entries["tasks/train.jsonl"] is Component.TASKS
    assert entries["reward/reward.py"] is Component.REWARD
    assert entries["README.md"] is None
    assert entries["changelog/code.md"] is None


def test_a_file_named_like_a_component_folder_belongs_to_nobody():
    assert owner_of("env") is None
    assert owner_of("environment/x.py") is None


@pytest.mark.parametrize("name", [".git", "__pycache__", ".venv", ".hfenv", "node_modules", ".env"])
def test_litter_and_secrets_are_left_out_whatever_ignore_files_say(tmp_path, name):
    root = write_environment(tmp_path, files={f"env/{name}/x.py": "1", ".hfenvignore": f"!{name}\n"})
    assert not [path for path in paths(root) if name in path.split("/")]


def test_ignore_files_add_up_and_deeper_ones_come_last(tmp_path):
    root = write_environment(
        tmp_path,
        files={
            ".gitignore": "*.log\n/build/\n",
            ".hfenvignore": "notes/\n",
            "env/.gitignore": "!keep.log\n",
            "env/a.log": "", "env/keep.log": "", "build/x": "", "env/build/x": "", "notes/x": "",
        },
    )  # fmt: skip
    found = paths(root)
    assert "env/keep.log" in found
    assert "env/build/x" in found
    assert not {"env/a.log", "build/x", "notes/x"} & set(found)


@pytest.mark.parametrize(
    "path",
    [
        "../x",
        "/x",
        "a//b",
        "a/./b",
        "con",
        "a/NUL.txt",
        "a:b",
        "a\\b",
        "x.",
        "x ",
        "a\nb",
        ".GIT/config",
        "y" * 201,
        "",
    ],
)
def test_names_that_some_platform_cannot_hold(path):
    assert name_problem(path)


@pytest.mark.parametrize(
    "path", ["env/x.py", "tasks/\u00fcml\u00e4ut \N{GRINNING FACE}.jsonl", "a/.hidden", "console.py"]
)
def test_names_that_every_platform_can_hold(path):
    assert name_problem(path) is None


def test_links_compiled_python_and_collisions_are_named(tmp_path):
    root = write_environment(tmp_path, files={"env/Same.py": "", "env/same.py": "", "env/old.pyc": b"\0"})
    (root / "env" / "link.py").symlink_to("environment.py")
    (root / "env" / unicodedata.normalize("NFD", "\u00e9.txt")).write_text("", encoding="utf-8")
    (root / "env" / unicodedata.normalize("NFC", "\u00e9.txt")).write_text("", encoding="utf-8")
    os.mkfifo(root / "env" / "pipe")
    _, problems = scan(root)
    assert sorted(problem.path.split("/")[1][:4] for problem in problems) == [
        "link",
        "old.",
        "pipe",
        "same",
        "\u00e9.tx",
    ]
    with pytest.raises(UnreadableError):
        walk(root)


def test_the_executable_bit_is_seen(tmp_path):
    root = write_environment(tmp_path, files={"env/run.sh": "#!/bin/sh\n"})
    (root / "env" / "run.sh").chmod(0o755)
    assert [entry.path for entry in walk(root) if entry.executable] == ["env/run.sh"]


def test_what_a_killed_process_left_is_no_part_of_an_environment_and_goes_in_time(tmp_path):
    root = write_environment(tmp_path / "adding")
    before = [entry.path for entry in walk(root)]
    old, new = root / ".hfenv-old.part", root / "env" / ".hfenv-new.part"
    old.write_bytes(b"half")
    new.write_bytes(b"half")
    os.utime(old, (0, 0))
    assert [entry.path for entry in walk(root)] == before
    write_all({root / "NOTE.md": b"x", root / "env" / "more.py": b"x"})
    assert (old.exists(), new.exists()) == (False, True)
