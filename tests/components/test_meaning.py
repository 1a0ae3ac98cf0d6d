"""Semantic digests: golden vectors, edits that mean nothing, and edits that must never go unseen."""

from __future__ import annotations

import json
import os
import random
import unicodedata
from pathlib import Path

import pytest

from hfenv.components.meaning.digest import semantic_digest
from hfenv.components.meaning.shaping import shape_of
from hfenv.components.ownership import Component, walk
from hfenv.errors import UnreadableError

BLOCK = {
    "code": {"version": "1.0.0", "entry": "env/environment.py:E"},
    "action": {"type": "text", "description": "words"},
    "observation": {"type": "text"},
    "reward": {"version": "1.0.0", "entry": "reward/reward.py:score", "range": [-1.0, 1.0]},
}
CODE = '''\
"""About the module."""
import hfenv
from .words import ASK  # a comment


class Adding(hfenv.TaskEnvironment):
    """About the class."""

    greeting: str = "h\\u00e9llo \N{GRINNING FACE}"

    def start(self, task, rng):
        """About the method."""
        total = 0x10 + 1_000 - 1e3 + 2j
        return f"{ASK}{task['question']!r:>{len(ASK)}} {total=}" "and" f" {self.greeting}" + 'it''s'

    async def execute(self, action, /, *, strict=True, **rest):
        match action:
            case {"kind": "a" | "b", **other} if other:
                return [x for x in (1, 2) if x] or {3, 1, 2}
            case [first, *_]:
                pass
        with open("x") as a, open("y") as b:
            raise ValueError("no") from None
'''


def digest(root: Path, files: dict[str, str | bytes], component: Component = Component.CODE, block=BLOCK) -> str:
    folder = root / f"{len(list(root.iterdir()))}"
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
    folder.mkdir(exist_ok=True)
    return semantic_digest(component, folder, walk(folder), block)


def code(root: Path, text: str | bytes) -> str:
    return digest(root, {"env/environment.py": text})


GOLDEN: dict[str, tuple[dict[str, str | bytes], str]] = {
    "nothing": ({}, "fd1907d2a13d7213b60ec7496871d2b17d9f4fe120692694b71d66cd454c004c"),
    "an empty module": ({"env/__init__.py": b""}, "56d1132de72e9329907f13c3129c12fd601a4fd82756c72116bdbafc4e1be61f"),
    "code": ({"env/environment.py": CODE}, "96c836c92866e9e7335145c5d76569215aad3c62660984cfbd9b1e12f2ba9dec"),
    "code with CRLF": (
        {"env/environment.py": CODE.replace("\n", "\r\n")},
        "96c836c92866e9e7335145c5d76569215aad3c62660984cfbd9b1e12f2ba9dec",
    ),
    "code of latin-1": (
        {"env/environment.py": "# coding: latin-1\nX = '\u00e9'\n".encode("latin-1")},
        "ad6714a314af0ad30e44c9fee8f3362ae510b6794d836c17eba0f0dc19fcc97f",
    ),
    "JSON": (
        {"env/words.json": '{"b": [1, 1.0, true, null], "a": "\\ud83d\\ude00"}'},
        "7c3ccdb87d0d44c697db24f24506e557931e73531b2930615cc778a2dfc77745",
    ),
    "YAML": (
        {"env/words.yaml": "b: [1, 1.0, yes, ~]\na: &x {c: 2013-01-01}\nd: *x\n"},
        "065f47cd8bdda53904fcf7b7c9df80a0da2e4775baf5c73b8a26628b8e9111d0",
    ),
    "TOML": (
        {"env/words.toml": "b = [1, 1.0, true]\n[a]\nc = 2013-01-01\nd = inf\n"},
        "30448333b57992b302f30ab0e5958ce0aea7a2cdc3995084015f886f68bfb92a",
    ),
    "text": (
        {"env/prompt.md": "one\ntwo \N{GRINNING FACE}\n"},
        "543fca6a8ee675c8cd4a1e41b87f0c71e585973da8ed9adf9e7a004b369cc672",
    ),
    "text with CRLF": (
        {"env/prompt.md": "one\r\ntwo \N{GRINNING FACE}\r\n"},
        "543fca6a8ee675c8cd4a1e41b87f0c71e585973da8ed9adf9e7a004b369cc672",
    ),
    "bytes": ({"env/words.bin": b"\0\r\n\xff"}, "9209b38b876dc1969d7ffb1dda126258b0f87dc88223e79663120d23a0776f54"),
    "an empty file": ({"env/words.txt": b""}, "e5203708dd057d76ccddc7335f1b623fc5e1ac7f116f2b281a17492a182f87e6"),
    "NFC": (
        {unicodedata.normalize("NFC", "env/\u00e9.txt"): "x"},
        "3598d79f8244876bf4a766780487e825815e1bbf2134cca8dbd55a150e2d3e3c",
    ),
    "NFD": (
        {unicodedata.normalize("NFD", "env/\u00e9.txt"): "x"},
        "ce4c752424b7de3289bc45eca234673c64387cf7e3a96474c94b57bd49eb6435",
    ),
    "several": (
        {"env/b.py": "B = 1\n", "env/a/b.py": "", "env/a.py": "A = 2\n", "tasks/t.jsonl": "{}"},
        "ce20ad4005c65fad414e89179b4a9941c17ccc6be1ec5f18f241ad0b063d7560",
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_vectors(name, tmp_path):
    """The same on every Python: the numbers were made with one of them."""
    files, expected = GOLDEN[name]
    assert digest(tmp_path, files) == expected


def test_vectors_differ_but_for_line_breaks():
    by_digest: dict[str, list[str]] = {}
    for name, (_, expected) in GOLDEN.items():
        by_digest.setdefault(expected, []).append(name)
    pairs = sorted(names for names in by_digest.values() if len(names) > 1)
    assert pairs == [["code", "code with CRLF"], ["text", "text with CRLF"]]


SAME_CODE = [
    ("x = 1\n", "# said\nx = 1  # more\n"),
    ("def f():\n    return 1\n", 'def f():\n    """Said."""\n    return 1\n'),
    ("class A:\n    pass\n", 'class A:\n    """Said."""\n'),
    ("x = 1\n", '"""Said."""\nx = 1\n'),
    ("x = 'a'\n", 'x = "a"\n'),
    ("x = 1000\n", "x = 1_000\n"),
    ("x = 'ab'\n", "x = ('a'\n 'b')\n"),
    ("x = f'{a}bc'\n", "x = f'{a}b' 'c'\n"),
    ("x = f'{a}'\n", "x = f'{a:}'\n"),
    ("x = 1\n", "x = 1\r\n"),
    ("x = 1\n", "\ufeffx = 1\n"),
    ("if a:\n    b()\n", "if a:\n    b()\n    pass\n"),
    ("x = {'a', 'b'}\n", "x = {'b', 'a'}\n"),
    ("f(a, b)\n", "f(\n    a,\n    b,\n)\n"),
    ("x = (a)\n", "x = a\n"),
    ("X = 1\n", 'X = 1\n"""Said about X."""\n'),
    ("@property\ndef f(self): return 1\n", '@property\ndef f(self):\n    "Said."\n    return 1\n'),
    ("import enum\nclass A(enum.Enum):\n    X = 1\n", 'import enum\nclass A(enum.Enum):\n    "Said."\n    X = 1\n'),
]
OTHER_CODE = [
    ("x = 1\n", "x = 2\n"),
    ("x = 1\n", "x = 1.0\n"),
    ("x = 1\n", "x = True\n"),
    ("x = 'a'\n", "x = b'a'\n"),
    ("x = 'a'\n", "x = 'A'\n"),
    ("x = '\u00e9'\n", "x = 'e\u0301'\n"),
    ("x = '\\ud83d\\ude00'\n", "x = '\U0001f600'\n"),
    ("x = 1\n", "y = 1\n"),
    ("x = 1\ny = 2\n", "y = 2\nx = 1\n"),
    ("f(a)\n", "f(*a)\n"),
    ("f(*a)\n", "f(**a)\n"),
    ("x = {**a}\n", "x = {'a': a}\n"),
    ("def f(a, b=1): pass\n", "def f(a=1, b=1): pass\n"),
    ("def f(*, a, b=1): pass\n", "def f(*, a=1, b): pass\n"),
    ("def f(a): pass\n", "def f(*a): pass\n"),
    ("def f(a): pass\n", "async def f(a): pass\n"),
    ("def f(a: int): pass\n", "def f(a: str): pass\n"),
    ("if a:\n    b()\n", "if a:\n    pass\nelse:\n    b()\n"),
    ("if a: b()\nc()\n", "if a:\n    b()\n    c()\n"),
    ("x: int = 1\n", "(x): int = 1\n"),
    ("x = a < b\n", "x = a <= b\n"),
    ("x = a - b - c\n", "x = a - (b - c)\n"),
    ("x = f'{a}'\n", "x = f'{a!r}'\n"),
    ("x = f'{a:>3}'\n", "x = f'{a:>4}'\n"),
    ("x = f'{a}'\n", "x = '{a}'\n"),
    ("x = ['a', 'b']\n", "x = ['b', 'a']\n"),
    ("from a import b\n", "from .a import b\n"),
    ("from . import a\n", "from .. import a\n"),
    ("import a as b\n", "import a\n"),
    ("try:\n    a()\nexcept E:\n    pass\n", "try:\n    a()\nexcept F:\n    pass\n"),
    ("try:\n    a()\nfinally:\n    b()\n", "try:\n    a()\nexcept E:\n    b()\n"),
    ("lambda: (yield)\n", "lambda: None\n"),
    ("x = -0.2\n", "x = 0.2\n"),
    ("x = 0x" + "f" * 5000 + "\n", "x = 0x" + "f" * 4999 + "e\n"),
]


@pytest.mark.parametrize(("one", "other"), SAME_CODE)
def test_what_runs_alike_has_one_digest(one, other, tmp_path):
    assert code(tmp_path, one) == code(tmp_path, other)


@pytest.mark.parametrize(("one", "other"), OTHER_CODE)
def test_what_runs_otherwise_has_another(one, other, tmp_path):
    assert code(tmp_path, one) != code(tmp_path, other)


READ_DOCSTRINGS = [
    'import hfenv\nclass E:\n    @hfenv.tool\n    def look(self):\n        "{}"\n',
    'from hfenv import tool as t\nclass E:\n    @t\n    def look(self):\n        "{}"\n',
    'import dspy\nclass Judge(dspy.Signature):\n    "{}"\n',
    'import dspy\nclass Base(dspy.Signature):\n    x = 1\nclass Judge(Base):\n    "{}"\n',
    'from langchain import tool\n@tool\ndef look():\n    "{}"\n',
    'def judge():\n    "{}"\nPROMPT = judge.__doc__\n',
    '"{}"\nimport argparse\np = argparse.ArgumentParser(description=__doc__)\n',
]


@pytest.mark.parametrize("text", READ_DOCSTRINGS)
def test_docstrings_that_something_reads_count(text, tmp_path):
    assert code(tmp_path, text.format("one")) != code(tmp_path, text.format("two"))
    assert code(tmp_path, text.format("one")) == code(tmp_path, text.format("one").replace("\n", "\n# said\n", 1))


def test_a_docstring_read_from_another_file_counts(tmp_path):
    reader = "import inspect\nfrom .words import judge\nPROMPT = inspect.getdoc(judge)\n"
    one, two = ({"env/words.py": f'def judge():\n    "{n}"\n', "env/a.py": reader} for n in ("one", "two"))
    assert digest(tmp_path, one) != digest(tmp_path, two)


SAME_DATA = [
    ("x.json", '{"a": 1, "b": [2]}', '{ "b" : [ 2 ],\r\n "a" : 1 }\n'),
    ("x.json", '{"a": "\u00e9"}', '{"a": "\\u00e9"}'),
    ("x.json", "[1]", "\ufeff[1]"),
    ("x.yaml", "a: 1\nb: [x, 'y']\n", '# said\nb:\n- x\n- "y"\na:   1\n'),
    ("x.yml", "a: &x [1, 2]\nb: *x\n", "a: [1, 2]\nb: [1, 2]\n"),
    ("x.toml", "a = 1\n[b]\nc = 'x'\n", '# said\na = 0x1\nb = {c = "x"}\n'),
    ("x.txt", "a\nb\n", "a\r\nb\r\n"),
    ("x.txt", "a\n", "\ufeffa\n"),
]
OTHER_DATA = [
    ("x.json", '{"a": 1}', '{"a": 1.0}'),
    ("x.json", '{"a": 1}', '{"a": true}'),
    ("x.json", '{"a": [1, 2]}', '{"a": [2, 1]}'),
    ("x.json", '{"a": 1, "a": 2}', '{"a": 2}'),  # some readers take the first
    ("x.json", '{"a": 1} // said', '{"a": 1}'),
    ("x.json", "[" * 5000 + "]" * 5000, "[" * 4999 + "]" * 4999),
    ("x.yaml", "a: 1\n", "a: '1'\n"),
    ("x.yaml", "a: 1.0\n", "a: 1.00\n"),  # equal as numbers, and not as what a reader of texts makes of them
    ("x.yaml", "a: [1]\n", "a: !set [1]\n"),
    ("x.yaml", "a: 1\n---\nb: 1\n", "a: 1\nb: 1\n"),
    ("x.yaml", "a: 1\na: 2\n", "a: 2\n"),
    ("x.yaml", "a: [1", "a: [1]"),
    ("x.toml", "a = 2013-01-01\n", "a = '2013-01-01'\n"),
    ("x.toml", "a = 1\n", "a = 1.0\n"),
    ("x.txt", "a\n", "a"),
    ("x.txt", "a\rb", "a\nb"),  # a lone CR may be content
    ("x.bin", b"\0\r\n", b"\0\n"),
    ("x.txt", b"\xff\r\n", b"\xff\n"),
]


@pytest.mark.parametrize(("name", "one", "other"), SAME_DATA)
def test_values_and_texts_with_one_meaning(name, one, other, tmp_path):
    assert digest(tmp_path, {f"env/{name}": one}) == digest(tmp_path, {f"env/{name}": other})


@pytest.mark.parametrize(("name", "one", "other"), OTHER_DATA)
def test_values_and_texts_that_differ(name, one, other, tmp_path):
    assert digest(tmp_path, {f"env/{name}": one}) != digest(tmp_path, {f"env/{name}": other})


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1])
def test_line_breaks_are_seen_across_the_pieces_that_are_read(size, tmp_path):
    text = b"a" * size + b"\r\nb" + "\N{GRINNING FACE}".encode() + b"\r"
    assert digest(tmp_path, {"env/x.txt": text}) == digest(tmp_path, {"env/x.txt": text.replace(b"\r\n", b"\n")})
    assert digest(tmp_path, {"env/x.txt": text}) != digest(tmp_path, {"env/x.txt": text[:-1]})


def test_an_alias_that_stands_for_a_million_values_is_read_once(tmp_path):
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}*a{n - 1}]\n" for n in range(1, 30))
    assert digest(tmp_path, {"env/x.yaml": bomb}) != digest(tmp_path, {"env/x.yaml": bomb.replace("[x, x]", "[x]")})
    assert digest(tmp_path, {"env/y.yaml": "&a [*a]\n"})


def test_paths_count_and_executable_bits_do_not(tmp_path):
    one = digest(tmp_path, {"env/a.txt": "x"})
    assert digest(tmp_path, {"env/b.txt": "x"}) != one
    root = tmp_path / "1" / "env" / "b.txt"
    root.chmod(0o755)
    (tmp_path / "1" / "env" / "b.txt").rename(tmp_path / "1" / "env" / "a.txt")
    assert semantic_digest(Component.CODE, tmp_path / "1", walk(tmp_path / "1"), BLOCK) == one


def test_probes_are_no_part_of_a_reward_and_its_slice_of_the_card_is(tmp_path):
    reward = {"reward/reward.py": "def score(task, transcript): return 1.0\n"}
    one = digest(tmp_path, reward, Component.REWARD)
    assert digest(tmp_path, {**reward, "reward/probes.jsonl": "{}\n"}, Component.REWARD) == one
    assert digest(tmp_path, {**reward, "reward/other.jsonl": "{}\n"}, Component.REWARD) != one
    assert digest(tmp_path, {**reward, "env/a.py": "x = 1\n", "README.md": "x"}, Component.REWARD) == one
    said = {**BLOCK, "reward": {**BLOCK["reward"], "version": "2.0.0"}}
    assert digest(tmp_path, reward, Component.REWARD, said) == one
    wider = {**BLOCK, "reward": {**BLOCK["reward"], "range": [-2.0, 1.0]}}
    assert digest(tmp_path, reward, Component.REWARD, wider) != one


def test_tasks_bring_what_stands_for_their_rows(tmp_path):
    block = {**BLOCK, "tasks": {"splits": {"train": "tasks/train.jsonl"}, "fields": {"q": "input"}}}
    made = [semantic_digest(Component.TASKS, tmp_path, (), block, tasks=rows) for rows in ("one", "one", "two")]
    assert made[0] == made[1] != made[2]
    other = {**block, "tasks": {**block["tasks"], "fields": {"q": "meta"}}}
    assert semantic_digest(Component.TASKS, tmp_path, (), other, tasks="one") != made[0]


@pytest.mark.parametrize(
    ("text", "place"),
    [("x = 1\nx = (\n", r"env/environment\.py:2:"), ("x = '\0'\n", r"env/environment\.py"), ("(" * 400, "env/env")],
)
def test_unparsable_python_is_an_error_that_names_file_and_line(text, place, tmp_path):
    with pytest.raises(UnreadableError, match=f"^{place}"):
        code(tmp_path, text)


def test_a_tree_deeper_than_the_stack_is_read(tmp_path):
    deep = "x = " + "-" * 80 + "1\n" + "y = " + " + ".join(["a"] * 800) + "\n"
    assert code(tmp_path, deep) != code(tmp_path, deep.replace("+ a\n", "+ b\n"))


def test_random_edits_of_comments_and_blank_lines_change_nothing(tmp_path):
    rng = random.Random(4)  # noqa: S311
    expected = code(tmp_path, CODE)
    for _ in range(60):
        lines = CODE.splitlines()
        for _ in range(rng.randrange(1, 5)):
            at = rng.randrange(len(lines) + 1)
            lines.insert(at, rng.choice(["", " " * rng.randrange(20) + "# said \N{GRINNING FACE}", "\t", "#"]))
        assert code(tmp_path, "\n".join(lines) + "\n") == expected


@pytest.mark.parametrize("component", [Component.CODE, Component.REWARD])
def test_meaning_and_shape_are_the_same_in_another_place_and_in_another_order(component, tmp_path, monkeypatch):
    top = "env" if component is Component.CODE else "reward"
    files = {f"{top}/{name}": text for name, text in {"b.py": "B = 1\n", "a/b.py": "", "a.json": "{}"}.items()}
    found = set()
    for number, place in enumerate(("one", "another/place")):
        root = tmp_path / place
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        for entries in (walk(root), walk(root)[::-1]):
            shape = json.dumps(shape_of(component, root, entries, BLOCK).to_json(), sort_keys=True)
            found.add((semantic_digest(component, root, entries, BLOCK), shape))
        monkeypatch.setattr(os, "sep", "\\" if number == 0 else "/")
    assert len(found) == 1
