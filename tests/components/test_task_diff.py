"""Two task sets row by row: what differs, in which fields, in which order, whatever the files are."""

from __future__ import annotations

import pytest

from hfenv.components.tasks.diff import TaskDifferenceKind as Kind
from hfenv.components.tasks.pair import diff_tasks
from hfenv.errors import UnreadableError
from tests.components.tasksets import Form, Tasks, task, tasks, write

FORMS = [Form(), Form(files=3, reverse=True), Form(".parquet", files=2), Form(".parquet", group=2)]


def diff(folder, old, new, before=FORMS[0], after=FORMS[0]):
    return list(diff_tasks(write(folder, old, before), write(folder, new, after)))


def values(difference):
    return {field.name: (field.before, field.after) for field in difference.fields}


@pytest.mark.parametrize("before", FORMS)
@pytest.mark.parametrize("after", FORMS)
def test_every_kind_in_order_in_any_format(tmp_path, before, after):
    old, new = tasks(), tasks()
    train, test = new.splits["train"], new.splits["test"]
    train[1]["question"] = "Another?"
    train[2]["difficulty"] = "hard"
    train[3]["id"] = "renamed"
    moved = test.pop(0)
    moved["gold"] = 7
    train.insert(0, moved)
    train.append(task(50))
    del test[1]
    found = diff(tmp_path, old, new, before, after)
    assert [(one.kind, one.split, one.id, one.before_split, one.before_id) for one in found] == [
        (Kind.MOVED, "train", "task-100", "test", "task-100"),
        (Kind.EDITED, "train", "task-001", "train", "task-001"),
        (Kind.META, "train", "task-002", "train", "task-002"),
        (Kind.RENAMED, "train", "renamed", "train", "task-003"),
        (Kind.ADDED, "train", "task-050", "", ""),
        (Kind.REMOVED, "test", "task-102", "test", "task-102"),
    ]
    assert [values(one) for one in found] == [
        {"gold": ("200", "7")},
        {"question": ('"What is 1 + 1?"', '"Another?"')},
        {"difficulty": ('"easy"', '"hard"')},
        {}, {}, {},
    ]  # fmt: skip
    assert {field.role for one in found for field in one.fields} == {"target", "input", "meta"}


@pytest.mark.parametrize("after", FORMS)
def test_nothing_differs_in_other_files(tmp_path, after):
    assert diff(tmp_path, tasks(), tasks(), after=after) == []


def test_long_values_are_cut_around_what_differs(tmp_path):
    old, new = tasks(), tasks()
    old.splits["test"][0]["question"] = "start " * 50 + "old" + " end" * 50
    new.splits["test"][0]["question"] = "start " * 50 + "new" + " end" * 50
    new.splits["test"][1]["question"] = None
    new.splits["test"][2]["question"] = "one\nline\u202e"
    first, second, third = diff(tmp_path, old, new)
    before, after = values(first)["question"]
    assert (before[:3], before[-3:]) == ("...", "...")
    assert "start old end" in before
    assert after == before.replace("old", "new")
    assert len(before) < 80
    assert values(second)["question"] == ('"What is 101 + 101?"', None)
    assert values(third)["question"][1] == r'"one\nline\u202e"'


def test_a_value_that_ends_where_the_other_goes_on(tmp_path):
    old, new = tasks(), tasks()
    old.splits["test"][0]["question"] = "a" * 100
    new.splits["test"][0]["question"] = "a" * 100 + "b" * 100
    (found,) = diff(tmp_path, old, new)
    before, after = values(found)["question"]
    assert before == f'...{"a" * 20}"'
    assert after.startswith("..." + "a" * 20 + "b")


def test_a_new_field_differs_where_its_values_do(tmp_path):
    new = tasks()
    for row in (*new.splits["train"], *new.splits["test"]):
        row["style"] = "plain"
    new.splits["test"][0]["gold"] = 0
    (found,) = diff(tmp_path, tasks(), new)
    assert values(found) == {"gold": ("200", "0")}
    new.splits["test"][1]["style"] = "fancy"
    del new.splits["test"][2]["style"]
    found = diff(tmp_path, tasks(), new)
    assert [one.id for one in found] == [*(f"task-00{n}" for n in range(6)), "task-100", "task-101", "task-103"]
    assert values(found[-2]) == {"style": (None, '"fancy"')}


def test_a_field_that_is_gone_and_a_split_that_is_gone(tmp_path):
    old, new = Tasks({"test": [task(1)], "old": [task(2)]}), Tasks({"test": [task(1)]})
    del new.splits["test"][0]["check"], new.roles["check"]
    edited, removed = diff(tmp_path, old, new)
    assert [(field.name, field.role, field.after) for field in edited.fields] == [("check", "grading", None)]
    assert (removed.kind, removed.split, removed.id) == (Kind.REMOVED, "old", "task-002")


def test_more_differences_than_are_read_at_once(tmp_path):
    old, new = tasks(train=2100), tasks(train=2100)
    for row in new.splits["train"]:
        row["gold"] += 1
    found = diff(tmp_path, old, new, after=Form(".parquet"))
    assert [one.id for one in found] == [row["id"] for row in new.splits["train"]]
    assert {field.name for one in found for field in one.fields} == {"gold"}


def test_a_file_that_changes_meanwhile_is_said_so(tmp_path):
    new = tasks()
    new.splits["train"][0]["gold"] = 5
    new.splits["test"][0]["gold"] = 5
    source = write(tmp_path, new)
    found = diff_tasks(write(tmp_path, tasks()), source)
    next(found)
    source.files[1].path.write_text('{"id": "another"}\n', encoding="utf-8")
    with pytest.raises(UnreadableError, match="changed while it was read"):
        next(found)


def test_lines_that_both_have_are_not_read(tmp_path):
    old, new = tasks(train=30), tasks(train=30)
    new.splits["train"][3]["gold"] = 0
    before, after = write(tmp_path, old), write(tmp_path, new)
    for source in (before, after):
        file = source.files[0].path
        file.write_bytes(b"no JSON\n" + file.read_bytes())
    assert [one.id for one in diff_tasks(before, after)] == ["task-003"]
    file.write_bytes(file.read_bytes() + b"no JSON either\n")
    with pytest.raises(UnreadableError, match=r"tasks/train-0\.jsonl:32: not JSON"):
        list(diff_tasks(before, after))


def test_a_new_field_is_told_alike_whether_most_lines_are_read_or_not(tmp_path):
    old, new = tasks(train=30), tasks(train=30)
    new.splits["train"][3] |= {"id": "renamed", "filled": "more"}
    (found,) = diff(tmp_path, old, new)
    assert (found.kind, found.before_id) == (Kind.RENAMED, "task-003")
    assert [(field.name, field.before, field.after) for field in found.fields] == [("filled", None, '"more"')]
    # It isn't new where a line that both have holds it: then it is part of what a task is known by.
    for model in (old, new):
        model.splits["train"][5]["filled"] = "already"
    assert [one.kind for one in diff(tmp_path, old, new)] == [Kind.ADDED, Kind.REMOVED]
