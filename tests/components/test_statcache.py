"""The stat cache: what is read again, what isn't, and that it never stands in the way."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

from hfenv.components import ownership, statcache
from hfenv.components.ownership import walk
from hfenv.components.statcache import StatCache
from hfenv.errors import UnreadableError
from tests.support import run_cli, write_environment


@pytest.fixture
def root(tmp_path):
    return write_environment(tmp_path / "adding")


@pytest.fixture
def at_once(monkeypatch):
    """Trust files that were written a moment ago, so that a test needn't wait."""
    monkeypatch.setattr(statcache, "_CLOCK_STEP_NS", 0)


@pytest.fixture
def read(monkeypatch):
    """Paths of the files that were read, by walk."""
    walks: list[list[str]] = []
    hash_files = ownership.hash_files

    def counting(paths, size):
        walks.append(sorted(Path(path).name for path in paths))
        return hash_files(paths, size)

    monkeypatch.setattr(ownership, "hash_files", counting)
    return walks


def warm(root):
    return walk(root, StatCache.of(root))


def test_a_second_walk_reads_nothing_and_says_the_same(root, at_once, read):
    first = warm(root)
    assert warm(root) == first == walk(root)
    assert [len(paths) for paths in read] == [len(first), 0, len(first)]


def test_the_command_is_warm_the_second_time(root, at_once, read):
    assert run_cli("status", root).exit_code == run_cli("status", root).exit_code == 0
    assert read[0]
    assert read[1] == []


def test_only_what_was_edited_is_read_again(root, at_once, read):
    before = {entry.path: entry.sha256 for entry in warm(root)}
    (root / "env" / "words.py").write_text('ASK = "What is "\n', encoding="utf-8")
    after = {entry.path: entry.sha256 for entry in warm(root)}
    assert read[1] == ["words.py"]
    assert {path for path in after if after[path] != before[path]} == {"env/words.py"}
    assert after["env/words.py"] == sha256((root / "env" / "words.py").read_bytes()).hexdigest()


def test_an_edit_of_equal_length_with_the_old_time_is_seen(root, at_once):
    path = root / "env" / "words.py"
    warm(root)
    old = path.stat()
    path.write_bytes(path.read_bytes().replace(b"How", b"how"))
    os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))
    assert warm(root) == walk(root)


def test_a_file_that_takes_another_ones_place_is_seen(root, at_once):
    path = root / "env" / "words.py"
    other = path.with_name("other.py")
    other.write_bytes(path.read_bytes().replace(b"How", b"how"))
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    warm(root)
    other.replace(path)
    assert warm(root) == walk(root)


def test_what_was_just_written_is_not_trusted(root, read):
    """Within the step of a clock, an edit leaves size and times as they were."""
    warm(root)
    warm(root)
    assert len(read[1]) == len(read[0])


def test_a_lost_executable_bit_is_seen(root, at_once):
    path = root / "env" / "words.py"
    path.chmod(0o755)
    warm(root)
    path.chmod(0o644)
    assert not any(entry.executable for entry in warm(root))


def cache_file(root):
    return StatCache.of(root).file


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: b"",
        lambda raw: raw[: len(raw) // 2],
        lambda raw: raw.replace(b"a", b"b"),
        lambda raw: b"hfenv-stat-1 " + sha256(b"[1,2]").hexdigest().encode() + b"\n[1,2]",
        lambda raw: b"hfenv-stat-1 " + sha256(b"[[").hexdigest().encode() + b"\n[[",
        lambda raw: b"\xff" * 100,
    ],
)
def test_a_damaged_cache_is_ignored_and_replaced(root, at_once, read, damage):
    whole = warm(root)
    file = cache_file(root)
    file.write_bytes(damage(file.read_bytes()))
    assert warm(root) == whole
    assert warm(root) == whole
    assert [bool(paths) for paths in read] == [True, True, False]


def test_a_cache_of_another_folder_is_no_use(root, at_once, read, tmp_path):
    warm(root)
    other = write_environment(tmp_path / "other")
    cache_file(other).write_bytes(cache_file(root).read_bytes())
    warm(other)
    assert len(read[1]) == len(read[0])


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(root, at_once, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("HFENV_CACHE", str(tmp_path / "file" / "cache"))
    assert warm(root) == warm(root) == walk(root)


def test_the_folder_itself_stays_as_it_is(root, at_once):
    before = sorted(str(path) for path in root.rglob("*"))
    warm(root)
    assert sorted(str(path) for path in root.rglob("*")) == before


def test_what_is_gone_is_forgotten(root, at_once):
    warm(root)
    (root / "env" / "words.py").unlink()
    warm(root)
    assert b"words.py" not in cache_file(root).read_bytes()


def test_several_at_once_leave_a_whole_cache(root, at_once, read):
    with ThreadPoolExecutor(8) as pool:
        walks = list(pool.map(lambda _: warm(root), range(24)))
    assert len(set(walks)) == 1
    read.clear()
    warm(root)
    assert read == [[]]


def test_a_walk_that_proves_something_does_not_ask_it(root, at_once):
    """A cache that lies, checksum and all, misleads what asks it and nothing else."""
    true = warm(root)
    lying = StatCache.of(root)
    for entry in true:
        status = (root / entry.path).lstat()
        lying.note(entry.path, status, "0" * 64, status.st_ctime_ns + 1_000_000)
    lying.save([entry.path for entry in true])
    assert {entry.sha256 for entry in warm(root)} == {"0" * 64}
    assert walk(root) == true


def test_many_files_are_hashed_alike_by_threads(tmp_path, monkeypatch):
    from hfenv.components import hashing

    paths = []
    for number in range(40):
        path = tmp_path / f"{number}"
        path.write_bytes(bytes([number]) * (number * 997))
        paths.append(str(path))
    one_by_one = [sha256(Path(path).read_bytes()).hexdigest() for path in paths]
    assert hashing.hash_files(paths, 0) == one_by_one
    monkeypatch.setattr(hashing, "_WORTH_THREADS", 0)
    assert hashing.hash_files(paths, 1) == one_by_one


def test_a_file_that_cannot_be_read_is_named(root, monkeypatch):
    def refuse(paths, size):
        raise PermissionError(13, "Permission denied", str(root / "env" / "words.py"))

    monkeypatch.setattr(ownership, "hash_files", refuse)
    with pytest.raises(UnreadableError, match=r"^env/words\.py can't be read: Permission denied"):
        walk(root)
