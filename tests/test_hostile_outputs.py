"""What nobody's files or names may do through an output: command, flood, overwrite, hang, or end in a traceback."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hfenv.components.files import write_all
from hfenv.components.validation import validate
from hfenv.errors import StorageError
from hfenv.findings import MOST, Finding, Severity, capped
from tests.support import replace_in, run_cli, write_environment

OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
NASTY = "a\x1b[2Jb\u202ec\x9bd\ne"
HFENV = [sys.executable, "-m", "hfenv.cli"]


@pytest.fixture
def root(tmp_path):
    return write_environment(tmp_path / "adding")


@pytest.mark.parametrize("fmt", ["human", "json", "quiet", "github", "sarif", "junit"])
def test_no_format_lets_a_name_command_a_terminal(root, fmt):
    (root / "env" / f"{NASTY}.py").write_text("def broken(:\n", encoding="utf-8")
    result = run_cli("validate", root, root.parent / NASTY, "--format", fmt)
    assert result.exit_code != 0
    assert not OBEYED.search(result.stdout)
    assert not OBEYED.search(result.stderr)


def test_json_gives_a_name_back_as_it_was(root):
    name = "a\x7f\x9b\u202e長\ufeff.py"
    (root / "env" / name).write_text("def broken(:\n", encoding="utf-8")
    paths = [f["path"] for f in run_cli("validate", root, "--format", "json").json["findings"]]
    assert any(path.endswith(name) for path in paths)


def test_no_error_starts_a_workflow_command(root, tmp_path):
    nested = write_environment(tmp_path / "all" / "x\n  ::set-output name=a::b")
    for path in (nested.parent, tmp_path / "no\n::error::such"):
        result = run_cli("validate", path)
        assert result.exit_code != 0
        assert not [line for line in result.stderr.splitlines() if line.lstrip().startswith("::")]
    (root / "::error::x").write_text("x", encoding="utf-8")
    for fmt in ("human", "quiet"):
        lines = run_cli("validate", "--format", fmt, cwd=root).stdout.splitlines()
        assert any("error\\x3a" in line or "error::x" in line for line in lines)
        assert not [line for line in lines if line.lstrip().startswith("::")]


def test_a_line_break_in_a_name_is_an_escape_in_junit(root):
    (root / "env" / "a\nb.py").write_text("def broken(:\n", encoding="utf-8")
    document = run_cli("validate", root, "--format", "junit").stdout
    assert "a\\nb.py" in document
    assert "&#10;" not in document


@pytest.mark.parametrize("content", ["# Hello\n", "x = 1\n", '{"format": 1, "command": "validate", "findings": []}'])
def test_a_baseline_replaces_only_a_baseline(root, content):
    target = root.parent / "target"
    target.write_text(content, encoding="utf-8")
    result = run_cli("validate", root, "--write-baseline", target)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no baseline" in result.stderr
    assert target.read_text(encoding="utf-8") == content


def test_a_baseline_replaces_one_and_an_empty_file_and_leaves_a_link_a_link(root):
    target, link = root.parent / "target", root.parent / "link"
    target.write_bytes(b"")
    link.symlink_to(target)
    for _ in range(2):
        assert run_cli("validate", root, "--write-baseline", link).exit_code == 0
        assert link.is_symlink()
        assert json.loads(target.read_text(encoding="utf-8"))["findings"] == []


@pytest.mark.parametrize("option", ["--write-baseline", "--baseline"])
def test_a_pipe_or_a_device_is_no_baseline(root, option):
    pipe = root.parent / "pipe"
    os.mkfifo(pipe)
    code = 2 if option == "--write-baseline" else 3
    for path in (pipe, "/dev/zero", "/dev/null"):
        result = run_cli("validate", root, option, path)
        assert (result.exit_code, "no regular file" in result.stderr) == (code, True)
    assert pipe.is_fifo()


def test_a_preview_goes_through_a_link_and_into_no_pipe(root):
    page, link, pipe = root.parent / "page.html", root.parent / "link.html", root.parent / "pipe"
    link.symlink_to(page)
    os.mkfifo(pipe)
    assert run_cli("card", "preview", root, "--out", link).exit_code == 0
    assert (link.is_symlink(), page.is_file()) == (True, True)
    for force in ([], ["--force"]):
        assert run_cli("card", "preview", root, "--out", pipe, *force).exit_code == 2
        assert pipe.is_fifo()


def test_several_files_are_written_or_none(tmp_path):
    good, link = tmp_path / "good", tmp_path / "loop"
    link.symlink_to(link)
    good.write_bytes(b"old")
    for bad in (Path("/dev/null"), tmp_path, link):
        with pytest.raises(StorageError):
            write_all({good: b"new", bad: b"x"})
        assert good.read_bytes() == b"old"


def test_fix_leaves_a_linked_card_alone(root):
    card, elsewhere = root / "README.md", root.parent / "elsewhere.md"
    replace_in(card, 'code: {version: "1.0.0"', "code: {version: 1.0")
    card.rename(elsewhere)
    before = elsewhere.read_bytes()
    card.symlink_to(elsewhere)
    result = run_cli("validate", root, "--fix")
    assert (result.exit_code, "is a link" in result.stderr) == (2, True)
    assert (card.is_symlink(), elsewhere.read_bytes()) == (True, before)


def test_a_baseline_with_an_endless_path_is_refused(root):
    base = root.parent / "base.json"
    entry = {"path": "a/" * 30_000, "rule": "HFE012", "at": "/x", "count": 1}
    base.write_text(json.dumps({"format": 1, "findings": [entry]}), encoding="utf-8")
    result = run_cli("validate", root, "--baseline", base)
    assert (result.exit_code, "characters" in result.stderr) == (3, True)


def test_what_a_baseline_no_longer_needs_is_judged_by_place(root):
    other = write_environment(root.parent / "adding-too")
    base = root / "base.json"
    entries = [
        {"path": path, "rule": "HFE012", "at": "/x", "count": 1}
        for path in ("README.md", "env/x.py", "../adding-too/README.md", "../adding-tooth/README.md", "/README.md")
    ]
    base.write_text(json.dumps({"format": 1, "findings": entries}), encoding="utf-8")

    def stale(*paths):
        summary = run_cli("validate", *paths, "--baseline", base, "--format", "json").json["summary"]
        return [entry["path"] for entry in summary["stale"]]

    assert stale(root) == ["README.md", "env/x.py"]
    assert stale(other) == ["../adding-too/README.md"]


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_like_one_that_nobody_reads(root, closed):
    for arguments, code in (("validate adding", 0), ("validate nothing", 4), ("card extract adding", 0)):
        command = f'"{sys.executable}" -m hfenv.cli {arguments} {closed}'
        done = subprocess.run(command, shell=True, cwd=root.parent, capture_output=True, text=True, check=False)  # noqa: S602
        assert (done.returncode, "Traceback" in done.stdout + done.stderr) == (code, False)


@pytest.mark.parametrize("module", ["typer", "hfenv.cli.app", "hfenv.cli.validate"])
def test_an_interrupt_while_modules_are_imported_is_no_traceback(root, module):
    code = (
        "import builtins, os, signal, sys\n"
        # Whoever runs the tests in the background may have told all its children to ignore the signal.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "real = builtins.__import__\n"
        "def interrupted(name, *rest):\n"
        f"    if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "    return real(name, *rest)\n"
        "builtins.__import__ = interrupted\n"
        "import importlib\n"
        "find = importlib.import_module\n"
        "importlib.import_module = lambda name, package=None: (interrupted(name), find(name, package))[1]\n"
        f"sys.argv = ['hfenv', 'validate', {str(root)!r}]\n"
        "from hfenv.cli.start import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (128 + signal.SIGINT, "")


def test_one_mistake_made_a_thousand_times_is_told_a_hundred_times(root):
    links = "".join(f"[a](docs/{number}.md)\n" for number in range(1_000))
    replace_in(root / "README.md", "## Usage\n", f"## Usage\n{links}")
    found = [finding for finding in validate(root).findings if finding.rule == "HFE607"]
    assert len(found) == MOST
    assert sum(finding.count for finding in found) == 1_000
    assert found[-1].message.endswith("and 900 more like it")


def test_the_cap_counts_each_rule_in_each_file_and_keeps_the_order():
    made = [
        Finding(rule, Severity.ERROR, path, "m", line=line, count=2)
        for line in range(1, MOST + 2)
        for path in ("b", "a")
        for rule in ("HFE002", "HFE001")
    ]
    listed = list(capped(made))
    assert len(listed) == 4 * MOST
    assert sum(finding.count for finding in listed) == 2 * len(made)
    places = [(finding.path, finding.line, finding.rule) for finding in listed]
    assert places == sorted(places)
    exact = [finding for finding in made if finding.line <= MOST]
    assert sum(finding.count for finding in capped(exact)) == 2 * len(exact) == 2 * len(list(capped(exact)))
