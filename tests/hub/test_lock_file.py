"""The lock file's form: one spelling, every byte back again, and damage named by its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hfenv.components.ownership import Component
from hfenv.errors import NotFoundError, UnreadableError
from hfenv.hub.locking.lockfile import Entry, LockedComponent, LockedResource, LockFile, to_bytes, write_lock
from hfenv.hub.locking.reading import parse_lock, read_lock

PLACE = Path("hfenv.lock")


def entry(ref="org/name@^1", **changes):
    component = LockedComponent("a1" * 20, "1.0.0", "b2" * 32, "c3" * 32, "mit")
    components = dict.fromkeys(Component, component)
    return Entry(
        **{"ref": ref, "hub": "https://huggingface.co", "release": "1.0.0", "components": components, **changes}
    )


FULL = entry(
    python=">=3.10",
    packages=("sqlglot>=30", 'tomli>=2; python_version < "3.11"'),
    resolved={"tomli": "2.0", "sqlglot": "30.1"},
    resources=(
        LockedResource("flights", license="cc0-1.0"),
        LockedResource("dump", "hf://datasets/o/d@" + "0" * 40 + "/x"),
    ),
)


def text(*entries):
    return to_bytes(LockFile(PLACE, entries)).decode()


def test_it_is_sorted_and_the_same_for_equal_content():
    one, other = entry("org/b"), entry("org/a@2.0.0")
    assert text(one, other, FULL) == text(FULL, other, one)
    assert re.findall(r'^ref = "(.*)"', text(FULL, one, other), re.MULTILINE) == ["org/a@2.0.0", "org/b", "org/name@^1"]
    reordered = entry(
        python=FULL.python, packages=FULL.packages, resolved=dict(reversed(FULL.resolved.items())),
        resources=FULL.resources[::-1], components=dict(reversed(FULL.components.items())),
    )  # fmt: skip
    assert text(reordered) == text(FULL)


def test_what_is_written_is_read_back():
    for entries in ([], [FULL], [FULL, entry("org/x", hub="local", release="")]):
        found = parse_lock(text(*entries).encode(), PLACE)
        assert text(*found.entries) == text(*entries)
        assert [one.resolved for one in found.entries] == [one.resolved for one in entries]
    crlf = text(FULL).replace("\n", "\r\n").encode()
    assert parse_lock(crlf, PLACE).entries == parse_lock(text(FULL).encode(), PLACE).entries


@pytest.mark.parametrize(
    "name", ['quo"te', "back\\slash", "new\nline", "\x1b[2J", "\u202egnp", "\x7f", "雪", "😀", "a\x85b"]
)
def test_an_authors_text_comes_back_and_never_stands_there_as_a_control(name):
    licensed = entry(components=dict.fromkeys(Component, LockedComponent("a1" * 20, "1.0.0", "b2" * 32, "", name)))
    written = text(licensed)
    assert all(sign.isprintable() or sign == "\n" for sign in written)
    assert parse_lock(written.encode(), PLACE).entries[0].components[Component.CODE].license == name
    assert text(entry(python="\ud800")).count("\\U0000FFFD") == 1


def test_it_is_written_whole_and_only_where_it_changes(tmp_path, monkeypatch):
    lock = LockFile(tmp_path / "hfenv.lock", (FULL,))
    assert write_lock(lock) is True
    before = lock.path.stat().st_mtime_ns
    assert write_lock(lock) is False
    assert lock.path.stat().st_mtime_ns == before
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            write_lock(LockFile(lock.path))
    assert read_lock(lock.path).entries[0].ref == FULL.ref
    assert [path.name for path in tmp_path.iterdir()] == ["hfenv.lock"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("version = 1\n", "version = 2\n", "line 3: format version 2, and this hfenv reads 1"),
        ("version = 1\n", "", "line 1: it has no 'version'"),
        ("version = 1\n", 'version = "1"\n', "line 3: it has no 'version'"),
        ("release = ", "relase = ", "line 8: 'relase' has no meaning here"),
        ('release = "1.0.0"', 'release = "1.0"', "line 8: '1.0' is no version"),
        ('ref = "org/name@^1"', 'ref = "org"', "line 6: ref: 'org' is no repository name"),
        ('ref = "org/name@^1"\n', "", "line 5: ref is missing"),
        ('hub = "https://huggingface.co"', 'hub = "https://user:secret@host"', "line 7: The hub's URL holds a user"),
        ('hub = "https://huggingface.co"', 'hub = "ftp://host"', "line 7: 'ftp://host' is no hub"),
        ('hub = "https://huggingface.co"', "hub = 3", "line 7: hub is no text"),
        ('commit = "a1', 'commit = "A1', "line 11: code.commit is no commit of 40 hex digits"),
        ('exact = "b2', 'exact = "', "line 13: code.exact is no digest of 64 hex digits"),
        ('[environment.tasks]\ncommit', '[environment.tasks]\ncommits', "line 18: 'commits' has no meaning here"),
        ("[environment.reward]", "[environment.rewards]", "line 5: 'rewards' has no meaning here"),
        ('python = ">=3.10"', "python = [1]", "line 32: requires.python is no text"),
        ('    "sqlglot>=30",', "    30,", "line 33: requires.packages is no list of texts"),
        ('    "tomli==2.0",', '    "tomli",', "line 37: 'tomli' is no name==version"),
        ('name = "dump"', 'name = ""', "resource.name is no text"),
        ('name = "dump"', "name = dump", "it isn't TOML"),
        ("[[environment]]\n", "[[environment]]\n<<<<<<< HEAD\n", "line 6: a merge left its marks here"),
        ("[[environment]]\n", '[[environment]]\nref = "org/x"\n', "line 7: it isn't TOML (Cannot overwrite a value)"),
    ],
)  # fmt: skip
def test_damage_is_named_by_its_line(old, new, said):
    whole = text(FULL)
    assert old in whole
    with pytest.raises(UnreadableError) as caught:
        parse_lock(whole.replace(old, new, 1).encode(), PLACE)
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)
    assert caught.value.hint


def test_a_mark_of_byte_order_is_no_damage():
    assert (
        parse_lock(b"\xef\xbb\xbf" + text(FULL).encode(), PLACE).entries
        == parse_lock(text(FULL).encode(), PLACE).entries
    )


def test_other_damage(tmp_path):
    with pytest.raises(NotFoundError, match="hfenv lock org/name"):
        read_lock(tmp_path / "hfenv.lock")
    with pytest.raises(UnreadableError, match="can't be read"):
        read_lock(tmp_path)
    with pytest.raises(UnreadableError, match="line 3: it isn't UTF-8"):
        parse_lock(b"version = 1\n\n\xff", PLACE)
    with pytest.raises(UnreadableError, match="line 31: org/name@\\^1 stands here a second time"):
        parse_lock((text(entry()) + text(entry()).partition("version = 1\n")[2]).encode(), PLACE)
    for raw in (
        b"version = 1\nenvironment = 3\n",
        b"version = 1\nenvironment = [3]\n",
        b"a = " + b"[" * 5000,
        b"version = " + b"9" * 5000,
    ):
        with pytest.raises(UnreadableError):
            parse_lock(raw, PLACE)


def test_cutting_it_anywhere_gives_a_line_or_fewer_entries():
    whole = text(FULL, entry("org/z")).encode()
    for end in range(0, len(whole), 7):
        try:
            assert len(parse_lock(whole[:end], PLACE).entries) < 2 or end > len(whole) - 120
        except UnreadableError as error:
            if re.search(r"line \d+: ", str(error)) is None:
                raise
