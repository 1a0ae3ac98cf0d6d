"""Lists that a hub gives about environments: the token stays with it, nothing is without end, no form surprises."""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hfenv.hub import wire
from tests.hub.conftest import STEADY
from tests.hub.faults import FaultProxy, Rule, status
from tests.support import run_cli

JSON = {"Content-Type": "application/json"}
# What asks for a list beyond refs and tree, and the list's path.
READERS = {
    "search": (("search",), "/api/datasets[?]*"),
    "info": (("info", STEADY), f"/api/datasets/{STEADY}[?]*"),
    "discussions": (("info", STEADY), "*/discussions*"),
    "versions": (("versions", STEADY), "*/commits/*"),
}
FORMS = {
    "null": b"null",
    "a number": b"7",
    "no objects": b'[1, "x", null, [], {"id": 7}]',
    "an object": b'{"count": "many", "start": null, "discussions": [7, {"num": "x"}, {"num": 1, "author": 3}]}',
    "nested without end": b"[" * 100_000,
    "a number without end": b"[" + b"9" * 10_000 + b"]",
    "a page": b"<html>Log in</html>",
    "no text": b"\xff\xfe\x00",
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.usefixtures("released")
def test_a_list_of_another_form_is_a_sentence(proxy, reader, form):
    command, path = READERS[reader]
    proxy.script(Rule(status(200, body=FORMS[form], headers=JSON), "GET", path, times=None))
    told = run_cli(*command)
    assert told.exit_code in (0, 4, 6, 7), told.stderr
    assert proxy.fired


@pytest.mark.parametrize("reader", ["search", "versions"])
@pytest.mark.usefixtures("released")
def test_the_next_page_is_never_another_hosts(proxy, hfenv_hub, reader):
    command, path = READERS[reader]
    with FaultProxy(hfenv_hub.endpoint) as elsewhere:
        link = {**JSON, "Link": f'<{elsewhere.url}/api/datasets?cursor=x>; rel="next"'}
        proxy.script(Rule(status(200, body=b"[]", headers=link), "GET", path))
        assert run_cli(*command).exit_code == 0
        assert elsewhere.seen() == []
        assert proxy.count("GET", "*[?]cursor=x") == 1  # the query alone is taken over


@pytest.mark.parametrize("reader", ["search", "versions"])
@pytest.mark.usefixtures("released")
def test_a_list_whose_pages_have_no_end_is_refused(proxy, monkeypatch, reader):
    monkeypatch.setattr(wire, "MOST_PAGES", 4)
    command, path = READERS[reader]
    link = {**JSON, "Link": '</api/datasets?cursor=x>; rel="next"'}
    proxy.script(Rule(status(200, body=b"[]", headers=link), "GET", path, times=None))
    refused = run_cli(*command)
    assert refused.exit_code == 7, refused.stderr
    assert proxy.count("GET", path) == 4


@pytest.mark.usefixtures("released")
def test_discussions_without_end_are_left(proxy):
    endless = json.dumps({"count": 10**6, "start": 0, "discussions": []}).encode()
    proxy.script(Rule(status(200, body=endless, headers=JSON), "GET", "*/discussions*", times=None))
    assert run_cli("info", STEADY).exit_code == 0
    assert proxy.count("GET", "*/discussions*") == 1


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.usefixtures("released")
def test_an_answer_that_is_too_large_is_not_read_on(proxy, monkeypatch, reader):
    monkeypatch.setattr(wire, "LARGEST_ANSWER", 100_000)
    command, path = READERS[reader]
    proxy.script(Rule(status(200, body=b" " * 200_000 + b"[]", headers=JSON), "GET", path, times=None))
    told = run_cli(*command)
    assert told.exit_code == (0 if reader == "discussions" else 7), told.stderr


class _Drip(BaseHTTPRequestHandler):
    """Sends a byte now and then, for ever: no timeout between two bytes ever strikes."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        with suppress(OSError):
            while True:
                self.wfile.write(b" ")
                time.sleep(0.02)

    def log_message(self, *args: object) -> None:
        """Nothing is printed."""


@pytest.mark.parametrize("command", [("search",), ("info", STEADY), ("pull", STEADY), ("lock", STEADY)])
def test_a_hub_that_holds_its_clients_is_left(monkeypatch, tmp_path, command):
    monkeypatch.setattr(wire, "_LOOK_S", 0.2)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Drip)
    server.daemon_threads, server.block_on_close = True, False
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        left = run_cli(*command, "--hub", f"http://127.0.0.1:{server.server_address[1]}", cwd=tmp_path)
    finally:
        server.shutdown()
        server.server_close()
    assert left.exit_code == 6, left.stderr
    assert "didn't answer in time" in left.stderr
