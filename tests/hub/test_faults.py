"""Pull, load and push through a proxy that misbehaves: done right, or a clean error, and never wrong bytes."""

from __future__ import annotations

import subprocess
import time
from types import SimpleNamespace

import httpx2
import pytest

import hfenv
from tests.hub.conftest import STEADY as REPO
from tests.hub.faults import (
    FaultProxy,
    Rule,
    cut,
    delay,
    drop,
    duplicate,
    lost_answer,
    other_bytes,
    status,
    status_after,
    truncate,
)
from tests.support import run_cli, write_environment

PASSING = [drop(), lost_answer(), cut(), delay(0.05), duplicate(), status(429, retry_after=0)]
PASSING += [status(code) for code in (500, 502, 504)] + [status_after(504)]
LASTING = [(drop(), {6}), (cut(), {6}), (truncate(), {6}), (other_bytes(), {6, 7}), (status(429, retry_after=900), {6})]
LASTING += [(status(code), {4}) for code in (401, 403, 404)] + [(status(code), {5}) for code in (409, 412)]
LASTING += [(status(code), {6}) for code in (416, 500, 502, 504)]
PLACES = ["*/refs*", "*/tree/*", "*/resolve/*"]


def test_the_proxy_does_what_it_is_told(hfenv_hub):
    with FaultProxy(hfenv_hub.endpoint) as proxy, httpx2.Client(trust_env=False) as client:
        url = f"{proxy.url}/api/datasets"
        plain = client.get(url)
        proxy.script(Rule(status(429, retry_after=3), "GET", "/api/*", nth=2), Rule(truncate(), nth=3))
        assert client.get(url).content == plain.content
        limited = client.get(url)
        assert (limited.status_code, limited.headers["Retry-After"]) == (429, "3")
        assert client.get(url, headers={"X-Here": "1"}).content == plain.content[: len(plain.content) // 2]
        assert (proxy.fired, proxy.count("GET"), proxy.seen()[2].header("x-here")) == (2, 3, "1")
        for fault in (drop(), lost_answer(), cut()):
            proxy.script(Rule(fault))
            with pytest.raises(httpx2.TransportError):
                client.get(url)
        proxy.script(Rule(other_bytes()), Rule(duplicate(), nth=2))
        assert client.get(url).content != plain.content
        assert client.get(url).content == plain.content


def pulled(proxy, target):
    """Pull the reward alone, which takes few requests."""
    return run_cli("pull", f"{REPO}@1.0.0", "--to", target, "--only", "reward")


def same(root, target):
    return all((target / name).read_bytes() == (root / name).read_bytes() for name in ("README.md", "reward/reward.py"))


@pytest.mark.parametrize("fault", PASSING, ids=str)
def test_a_pull_goes_on_after_a_fault_that_passes(released, proxy, tmp_path, fault):
    proxy.script(*[Rule(fault, "GET", place) for place in PLACES])
    done = pulled(proxy, tmp_path / "x")
    assert (done.exit_code, proxy.fired) == (0, len(PLACES)), done.stderr
    assert same(released[0], tmp_path / "x")


@pytest.mark.parametrize(("fault", "codes"), LASTING, ids=str)
def test_a_pull_ends_cleanly_where_a_fault_lasts_and_is_finished_later(released, proxy, tmp_path, fault, codes):
    for number, place in enumerate(PLACES):
        proxy.script(Rule(fault, "GET", place, times=None))
        refused = pulled(proxy, tmp_path / f"{number}")
        assert refused.exit_code in codes, (place, refused.stderr)
        assert len(refused.stderr.splitlines()) == 2, refused.stderr
        assert proxy.count() < 40
        assert not (tmp_path / f"{number}").exists()
    proxy.script()
    assert pulled(proxy, tmp_path / "x").exit_code == 0
    assert same(released[0], tmp_path / "x")
    assert run_cli("cache", "verify").exit_code == 0


def test_a_hub_that_asks_for_long_is_not_asked_again(released, proxy, tmp_path):
    proxy.script(Rule(status(429, retry_after=900), "GET", "*/resolve/*", times=None))
    assert pulled(proxy, tmp_path / "x").exit_code == 6
    assert proxy.count("GET", "*/resolve/*") <= 3


def test_a_load_survives_every_fault_that_passes_and_then_asks_nothing(released, proxy):
    _, revision = released
    rules = [Rule(fault, "GET", "*/resolve/*", nth=1 + number) for number, fault in enumerate(PASSING)]
    proxy.script(*rules, Rule(other_bytes(), "GET", "*/resolve/*", nth=40))
    env = hfenv.load(REPO, revision=revision, trust_remote_code=True)
    assert proxy.fired == len(PASSING)
    assert env.provenance["code"]["revision"] == revision
    env.close()
    proxy.script()
    hfenv.load(REPO, revision=revision, trust_remote_code=True).close()
    assert proxy.count() == 0
    hfenv.load(f"{REPO}@1.0.0", trust_remote_code=True).close()
    assert proxy.count() == 1


def test_another_files_bytes_are_never_loaded(released, proxy):
    for content in (None, b"", b"def score(task, transcript):\n    return 1.0\n", b"x" * 100_000):
        proxy.script(Rule(other_bytes(content), "GET", "*/resolve/*reward.py", times=None))
        with pytest.raises(hfenv.HfenvError) as caught:
            hfenv.load_reward(f"{REPO}@1.0.0", trust_remote_code=True)
        assert caught.value.exit_code in (6, 7)
    proxy.script()
    hfenv.load_reward(f"{REPO}@1.0.0", trust_remote_code=True)


PUSH_STEPS = [("POST", "*/preupload/*"), ("POST", "*/commit/*"), ("POST", "*/tag/*"), ("GET", "*/refs*")]
PUSH_FAULTS = [drop(), lost_answer(), duplicate(), cut(), status_after(504)]
PUSH_FAULTS += [status(code) for code in (401, 403, 404, 409, 412, 416, 500, 502, 504)] + [status(429, retry_after=0)]


def git(hub, repo, *arguments):
    command = ["git", "-C", str(hub.root / "datasets" / f"{repo}.git"), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


@pytest.fixture
def unhurried(monkeypatch):
    """The client's own waiting between its tries is nobody's to test here."""
    monkeypatch.setattr("huggingface_hub.utils._http.time", SimpleNamespace(sleep=lambda _: None, time=time.time))


@pytest.mark.parametrize("fault", PUSH_FAULTS, ids=str)
@pytest.mark.slow
@pytest.mark.usefixtures("unhurried")
def test_a_push_is_done_or_says_why_and_the_next_one_finishes(hfenv_hub, proxy, tmp_path, fault, repo_name):
    for number, (method, path) in enumerate(PUSH_STEPS):
        repo, root = f"{repo_name}-{number}", write_environment(tmp_path / f"{number}")
        proxy.script(Rule(fault, method, path))
        first = run_cli("push", repo, root)
        assert first.exit_code in (0, 4, 5, 6), (path, first.stderr)
        proxy.script()
        again = run_cli("push", repo, root)
        assert again.exit_code == 0, (path, first.stderr, again.stderr)
        tags = git(hfenv_hub, repo, "tag")
        assert sorted(tags) == ["code-v1.0.0", "reward-v1.0.0", "tasks-v1.0.0", "v1.0.0"], path
        (release,) = {git(hfenv_hub, repo, "rev-parse", f"{tag}^{{commit}}")[0] for tag in tags}
        introduced = git(hfenv_hub, repo, "log", "--format=%H", "--diff-filter=A", "main", "--", "release.json")
        assert introduced == [release], path
        assert git(hfenv_hub, repo, "rev-parse", "main") == [release], path
        assert run_cli("pull", f"{repo}@1.0.0", "--to", tmp_path / f"copy{number}").exit_code == 0
        assert (tmp_path / f"copy{number}/env/words.py").read_bytes() == (root / "env/words.py").read_bytes()
