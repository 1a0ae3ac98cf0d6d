"""Trust is in exact digests, survives several writers, and a damaged file is never a yes."""

import os
import stat
import subprocess
import sys

import pytest

from hfenv.errors import UnreadableError
from hfenv.runtime.trust import TrustEntry, TrustStore


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("HFENV_HOME", str(tmp_path / "home"))
    return TrustStore()


def entry(endpoint="https://a", repo="org/x", code="c1", reward="r1", policies="p1"):
    return TrustEntry(endpoint, repo, code, reward, policies)


RUN = {"code": "c1", "reward": "r1", "policies": "p1"}


def test_only_exactly_what_was_trusted_is(store):
    assert not store.is_trusted("https://a", "org/x", **RUN)
    store.add(entry())
    store.add(entry())
    assert TrustStore().is_trusted("https://a", "org/x", **RUN)
    assert store.is_trusted("https://a", "org/x", reward="r1")
    assert not store.is_trusted("https://b", "org/x", **RUN)
    assert not store.is_trusted("https://a", "org/y", **RUN)
    for part in RUN:
        assert not store.is_trusted("https://a", "org/x", **{**RUN, part: "other"})
    assert not store.is_trusted("https://a", "org/x")
    assert len(store.entries) == 1


def test_parts_of_two_entries_are_not_put_together(store):
    store.add(entry(code="c1", reward="r1"))
    store.add(entry(code="c2", reward="r2"))
    assert not store.is_trusted("https://a", "org/x", code="c1", reward="r2", policies="p1")


def test_removing_takes_every_version_of_a_repository(store):
    store.add(entry())
    store.add(entry(code="c2"))
    store.add(entry(repo="org/y"))
    assert len(store.remove("https://a", "org/x")) == 2
    assert store.remove("https://a", "org/x") == ()
    assert [trusted.repo for trusted in store.entries] == ["org/y"]


@pytest.mark.skipif(os.name == "nt", reason="file modes are POSIX")
def test_the_file_is_the_owners_alone(store):
    store.add(entry())
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "{", '{"format": 2, "trusted": []}', '{"format": 1, "trusted": [{"repo": 1}]}'])
def test_a_damaged_file_is_a_sentence(store, text):
    store.add(entry())
    store.path.write_text(text, encoding="utf-8")
    with pytest.raises(UnreadableError, match="is damaged"):
        store.is_trusted("https://a", "org/x", **RUN)
    with pytest.raises(UnreadableError):
        store.add(entry())


def test_writers_do_not_lose_each_others_entries(store):
    program = (
        "import sys; from hfenv.runtime.trust import TrustEntry, TrustStore; store = TrustStore()\n"
        "for n in range(10): store.add(TrustEntry('https://a', 'org/' + sys.argv[1], f'c{n}', 'r', 'p'))"
    )
    writers = [subprocess.Popen([sys.executable, "-c", program, f"x{n}"]) for n in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert len(store.entries) == 30
