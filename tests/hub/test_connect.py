"""Connections: process-wide switches, threads, and servers that aren't hubs."""

from __future__ import annotations

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from huggingface_hub import constants, get_session
from huggingface_hub.utils import are_progress_bars_disabled

from hfenv.hub.client import connect
from tests.support import run_cli, write_environment


def fail_while_connected():
    with connect("local"), connect("http://127.0.0.1:9"):
        assert constants.HF_HUB_DISABLE_XET is True
        raise RuntimeError


def test_switches_are_restored_also_after_errors():
    before = (constants.HF_HUB_DISABLE_XET, dict(get_session().event_hooks))
    with pytest.raises(RuntimeError):
        fail_while_connected()
    assert (constants.HF_HUB_DISABLE_XET, dict(get_session().event_hooks)) == before


def test_threads_take_turns_and_leave_nothing_behind(adding):
    assert run_cli("push", "local/adding", adding).exit_code == 0
    before = len(get_session().event_hooks["request"])
    barrier, failures = threading.Barrier(4), []

    def work(hub):
        barrier.wait()
        try:
            for _ in range(3):
                with connect(hub) as opened:
                    if hub == "local":
                        opened.api.list_repo_refs("local/adding", repo_type="dataset")
                        assert opened.requests == 1
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(hub,)) for hub in ("local", "hf", "local", "hf")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(get_session().event_hooks["request"]) == before


class Answers(BaseHTTPRequestHandler):
    """Answers everything in one way, like a login page or a proxy whose server is away."""

    status, kind, body = 200, "text/html", b"<html>please log in</html>"

    def do_GET(self):
        self.send_response(self.status)
        self.send_header("Content-Type", self.kind)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    do_POST = do_HEAD = do_GET

    def log_message(self, *_):
        """Not in the tests' output."""


@pytest.fixture
def odd_server(request, monkeypatch):
    handler = type("Handler", (Answers,), {"status": request.param})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("HFENV_HUB", f"http://127.0.0.1:{server.server_port}")
    yield
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("odd_server", [200, 503, 429], indirect=True)
@pytest.mark.usefixtures("odd_server")
def test_what_is_no_hub_or_is_away_is_a_sentence(adding, tmp_path):
    before = {path: path.read_bytes() for path in adding.rglob("*") if path.is_file()}
    for command in (["push", "a/b", adding], ["pull", "a/b", "--to", tmp_path / "x"], ["run", "a/b@1.0.0"]):
        assert run_cli(*command).exit_code == 6
    assert {path: path.read_bytes() for path in adding.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("arguments", "shown"), [([], True), (["--format", "json"], False), (["--format", "quiet"], False)]
)
def test_bars_of_large_uploads_are_for_people_at_a_terminal(tmp_path, monkeypatch, arguments, shown):
    root = write_environment(tmp_path / "mine")
    seen = []

    def look(*_, **__):
        seen.append(not are_progress_bars_disabled())
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["huggingface_hub.utils.tqdm"], "HF_HUB_DISABLE_PROGRESS_BARS", None)
    monkeypatch.setattr("hfenv.hub.client.sys", SimpleNamespace(stderr=SimpleNamespace(isatty=lambda: True)))
    monkeypatch.setattr("hfenv.cli.output._is_terminal", lambda stream: True)
    monkeypatch.setattr("hfenv.cli.push.push_folder", look)
    assert run_cli("push", "local/mine", root, "--hub", "local", *arguments).exit_code == 130
    assert seen == [shown]


@pytest.mark.parametrize(
    "url",
    [
        "https://user:hf_Secretsecret@host",
        "ftp://host/hf_Secretsecret",
        "https://host/?token=Secretsecret",
        "h#Secretsecret",
    ],
)
def test_an_address_that_is_none_is_told_without_its_secrets(url):
    refused = run_cli("search", "--hub", url)
    assert refused.exit_code == 2
    assert "Secretsecret" not in refused.stderr
