"""Exact digests: golden vectors, and what must and must not change them."""

from __future__ import annotations

import shutil
import unicodedata

import pytest

from hfenv.components.digest import card_slice, exact_digest
from hfenv.components.ownership import Component, FileEntry, walk
from tests.support import write_environment

BLOCK = {
    "code": {"version": "1.0.0", "entry": "env/environment.py:E"},
    "action": {"type": "text", "description": "words"},
    "observation": {"type": "text"},
    "tasks": {"version": "1.0.0", "splits": {"train": "tasks/train.jsonl"}, "fields": {"q": "input"}},
    "reward": {"version": "1.0.0", "entry": "reward/reward.py:score", "range": [-1.0, 1.0]},
}
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def entry(path: str, size: int = 0, sha256: str = EMPTY, executable: bool = False) -> FileEntry:
    return FileEntry(path, size, sha256, executable, Component.CODE)


GOLDEN = [
    ([], "8312fbfe03294d5139ce181b0393a041a6fcd132d315f30553a0604b04d6ff59"),
    ([entry("env/empty.py")], "838b44b4e84d5459a3c8799c54e876ab7e4e2a686099da4a28261e8cf635ef47"),
    ([entry("env/empty.py", executable=True)], "7c049019a2e313a8d1a92196896147a7a1ec6162a9dd543f2617d17af9ecec46"),
    (
        [entry("env/\N{GRINNING FACE}.txt", 3, "a" * 64)],
        "95493e85ff2398b48f8c797150be80c3815110e05f251d6778637266c52f7b85",
    ),
    (
        [entry(unicodedata.normalize("NFC", "env/\u00e9.txt"))],
        "f9dd7d671668b0e275e6455524157e9bec44fa649474f0fdac62f6dd8a6cbac8",
    ),
    (
        [entry(unicodedata.normalize("NFD", "env/\u00e9.txt"))],
        "f9f5f5e1aadce9ddb8f9d6c4ac404ca7018d8078c6a9d90e5a9909a1f0ac9806",
    ),
]


@pytest.mark.parametrize(("files", "digest"), GOLDEN)
def test_golden_vectors(files, digest):
    assert exact_digest(Component.CODE, files, BLOCK) == digest


def test_every_vector_differs():
    assert len({digest for _, digest in GOLDEN}) == len(GOLDEN)


def test_order_of_the_walk_is_irrelevant():
    files = [entry("env/a.py"), entry("env/b.py", 1, "b" * 64), entry("env/a/b.py")]
    assert exact_digest(Component.CODE, files, BLOCK) == exact_digest(Component.CODE, files[::-1], BLOCK)


def test_path_and_content_cannot_trade_places():
    one = [entry("env/a", 1, "1" * 64), entry("env/b", 2, "2" * 64)]
    two = [entry("env/a", 2, "2" * 64), entry("env/b", 1, "1" * 64)]
    assert exact_digest(Component.CODE, one, BLOCK) != exact_digest(Component.CODE, two, BLOCK)


def test_a_value_that_is_called_a_description_is_one():
    block = {"config": {"answer": {"description": "said", "default": {"description": "short"}}}}
    said = {"config": {"answer": {"description": "more", "default": {"description": "short"}}}}
    other = {"config": {"answer": {"description": "said", "default": {"description": "long"}}}}
    assert exact_digest(Component.CODE, [], block) == exact_digest(Component.CODE, [], said)
    assert exact_digest(Component.CODE, [], block) != exact_digest(Component.CODE, [], other)


def test_versions_and_descriptions_are_no_part_of_the_slice():
    other = {**BLOCK, "code": {**BLOCK["code"], "version": "2.0.0"}, "action": {"type": "text", "description": "x"}}
    assert exact_digest(Component.CODE, [], other) == exact_digest(Component.CODE, [], BLOCK)


@pytest.mark.parametrize(
    ("component", "change"),
    [
        (Component.CODE, {"limits": {"max_steps": 2}}),
        (Component.CODE, {"action": {"type": "sql", "description": "words"}}),
        (Component.TASKS, {"resources": [{"name": "db", "path": "tasks/resources/x"}]}),
        (Component.REWARD, {"reward": {**BLOCK["reward"], "range": [0.0, 1.0]}}),
    ],
)
def test_the_slice_belongs_to_one_component(component, change):
    changed = {c for c in Component if exact_digest(c, [], {**BLOCK, **change}) != exact_digest(c, [], BLOCK)}
    assert changed == {component}
    assert card_slice(component, {**BLOCK, **change}) != card_slice(component, BLOCK)


def test_digest_of_a_folder_is_the_same_elsewhere(tmp_path):
    first = write_environment(tmp_path / "a")
    shutil.copytree(first, tmp_path / "deeper" / "b")
    (tmp_path / "deeper" / "b" / "env" / "__pycache__").mkdir()
    (tmp_path / "deeper" / "b" / "env" / "__pycache__" / "x.pyc").write_bytes(b"\0")
    (tmp_path / "deeper" / "b" / "tests").mkdir()
    (tmp_path / "deeper" / "b" / "tests" / "t.py").write_text("", encoding="utf-8")
    for component in Component:
        digests = {exact_digest(component, walk(r), BLOCK) for r in (first, tmp_path / "deeper" / "b")}
        assert len(digests) == 1
