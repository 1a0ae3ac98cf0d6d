"""Shapes in a release record: small, the same after reading, and refused when they aren't what was written."""

from __future__ import annotations

import copy
import json

import pytest

from hfenv.components.meaning.shape import ParameterKind, Shape, parse_signature, signature_text
from hfenv.components.meaning.shaping import shape_of
from hfenv.components.ownership import Component, walk
from hfenv.errors import UnreadableError
from tests.components.editing import BLOCK, FILES, shape

ODD = """\
import hfenv
from typing import Literal, Optional

if hfenv:
    def either(a, /, b, *c, d, e=-1.5, f="a, b", g="=", **h): return 1
else:
    def either(a): return 2

class Shop(hfenv.ToolEnvironment):
    class Inner:
        DEEP = {"a": {"b": 1, 2: "x"}, "\u4e2d": "\N{GRINNING FACE}"}
        def method(self, \u540d, x=lambda y: (y, 1)): return 1

    @staticmethod
    def plain(first): return 1

    @hfenv.tool
    def look(self, where: Literal["a, b", "c"], how: Optional[dict[str, int]] = None, *rest: "list[") -> str:
        "Look."

RAW = "\\ud800"
LONG = "a" "b" * 100
BIG = 0x%s
""" % ("f" * 80)


@pytest.mark.parametrize("component", [Component.CODE, Component.REWARD])
def test_a_shape_is_the_same_after_a_record(component, tmp_path):
    made = shape(tmp_path, component, FILES)
    written = json.dumps(made.to_json(), ensure_ascii=False).encode()
    assert Shape.from_json(component, json.loads(written)) == made


def test_so_is_one_of_odd_code(tmp_path):
    for component, path in ((Component.CODE, "env/environment.py"), (Component.REWARD, "reward/reward.py")):
        made = shape(tmp_path, component, {path: ODD})
        written = json.dumps(made.to_json(), ensure_ascii=False).encode()
        assert Shape.from_json(component, json.loads(written)) == made
    assert set(made.files["reward/reward.py"].definitions) == {
        "either", "Shop", "Shop.Inner", "Shop.Inner.method", "Shop.plain", "Shop.look",
    }  # fmt: skip


def test_lines_of_code_stay_out_of_a_record(tmp_path):
    text = json.dumps(shape(tmp_path, Component.CODE, FILES).to_json())
    assert '"line' not in text


@pytest.mark.parametrize(
    "text",
    ["", "a", "a, /", "a, /, b", "*, a", "*a, b", "a, *b, c=1, **d", "a: int|str, b: None=3", "a=#0123456789abcdef"],
)
def test_signatures_are_written_as_they_are_read(text):
    assert signature_text(parse_signature(text)) == text


def test_kinds_of_parameters():
    kinds = [parameter.kind for parameter in parse_signature("a, /, b, *c, d, **e")]
    assert kinds == [ParameterKind(k) for k in ("positional", "plain", "star", "keyword", "stars")]


def test_three_thousand_lines_of_code_take_a_few_bytes_each(tmp_path):
    function = "def work_{n}(task, transcript, *, strict=True):\n" + "".join(
        f"    value_{i} = task['field_{i}'] * {i} + transcript[{i}].outcome.data['said']\n" for i in range(13)
    )
    text = "".join(function.replace("{n}", str(n)) + "    return value_1\n" for n in range(200))
    assert text.count("\n") == 3000
    for component, path in ((Component.CODE, "env/environment.py"), (Component.REWARD, "reward/reward.py")):
        made = shape(tmp_path, component, {path: text})
        written = json.dumps(made.to_json(), indent=2, ensure_ascii=False)
        assert len(written) < 10 * 3000 < len(text) / 5


def test_a_table_in_code_or_data_does_not_grow_a_record(tmp_path):
    rows = "".join(f'    "word{n}": {n},\n' for n in range(5000))
    files = {
        "reward/reward.py": f"WORDS = {{\n{rows}}}\n",
        "reward/words.json": json.dumps({f"word{n}": n for n in range(5000)}),
        "reward/text.py": f"TEXT = {'x' * 5000!r}\n",
    }
    assert len(json.dumps(shape(tmp_path, Component.REWARD, files).to_json())) < 1200


def spoilt(data, *path, value=None):
    result = copy.deepcopy(data)
    place = result
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return result


FILE = "env/environment.py"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("card",), None),
        (("card",), []),
        (("files",), None),
        (("files", FILE), 3),
        (("files", FILE, "meaning"), "python"),
        (("files", FILE, "top"), "0123"),
        (("files", FILE, "top"), "0123456789abcdef -"),
        (("files", FILE, "order"), None),
        (("files", FILE, "order"), ["a"]),
        (("files", FILE, "definitions", "describe"), "def"),
        (("files", FILE, "definitions", "describe"), "def 0123456789abcdef - - (a b)"),
        (("files", FILE, "definitions", "describe"), "lambda 0123456789abcdef - - ()"),
        (("files", FILE, "constants", "LONGEST"), 100),
        (("files", "../x"), "text 0123456789abcdef"),
        (("tools", "buy"), "(item)"),
        (("members",), ["parse"]),
        (("numbers",), 3),
        (("file_names",), None),
        (("card", "action"), json.loads('{"a":' * 500 + "1" + "}" * 500)),
        (("roots",), [3]),
        (("card", "limits"), {"max_steps": float("nan")}),
        (("card", "reward/parts"), 3),
        (("card", "reward/range"), {"low": 0}),
    ],
)
def test_what_is_no_shape_is_refused(path, value, tmp_path):
    data = json.loads(json.dumps(shape(tmp_path, Component.CODE, FILES).to_json()))
    with pytest.raises((ValueError, KeyError, TypeError)):
        Shape.from_json(Component.CODE, spoilt(data, *path, value=value))


def test_a_file_that_cannot_be_parsed_is_named(tmp_path):
    with pytest.raises(UnreadableError, match=r"^env/words\.py:2:"):
        shape(tmp_path, Component.CODE, {**FILES, "env/words.py": "x = 1\ny = (\n"})


def test_an_environment_without_its_entry_has_a_shape_all_the_same(tmp_path):
    for component in (Component.CODE, Component.REWARD):
        files = {"env/other.py": "X = 1\n", "reward/other.py": "X = 1\n"}
        assert shape(tmp_path, component, files).members == {}
        assert shape(tmp_path, component, files, {}).members == {}


def test_tasks_have_none(tmp_path):
    with pytest.raises(ValueError, match="tasks have no shape"):
        shape_of(Component.TASKS, tmp_path, walk(tmp_path), BLOCK)
