"""A token never gets anywhere but into the header that it is sent in."""

from __future__ import annotations

import logging

import pytest

from hfenv.hub.client import connect
from tests.hub.conftest import STEADY
from tests.hub.faults import FaultProxy, Rule, cut, drop, other_bytes, status
from tests.support import replace_in, run_cli, write_environment

# Put together here, so that no scanner takes it for somebody's; as a hub's own tokens look.
CANARY = "hf_" + "CanaryQzWx7Bd" + "Lm3Kt9Vr5Np2Hs8Jy4Gc"


def echoes(token):
    """Answers that repeat the token wherever an answer holds text."""
    said = f"no right for Bearer {token}, token={token}".encode()
    answers = [
        status(code, body=said, headers={"X-Error-Message": f"{token} is wrong"}) for code in (400, 401, 403, 404)
    ]
    answers += [status(code, body=b'{"error": "%s"}' % token.encode()) for code in (409, 412, 416, 429, 500)]
    answers += [status(302, headers={"Location": f"/nowhere/{token}?token={token}"})]
    answers += [status(200, body=said), drop(), cut(), other_bytes()]
    return answers


def searched(token, *places):
    """Files below the places that hold the token, by their content or their name."""
    found = []
    for place in places:
        for path in place.rglob("*"):
            if token in path.name or (path.is_file() and token.encode() in path.read_bytes()):
                found.append(str(path))
    return found


@pytest.mark.parametrize("own", [True, False], ids=["a good token", "a wrong token"])
@pytest.mark.usefixtures("released")
def test_the_token_is_nowhere(home, hfenv_hub, proxy, tmp_path, monkeypatch, caplog, own):  # noqa: PLR0917
    token = hfenv_hub.token("ada") if own else CANARY
    monkeypatch.setenv("HF_TOKEN", token)
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    caplog.set_level(logging.DEBUG)
    root = write_environment(tmp_path / "mine")
    ref, said = f"{STEADY}@1.0.0", []

    def run(*arguments):
        for fmt in ("human", "json"):
            done = run_cli(*arguments, "--format", fmt, cwd=tmp_path)
            said.append(done.stdout + done.stderr)
            assert token not in said[-1], arguments

    for number, fault in enumerate(echoes(token)):
        place = ("*/refs*", "*/tree/*", "*/resolve/*", "*")[number % 4]
        proxy.script(Rule(fault, "*", place, times=None))
        run("pull", ref, "--to", tmp_path / f"x{number}")
        if number % 4 == 0:
            run("push", "ada/mine", root)
    proxy.script()
    run("pull", ref, "--to", tmp_path / "good")
    run("push", "ada/leak", root)
    run("run", ref, "--trust-remote-code", "--backend", "inline", "--episodes", "1", "--out", tmp_path / "out.jsonl")
    for command in (["cache", "ls"], ["cache", "verify", "--repair"], ["cache", "prune"], ["status", root]):
        run(*command)
    for name in (f"http://ada:{token}@127.0.0.1:1", f"{proxy.url}?token={token}", token):
        run("pull", ref, "--hub", name)
    for wrong in (f"ada/x@{token}", f"ada/{token}", token):
        run("pull", wrong)
    replace_in(root / "README.md", 'version: "1.0.0", entry', f'version: "{token}", entry')
    run("validate", root)
    run("push", "ada/leak", root)
    (root / "README.md").unlink()
    # What the HTTP library tells at its lowest level is shown to nobody who didn't ask that library for it.
    ours = [each for each in caplog.records if each.name.startswith("hfenv") or each.levelno >= logging.WARNING]
    assert [each.getMessage() for each in ours if token in each.getMessage()] == []
    assert searched(token, home, tmp_path, hfenv_hub.root) == []


def test_the_connection_itself_shows_no_token(proxy, hfenv_hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", CANARY)
    with connect() as hub:
        assert CANARY not in repr(hub)
    with FaultProxy(hfenv_hub.endpoint) as other:
        assert CANARY not in repr(other)
