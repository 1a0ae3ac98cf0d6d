"""Several processes at once, and processes that die: the storage stays sound."""

import base64
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx2
import pytest
from huggingface_hub import CommitOperationAdd, constants

from hfenv.localhub.transport import ENDPOINT

# A process with a hub of its own over the same storage: waits for a sign, then commits and prints each status.
WRITER = """
import json, sys, time
from pathlib import Path
import httpx2
from hfenv.localhub.app import create_app
from hfenv.localhub.transport import ENDPOINT, InProcessTransport

root, go, url, body, times = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5])
transport = InProcessTransport(create_app(root, in_process_user="local"))
with httpx2.Client(transport=transport, base_url=ENDPOINT, timeout=None) as client:
    print("ready", flush=True)
    while not go.exists():
        time.sleep(0.001)
    for number in range(times):
        text = Path(body).read_text(encoding="utf-8").replace("NUMBER", str(number))
        print(client.post(url, content=text.encode()).status_code, flush=True)
"""


def body(files, parent=None):
    header = {"summary": "race", "description": "", **({"parentCommit": parent} if parent else {})}
    out = [{"key": "header", "value": header}]
    for path, content in files.items():
        out.append({"key": "file", "value": {"path": path, "content": content, "encoding": "utf-8"}})
    return "\n".join(json.dumps(line) for line in out)


@pytest.fixture
def hub(hfenv_hub):
    """The served hub, with a new repository `racer/NAME`."""
    token = hfenv_hub.token("racer")
    with httpx2.Client(base_url=hfenv_hub.endpoint, headers={"Authorization": f"Bearer {token}"}, timeout=60) as client:
        name = f"r{time.time_ns()}"
        assert client.post("/api/repos/create", json={"name": name, "type": "dataset"}).status_code == 200
        yield Hub(hfenv_hub, client, f"racer/{name}")


class Hub:
    def __init__(self, served, client, repo):
        self.served, self.client, self.repo = served, client, repo
        self.path = served.root / "datasets" / f"{repo}.git"
        self.commit_url = f"/api/datasets/{repo}/commit/main"

    def git(self, *arguments):
        done = subprocess.run(["git", "-C", str(self.path), *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(self, files, parent=None):
        return self.client.post(self.commit_url, content=body(files, parent).encode()).status_code

    def assert_sound(self):
        assert "error" not in self.git("fsck", "--full", "--strict")

    def writer(self, tmp_path, text, times=1):
        """Start a writer process, which says when it is ready."""
        file = tmp_path / f"body-{time.time_ns()}"
        file.write_text(text, encoding="utf-8")
        arguments = [str(self.served.root), str(tmp_path / "go"), self.commit_url, str(file), str(times)]
        return subprocess.Popen([sys.executable, "-c", WRITER, *arguments], stdout=subprocess.PIPE, text=True)


def test_of_eight_commits_with_one_parent_one_succeeds(hub, tmp_path):
    parent = hub.git("rev-parse", "main")
    processes = [hub.writer(tmp_path, body({f"p{number}": "x"}, parent)) for number in range(4)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    barrier = threading.Barrier(5)

    def post(number):
        barrier.wait()
        return hub.commit({f"t{number}": "x"}, parent)

    with ThreadPoolExecutor(4) as pool:
        served = [pool.submit(post, number) for number in range(4)]
        (tmp_path / "go").touch()
        barrier.wait()
        statuses = [each.result() for each in served]
    statuses += [int(process.communicate()[0]) for process in processes]
    assert sorted(statuses) == [200] + [412] * 7
    assert hub.git("rev-list", "--count", "main") == "2"
    assert len(hub.git("ls-tree", "--name-only", "main").splitlines()) == 2
    hub.assert_sound()


def test_two_processes_and_a_server_write_at_once(hub, tmp_path):
    processes = [hub.writer(tmp_path, body({f"p{number}-NUMBER": "x", "shared": "NUMBER"}), 10) for number in range(2)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    (tmp_path / "go").touch()
    assert [hub.commit({f"served-{number}": "x"}) for number in range(10)] == [200] * 10
    for process in processes:
        assert process.communicate()[0].split() == ["200"] * 10
    assert hub.git("rev-list", "--count", "main") == "31"
    assert len(hub.git("ls-tree", "--name-only", "main").splitlines()) == 1 + 20 + 10 + 1
    hub.assert_sound()


def test_racing_creations(hub):
    def create(name):
        return hub.client.post("/api/repos/create", json={"name": name, "type": "dataset"}).status_code

    name = hub.repo.split("/")[1]
    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(create, [f"{name}-x", f"{name}-X"] * 4)) == [200] + [409] * 7


@pytest.mark.parametrize("xet", [False, True], ids=["xet-off", "xet-on"])
def test_600_files_are_one_commit(client, repo, monkeypatch, xet):
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", not xet)
    files = [CommitOperationAdd(f"d{number % 7}/f{number}.txt", f"{number}".encode()) for number in range(600)]
    parent = client.git(repo, "rev-parse", "main")
    made = client.api.create_commit(repo, files, commit_message="600", repo_type="dataset", parent_commit=parent)
    assert client.git(repo, "rev-parse", "main", "main^") == f"{made.oid}\n{parent}"
    assert len(client.git(repo, "ls-tree", "-r", "--name-only", "main").splitlines()) == 601
    client.assert_sound(repo)


def test_killed_during_commits(hub, tmp_path):
    (tmp_path / "go").touch()
    files = {f"d{number % 5}/f{number}": f"{number}-NUMBER" for number in range(150)}
    for attempt in range(4):
        before = hub.git("rev-parse", "main")
        process = hub.writer(tmp_path, body({**files, f"attempt{attempt}": "x"}), 10_000)
        while process.stdout.readline() != "200\n":
            assert process.poll() is None
        time.sleep(0.013 * attempt)
        process.kill()
        process.communicate()
        assert hub.git("rev-parse", "main") != before
        hub.assert_sound()
        assert hub.commit({f"after{attempt}": "x"}) == 200
    hub.assert_sound()


@pytest.mark.parametrize("name", ["refs/heads/main.lock", "packed-refs.lock"])
def test_a_lock_that_a_killed_process_left_is_cleared(hub, name):
    lock = hub.path / name
    lock.touch()
    os.utime(lock, (time.time() - 60, time.time() - 60))
    assert hub.commit({"x": "1"}) == 200
    assert not lock.exists()


def serve(root, *arguments):
    """Start `hfenv hub serve` on a free port; gives the process and its URL once it says that it is ready."""
    command = [sys.executable, "-c", "from hfenv.cli.app import main; main()", "hub", "serve", "--port", "0"]
    command += ["--root", str(root), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    url = process.stdout.readline().strip()
    assert process.stdout.readline().startswith("Ready.")
    return process, url


def test_killed_during_an_lfs_upload(tmp_path):
    root, size, oid = tmp_path / "storage", 8 << 20, "0" * 64
    process, url = serve(root, "--token", "alice:secret")
    try:
        with httpx2.Client(base_url=url, headers={"Authorization": "Bearer secret"}) as client:
            client.post("/api/repos/create", json={"name": "r", "type": "dataset"})
            batch = {"operation": "upload", "objects": [{"oid": oid, "size": size}]}
            answer = client.post("/datasets/alice/r.git/info/lfs/objects/batch", json=batch).json()
        href = urlsplit(answer["objects"][0]["actions"]["upload"]["href"])
        with socket.create_connection((href.hostname, href.port)) as connection:
            head = f"PUT {href.path}?{href.query} HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n"
            connection.sendall(head.encode() + bytes(size // 2))
            while not any(path.stat().st_size for path in (root / "tmp").glob("lfs-*")):
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            process.communicate()
    finally:
        process.kill()
    assert list((root / "lfs").rglob("*")) == []
    restarted, url = serve(root, "--token", "alice:secret")
    try:
        with httpx2.Client(base_url=url, headers={"Authorization": "Bearer secret"}) as client:
            content = base64.b64encode(b"x").decode()
            lines = [
                {"key": "header", "value": {"summary": "after", "description": ""}},
                {"key": "file", "value": {"path": "x", "content": content, "encoding": "base64"}},
            ]
            done = client.post(
                "/api/datasets/alice/r/commit/main", content="\n".join(json.dumps(line) for line in lines).encode()
            )
            assert done.status_code == 200
    finally:
        restarted.terminate()
        restarted.communicate()
    assert restarted.returncode == 0


# Writes more than a process may, which fails as a full disk does, and prints what the hub answers.
FULL = """
import hashlib, os, resource, sys
from pathlib import Path
import httpx2
from hfenv.localhub.app import create_app
from hfenv.localhub.transport import ENDPOINT, InProcessTransport

root = Path(sys.argv[1])
transport = InProcessTransport(create_app(root, in_process_user="local"))
with httpx2.Client(transport=transport, base_url=ENDPOINT, timeout=None) as client:
    client.post("/api/repos/create", json={"name": "full", "type": "dataset"})
    big = os.urandom(1 << 20)
    oid = hashlib.sha256(big).hexdigest()
    batch = {"operation": "upload", "objects": [{"oid": oid, "size": len(big)}]}
    href = client.post("/datasets/local/full.git/info/lfs/objects/batch", json=batch).json()
    href = href["objects"][0]["actions"]["upload"]["href"]
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    for answer in (
        client.put(href, content=big),
        client.post("/api/datasets/local/full/commit/main", content=big),
    ):
        print(answer.status_code, answer.json()["error"])
    print(sorted(path.name for path in (root / "tmp").iterdir()), list((root / "lfs").rglob("*")))
"""


def test_a_full_disk_is_an_answer(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "storage")], capture_output=True, text=True, check=True
    )
    full = "507 The hub's storage is full. Free some space and try again."
    assert done.stdout.splitlines() == [full, full, "[] []"]
    assert "Traceback" not in done.stderr


def test_the_fixed_endpoint_stays_on_this_machine():
    assert urlsplit(ENDPOINT).hostname.endswith(".localhost")
