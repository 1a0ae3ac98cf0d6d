"""Two task sets read together: told by the lines that differ as by all of them."""

from __future__ import annotations

import random

import pytest

from hfenv.components.changes.change import ChangeKind
from hfenv.components.tasks import pair as pair_module
from hfenv.components.tasks.changes import classify_tasks, comparable
from hfenv.components.tasks.diff import TaskDifferenceKind as Kind
from hfenv.components.tasks.diff import differences
from hfenv.components.tasks.index import index_tasks
from hfenv.components.tasks.pair import diff_tasks, read_pair
from hfenv.components.tasks.since import since_tasks
from hfenv.components.tasks.values import TaskValues
from hfenv.errors import UnreadableError
from tests.components.tasksets import Form, Tasks, task, tasks, write


def told(since, rows):
    verdicts = {name: comparable(since, name) for name in ("train", "test", "more")}
    return classify_tasks(since), verdicts, list(rows)


def whole(old, new):
    before = index_tasks(old)
    after = index_tasks(new, released=before.roles)
    return told(since_tasks(before, after), differences(before, after))


def paired(old, new):
    found = read_pair(old, new)
    rows = list(found.rows())
    counted = [(name, kind, count) for name, kinds in found.counts.items() for kind, count in kinds.items()]
    assert {(n, k): c for n, k, c in counted} == {
        (r.split, r.kind): sum((r.split, r.kind) == (s.split, s.kind) for s in rows) for r in rows
    }
    assert list(found.rows(2)) == rows[:2]
    return told(found.since, rows)


EDITS = {
    "edit": lambda rows, draw: rows[draw.randrange(len(rows))].update(question=str(draw.random())),
    "meta": lambda rows, draw: rows[draw.randrange(len(rows))].update(difficulty="hard"),
    "rename": lambda rows, draw: rows[draw.randrange(len(rows))].update(id=str(draw.random())),
    "remove": lambda rows, draw: rows.pop(draw.randrange(len(rows))),
    "add": lambda rows, draw: rows.insert(draw.randrange(len(rows)), task(500 + draw.randrange(400))),
    "put": lambda rows, draw: rows.insert(draw.randrange(len(rows)), rows.pop(draw.randrange(len(rows)))),
    "retype": lambda rows, draw: rows[draw.randrange(len(rows))].update(gold="text"),
    "fill": lambda rows, draw: rows[draw.randrange(len(rows))].update(style=draw.choice(["plain", "fancy"])),
    "empty": lambda rows, draw: rows[draw.randrange(len(rows))].pop("check", None),
}


@pytest.mark.parametrize("seed", range(40))
def test_what_is_told_does_not_depend_on_how_much_is_read(tmp_path, monkeypatch, seed):
    monkeypatch.setattr(pair_module, "_SAMPLE", 3)
    draw = random.Random(seed)  # noqa: S311 - the same edits each time
    old, new = tasks(train=60, test=20), tasks(train=60, test=20)
    if seed % 4 == 0:
        draw.shuffle(new.splits["train"])
    for _ in range(draw.randrange(9)):
        name = draw.choice(list(EDITS))
        EDITS[name](new.splits[draw.choice(["train", "test"])], draw)
    if seed % 5 == 0:
        new.splits["test"].insert(draw.randrange(5), new.splits["train"].pop(draw.randrange(20)))
    if seed % 7 == 0:
        new.splits["more"] = [task(990), task(991)]
    for rows in new.splits.values():  # ids stay unique
        rows[:] = list({row["id"]: row for row in rows}.values())
    before, after = (write(tmp_path, model, Form(files=draw.choice([1, 3]))) for model in (old, new))
    assert paired(before, after) == whole(before, after)


def test_few_lines_are_read_where_few_differ(tmp_path, monkeypatch):
    monkeypatch.setattr(pair_module, "_SAMPLE", 5)
    old, new = tasks(train=80), tasks(train=80)
    new.splits["train"][7]["gold"] = 0
    found = read_pair(write(tmp_path, old), write(tmp_path, new))
    assert len(found.since.new.rows) == 1
    assert found.since.unread == {"train": 79, "test": 4}
    assert comparable(found.since, "test") == (True, "the same 4 test tasks")
    assert comparable(found.since, "train") == (False, "1 of 80 train tasks edited")


def test_tasks_that_are_only_reordered(tmp_path):
    old, new = tasks(train=30), tasks(train=30)
    new.splits["train"].insert(0, new.splits["train"].pop())
    found = read_pair(write(tmp_path, old), write(tmp_path, new, Form(files=2)))
    (change,) = classify_tasks(found.since)
    assert (change.kind, change.count, change.examples) == (
        ChangeKind.TASK_ORDER,
        29,
        ("task-000", "task-001", "task-002"),
    )
    assert (change.path, change.line) == ("tasks/train-0.jsonl", 2)
    assert found.counts == {}
    assert list(found.rows()) == []


def test_a_resource_that_changed_has_its_users_counted(tmp_path):
    old, new = tasks(train=30), tasks(train=30)
    new.resources["flights"] = "c" * 64
    found = read_pair(write(tmp_path, old), write(tmp_path, new))
    assert comparable(found.since, "test") == (False, "the resource 'flights' changed")
    assert [change.count for change in classify_tasks(found.since)] == [34]
    new.resources = {**old.resources, "unnamed": "c" * 64}
    new.roles = old.roles = {**old.roles, "database": "meta"}
    found = read_pair(write(tmp_path, old), write(tmp_path, new))
    assert [change.count for change in classify_tasks(found.since)] == [34]


@pytest.mark.parametrize("form", [Form(), Form(".parquet")])
def test_large_values_are_not_held_together(tmp_path, monkeypatch, form):
    """A task of a megabyte is read again with few others."""
    from hfenv.components.tasks import diff as diff_module

    old = Tasks({"test": [task(n, question=f"{n}" * 300_000) for n in range(12)]})
    new = old.copy()
    for row in new.splits["test"]:
        row["question"] += "!"
    held = []
    read = TaskValues.read
    monkeypatch.setattr(diff_module, "_HELD", 2 << 20)
    monkeypatch.setattr(TaskValues, "read", lambda self, rows: held.append(len(r := list(rows))) or read(self, r))
    found = list(diff_tasks(write(tmp_path, old, form), write(tmp_path, new, form)))
    assert [one.kind for one in found] == [Kind.EDITED] * 12
    assert all(len(field.before) < 80 for one in found for field in one.fields)
    assert max(held) <= 4


def test_what_is_no_task_set_is_an_error(tmp_path):
    new = tasks()
    source = write(tmp_path, new)
    source.files[0].path.write_text("[]\n", encoding="utf-8")
    with pytest.raises(UnreadableError, match=r"tasks/train-0\.jsonl:1"):
        read_pair(write(tmp_path, tasks()), source)
    source.files[0].path.unlink()
    with pytest.raises(UnreadableError, match=r"tasks/train-0\.jsonl can't be read"):
        read_pair(write(tmp_path, tasks()), source)
