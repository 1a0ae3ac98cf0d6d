"""What no command may answer with a traceback: odd paths, odd settings, damaged files of hfenv's own, closed pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.support import replace_in, run_cli, write_environment

LONG = "x" * 300
DEEP = b"[" * 100_000


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HFENV_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("HFENV_CACHE", raising=False)
    monkeypatch.setenv("HFENV_HUB", "local")
    return tmp_path / "home"


@pytest.fixture
def pushed(tmp_path):
    root = write_environment(tmp_path / "adding")
    assert run_cli("push", "local/adding", root).exit_code == 0
    return root


def assert_one_sentence(result, *codes):
    assert result.exit_code in codes, result.stderr
    assert result.stderr.startswith("error: ")
    assert len(result.stderr.splitlines()) >= 2, "an error says what to do"
    assert result.stdout == ""


@pytest.mark.parametrize("path", [LONG, f"{LONG}/{LONG}", "~nobody-has-this-name/x"])
@pytest.mark.parametrize("command", ["pull", "run", "status", "validate", "init", "changelog --path", "trust add"])
def test_paths_that_no_system_holds(tmp_path, command, path):
    assert_one_sentence(run_cli(*command.split(), path, cwd=tmp_path), 2, 4)


@pytest.mark.parametrize("value", ["file", "file/below", LONG, "~nobody-has-this-name/x"])
@pytest.mark.parametrize("command", ["trust list", "pull local/adding --to out", "hub token list"])
def test_a_home_that_is_no_folder(tmp_path, monkeypatch, command, value):
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("HFENV_HOME", value if value.startswith("~") else str(tmp_path / value))
    assert_one_sentence(run_cli(*command.split(), cwd=tmp_path), 2, 3)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("url", ["http://127.0.0.1:999999", "http://[::1", "http://", "ftp://x", "http://x/?a=b"])
def test_hubs_that_have_no_address(tmp_path, monkeypatch, url):
    for setting in ({"HFENV_HUB": url}, {"HFENV_HUB": "hf", "HF_ENDPOINT": url}):
        for name, value in setting.items():
            monkeypatch.setenv(name, value)
        assert_one_sentence(run_cli("pull", "local/adding", "--to", tmp_path / "out"), 2)


def test_a_password_in_an_address_is_refused_and_not_repeated(monkeypatch):
    monkeypatch.setenv("HFENV_HUB", "http://ada:sekret@127.0.0.1:1")
    result = run_cli("pull", "local/adding")
    assert_one_sentence(result, 2)
    assert "sekret" not in result.stderr


STATE = {"endpoint": "e", "repo": "a/b", "base": "0" * 40, "pulled": True}


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"\xff", DEEP, b'{"base": 1}', *(json.dumps({**STATE, key: [1]}).encode() for key in STATE)],
)
def test_a_damaged_state_is_one_sentence_and_never_taken_for_trust(pushed, home, content):
    (pushed / ".hfenv" / "state.json").write_bytes(content)
    replace_in(pushed / "README.md", "It is tiny.", "It is small.")
    for command in (["push", "local/adding", pushed], ["run", pushed, "--backend", "inline"], ["trust", "add", pushed]):
        assert_one_sentence(run_cli(*command), 3)
    assert not (home / "trust.json").exists()


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", DEEP, b'{"format": 1, "trusted": [1]}', None])
def test_a_damaged_trust_file_is_one_sentence(home, content):
    home.mkdir()
    if content is None:
        (home / "trust.json").mkdir()
    else:
        (home / "trust.json").write_bytes(content)
    assert_one_sentence(run_cli("trust", "list"), 3)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("release",), "abc"),
        (("components", "code", "version"), "1.x"),
        (("components", "code", "files", 0, "size"), float("inf")),
        (("components", "code", "files", 0, "path"), "../../etc/passwd"),
        (("splits", "train", "rows"), float("inf")),
        (("splits", "train", "rows"), -1),
        (("splits", "train", "comparable_since"), "soon"),
    ],
)
def test_a_record_that_says_nonsense_is_unreadable(pushed, path, value):
    record = json.loads((pushed / "release.json").read_bytes())
    place = record
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    (pushed / "release.json").write_text(json.dumps(record))
    for command in (["status", pushed], ["bump", "code", "patch", "-m", "x", "--path", pushed]):
        assert_one_sentence(run_cli(*command), 3)


def test_json_survives_a_stream_that_cannot_hold_every_sign(tmp_path):
    root = write_environment(tmp_path / "größe-長")
    changelog = root / "changelog" / "code.md"
    changelog.write_text(changelog.read_text(encoding="utf-8").replace("First", "Größe 長 😀"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "hfenv.cli", "changelog", "code", "--path", root, "--format", "json"],
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
        capture_output=True,
        check=True,
    )
    assert "Größe 長 😀" in json.loads(done.stdout)["components"]["code"][0]["text"]


def test_a_reader_that_has_gone_changes_no_exit_code(tmp_path):
    root = write_environment(tmp_path / "adding")
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "hfenv.cli", "changelog", "--path", root],
            check=False,
            stdout=write,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (0, "")
