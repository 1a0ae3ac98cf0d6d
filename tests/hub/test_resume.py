"""Downloads that were broken off go on where they stopped, and what doesn't fit together is begun again."""

from __future__ import annotations

import contextlib
import errno
import subprocess
import sys
import time

import pytest

import hfenv
from hfenv.hub import download
from hfenv.hub.cache import RepositoryCache
from hfenv.hub.client import connect
from hfenv.hub.fetch import fetch_checked, list_commit
from tests.hub.conftest import STEADY as REPO
from tests.hub.faults import Rule, cut, drop, other_bytes, stall, status
from tests.support import run_cli

PATH = "tasks/resources/big.bin"
SIZE = 256 * 1200
GET = ("GET", f"*/resolve/*{PATH}")


def fetch_big(revision, **options):
    """Fetch the one big file, and return its bytes."""
    with connect() as hub:
        cached, found = fetch_checked(hub, REPO, revision, lambda path: path == PATH, **options)
        assert list(found) == [PATH]
    return (cached.files / PATH).read_bytes()


def partials(home):
    return list((home / "cache").glob("hub/*/*/partial/*"))


def received(home):
    """Bytes of files that are under way; one may get its name while they are counted."""
    sizes = []
    for path in partials(home):
        with contextlib.suppress(FileNotFoundError):
            sizes.append(path.stat().st_size)
    return sum(sizes)


def broken_off(proxy, revision, home, part=0.5):
    """A download of which only a part came."""
    proxy.script(Rule(cut(part), *GET), Rule(drop(), *GET, nth=2, times=None))
    with pytest.raises(hfenv.HfenvError) as caught:
        fetch_big(revision)
    assert caught.value.exit_code == 6
    (partial,) = partials(home)
    assert 0 < partial.stat().st_size <= SIZE * part
    return partial


def test_it_goes_on_where_it_stopped(home, released, proxy):
    partial = broken_off(proxy, released[1], home)
    before = partial.stat().st_size
    proxy.script()
    assert fetch_big(released[1]) == bytes(range(256)) * 1200
    (seen,) = proxy.seen(*GET)
    assert (seen.header("range"), seen.status, seen.sent) == (f"bytes={before}-", 206, SIZE - before)
    assert partials(home) == []


def test_within_one_call_too(released, proxy):
    proxy.script(*[Rule(cut(), *GET, nth=number) for number in (1, 2, 3)])
    assert len(fetch_big(released[1])) == SIZE
    starts = [seen.header("range") for seen in proxy.seen(*GET)]
    assert starts[0] is None
    assert len(set(starts)) == 4
    assert sum(seen.sent for seen in proxy.seen(*GET)) < SIZE * 1.2


@pytest.mark.parametrize("kind", ["ignored", "416", "another range", "other bytes before", "too much before"])
def test_what_does_not_fit_together_is_begun_again(home, released, proxy, kind):
    partial = broken_off(proxy, released[1], home)
    if kind == "ignored":
        proxy.ignore_range = True
    proxy.script()
    if kind == "416":
        proxy.script(Rule(status(416), *GET))
    if kind == "another range":
        proxy.script(Rule(status(206, headers={"Content-Range": f"bytes 7-{SIZE - 1}/{SIZE}"}, body=b"x" * 9), *GET))
    if kind.endswith("before"):
        partial.write_bytes(b"x" * (1000 if kind == "other bytes before" else SIZE + 1))
    assert fetch_big(released[1]) == bytes(range(256)) * 1200
    assert proxy.count(*GET) == (1 if kind in ("ignored", "too much before") else 2)
    assert partials(home) == []


def test_wrong_bytes_from_the_start_are_refused_and_not_kept(home, released, proxy):
    proxy.script(Rule(other_bytes(), *GET, times=None))
    with pytest.raises(hfenv.HfenvError) as caught:
        fetch_big(released[1])
    assert (caught.value.exit_code, proxy.count(*GET)) == (7, 1)
    assert partials(home) == []


def test_a_body_without_end_is_cut_off(home, released, proxy):
    proxy.script(Rule(other_bytes(b"x" * 5_000_000), *GET, times=None))
    with pytest.raises(hfenv.HfenvError) as caught:
        fetch_big(released[1])
    assert caught.value.exit_code == 7
    assert [p for p in (home / "cache").rglob("*") if p.is_file() and p.stat().st_size > SIZE] == []


def test_progress_counts_every_byte_once(released, proxy):
    class Bar:
        total = seen = 0

        def __call__(self, step):
            self.seen += step

        def expect(self, amount):
            self.total += amount

    bar = Bar()
    proxy.ignore_range = True
    proxy.script(Rule(cut(), *GET))
    fetch_big(released[1], progress=bar)
    assert (bar.total, bar.seen) == (SIZE, SIZE)


def test_a_disk_that_fills_up_is_one_sentence_and_leaves_nothing(home, released, proxy, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(download._Digests, "add", full)
        refused = run_cli("pull", f"{REPO}@1.0.0", "--to", tmp_path / "x")
    assert refused.exit_code == 2
    assert "No space left" in refused.stderr
    assert len(refused.stderr.splitlines()) == 2
    assert partials(home) == []
    assert not (tmp_path / "x").exists()
    assert run_cli("pull", f"{REPO}@1.0.0", "--to", tmp_path / "x").exit_code == 0


def test_what_was_downloaded_already_needs_no_space(home, released, proxy, monkeypatch):
    broken_off(proxy, released[1], home, 0.9)
    proxy.script()
    import shutil

    usage = shutil.disk_usage(home)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=SIZE // 2))
    assert len(fetch_big(released[1])) == SIZE


def test_ctrl_c_keeps_what_came(home, released, proxy, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with connect() as hub:
        listing = list_commit(hub, REPO, released[1])
        proxy.script()
        with pytest.raises(KeyboardInterrupt):
            fetch_checked(hub, REPO, released[1], lambda path: path == PATH, progress=interrupted)
        partial = RepositoryCache(hub, REPO).partial(listing[PATH].blob)
    assert not partial.exists() or partial.stat().st_size < SIZE
    assert len(fetch_big(released[1])) == SIZE


def killed_while(command, moment):
    """Start a process and SIGKILL it when the moment has come."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        until = time.monotonic() + 60
        while not moment():
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < until
            time.sleep(0.005)
        process.kill()


def test_a_pull_that_is_killed_in_the_middle_of_a_file_and_run_again(home, released, proxy, tmp_path):
    target = tmp_path / "pulled"
    pull = ["pull", f"{REPO}@1.0.0", "--to", str(target)]
    for part in (0.2, 0.5):  # killed twice; the second time goes on with what the first one left
        before = received(home)
        proxy.script(Rule(stall(60, part), *GET, times=None))
        killed_while(
            [sys.executable, "-m", "hfenv.cli", *pull],
            lambda before=before: received(home) > before,
        )
        assert not target.exists()
        assert run_cli("cache", "verify").exit_code == 0
    proxy.script()
    done = run_cli(*pull)
    assert done.exit_code == 0, done.stderr
    (seen,) = proxy.seen(*GET)
    assert 0 < int(seen.header("range").removeprefix("bytes=").rstrip("-")) < SIZE
    assert (target / PATH).read_bytes() == bytes(range(256)) * 1200
    assert partials(home) == []
    assert run_cli("cache", "verify").exit_code == 0
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".hfenv")] == []
