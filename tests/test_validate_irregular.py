"""Validation of folders with pipes, devices and links in them: nothing waits, and nothing outside is read or shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hfenv.card.regular import LARGEST_TEXT
from hfenv.components.validation import validate
from tests.support import replace_in, run_cli, write_environment

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes and links")
CONTENT = '{"id": 7, "question": "whatstands0utside"}\n'


@pytest.fixture
def root(tmp_path):
    return write_environment(tmp_path / "env")


@pytest.fixture
def outside(tmp_path):
    folder = tmp_path / "outside"
    folder.mkdir()
    for name in ("train.jsonl", "test.jsonl"):
        (folder / name).write_text(CONTENT * 2, encoding="utf-8")
    return folder


def found(root):
    return {(finding.rule, finding.path) for finding in validate(root).findings}


def replaced(path: Path) -> Path:
    path.unlink()
    return path


def test_a_card_that_is_a_pipe_is_not_waited_for(root):
    os.mkfifo(replaced(root / "README.md"))
    assert {("HFE001", "README.md"), ("HFE203", "README.md")} <= found(root)
    for command in (["validate"], ["validate", "--fix"], ["validate", "README.md"], ["card", "extract"]):
        assert run_cli(*command, cwd=root).exit_code == 3


def test_a_card_that_leads_to_a_device_is_not_read(root):
    replaced(root / "README.md").symlink_to("/dev/zero")
    result = run_cli("validate", cwd=root)
    assert result.exit_code == 3
    assert "no regular file" in result.stdout


def test_a_card_that_leads_to_a_file_is_read_and_not_shown(root, tmp_path):
    (root / "README.md").rename(tmp_path / "card.md")
    (root / "README.md").symlink_to(tmp_path / "card.md")
    assert found(root) == {("HFE203", "README.md")}
    (tmp_path / "card.md").write_text("---\nenvironment: [whatstands0utside\n---\n", encoding="utf-8")
    assert "whatstands0utside" not in run_cli("validate", cwd=root).stdout


def test_a_card_without_end_is_refused(root):
    (root / "README.md").write_bytes(b"---\n" + b"#" * LARGEST_TEXT)
    assert next(f.message for f in validate(root).findings if f.rule == "HFE001").endswith("more than 16 MiB")
    assert run_cli("validate", "--fix", cwd=root).exit_code == 3


@pytest.mark.parametrize("name", ["release.json", "changelog/tasks.md"])
def test_other_files_are_not_waited_for(root, name):
    (root / name).unlink(missing_ok=True)
    os.mkfifo(root / name)
    assert found(root) == {("HFE203", name)}
    assert run_cli("bump", "-m", "More tasks.", cwd=root).exit_code == 3


def test_a_baseline_is_not_waited_for(root):
    os.mkfifo(root.parent / "pipe")
    assert run_cli("validate", "--baseline", "../pipe", cwd=root).exit_code == 3


def test_ignore_files_without_end_are_refused(root):
    (root / ".hfenvignore").write_bytes(b"x\n" * (1 << 20))
    assert ("HFE203", "README.md") in found(root)


def test_a_linked_task_file_is_neither_read_nor_shown(root, outside):
    replaced(root / "tasks/train.jsonl").symlink_to(outside / "train.jsonl")
    assert found(root) == {("HFE203", "tasks/train.jsonl"), ("HFE202", "README.md")}
    assert "whatstands0utside" not in run_cli("validate", cwd=root).stdout


def test_without_a_card_a_linked_task_file_is_not_read_either(root, outside):
    replaced(root / "tasks/train.jsonl").symlink_to(outside / "train.jsonl")
    (root / "README.md").unlink()
    assert found(root) == {("HFE001", "README.md"), ("HFE203", "tasks/train.jsonl")}


@pytest.mark.parametrize("pattern", ["tasks/train.jsonl", "tasks/train*.jsonl", "tasks/**/train.jsonl"])
def test_a_linked_folder_is_not_followed(root, outside, pattern):
    for path in (root / "tasks").iterdir():
        path.unlink()
    (root / "tasks").rmdir()
    (outside / "endless").symlink_to("/")
    (root / "tasks").symlink_to(outside)
    replace_in(root / "README.md", "tasks/train.jsonl", pattern)
    report = found(root)
    assert {("HFE203", "tasks"), ("HFE202", "README.md")} <= report
    assert not {rule for rule, _ in report if rule.startswith("HFE3")}
    assert "whatstands0utside" not in run_cli("validate", cwd=root).stdout


def test_patterns_find_what_lies_deeper_and_no_links(root, outside):
    (root / "tasks/more/deep").mkdir(parents=True)
    (root / "tasks/train.jsonl").rename(root / "tasks/more/deep/train.jsonl")
    (root / "tasks/more/linked").symlink_to(outside)
    for pattern in ("tasks/**/train.jsonl", "tasks/*/*/train.jsonl", "tasks/more/*/tr*.jsonl"):
        before = (root / "README.md").read_bytes()
        replace_in(root / "README.md", "tasks/train.jsonl", pattern)
        assert found(root) == {("HFE203", "tasks/more/linked")}, pattern
        (root / "README.md").write_bytes(before)
