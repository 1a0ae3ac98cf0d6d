"""Hubs and repositories that mean harm: nothing outside the cache is written, no code runs, no bound is passed."""

from __future__ import annotations

import json
import time

import pygit2
import pytest

import hfenv
from hfenv.hub import fetch as fetching
from tests.hub.conftest import STEADY
from tests.hub.faults import FaultProxy, Rule, status
from tests.support import run_cli

SHA1, SHA256 = "a" * 40, "b" * 64
JSON = {"Content-Type": "application/json"}


def entry(path, size=1, oid=SHA1, **more):
    return {"type": "file", "path": path, "size": size, "oid": oid, **more}


CARD = entry("README.md", 5)
TREES = {
    "parent": [CARD, entry("../evil.py")],
    "deep parent": [CARD, entry("env/../../evil.py")],
    "absolute": [CARD, entry("/tmp/evil.py")],  # noqa: S108
    "drive": [CARD, entry("C:/evil.py")],
    "UNC": [CARD, entry("//server/share/evil.py")],
    "backslashes": [CARD, entry("\\\\server\\share\\evil.py")],
    "reserved": [CARD, entry("env/nul.txt")],
    "case": [CARD, entry("env/a.py"), entry("env/A.py")],
    "unicode": [CARD, entry("env/\u00e9.py"), entry("env/e\u0301.py")],
    "file and folder": [CARD, entry("env"), entry("env/a.py")],
    "git": [CARD, entry(".git/config")],
    "compiled": [CARD, entry("env/__pycache__/a.cpython-311.pyc")],
    "digest that is a path": [CARD, entry("env/a.py", oid="../../../../evil")],
    "large digest that is a path": [CARD, entry("env/a.py", lfs={"oid": "/etc/passwd", "size": 1})],
    "no digest": [CARD, entry("env/a.py", oid=7)],
    "negative size": [CARD, entry("env/a.py", size=-1)],
    "size without end": [CARD, entry("env/a.py", size=10**40)],
    "size that is none": [CARD, entry("env/a.py", size="1")],
    "card of 300 MB": [entry("README.md", 300_000_000)],
    "record of 300 MB": [CARD, entry("release.json", 300_000_000)],
    "long": [CARD, entry("env/" + "a" * 5000)],
}


def everything(folder):
    return sorted(str(path) for path in folder.rglob("*"))


@pytest.mark.parametrize("kind", TREES)
def test_a_list_of_files_that_means_harm(home, released, proxy, tmp_path, kind):
    body = json.dumps(TREES[kind]).encode()
    proxy.script(Rule(status(200, body=body, headers=JSON), "GET", "*/tree/*", times=None))
    refused = run_cli("pull", f"{STEADY}@{released[1]}", "--to", tmp_path / "x")
    assert refused.exit_code == 7, refused.stderr
    assert proxy.count("GET", "*/resolve/*") == 0
    assert not (tmp_path / "x").exists()
    assert [path for path in everything(tmp_path) if "evil" in path] == []
    assert list((home / "cache").rglob("files/*")) == []


ANSWERS = {
    "nested without end": (b"[" * 1_000_000, {6, 7}),
    "too long": (b"[" + b"1," * 200_000 + b"1]", {7}),
    "no list": (b'{"a": 1}', {6}),
    "a page": (b"<html>Log in</html>", {6}),
    "no text": (b"\xff\xfe\x00", {6}),
    "nothing": (b" ", {6}),
}


@pytest.mark.parametrize("kind", ANSWERS)
@pytest.mark.parametrize("path", ["*/tree/*", "*/refs*"])
@pytest.mark.usefixtures("released")
def test_answers_that_are_no_lists(proxy, tmp_path, monkeypatch, kind, path):
    monkeypatch.setattr(fetching, "_LARGEST_PAGE", 100_000)
    monkeypatch.setattr("hfenv.hub.resolve.LARGEST_REFS", 100_000)
    body, codes = ANSWERS[kind]
    proxy.script(Rule(status(200, body=body, headers=JSON), "GET", path, times=None))
    refused = run_cli("pull", f"{STEADY}@1.0.0", "--to", tmp_path / "x")
    assert refused.exit_code in codes | ({7} if kind != "nothing" and len(body) > 100_000 else set()), refused.stderr
    assert not (tmp_path / "x").exists()


def test_a_list_whose_pages_have_no_end(released, proxy, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "MOST_PAGES", 5)
    link = {**JSON, "Link": '<http://elsewhere.invalid/api?cursor=x>; rel="next"'}
    page = status(200, body=json.dumps([CARD]).encode(), headers=link)
    proxy.script(Rule(page, "GET", "*/tree/*", times=None))
    assert run_cli("pull", f"{STEADY}@{released[1]}", "--to", tmp_path / "x").exit_code == 7
    assert proxy.count("GET", "*/tree/*") == 6  # and the address elsewhere was never asked


@pytest.mark.parametrize("target", ["../../../../evil", "main", 7, None, "A" * 40, "a" * 41])
def test_references_whose_commit_is_a_path(home, released, proxy, tmp_path, target):
    refs = {"branches": [], "tags": [{"name": "v1.0.0", "ref": "refs/tags/v1.0.0", "targetCommit": target}]}
    proxy.script(Rule(status(200, body=json.dumps(refs).encode(), headers=JSON), "GET", "*/refs*", times=None))
    assert run_cli("pull", f"{STEADY}@1.0.0", "--to", tmp_path / "x").exit_code == 6
    assert [path for path in everything(tmp_path) if "evil" in path] == []


BOMBS = {
    "deep record": ("release.json", b"[" * 1_000_000),
    "long number in the record": ("release.json", b'{"format": ' + b"9" * 100_000 + b"}"),
    "deep card": ("README.md", b"---\na: " + b"[" * 100_000 + b"\n---\n"),
    "aliases": (
        "README.md",
        b"---\na0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        + b"".join(b"a%d: &a%d [%s]\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 30))
        + b"environment: *a29\n---\n",
    ),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_bombs_in_what_is_read_first(home, pushed, tmp_path, kind):
    path, content = BOMBS[kind]
    repository = pygit2.Repository(str(home / "hub" / "datasets" / "local" / "adding.git"))
    head = repository.references["refs/heads/main"].peel(pygit2.Commit)
    top = repository.TreeBuilder(head.tree)
    top.insert(path, repository.create_blob(content), pygit2.enums.FileMode.BLOB)
    who = pygit2.Signature("evil", "evil@example.org")
    sha = str(repository.create_commit("refs/heads/main", who, who, "evil", top.write(), [head.id]))
    started = time.process_time()
    for command in (("pull", f"local/adding@{sha}", "--to", tmp_path / "x"), ("run", f"local/adding@{sha}")):
        refused = run_cli(*command, *(["--trust-remote-code"] if command[0] == "run" else []))
        assert refused.exit_code in (3, 7), refused.stderr
        assert len(refused.stderr) < 5000
    assert time.process_time() - started < 20  # unrolled, the aliases would be more than any memory holds
    assert not (tmp_path / "x").exists()


def test_the_token_goes_to_the_hub_alone(released, proxy, hfenv_hub, tmp_path):
    with FaultProxy(hfenv_hub.endpoint) as elsewhere:
        path = f"/datasets/{STEADY}/resolve/{released[1]}/LICENSE"
        away = status(302, headers={"Location": elsewhere.url + path})
        within = status(302, headers={"Location": path})
        proxy.script(Rule(away, "GET", "*LICENSE"), Rule(within, "GET", "*/words.py"))
        assert run_cli("pull", f"{STEADY}@{released[1]}", "--to", tmp_path / "x").exit_code in (0, 7)
        assert elsewhere.count("GET", path) == 1
        assert elsewhere.seen("GET", path)[0].header("authorization") is None
        assert all(seen.header("authorization") for seen in proxy.seen())


def test_no_code_runs_before_it_is_trusted(released, proxy, tmp_path):
    marker = tmp_path / "ran"
    code = f"open({str(marker)!r}, 'w').close()\n".encode()
    proxy.script(Rule(status(200, body=code), "GET", "*/resolve/*.py", times=None))
    with pytest.raises(hfenv.HfenvError) as caught:
        hfenv.load(f"{STEADY}@1.0.0", trust_remote_code=True)
    assert caught.value.exit_code in (6, 7)
    assert not marker.exists()
