"""Splicing into cards as authors and `init` write them: exact bytes."""

import pytest

from hfenv.card.edit import REMOVE, set_values
from hfenv.card.reader import parse_card
from hfenv.errors import UnreadableError

CARD = """\
---
license: apache-2.0
tags: [rl-environment, hfenv]  # the Hub's filter
language:
- en
configs:   # written by hfenv
environment:
  spec: "1"                        # version of this format 😀
  code: {version: "1.0.2", entry: "env/environment.py:SQLEnvironment"}
  tasks:
    version: '1.1.0'   # single quotes
    splits:
      train: tasks/train.jsonl

  reward: {version: 1.0.0, range: [-1.0, 1.0],}
  # limits: {step_timeout_s: 5}
---
# Title
"""
CONFIGS = [{"config_name": "tasks", "default": True, "data_files": [{"split": "train", "path": "tasks/train.jsonl"}]}]


def edited(changes, text=CARD):
    return set_values(parse_card(text.encode()), changes).decode()


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({"/environment/code/version": "1.0.3"}, 'version: "1.0.2"', 'version: "1.0.3"'),
        ({"/environment/tasks/version": "2.0.0"}, "'1.1.0'", "'2.0.0'"),
        ({"/environment/reward/version": "1.0.1"}, "version: 1.0.0", 'version: "1.0.1"'),
        ({"/environment/reward/range/1": 2.5}, "[-1.0, 1.0]", "[-1.0, 2.5]"),
        ({"/environment/reward/floor": 0.00001}, "1.0],}", "1.0], floor: 1.0e-05,}"),
        ({"/environment/code/license": "mit"}, 'Environment"}', 'Environment", license: mit}'),
        ({"/tags": ["rl-environment", "hfenv", "gym: x"]}, "hfenv]", 'hfenv, "gym: x"]'),
        ({"/tags/-": "verifiers"}, "hfenv]", "hfenv, verifiers]"),
        ({"/language": ["en", "no"]}, "- en\n", '- en\n- "no"\n'),
        ({"/size_categories": ["n<1K"]}, "5}\n---", "5}\nsize_categories: [n<1K]\n---"),
        ({"/environment/release": "1.1.0"}, "1.0],}\n", '1.0],}\n  release: "1.1.0"\n'),
        (
            {"/environment/tasks/difficulty": {"easy": 3, "hard": 1}},
            "train.jsonl\n",
            "train.jsonl\n    difficulty: {easy: 3, hard: 1}\n",
        ),
        ({"/environment/tasks/difficulty/easy": 3}, "train.jsonl\n", "train.jsonl\n    difficulty: {easy: 3}\n"),
        (
            {"/configs": CONFIGS},
            "hfenv\nenv",
            (
                "hfenv\n  - config_name: tasks\n    default: true\n    data_files:\n"
                "      - {split: train, path: tasks/train.jsonl}\nenv"
            ),
        ),
        (
            {"/environment/benchmarks": [{"policy": "heuristic", "value": 0.86}]},
            "1.0],}\n",
            "1.0],}\n  benchmarks:\n    - {policy: heuristic, value: 0.86}\n",
        ),
        ({"/environment/tasks/splits": "tasks/*.jsonl"}, ":\n      train: tasks/train.jsonl", ': "tasks/*.jsonl"'),
        ({"/environment/reward/range": REMOVE}, ", range: [-1.0, 1.0]", ""),
        ({"/environment/code/version": REMOVE}, '{version: "1.0.2", ', "{"),
        ({"/license": REMOVE}, "license: apache-2.0\n", ""),
        ({"/environment/tasks/version": REMOVE}, "    version: '1.1.0'   # single quotes\n", ""),
        ({"/environment/nothing": REMOVE}, "", ""),
        ({"/license": "line\nbreak \x1b\ufeff"}, "apache-2.0", '"line\\nbreak \\u001b\\ufeff"'),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_one_change_is_one_splice(changes, old, new, ending):
    assert not old or CARD.count(old) == 1
    card = CARD.replace("\n", ending)
    assert edited(changes, card) == card.replace(old.replace("\n", ending), new.replace("\n", ending))


def test_a_release_writes_many_places_at_once_and_keeps_the_mark():
    raw = b"\xef\xbb\xbf" + CARD.encode()
    result = set_values(
        parse_card(raw),
        {"/environment/release": "1.0.0", "/configs": CONFIGS, "/environment/audit": {"rating": "A", "digests": "ab"}},
    )
    assert result.startswith(b"\xef\xbb\xbf---\n")
    values = parse_card(result).front_matter
    assert values["environment"]["audit"] == {"rating": "A", "digests": "ab"}
    assert values["configs"] == CONFIGS
    assert result.count(b"#") == raw.count(b"#")


def test_an_update_of_configs_touches_what_differs():
    first = edited({"/configs": CONFIGS})
    other = [{**CONFIGS[0], "data_files": [*CONFIGS[0]["data_files"], {"split": "test", "path": "tasks/test.jsonl"}]}]
    second = edited({"/configs": other}, first)
    assert second == first.replace("train.jsonl}\n", "train.jsonl}\n      - {split: test, path: tasks/test.jsonl}\n")


def test_fields_go_into_a_header_without_any():
    assert edited({"/environment/spec": "1"}, "---\n---\n") == '---\nenvironment: {spec: "1"}\n---\n'


@pytest.mark.parametrize("text", ["---\na: {b: 1, b: 2}\n---\n", "---\na: 1\na: 2\n---\n"], ids=["flow", "block"])
def test_what_cannot_be_edited_alone_is_refused(text):
    with pytest.raises(UnreadableError, match="in place"):
        edited({"/a/b" if "{" in text else "/a": REMOVE}, text)


@pytest.mark.parametrize(
    ("pointer", "header"),
    [("/environment/code/version", "environment: a text"), ("/environment/code/version", "environment: {code: 1.5}"),
     ("/tags/3", "tags: [a]"), ("/tags/x/y", "tags: [a]"), ("/tags/" + "9" * 5000, "tags: [a]"), ("/a/b", "a: no")],
    ids=["text", "number", "no such item", "name in a list", "long index", "boolean"],
)  # fmt: skip
def test_a_place_that_no_mapping_or_list_has_is_refused(pointer, header):
    with pytest.raises(UnreadableError, match="in place"):
        edited({pointer: "1.0.0"}, f"---\n{header}\n---\n")


@pytest.mark.parametrize("value", [float("nan"), object(), {1: 2}])
def test_values_that_json_cannot_hold_are_refused(value):
    with pytest.raises((TypeError, ValueError)):
        edited({"/license": value})
