"""Checks of task files: what is found in rows, columns and splits, at which line, in one process or several."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import pytest

from hfenv.card.declared import Declared
from hfenv.card.reader import read_card
from hfenv.components.taskfiles import iter_rows
from hfenv.components.tasks.checks import check_rows, check_tasks
from hfenv.components.tasks.lines import MAX_LINE
from hfenv.components.validation import validate
from hfenv.errors import UnreadableError
from hfenv.findings import Severity
from tests.support import replace_in, run_cli, write_environment

TEST, TRAIN = "tasks/test.jsonl", "tasks/train.jsonl"
GUID = "123e4567-e89b-12d3-a456-426614174000"


@pytest.fixture
def root(tmp_path):
    return write_environment(tmp_path / "adding")


def row(number, **changed):
    values = {"id": f"t{number}", "question": f"What is {number} + 1000?", "answer": f"{number + 1000}"}
    return {**values, "difficulty": "easy", **changed}


def lines(*rows):
    return "".join((value if isinstance(value, str) else json.dumps(value)) + "\n" for value in rows)


def put(root, *rows, path=TEST):
    (root / path).write_text(lines(*rows), encoding="utf-8")


def found(root):
    return [(f.rule, f.path, f.line) for f in validate(root).findings]


def only(root):
    report = validate(root)
    assert len(report.findings) == 1, report.findings
    return report.findings[0]


def give_fields(root, fields):
    replace_in(root / "README.md", "{question: input, answer: target, difficulty: meta}", "{" + fields + "}")


# Rows by themselves


@pytest.mark.parametrize(
    ("rows", "rule", "line", "says"),
    [
        ([row(1), "{broken"], "HFE301", 2, "not JSON"),
        ([row(1), "[1]"], "HFE301", 2, "no JSON object"),
        ([row(1), '{"id": "x"} {"id": "y"}'], "HFE301", 2, "Extra data"),
        ([row(1), '{"id": "x", "n": ' + "7" * 5000 + "}"], "HFE301", 2, "4300 digits"),
        ([row(1), row(2, id=7)], "HFE302", 2, "a number, not text"),
        ([row(1, id="")], "HFE302", 1, "empty"),
        ([{"question": "q?", "answer": "a", "difficulty": "easy"}], "HFE302", 1, "no 'id'"),
        ([row(1, id="a"), row(2, id="b"), row(3, id="a")], "HFE303", 3, "'a' stands already at tasks/test.jsonl:1"),
        (["", row(1, id="train-3")], "HFE303", 2, "tasks/train.jsonl:4"),
        ([{"id": "x", "answer": "a", "difficulty": "easy"}], "HFE304", 1, "'question' is missing"),
        ([row(1), row(2, answer=7)], "HFE304", 2, "'answer' is a number here, but text in"),
        ([row(1), row(2, difficulty=["easy"])], "HFE304", 2, "'difficulty' is a list here"),
        ([row(1, difficulty=float("nan"))], "HFE312", 1, "'difficulty' is not a finite number"),
        ([json.dumps(row(1)).replace('"easy"', "1e999")], "HFE312", 1, "finite"),
        ([row(1, difficulty={"a": [float("inf")]})], "HFE312", 1, "finite"),
        ([row(1, difficulty=2**63)], "HFE313", 1, "beyond 64 bits"),
        ([row(1, question="What \ud800 is 1?")], "HFE314", 1, "\\ud800"),
        ([json.dumps(row(1)).replace('"answer"', '"answer": "1", "answer"')], "HFE316", 1, "'answer' stands twice"),
        ([json.dumps(row(1)).replace('"easy"', '{"a": 1, "a": 2}')], "HFE316", 1, "'a' stands twice"),
    ],
)
def test_a_mistake_in_a_task_file_is_found_at_its_line(root, rows, rule, line, says):
    put(root, *rows)
    hits = [f for f in validate(root).findings if f.rule == rule]
    assert [(f.path, f.line) for f in hits] == [(TEST, line)]
    assert says in hits[0].message
    assert hits[0].fix


def test_odd_rows_that_are_fine(root):
    put(
        root,
        "",
        "  " + json.dumps(row(1, question="🙂 \\ud800 说什么？")),
        row(2, answer=None),
        row(3, difficulty=None, question="How  about \u2028 this?"),
        json.dumps(row(4, question="A family 👩‍👩‍👧: 4?")),
    )
    assert found(root) == []


def test_reading_goes_on_after_lines_that_cannot_be_read(root):
    bad = [f'{{"id": "b{number}",' for number in range(9)]
    put(root, row(1), *bad, row(2), row(3, id="t1"))
    report = validate(root)
    assert [(f.rule, f.line) for f in report.findings] == [
        ("HFE301", 0), ("HFE301", 2), ("HFE301", 3), ("HFE301", 4), ("HFE301", 5), ("HFE301", 6), ("HFE303", 12),
    ]  # fmt: skip
    assert report.findings[0].message == "4 more tasks have mistakes of this kind"


def test_a_wrong_byte_is_named_by_its_offset_in_the_file(root):
    before = lines(row(1)).encode()
    (root / TEST).write_bytes(before + b'{"id": "\xff"}\n')
    finding = only(root)
    assert (finding.rule, finding.line) == ("HFE301", 2)
    assert f"byte {len(before) + 8} of the file (0xff) is not UTF-8" in finding.message


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (lines(row(1)).encode("utf-16"), "UTF-16"),
        (b"\x1f\x8b\x08\x00" + bytes(50), "compressed"),
        (json.dumps([row(1), row(2)], indent=1).encode(), "one JSON list"),
        (b"PAR1" + bytes(50), "Parquet"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "Git LFS"),
    ],
)
def test_a_file_of_another_kind_is_one_finding(root, content, says):
    (root / TEST).write_bytes(content)
    finding = only(root)
    assert (finding.rule, finding.path) == ("HFE301", TEST)
    assert says in finding.message


def test_a_byte_order_mark_hides_no_task(root):
    (root / TEST).write_bytes(b"\xef\xbb\xbf" + lines(row(1, id="train-1"), row(2)).encode())
    assert found(root) == [("HFE303", TEST, 1), ("HFE315", TEST, 1)]


def test_hostile_lines_end_with_a_finding_each(root):
    deep = "[" * 100_000 + "]" * 100_000
    with (root / TEST).open("w", encoding="utf-8") as stream:
        stream.write(lines(row(1)) + '{"id": "long", "question": "')
        stream.write("x" * (MAX_LINE + 5) + '"}\n')
        stream.write(f'{{"id": "deep", "question": {deep}}}\n')
        stream.write(lines(row(2, id="t1")))
    assert found(root) == [("HFE301", TEST, 2), ("HFE301", TEST, 3), ("HFE303", TEST, 4)]


def test_a_mistake_in_every_row_is_one_finding_with_a_count(root):
    put(root, *({"id": str(n)} for n in range(1000)))
    report = validate(root)
    assert [f.rule for f in report.findings] == ["HFE304"] * 3
    assert all("999 more tasks" in f.message for f in report.findings)


def test_many_different_mistakes_of_one_kind_are_counted(root):
    put(root, *(row(n, id=str(n % 20)) for n in range(40)))
    report = validate(root)
    assert [f.rule for f in report.findings] == ["HFE303"] * 6
    assert any("15 more tasks" in f.message for f in report.findings)


def test_resource_fields_name_entries_of_resources(root):
    give_fields(root, "question: input, answer: target, difficulty: resource")
    replace_in(root / "README.md", "  limits:", '  resources: [{name: easy, path: "tasks/easy.db"}]\n  limits:')
    (root / "tasks" / "easy.db").write_bytes(b"x")
    put(root, row(1), row(2, difficulty="nope"), path=TRAIN)
    put(root, row(3))
    assert found(root) == [("HFE306", TRAIN, 2)]


# Splits and the card


def test_an_empty_split_is_found_at_the_split(root):
    put(root, "")
    assert (only(root).rule, only(root).pointer) == ("HFE305", "/environment/tasks/splits/test")


def test_a_file_in_two_splits_has_no_unique_ids(root):
    replace_in(root / "README.md", "test: tasks/test.jsonl", "test: tasks/*.jsonl")
    assert (only(root).rule, only(root).path) == ("HFE303", "README.md")


def test_a_field_without_a_role_is_found_at_the_roles(root):
    put(root, row(1, hint="carry"), row(2), path=TRAIN)
    finding = only(root)
    assert (finding.rule, finding.severity, finding.path) == ("HFE307", Severity.WARNING, "README.md")
    assert finding.pointer == "/environment/tasks/fields/hint"
    assert "'hint'" in finding.message


def test_counts_on_the_card_are_held_against_the_tasks_and_put_right(root):
    replace_in(root / "README.md", "license: apache-2.0", "license: apache-2.0\nsize_categories: [1K<n<10K]")
    replace_in(root / "README.md", "    fields:", "    difficulty: {easy: 6, medium: 4, hard: 5}\n    fields:")
    report = validate(root)
    assert [(f.rule, f.pointer) for f in report.findings] == [
        ("HFE308", "/size_categories"),
        ("HFE308", "/environment/tasks/difficulty"),
    ]
    assert "16 tasks are n<1K" in report.findings[0].message
    assert "easy: 6, hard: 5, medium: 5" in report.findings[1].message
    run_cli("validate", root, "--fix")
    assert found(root) == []


def test_counts_are_not_judged_when_some_tasks_cannot_be_read(root):
    replace_in(root / "README.md", "    fields:", "    difficulty: {easy: 1}\n    fields:")
    put(root, row(1), "{")
    assert found(root) == [("HFE301", TEST, 2)]


def test_grades_on_the_card_without_a_field_that_has_them(root):
    replace_in(root / "README.md", "    fields:", "    difficulty: {easy: 1}\n    fields:")
    give_fields(root, "question: input, answer: target, difficulty: grading")
    assert (only(root).rule, only(root).pointer) == ("HFE308", "/environment/tasks/difficulty")


@pytest.mark.parametrize(
    ("entry", "found_at"),
    [
        ("sources: [https://example.org/sums]", ["/environment/tasks/sources"]),
        ("sources: [org/sums]", ["/environment/tasks/sources"]),
        ("sources: [{url: https://example.org/sums}]", ["/environment/tasks/sources"]),
        ("sources: [{url: https://example.org/sums, license: mit}]", []),
        ("sources: [written for this environment and/or its tests]", []),
        ("sources: [https://example.org/sums]\n    license: cc-by-4.0", []),
    ],
)
def test_content_from_elsewhere_has_a_licence(root, entry, found_at):
    replace_in(root / "README.md", "    fields:", f"    {entry}\n    fields:")
    assert [(f.rule, f.pointer) for f in validate(root).findings] == [("HFE319", at) for at in found_at]


def test_a_canary_stands_in_evaluation_tasks_only(root):
    replace_in(root / "README.md", "  limits:", f"  canary: {GUID}\n  limits:")
    put(root, row(1, difficulty=f"easy {GUID}"), row(2), row(3))
    put(root, row(11), row(12, difficulty=GUID), path=TRAIN)
    report = validate(root)
    assert [(f.rule, f.path, f.line) for f in report.findings] == [("HFE320", TEST, 2), ("HFE320", TRAIN, 2)]
    assert "1 more task" in report.findings[0].message


# Twins


def test_a_text_under_two_ids_is_found_and_says_whether_the_targets_differ(root):
    put(
        root,
        row(1),
        row(2, question=" what IS 1 +\n1000? "),
        row(3),
        row(4, question="What is 3 + 1000?", answer="1003"),
    )
    report = validate(root)
    assert [(f.rule, f.severity, f.line) for f in report.findings] == [
        ("HFE309", Severity.WARNING, 2),
        ("HFE309", Severity.WARNING, 4),
    ]
    assert (
        report.findings[0].message
        == "the text of this task stands already at tasks/test.jsonl:1 (task 't1'), with another target"
    )
    assert report.findings[1].message.endswith("(task 't3')")


def test_other_resources_or_inputs_make_another_question(root):
    give_fields(root, "question: input, answer: target, difficulty: input")
    put(root, row(1), row(2, question=row(1)["question"], difficulty="hard"))
    assert found(root) == []


def test_an_evaluation_task_in_training_is_an_error_in_whichever_order(root):
    put(root, row(1, question="3 + 7?", answer="10"), row(2))
    finding = only(root)
    assert (finding.rule, finding.severity, finding.path, finding.line) == ("HFE310", Severity.ERROR, TEST, 1)
    assert "tasks/train.jsonl:4 (task 'train-3')" in finding.message
    replace_in(
        root / "README.md",
        "train: tasks/train.jsonl, test: tasks/test.jsonl",
        "test: tasks/test.jsonl, train_2: tasks/train.jsonl",
    )
    assert found(root) == [("HFE310", TRAIN, 4)]


def test_one_instruction_for_all_tasks_is_a_design_unless_the_rest_is_equal_too(root):
    same = "Balance the pole."
    put(root, *(row(n, question=same) for n in range(20)), path=TRAIN)
    put(root, *(row(n, question=same) for n in range(20, 26)))
    assert found(root) == []
    put(root, *(row(n, question=same) for n in range(20, 26)), row(99, question=same, answer="1004"))
    assert found(root) == [("HFE310", TEST, 7)]


# Encodings


@pytest.mark.parametrize(("encoding", "guess"), [("gbk", "; it looks like GBK"), ("latin-1", "")])
def test_a_file_in_another_encoding_has_one_finding_and_shows_none_of_it(root, encoding, guess):
    word = "苹果多少钱一斤" if encoding == "gbk" else "prêt à porter"
    text = "".join(f'{{"id": "t{n}", "question": "{word} {n}", "answer": "1"}}\n' for n in range(9))
    (root / TEST).write_bytes((json.dumps(row(99)) + "\n" + text).encode(encoding))
    finding = only(root)
    assert (finding.rule, finding.line, finding.count) == ("HFE301", 2, 9)
    assert "is not UTF-8 (and in 8 more tasks)" in finding.message
    assert finding.fix == f"Save the file as UTF-8{guess}."
    assert "\ufffd" not in run_cli("validate", root).stdout


# Leaks


@pytest.mark.parametrize(
    ("question", "answer", "leaks"),
    [
        ("Count the tea orders. Write: SELECT count(*) FROM orders", "SELECT COUNT(*) FROM orders", True),
        ("What is 1 + 41? Answer: 42", "42", True),
        ("What is 1 + 41? (The answer is 42.) Show your work.", "42", True),
        ("1 加 41 等于多少？答案是 42。", "42", True),
        ("Who wrote it?\nAnswer: Ann Lee\nThink first.", "Ann Lee", True),
        ("What is 1 + 42 - 1?", "42", False),
        ("Is 42 even? Answer yes or no.", "yes", False),
        ("Is it? The answer is yes or no.", "yes", False),
        ("Q: 1 + 1? Answer: 2\nQ: 0 + 2? Answer:", "2", False),
        ("Which holds? A) the sky is green today B) the grass is green today", "the sky is green today", False),
        ("Which holds?\n- the sky is green today\n- the grass is green today", "the sky is green today", False),
        ("Fix def has_close_elements_in_list(x): ...", "has_close_elements_in_list", False),
        ("Pick the capital of France: Paris, Rome, Bern", "Paris", False),
    ],
)
def test_a_target_in_its_input(root, question, answer, leaks):
    put(root, row(1), row(2, question=question, answer=answer))
    assert found(root) == ([("HFE311", TEST, 2)] if leaks else [])


def test_answers_that_are_read_from_a_passage_are_no_leak(root):
    text = "Tea came to Europe with the ships of the Dutch in 1610, and to Boston later."
    rows = [
        row(n, question=f"How did tea come, {n}?", difficulty=text, answer="with the ships of the Dutch")
        for n in (1, 2)
    ]
    give_fields(root, "question: input, answer: target, difficulty: input")
    put(root, *rows)
    assert found(root) == [("HFE311", TEST, 1)]
    for path in (TEST, TRAIN):
        replaced = (root / path).read_text(encoding="utf-8").replace('"difficulty"', '"passage"')
        (root / path).write_text(replaced, encoding="utf-8")
    replace_in(root / "README.md", "difficulty: input", "passage: input")
    assert found(root) == []


def test_labels_that_the_input_lists_are_no_leak(root):
    labels = ["a card that was lost", "a fee that was charged", "a payment that was late"]
    ask = "Say whether this is a card that was lost or a fee that was charged or a payment that was late: {}"
    put(root, *(row(n, question=ask.format(f"message {n}"), answer=labels[n % 3]) for n in range(30)))
    assert found(root) == []


def test_an_accepted_answer_and_a_grading_field_leak_too(root):
    give_fields(root, "question: input, answer: target, difficulty: grading")
    said = "the quick brown fox jumps"
    rows = [
        row(1, question=f"Say {said}", answer=["x", said]),
        row(2, question=f"Sing {said}", difficulty=said, answer=["y"]),
    ]
    put(root, *rows)
    put(root, row(11, answer=["z"]), path=TRAIN)
    assert found(root) == [("HFE311", TEST, 1), ("HFE311", TEST, 2)]


@pytest.mark.parametrize("answers", [["Ja", "Nein", "Doch"], [7, 8, 9], [["a"], ["b"], ["c"]], [True, False, True]])
def test_an_input_that_is_the_target_in_all_tasks_is_a_leak_however_short(root, answers):
    give_fields(root, "question: input, answer: target, difficulty: input")
    for path, start in ((TEST, 0), (TRAIN, 20)):
        rows = [row(start + n, difficulty=answer, answer=answer) for n, answer in enumerate(answers)]
        put(root, *rows, path=path)
    leaks = [finding for finding in validate(root).findings if finding.rule == "HFE311"]
    assert [(leak.path, leak.line, leak.count) for leak in leaks] == [(TEST, 1, 3), (TRAIN, 1, 3)]
    assert "the input 'difficulty' is the target 'answer' itself in 3 of 3 tasks" in leaks[0].message


def test_an_input_that_is_the_target_now_and_then_is_none(root):
    give_fields(root, "question: input, answer: target, difficulty: input")
    put(root, *(row(n, question=f"Write {n}!", difficulty=str(n % 3), answer=str(n % 4)) for n in range(20, 60)))
    put(root, *(row(n, question=f"Shout {n}!", difficulty=f"no {n}", answer=f"NO {n}") for n in range(9)), path=TRAIN)
    assert found(root) == []
    # Where all tasks have the same answer, an equal input is no copy of it.
    put(root, *(row(n, difficulty="de", answer="de") for n in range(20, 30)))
    assert found(root) == []


# Columns


@pytest.mark.parametrize(
    ("train", "test", "rule", "place", "says"),
    [
        ([{"a": 1}, {"b": 1}], [{"a": 1}], "HFE317", (TRAIN, 2), "lacks the key 'a' here, which"),
        ([[1], ["x"]], [[1]], "HFE317", (TRAIN, 2), "is text here and a number at tasks/train.jsonl:1"),
        ([[{"a": 1}], [{"a": 1, "b": 2}]], [[]], "HFE317", (TRAIN, 2), "has the key 'b' here"),
        ([1, 2], [1.5], "HFE317", (TEST, 1), "isn't a whole number"),
        ([None, None], ["x"], "HFE317", (TEST, 1), "null in all tasks before"),
        ([[], []], [["x"]], "HFE317", (TEST, 1), "isn't empty here"),
        (["2020-01-31", "2020-02-01"], ["soon"], "HFE317", (TEST, 1), "isn't a date here"),
        (["2020-01-31T10:00Z", "2020-02-01"], ["2020-02-01"], "HFE318", (TRAIN, 1), "timestamp"),
        ([{"on": "2020-01-31"}, {"on": None}], [{"on": None}], "HFE318", (TRAIN, 1), "'.on looks like a date"),
        ([1, 1.5], [1], "HFE318", (TRAIN, 1), "makes 1.0 of 1"),
        ([[1, 1.5], [2]], [[1]], "HFE318", (TRAIN, 1), "has a fraction at tasks/train.jsonl:1"),
    ],
)  # fmt: skip
def test_columns_that_load_dataset_fails_on_or_changes(root, train, test, rule, place, says):  # noqa: PLR0917
    put(root, *(row(n, difficulty=value) for n, value in enumerate(train)), path=TRAIN)
    put(root, *(row(n + 50, difficulty=value) for n, value in enumerate(test)))
    finding = only(root)
    assert (finding.rule, finding.severity) == (rule, Severity.WARNING)
    assert (finding.path, finding.line) == place
    assert says in finding.message


@pytest.mark.parametrize(
    ("train", "test"),
    [
        ([1, None], [2]),
        ([1.0, 2.5], [3.0]),
        (["2020-01-31", "soon"], ["2020-01-31"]),
        (["2020-13-31", "10:30"], ["2020"]),
        ([["a"], []], [["b"]]),
        ([{"a": [1, 2]}, {"a": []}], [{"a": [3]}]),
        ([{"b": "x", "a": 1}, {"a": 2, "b": None}], [{"a": 1, "b": "y"}]),
    ],
)
def test_columns_that_stay_as_they_are(root, train, test):
    put(root, *(row(n, difficulty=value) for n, value in enumerate(train)), path=TRAIN)
    put(root, *(row(n + 50, difficulty=value) for n, value in enumerate(test)))
    assert found(root) == []


def test_a_column_that_begins_in_a_later_file(root):
    give_fields(root, "question: input, answer: target, difficulty: meta, seen: meta")
    put(root, row(1, seen=True), row(2, seen=False))
    put(root, row(11, seen=True), row(12, seen=True), path=TRAIN)
    assert found(root) == []
    put(root, row(11), path=TRAIN)
    assert found(root) == [("HFE317", TEST, 1), ("HFE304", TRAIN, 1)]


def test_features_on_the_card_leave_nothing_to_guess(root):
    put(root, row(1, difficulty=1), row(2, difficulty=1.5))
    put(root, row(11, difficulty=1), path=TRAIN)
    assert [f.rule for f in validate(root).findings] == ["HFE317"]
    replace_in(
        root / "README.md", "license:", "dataset_info: {features: [{name: difficulty, dtype: float64}]}\nlicense:"
    )
    assert [f.rule for f in validate(root).findings if f.rule.startswith("HFE3")] == []


@pytest.mark.parametrize("values", [["x", 1], [1, 1.5], [{"a": 1}, {"b": 1}], ["2020-01-31", "2020-01-31"], [2**64, 1]])
def test_what_these_rules_say_of_load_dataset_is_so(tmp_path, values):
    import datasets

    put(tmp_path, *({"id": str(n), "v": value} for n, value in enumerate(values)), path="rows.jsonl")
    split = datasets.load_dataset("json", data_files=str(tmp_path / "rows.jsonl"), cache_dir=str(tmp_path / "cache"))[
        "train"
    ]
    feature = split.features["v"]
    told = isinstance(feature, datasets.Json) or [repr(v) for v in split["v"]] != [repr(v) for v in values]
    assert told


# Parquet


def write_parquet(root, rows, path="tasks/test.parquet", **options):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(rows), root / path, **options)
    text = (root / "README.md").read_text(encoding="utf-8")
    (root / "README.md").write_text(text.replace(path.replace(".parquet", ".jsonl"), path), encoding="utf-8")
    (root / path.replace(".parquet", ".jsonl")).unlink(missing_ok=True)


def test_parquet_is_read_like_json_lines(root):
    write_parquet(root, [row(1), row(2, id=None), row(3, question="3 + 7?"), row(4, id="t1")], row_group_size=2)
    at = "tasks/test.parquet"
    assert found(root) == [("HFE302", at, 2), ("HFE310", at, 3), ("HFE303", at, 4)]


@pytest.mark.parametrize(
    ("value", "rule", "says"),
    [
        (datetime(2020, 1, 1), "HFE301", "datetime"),
        (b"\xff", "HFE301", "bytes"),
        (float("nan"), "HFE312", "finite"),
        ([datetime(2020, 1, 1)], "HFE301", "datetime"),
    ],
)
def test_parquet_that_json_cannot_say_is_found_at_its_row(root, value, rule, says):
    write_parquet(root, [row(1, difficulty=None), row(2, difficulty=value)], "tasks/train.parquet")
    (finding,) = [f for f in validate(root).findings if f.rule == rule]
    assert (finding.path, finding.line) == ("tasks/train.parquet", 2)
    assert says in finding.message


def test_parquet_that_is_none(root):
    write_parquet(root, [row(1)])
    (root / "tasks/test.parquet").write_bytes(b"PAR1 and nothing more")
    assert (only(root).rule, only(root).line) == ("HFE301", 0)


# Several processes


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """An environment whose training file is cut into several ranges, with mistakes in all of them."""
    root = write_environment(tmp_path_factory.mktemp("large") / "adding")
    filler = "lorem ipsum " * 300
    rows = []
    for number in range(6500):
        rows.append(json.dumps(row(number, question=f"{number}? {filler}")))
        if number % 1500 == 700:
            rows += ["{broken", "", json.dumps(row(number, question=f"again {number}", difficulty=number))]
            rows.append(json.dumps(row(-number, question=f"{number}?  {filler} ")))
    (root / TRAIN).write_text("\n".join(rows), encoding="utf-8")
    put(root, row(9001), row(9002, question=f"{6400}? {filler}"), row(9003, id="t6400"))
    return root


def checked(root, workers):
    card = read_card(root)
    return sorted(map(repr, check_tasks(root, card, Declared.of(card), (TRAIN, TEST), workers=workers)))


def test_findings_are_the_same_with_any_number_of_processes(large):
    alone = checked(large, 1)
    assert all(any(rule in finding for finding in alone) for rule in ("HFE301", "HFE303", "HFE309", "HFE310"))
    assert checked(large, 2) == alone
    assert checked(large, 3) == alone


def test_lines_are_counted_across_ranges(large):
    text = (large / TRAIN).read_text(encoding="utf-8").split("\n")
    broken = [number for number, line in enumerate(text, start=1) if line == "{broken"]
    report = validate(large)
    assert len(broken) == 4
    assert [f.line for f in report.findings if f.rule == "HFE301"] == broken
    twice = [f for f in report.findings if f.rule == "HFE309"]
    assert [f.line for f in twice] == [line + 3 for line in broken]
    assert all(text[f.line - 1].startswith('{"id": "t-') for f in twice)


def test_without_other_processes_the_files_are_read_here(large, monkeypatch):
    alone = checked(large, 1)
    monkeypatch.setattr(sys, "executable", "/nonexistent/python3")
    assert checked(large, 2) == alone
    monkeypatch.setattr(sys, "executable", "/bin/true")
    assert checked(large, 2) == alone


def test_no_process_outlives_a_validation_nor_runs_the_callers_program(large, tmp_path):
    script = tmp_path / "caller.py"
    script.write_text(
        "import sys, os\n"
        "print('started')\n"
        "from pathlib import Path\n"
        "from hfenv.card.declared import Declared\nfrom hfenv.card.reader import read_card\n"
        "from hfenv.components.tasks.checks import check_tasks\n"
        f"root = Path({str(large)!r})\ncard = read_card(root)\n"
        f"print(len(check_tasks(root, card, Declared.of(card), {[TRAIN, TEST]!r}, workers=2)))\n"
        "try:\n    os.waitpid(-1, os.WNOHANG)\nexcept ChildProcessError:\n    print('no children')\n",
        encoding="utf-8",
    )
    # A module of this name in the folder in which the validation runs is not its own.
    (tmp_path / "json.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    root = Path(__file__).resolve().parent.parent
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", f"import runpy; runpy.run_path({str(script)!r})"],
        cwd=large, capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    assert done.stdout.split("\n")[0] == "started"
    assert done.stdout.count("started") == 1
    assert "no children" in done.stdout


def is_running(process):
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks for child processes in /proc")
def test_processes_end_with_the_validation_that_is_interrupted(large):
    command = [sys.executable, "-m", "hfenv.cli", "validate", str(large)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    workers: list[str] = []
    while process.poll() is None and len(workers) < 2:
        with contextlib.suppress(OSError):
            workers = children.read_text(encoding="utf-8").split()
    assert len(workers) == 2
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode != 0
    assert b"Traceback" not in err
    # One that was just being started ends by itself, when it finds that nobody is there.
    deadline = time.monotonic() + 60
    while any(is_running(worker) for worker in workers):
        assert time.monotonic() < deadline
        time.sleep(0.05)


# Without a card


def test_rows_are_looked_at_where_no_card_can_be_read(root):
    put(root, row(1, id=""), "{", json.dumps(row(2)).replace('"easy"', "NaN"))
    (root / "README.md").unlink()
    assert [(f.rule, f.path, f.line) for f in sorted(check_rows(root, [TRAIN, TEST]), key=lambda f: f.line)] == [
        ("HFE302", TEST, 1),
        ("HFE301", TEST, 2),
        ("HFE312", TEST, 3),
    ]


# Parquet that holds far more than its size


def bomb(kind):
    import pyarrow as pa

    large = pa.array(["x" * (4 << 20)])
    many = pa.DictionaryArray.from_arrays(pa.array([0] * 3000, pa.int32()), large)
    if kind == "rows":
        return pa.table({"id": pa.nulls(2_000_000, pa.string())})
    if kind == "shared text":
        return pa.table({"id": [f"t{number}" for number in range(3000)], "question": many})
    offsets = pa.array([0, 3000], pa.int32())
    lists = pa.ListArray.from_arrays(offsets, many)
    if kind == "lists of it":
        return pa.table({"id": ["a"], "question": lists})
    return pa.table({"id": ["a"], "question": pa.StructArray.from_arrays([lists], ["deep"])})


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "typed"])
@pytest.mark.parametrize("kind", ["rows", "shared text", "lists of it", "deeper"])
def test_parquet_that_unpacks_to_gigabytes_is_one_finding(root, kind, plain):
    import pyarrow.parquet

    path = root / "tasks/train.parquet"
    pyarrow.parquet.write_table(bomb(kind), path, compression="zstd", store_schema=not plain)
    assert path.stat().st_size < 60_000
    replace_in(root / "README.md", "tasks/train.jsonl", "tasks/train.parquet")
    unreadable = [finding for finding in validate(root).findings if finding.rule == "HFE301"]
    assert [finding.path for finding in unreadable] == ["tasks/train.parquet"]
    with pytest.raises(UnreadableError, match=r"train\.parquet"):
        list(iter_rows(path))


def test_parquet_whose_tasks_share_long_texts_is_read(root):
    import pyarrow
    import pyarrow.parquet

    texts = [f"{number} " * 600_000 for number in range(3)]
    rows = [
        {**row(number), "question": f"{number}?", "notes": [texts[number % 3], "b"], "page": texts[number % 3]}
        for number in range(20)
    ]
    path = root / "tasks/train.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path, compression="zstd", row_group_size=12)
    assert [(r.line, r.values) for r in iter_rows(path)] == list(enumerate(rows, start=1))
    replace_in(root / "README.md", "tasks/train.jsonl", "tasks/train.parquet")
    assert "HFE301" not in {finding.rule for finding in validate(root).findings}
