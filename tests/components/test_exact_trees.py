"""Exact digests of whole trees: any byte, path or bit counts, and nothing about the machine does."""

from __future__ import annotations

import os
import random
import unicodedata
from hashlib import sha256
from pathlib import Path, PureWindowsPath

import pytest

from hfenv.components import ownership
from hfenv.components.digest import exact_digest
from hfenv.components.ownership import Component, FileEntry, owner_of, walk

BLOCK = {"code": {"entry": "env/environment.py:E"}, "reward": {"range": [0.0, 1.0]}}
AWKWARD = frozenset({'a",false', "A", "a", "\u00e9"})
Tree = dict[str, tuple[bytes, bool]]  # content and executable bit by path

GOLDEN: dict[str, tuple[Tree, str]] = {
    "nothing": ({}, "4e329980379b4c24893eaef562b145d8c409268cb1c62ce4158450cac456156f"),
    "an empty file": (
        {"env/__init__.py": (b"", False)},
        "25e2d5db0425e48808aafc2895297ab95094a7ae6e3b52473373ada2e62ca3ef",
    ),
    "LF": ({"env/a.txt": (b"one\ntwo\n", False)}, "8005612914357fcae9ed124d69abe530f7bc354f5688282d34711e49359199e4"),
    "CRLF": (
        {"env/a.txt": (b"one\r\ntwo\r\n", False)},
        "e35254a42dd882d87b04784de516be72273e29dcb08316b9c65d56315ffa0da0",
    ),
    "executable": (
        {"env/a.txt": (b"one\ntwo\n", True)},
        "10ac64e579dddd1f31383b407eb3f7d51428830aefcb124026f1cb1c8ba5e33a",
    ),
    "emoji": (
        {"env/\N{GRINNING FACE}.txt": ("\N{SNOWMAN}\n".encode(), False)},
        "b3e6f103b99f58fd73504ff89d16d687790980bbe60b7d0971c89cb328f280e8",
    ),
    "NFC": (
        {unicodedata.normalize("NFC", "env/\u00e9.txt"): (b"x", False)},
        "d48c8d43e8397903d5cbf8e053594452be6598d91cd789aa8864870ccb5b491e",
    ),
    "NFD": (
        {unicodedata.normalize("NFD", "env/\u00e9.txt"): (b"x", False)},
        "fa6131f8816ec15c742b393cc7f1ff327615162a79f4ce56d5ad7723c3e1b64f",
    ),
    "several": (
        {"env/b.py": (b"B = 1\n", False), "env/a/b.py": (b"", False), "env/a.py": (b"A", True)},
        "285ae6645d1322d8e3fc28e45da1abb22234445f922b47f83461608123f170f0",
    ),
}


def entries(tree: Tree) -> list[FileEntry]:
    return [
        FileEntry(path, len(content), sha256(content).hexdigest(), executable, owner_of(path))
        for path, (content, executable) in tree.items()
    ]


def digest(tree: Tree) -> str:
    return exact_digest(Component.CODE, entries(tree), BLOCK)


def put(root: Path, tree: Tree) -> Path:
    for path, (content, executable) in tree.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(0o755 if executable else 0o644)
    root.mkdir(exist_ok=True)
    return root


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_vectors(name, tmp_path):
    tree, expected = GOLDEN[name]
    assert digest(tree) == expected
    assert exact_digest(Component.CODE, walk(put(tmp_path / "checkout", tree)), BLOCK) == expected


def test_no_two_vectors_are_alike():
    assert len({expected for _, expected in GOLDEN.values()}) == len(GOLDEN)


def some_bytes(rng: random.Random) -> bytes:
    kind = rng.randrange(4)
    if kind == 0:
        return b""
    if kind == 1:
        return rng.choice([b"x = 1\n", b"x = 1\r\n", b"\0", b'["env/a",false,0,"e3b0"]\n', b"env/a", b"\xef\xbb\xbf"])
    return rng.randbytes(rng.randrange(1, 40))


def some_tree(rng: random.Random) -> Tree:
    names = ["a", "ab", "abc", "b", "a/b", "a.py", "\u00e9", "e\u0301", "\N{GRINNING FACE}", 'a",false', "a b", "A"]
    chosen = rng.sample(names, rng.randrange(1, 6))
    return {f"env/{name}": (some_bytes(rng), rng.random() < 0.2) for name in chosen}


def flip_a_bit(rng: random.Random, tree: Tree) -> Tree:
    path = rng.choice([*tree])
    content = bytearray(tree[path][0] or b"\0")
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return {**tree, path: (bytes(content), tree[path][1])}


def lengthen(rng: random.Random, tree: Tree) -> Tree:
    path = rng.choice([*tree])
    return {**tree, path: (tree[path][0] + rng.choice([b"\0", b"\n", b" ", b"\r"]), tree[path][1])}


def change_mode(rng: random.Random, tree: Tree) -> Tree:
    path = rng.choice([*tree])
    return {**tree, path: (tree[path][0], not tree[path][1])}


def rename(rng: random.Random, tree: Tree) -> Tree:
    path = rng.choice([*tree])
    return {(f"{path}{rng.choice('x0/')}y" if key == path else key): value for key, value in tree.items()}


def add_an_empty_file(rng: random.Random, tree: Tree) -> Tree:
    return {**tree, f"env/new{rng.randrange(9)}": (b"", False)}


def remove(rng: random.Random, tree: Tree) -> Tree:
    gone = rng.choice([*tree])
    return {path: value for path, value in tree.items() if path != gone}


def move_between_path_and_content(rng: random.Random, tree: Tree) -> Tree:
    """`env/ab` that holds c, and `env/a` that holds bc."""
    path = rng.choice([*tree])
    content, mode = tree[path]
    rest = {key: value for key, value in tree.items() if key != path}
    return {**rest, f"{path}q": (content.removeprefix(b"q") if content[:1] == b"q" else b"q" + content, mode)}


def move_between_neighbours(rng: random.Random, tree: Tree) -> Tree:
    """The last byte of one file as the first of the next: the same bytes, one after the other."""
    paths = sorted(tree)
    content, mode = tree[paths[0]]
    after = tree.get(paths[-1], (b"", False))
    if len(paths) < 2 or not content:
        return {**tree, paths[0]: (content + b"z", mode)}
    return {**tree, paths[0]: (content[:-1], mode), paths[-1]: (content[-1:] + after[0], after[1])}


def exchange(rng: random.Random, tree: Tree) -> Tree:
    paths = sorted(tree)
    first, last = tree[paths[0]], tree[paths[-1]]
    return {**tree, paths[0]: last, paths[-1]: first} if first != last else lengthen(rng, tree)


def pretend(rng: random.Random, tree: Tree) -> Tree:
    """One file whose content looks like the line of another."""
    path = rng.choice([*tree])
    e = entries(tree)[0]
    line = f'["{e.path}",false,{e.size},"{e.sha256}"]\n'.encode()
    return {**tree, path: (tree[path][0] + line, tree[path][1])}


EDITS = [
    flip_a_bit, lengthen, change_mode, rename, add_an_empty_file, remove, move_between_path_and_content,
    move_between_neighbours, exchange, pretend,
]  # fmt: skip


def test_ten_thousand_pairs_of_different_trees_never_share_a_digest():
    rng = random.Random(4)  # noqa: S311
    known: dict[str, Tree] = {}
    for number in range(10_000):
        tree = some_tree(rng)
        other = EDITS[number % len(EDITS)](rng, tree)
        assert other != tree
        # Not only within a pair: all trees with one digest are one tree.
        for one in (tree, other):
            assert known.setdefault(digest(one), one) == one


def test_trees_on_disk_differ_as_those_in_memory(tmp_path):
    rng = random.Random(5)  # noqa: S311
    for number in range(40):
        # Without names that one folder can't hold, or not beside the others.
        tree = {path: value for path, value in some_tree(rng).items() if path.removeprefix("env/") not in AWKWARD}
        found = walk(put(tmp_path / str(number), tree))
        assert exact_digest(Component.CODE, found, BLOCK) == digest(tree)


def test_order_name_of_the_checkout_and_separators_are_irrelevant(tmp_path, monkeypatch):
    tree = GOLDEN["several"][0]
    expected = digest(tree)
    assert digest(dict(reversed(tree.items()))) == expected
    root = put(tmp_path / "one", tree)
    assert exact_digest(Component.CODE, walk(root), BLOCK) == expected
    root = root.rename(tmp_path / "another name \N{SNOWMAN}")
    scandir = os.scandir
    monkeypatch.setattr(ownership.os, "scandir", lambda folder: sorted(scandir(folder), key=lambda e: e.name)[::-1])
    monkeypatch.setattr(ownership.os, "sep", "\\")
    assert exact_digest(Component.CODE, walk(root), BLOCK) == expected
    windows = {PureWindowsPath(path.replace("/", "\\")).as_posix(): value for path, value in tree.items()}
    assert digest(windows) == expected
