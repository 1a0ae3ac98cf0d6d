"""The same commands against a served hub: tokens, private repositories, a server that is gone."""

from __future__ import annotations

import socket
import subprocess

import pytest

import hfenv
from hfenv.localhub.serve import BackgroundServer
from tests.support import replace_in, run_cli


@pytest.fixture
def ada(hfenv_hub, monkeypatch, tmp_path):
    """A served hub as the user ada sees it."""
    monkeypatch.setenv("HFENV_HUB", hfenv_hub.endpoint)
    monkeypatch.setenv("HF_TOKEN", hfenv_hub.token("ada"))
    return hfenv_hub


@pytest.fixture
def repo(tmp_path):
    """A repository name of this test's own, since the served hub lives as long as the session."""
    return f"ada/{tmp_path.name[-40:].strip('_').lower().replace('__', '_')}"


def test_push_pull_and_load_over_http(ada, adding, repo, tmp_path):
    pushed = run_cli("push", repo, adding, "--format", "json")
    assert pushed.exit_code == 0, pushed.stderr
    revision = pushed.json["revision"]
    assert run_cli("pull", f"{repo}@{revision}", "--to", tmp_path / "x").exit_code == 0
    env = hfenv.load(repo, revision=revision, trust_remote_code=True)
    env.reset(seed=0)
    assert env.provenance["code"]["revision"] == revision
    env.close()
    clone = tmp_path / "clone"
    source = ada.root / "datasets" / f"{repo}.git"
    subprocess.run(["git", "clone", "--quiet", str(source), str(clone)], check=True)
    assert (clone / "env/environment.py").read_bytes() == (adding / "env/environment.py").read_bytes()
    head = subprocess.run(["git", "-C", str(clone), "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    assert head.stdout.strip() == revision


def test_private_repositories_are_for_their_owner(ada, adding, repo, monkeypatch, tmp_path):
    assert run_cli("push", repo, adding, "--private").exit_code == 0
    assert run_cli("pull", repo, "--to", tmp_path / "mine").exit_code == 0
    for token in (ada.token("bob"), None):
        if token:
            monkeypatch.setenv("HF_TOKEN", token)
        else:
            monkeypatch.delenv("HF_TOKEN")
        refused = run_cli("pull", repo, "--to", tmp_path / "theirs")
        assert refused.exit_code == 4
        assert not (tmp_path / "theirs").exists()


@pytest.mark.parametrize("command", ["push", "pull"])
def test_a_wrong_token_is_not_taken_for_a_missing_repository(ada, adding, repo, monkeypatch, command):
    run_cli("push", repo, adding)
    monkeypatch.setenv("HF_TOKEN", "hf_notatoken0123456789")
    if command == "push":
        replace_in(adding / "README.md", "It is tiny.", "It is small.")
    refused = run_cli("push", repo, adding) if command == "push" else run_cli("pull", repo, "--to", adding / "x")
    assert refused.exit_code == 4
    assert "token" in refused.stderr
    assert "hf_notatoken" not in refused.stderr + refused.stdout


@pytest.mark.parametrize("role", ["read", "stranger"])
def test_who_may_not_write_is_told_so(ada, adding, repo, monkeypatch, role):
    run_cli("push", repo, adding)
    replace_in(adding / "README.md", "It is tiny.", "It is small.")
    before = (adding / "README.md").read_bytes()
    monkeypatch.setenv("HF_TOKEN", ada.token("ada", "read") if role == "read" else ada.token("bob"))
    refused = run_cli("push", repo, adding)
    assert refused.exit_code == 4
    assert "no right" in refused.stderr
    assert (adding / "README.md").read_bytes() == before


def test_a_server_that_vanished(adding, tmp_path, monkeypatch):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    monkeypatch.setenv("HFENV_HUB", f"http://127.0.0.1:{free}")
    for command in (["push", "local/adding", adding], ["pull", "local/adding", "--to", tmp_path / "x"]):
        refused = run_cli(*command)
        assert refused.exit_code == 6
        assert "can't be reached" in refused.stderr
    assert not (tmp_path / "x").exists()


def test_a_server_that_vanishes_while_the_cache_is_warm(adding, tmp_path, monkeypatch):
    root = tmp_path / "storage"
    with BackgroundServer(root) as server:
        monkeypatch.setenv("HFENV_HUB", server.url)
        from hfenv.localhub.accounts import Role
        from hfenv.localhub.users import TokenStore

        monkeypatch.setenv("HF_TOKEN", TokenStore(root).create("ada", Role.WRITE))
        revision = run_cli("push", "ada/adding", adding, "--format", "json").json["revision"]
        hfenv.load("ada/adding", revision=revision, trust_remote_code=True).close()
    hfenv.load("ada/adding", revision=revision, trust_remote_code=True).close()
    refused = run_cli("run", "ada/adding@1.0.0", "--trust-remote-code")
    assert refused.exit_code == 6


@pytest.mark.parametrize("token", ["hf_sekret\nX-Evil: 1", "hf_sekret ü", "hf_sekret\x01"])
def test_what_cannot_be_a_token_is_refused_and_never_repeated(ada, adding, monkeypatch, tmp_path, token):
    monkeypatch.setenv("HF_TOKEN", token)
    for command in (("push", "ada/adding", adding), ("pull", "ada/adding", "--to", tmp_path / "x")):
        result = run_cli(*command)
        assert result.exit_code == 2
        assert "sekret" not in result.stderr + result.stdout
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("token", "message"), [("", "wants a token"), ("hf_nobodys", "refused the token")], ids=["none", "a wrong one"]
)
def test_who_has_no_good_token_is_told_what_helps_there(ada, adding, repo, monkeypatch, token, message):  # noqa: PLR0917
    monkeypatch.setenv("HF_TOKEN", token)
    refused = run_cli("push", repo, adding)
    assert refused.exit_code == 4
    assert message in refused.stderr
    assert "set HF_TOKEN" in refused.stderr
    assert "hf auth login" not in refused.stderr  # what that stores is never sent to other hubs
