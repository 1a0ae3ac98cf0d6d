"""The transport that reaches the hub without a socket."""

import hashlib
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from hfenv.localhub.app import create_app
from hfenv.localhub.transport import ENDPOINT, InProcessTransport


@pytest.fixture
def transport(tmp_path):
    with InProcessTransport(create_app(tmp_path / "storage", in_process_user="local")) as transport:
        yield transport


@pytest.fixture
def client(transport):
    with httpx2.Client(transport=transport, base_url=ENDPOINT, timeout=None) as client:
        yield client


def upload(client, content):
    """Store bytes in LFS and commit them as `local/r`: `big`."""
    client.post("/api/repos/create", json={"name": "r", "type": "dataset"})
    href, oid = open_upload(client, content)
    assert client.put(href, content=content).status_code == 200
    line = '{"key": "header", "value": {"summary": "big"}}\n'
    line += f'{{"key": "lfsFile", "value": {{"path": "big", "algo": "sha256", "oid": "{oid}"}}}}'
    assert client.post("/api/datasets/local/r/commit/main", content=line.encode()).status_code == 200


def open_upload(client, content):
    oid = hashlib.sha256(content).hexdigest()
    batch = {"operation": "upload", "objects": [{"oid": oid, "size": len(content)}]}
    answer = client.post("/datasets/local/r.git/info/lfs/objects/batch", json=batch).json()
    return answer["objects"][0]["actions"]["upload"]["href"], oid


def test_the_user_is_the_administrator_whatever_the_token(client):
    for headers in ({}, {"Authorization": "Bearer hf_of_another_hub"}):
        assert client.get("/api/whoami-v2", headers=headers).json()["name"] == "local"
        body = {"name": f"n{len(headers)}", "organization": "anybody", "type": "dataset"}
        assert client.post("/api/repos/create", headers=headers, json=body).status_code == 200


def test_the_raw_path_is_kept(client):
    client.post("/api/repos/create", json={"name": "r", "type": "dataset"})
    assert client.post("/api/datasets/local/r/branch/feat%2Fx", json={}).status_code == 200
    assert client.get("/api/datasets/local/r/revision/feat%2Fx").status_code == 200
    assert client.get("/api/datasets/local/r/revision/feat/x").status_code == 404


def test_requests_from_many_threads(client):
    content = os.urandom(3 << 20)
    upload(client, content)
    path = "/datasets/local/r/resolve/main/big"
    with ThreadPoolExecutor(16) as pool:
        assert all(answer.content == content for answer in pool.map(client.get, [path] * 48))


def test_an_answer_may_be_dropped_half_way(client):
    content = os.urandom(8 << 20)
    upload(client, content)
    for _ in range(5):
        with client.stream("GET", "/datasets/local/r/resolve/main/big") as answer:
            assert content.startswith(next(answer.iter_raw()))
    assert client.get("/datasets/local/r/resolve/main/big").content == content


def test_a_failing_upload_raises_its_own_error_and_leaves_nothing(client, tmp_path):
    client.post("/api/repos/create", json={"name": "r", "type": "dataset"})
    content = os.urandom(2 << 20)
    href, _ = open_upload(client, content)

    def broken():
        yield content[: 1 << 20]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        client.put(href, content=broken())
    assert client.put(href, content=content).status_code == 200
    assert list((tmp_path / "storage" / "tmp").iterdir()) == []


def test_closing_ends_the_thread_and_a_later_request_starts_another(transport):
    def threads():
        return [thread for thread in threading.enumerate() if thread.name == "hfenv-hub"]

    before = len(threads())
    for _ in range(2):
        with httpx2.Client(transport=transport, base_url=ENDPOINT) as client:
            assert client.get("/api/whoami-v2").status_code == 200
            assert len(threads()) == before + 1
        assert len(threads()) == before


# Moves a file of 128 MB both ways under an audit hook that forbids connections; prints how much memory grew, in MB.
STREAMED = """
import hashlib, resource, sys
from pathlib import Path

def forbid(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo"):
        raise RuntimeError(event)

sys.addaudithook(forbid)
import httpx2
from hfenv.localhub.app import create_app
from hfenv.localhub.transport import ENDPOINT, InProcessTransport

transport = InProcessTransport(create_app(Path(sys.argv[1]), in_process_user="local"))
chunk, count = bytes(range(256)) * 4096, 128

def chunks():
    for _ in range(count):
        yield chunk

digest = hashlib.sha256()
for each in chunks():
    digest.update(each)
oid, size = digest.hexdigest(), len(chunk) * count
with httpx2.Client(transport=transport, base_url=ENDPOINT, timeout=None) as client:
    client.post("/api/repos/create", json={"name": "r", "type": "dataset"})
    batch = {"operation": "upload", "objects": [{"oid": oid, "size": size}]}
    answer = client.post("/datasets/local/r.git/info/lfs/objects/batch", json=batch).json()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert client.put(answer["objects"][0]["actions"]["upload"]["href"], content=chunks()).status_code == 200
    lines = '{"key": "header", "value": {"summary": "big"}}\\n'
    lines += '{"key": "lfsFile", "value": {"path": "big", "algo": "sha256", "oid": "%s"}}' % oid
    assert client.post("/api/datasets/local/r/commit/main", content=lines.encode()).status_code == 200
    seen = hashlib.sha256()
    with client.stream("GET", "/datasets/local/r/resolve/main/big") as answer:
        for part in answer.iter_raw():
            seen.update(part)
    assert seen.hexdigest() == oid
    unit = 1 if sys.platform == "darwin" else 1024
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit // 2**20)
"""


def test_large_files_are_streamed_and_no_socket_is_opened(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", STREAMED, str(tmp_path / "storage")], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 64
