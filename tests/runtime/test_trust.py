"""Trust is in exact digests, survives several writers, and a damaged file is never a yes."""

import os
import stat
import subprocess
import sys

import pytest

from hfenv.errors import UnreadableError
from hfenv.runtime.trust import TrustStore


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("HFENV_HOME", str(tmp_path / "home"))
    return TrustStore()


def test_only_exactly_what_was_trusted_is(store):
    assert not store.is_trusted("https://a", "org/x", "c1", "r1")
    store.add("https://a", "org/x", "c1", "r1")
    store.add("https://a", "org/x", "c1", "r1")
    assert TrustStore().is_trusted("https://a", "org/x", "c1", "r1")
    for other in [
        ("https://b", "org/x", "c1", "r1"),
        ("https://a", "org/y", "c1", "r1"),
        ("https://a", "org/x", "c2", "r1"),
        ("https://a", "org/x", "c1", "r2"),
    ]:
        assert not store.is_trusted(*other)
    assert len(store.entries) == 1


def test_removing_takes_every_version_of_a_repository(store):
    store.add("https://a", "org/x", "c1", "r1")
    store.add("https://a", "org/x", "c2", "r1")
    store.add("https://a", "org/y", "c1", "r1")
    assert len(store.remove("https://a", "org/x")) == 2
    assert store.remove("https://a", "org/x") == ()
    assert [entry.repo for entry in store.entries] == ["org/y"]


@pytest.mark.skipif(os.name == "nt", reason="file modes are POSIX")
def test_the_file_is_the_owners_alone(store):
    store.add("https://a", "org/x", "c1", "r1")
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "{", '{"format": 2, "trusted": []}', '{"format": 1, "trusted": [{"repo": 1}]}'])
def test_a_damaged_file_is_a_sentence(store, text):
    store.add("https://a", "org/x", "c1", "r1")
    store.path.write_text(text, encoding="utf-8")
    with pytest.raises(UnreadableError, match="is damaged"):
        store.is_trusted("https://a", "org/x", "c1", "r1")
    with pytest.raises(UnreadableError):
        store.add("https://a", "org/x", "c1", "r1")


def test_writers_do_not_lose_each_others_entries(store):
    program = (
        "import sys; from hfenv.runtime.trust import TrustStore; store = TrustStore()\n"
        "for n in range(10): store.add('https://a', 'org/' + sys.argv[1], f'c{n}', 'r')"
    )
    writers = [subprocess.Popen([sys.executable, "-c", program, f"x{n}"]) for n in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert len(store.entries) == 30
