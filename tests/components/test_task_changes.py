"""Changes of a task set since a release: every row of the table, its level and its evidence."""

from __future__ import annotations

import pytest

from hfenv.components.changes.change import ChangeKind
from hfenv.components.changes.policy import load_policy
from hfenv.components.tasks.changes import classify_tasks, comparable
from hfenv.components.versions import Level
from tests.components.tasksets import Form, changes, scan, since, task, tasks


def only(found, kind, level):
    """The one change that there is."""
    assert [(change.kind, change.level) for change in found] == [(kind, level)]
    return found[0]


def kinds(found):
    return {change.kind for change in found}


@pytest.mark.parametrize(
    "form",
    [
        Form(".parquet"),
        Form(".parquet", group=2),
        Form(files=3),
        Form(reverse=True),
        Form(spaces=True),
        Form(prefix="z"),
    ],
)
def test_the_same_rows_in_other_files_are_no_change(tmp_path, form):
    assert changes(tmp_path, tasks(), tasks(), form=form) == ()


def test_a_meta_field_is_a_patch(tmp_path):
    new = tasks()
    new.splits["test"][1]["difficulty"] = "hard"
    change = only(changes(tmp_path, tasks(), new), ChangeKind.TASK_META, Level.PATCH)
    assert change.message == "meta fields of 1 test task changed: task-101"
    assert (change.path, change.line, change.name, change.count) == ("tasks/test-0.jsonl", 2, "test", 1)
    assert change.why == "No score depends on a meta field."


def test_more_training_tasks_are_minor(tmp_path):
    new = tasks()
    new.splits["train"] += [task(n) for n in range(6, 16)]
    change = only(changes(tmp_path, tasks(), new), ChangeKind.TASK_ADDED_TRAINING, Level.MINOR)
    assert change.message == "10 train tasks added: task-006, task-007, task-008 and 7 more"
    assert (change.count, change.examples) == (10, ("task-006", "task-007", "task-008"))


def test_more_evaluation_tasks_are_major_unless_the_policy_says_otherwise(tmp_path):
    new = tasks()
    new.splits["test"].insert(0, task(200))
    found = since(tmp_path, tasks(), new)
    only(classify_tasks(found), ChangeKind.TASK_ADDED_EVALUATION, Level.MAJOR)
    policy = load_policy({"tasks": {"task-added-evaluation": "minor"}})
    only(classify_tasks(found, policy), ChangeKind.TASK_ADDED_EVALUATION, Level.MINOR)


@pytest.mark.parametrize("split", ["train", "test"])
def test_a_task_that_is_gone_is_major(tmp_path, split):
    new = tasks()
    lost = new.splits[split].pop(1)
    change = only(changes(tmp_path, tasks(), new), ChangeKind.TASK_REMOVED, Level.MAJOR)
    assert change.message == f"1 {split} task removed: {lost['id']}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("question", "What is 1 plus 1?"),
        ("gold", 3),
        ("check", {"twice": 0.5}),
        ("database", "unnamed"),
        ("gold", None),
    ],
)
@pytest.mark.parametrize("split", ["train", "test"])
def test_an_edited_input_target_grading_or_resource_is_major(tmp_path, split, name, value):
    new = tasks()
    new.splits[split][1][name] = value
    change = only(changes(tmp_path, tasks(), new), ChangeKind.TASK_EDITED, Level.MAJOR)
    assert change.message == f"1 {split} task edited: {new.splits[split][1]['id']}"
    assert (change.path, change.line) == (f"tasks/{split}-0.jsonl", 2)


def test_a_field_without_a_role_counts_as_content(tmp_path):
    old = tasks()
    for row in old.splits["train"]:
        row["note"] = "a"
    new = old.copy()
    new.splits["train"][0]["note"] = "b"
    only(changes(tmp_path, old, new), ChangeKind.TASK_EDITED, Level.MAJOR)


def test_a_whole_number_and_a_fraction_are_two_values(tmp_path):
    new = tasks()
    new.splits["test"][0]["gold"] = float(new.splits["test"][0]["gold"])
    found = changes(tmp_path, tasks(), new)
    assert kinds(found) == {ChangeKind.TASK_EDITED, ChangeKind.FIELD_RETYPED}


def test_an_id_that_changes_with_the_same_content_is_a_rename(tmp_path):
    new = tasks()
    new.splits["test"][1]["id"] = "renamed"
    change = only(changes(tmp_path, tasks(), new), ChangeKind.TASK_RENAMED, Level.MAJOR)
    assert change.message == "1 test task renamed: task-101 -> renamed"
    assert (change.before, change.after) == ("task-101", "renamed")


def test_a_task_in_another_split_has_moved(tmp_path):
    new = tasks()
    new.splits["train"].append(new.splits["test"].pop(0))
    change = only(changes(tmp_path, tasks(), new), ChangeKind.TASK_MOVED, Level.MAJOR)
    assert change.message == "1 test task moved to train: task-100"
    assert (change.before, change.after) == ("test", "train")


def test_a_task_in_another_split_under_another_id_has_moved(tmp_path):
    new = tasks()
    new.splits["train"].append(new.splits["test"].pop(0) | {"id": "hidden"})
    change = only(changes(tmp_path, tasks(), new), ChangeKind.TASK_MOVED, Level.MAJOR)
    assert change.message == "1 test task moved to train: task-100 -> hidden"


def test_another_order_is_minor(tmp_path):
    new = tasks()
    new.splits["train"].append(new.splits["train"].pop(0))
    change = only(changes(tmp_path, tasks(), new), ChangeKind.TASK_ORDER, Level.MINOR)
    assert change.message == "1 train task in another order: task-000"
    policy = load_policy({"tasks": {"task-order": "patch"}})
    only(classify_tasks(since(tmp_path, tasks(), new), policy), ChangeKind.TASK_ORDER, Level.PATCH)


def test_added_tasks_in_between_leave_the_order_alone(tmp_path):
    new = tasks()
    new.splits["train"].insert(2, task(50))
    only(changes(tmp_path, tasks(), new), ChangeKind.TASK_ADDED_TRAINING, Level.MINOR)


@pytest.mark.parametrize("value", [None, "plain", 0, [1, {"a": None}]])
@pytest.mark.parametrize("role", ["input", "target", "grading", "meta", None])
def test_a_field_with_one_value_for_all_tasks_is_minor(tmp_path, value, role):
    new = tasks()
    if role is not None:
        new.roles["style"] = role
    for row in (*new.splits["train"], *new.splits["test"]):
        row["style"] = value
    change = only(changes(tmp_path, tasks(), new), ChangeKind.FIELD_ADDED, Level.MINOR)
    assert (change.name, change.after) == ("style", role or "target")


def test_new_tasks_may_have_another_value_in_a_new_field(tmp_path):
    new = tasks()
    new.splits["train"].append(task(50, style="new"))
    found = changes(tmp_path, tasks(), new)
    assert kinds(found) == {ChangeKind.FIELD_ADDED, ChangeKind.TASK_ADDED_TRAINING}
    assert max(change.level for change in found) is Level.MINOR


def test_a_new_field_whose_values_differ_edits_the_tasks(tmp_path):
    new = tasks()
    new.splits["test"][2]["hint"] = "carry the one"
    change = only(changes(tmp_path, tasks(), new), ChangeKind.FIELD_FILLED, Level.MAJOR)
    assert change.name == "hint"


def test_a_new_meta_field_may_have_any_values(tmp_path):
    new = tasks()
    new.roles["source"] = "meta"
    for row in new.splits["test"]:
        row["source"] = row["id"]
    only(changes(tmp_path, tasks(), new), ChangeKind.FIELD_ADDED, Level.MINOR)


def test_an_edit_is_seen_beside_a_new_field(tmp_path):
    new = tasks()
    for row in (*new.splits["train"], *new.splits["test"]):
        row["style"] = "plain"
    new.splits["test"][0]["question"] = "Another?"
    found = changes(tmp_path, tasks(), new)
    assert {change.kind: change.count for change in found} == {ChangeKind.TASK_EDITED: 1, ChangeKind.FIELD_ADDED: None}


@pytest.mark.parametrize("name", ["check", "difficulty"])
def test_a_field_that_is_gone_is_major(tmp_path, name):
    new = tasks()
    del new.roles[name]
    for row in (*new.splits["train"], *new.splits["test"]):
        del row[name]
    change = only(changes(tmp_path, tasks(), new), ChangeKind.FIELD_REMOVED, Level.MAJOR)
    assert change.message == f"the field '{name}' was removed; 10 tasks differ by that or otherwise"


@pytest.mark.parametrize("name", ["gold", "difficulty"])
def test_a_field_of_another_type_is_major(tmp_path, name):
    new = tasks()
    new.splits["train"].append(task(50, **{name: ["a list"]}))
    found = changes(tmp_path, tasks(), new)
    assert kinds(found) == {ChangeKind.TASK_ADDED_TRAINING, ChangeKind.FIELD_RETYPED}
    change = next(change for change in found if change.kind is ChangeKind.FIELD_RETYPED)
    assert (change.level, change.name) == (Level.MAJOR, name)
    assert change.after in ("int or list", "list or text")


@pytest.mark.parametrize(("name", "role"), [("difficulty", "input"), ("check", "meta"), ("gold", "grading")])
def test_another_role_is_major_and_edits_no_task(tmp_path, name, role):
    new = tasks()
    before, new.roles[name] = new.roles[name], role
    change = only(changes(tmp_path, tasks(), new), ChangeKind.FIELD_ROLE, Level.MAJOR)
    assert (change.name, change.before, change.after) == (name, before, role)


def test_saying_what_was_the_default_is_no_change(tmp_path):
    old, new = tasks(), tasks()
    del old.roles["gold"]
    assert changes(tmp_path, old, new) == ()


def test_a_resource_is_content_of_the_tasks_that_name_it(tmp_path):
    new = tasks()
    new.splits["test"][0]["database"] = ["unnamed"]
    old = new.copy()
    new.resources["flights"] = "c" * 64
    change = only(changes(tmp_path, old, new), ChangeKind.RESOURCE_EDITED, Level.MAJOR)
    assert change.message == "the resource 'flights' changed, which 6 train tasks and 3 test tasks name"
    assert change.count == 9


def test_a_resource_that_no_task_names_is_content_of_all(tmp_path):
    new = tasks()
    new.resources["unnamed"] = "c" * 64
    change = only(changes(tmp_path, tasks(), new), ChangeKind.RESOURCE_EDITED, Level.MAJOR)
    assert change.count == 10


def test_resources_come_and_go(tmp_path):
    new = tasks()
    new.resources["more"] = "c" * 64
    only(changes(tmp_path, tasks(), new), ChangeKind.RESOURCE_ADDED, Level.MINOR)
    only(changes(tmp_path, new, tasks()), ChangeKind.RESOURCE_REMOVED, Level.MAJOR)


def test_a_new_split_is_minor_since_no_number_was_measured_on_it(tmp_path):
    new = tasks()
    new.splits["dev"] = [task(300)]
    change = only(changes(tmp_path, tasks(), new), ChangeKind.SPLIT_ADDED, Level.MINOR)
    assert change.message == "the evaluation split 'dev' was added, with 1 new task"


def test_a_split_under_another_name_is_major(tmp_path):
    new = tasks()
    new.splits["eval"] = new.splits.pop("test")
    found = changes(tmp_path, tasks(), new)
    assert kinds(found) == {ChangeKind.TASK_MOVED, ChangeKind.SPLIT_REMOVED, ChangeKind.SPLIT_ADDED}


def test_a_split_that_changes_what_is_loaded_without_one_is_major(tmp_path):
    old, new = tasks(), tasks()
    del old.splits["train"]
    found = changes(tmp_path, old, new)
    assert {change.kind: change.level for change in found} == {
        ChangeKind.SPLIT_ADDED: Level.MINOR,
        ChangeKind.SPLIT_DEFAULT: Level.MAJOR,
    }


class TestASplitRecordedAsAWhole:
    def changes(self, folder, new, **more):
        return changes(folder, tasks(), new, most=5, **more)  # the test split fits, the training split doesn't

    def test_it_is_known_again(self, tmp_path):
        assert self.changes(tmp_path, tasks(), form=Form(".parquet", files=2)) == ()

    def test_tasks_behind_it_are_added_ones(self, tmp_path):
        new = tasks()
        new.splits["train"] += [task(50), task(51)]
        change = only(self.changes(tmp_path, new), ChangeKind.TASK_ADDED_TRAINING, Level.MINOR)
        assert change.count == 2

    def test_an_edit_is_known_but_not_where(self, tmp_path):
        new = tasks()
        new.splits["train"][3]["gold"] = 0
        change = only(self.changes(tmp_path, new), ChangeKind.TASK_EDITED, Level.MAJOR)
        assert (change.count, change.examples, change.name) == (None, (), "train")

    def test_so_are_meta_fields_and_order(self, tmp_path):
        new = tasks()
        new.splits["train"][3]["difficulty"] = "hard"
        only(self.changes(tmp_path, new), ChangeKind.TASK_META, Level.PATCH)
        new = tasks()
        new.splits["train"].reverse()
        only(self.changes(tmp_path, new), ChangeKind.TASK_ORDER, Level.MINOR)

    @pytest.mark.parametrize("position", [0, 3, 5])
    def test_one_less_could_be_anything(self, tmp_path, position):
        new = tasks()
        del new.splits["train"][position]
        change = only(self.changes(tmp_path, new), ChangeKind.TASK_UNKNOWN, Level.MAJOR)
        assert change.count is None
        assert change.message.startswith("6 train tasks were released, and they aren't the first 6 any more")

    def test_a_recorded_task_that_moves_into_it_is_seen(self, tmp_path):
        new = tasks()
        new.splits["train"].append(new.splits["test"].pop())
        only(self.changes(tmp_path, new), ChangeKind.TASK_MOVED, Level.MAJOR)

    def test_a_new_field_is_no_edit(self, tmp_path):
        new = tasks()
        for row in (*new.splits["train"], *new.splits["test"]):
            row["style"] = "plain"
        only(self.changes(tmp_path, new), ChangeKind.FIELD_ADDED, Level.MINOR)


class TestComparable:
    def test_the_same_tasks_are(self, tmp_path):
        new = tasks()
        new.splits["test"].reverse()
        new.splits["test"][0]["difficulty"] = "hard"
        new.splits["train"][0]["gold"] = 0
        new.splits["train"].pop()
        assert comparable(since(tmp_path, tasks(), new), "test") == (True, "the same 4 test tasks")

    def test_edited_ones_are_counted(self, tmp_path):
        new = tasks(test=210)
        for row in new.splits["test"][:3]:
            row["question"] = "?"
        found = since(tmp_path, tasks(test=210), new)
        assert comparable(found, "test") == (False, "3 of 210 test tasks edited")
        assert comparable(found, "train") == (True, "the same 6 train tasks")

    def test_every_reason_is_given(self, tmp_path):
        new = tasks()
        new.splits["test"][0]["gold"] = 0
        new.splits["test"][1]["id"] = "renamed"
        new.splits["train"].append(new.splits["test"].pop())
        new.splits["test"][2] = task(150)
        new.splits["test"] += [task(151), new.splits["train"].pop(0)]
        new.resources["flights"] = "c" * 64
        answer, why = comparable(since(tmp_path, tasks(), new), "test")
        assert not answer
        assert why.split(", ") == [
            "1 of 4 test tasks edited",
            "1 of 4 test tasks removed",
            "1 of 4 test tasks renamed",
            "1 of 4 test tasks moved to another split",
            "3 test tasks added",
            "the resource 'flights' changed",
        ]

    def test_a_resource_matters_where_it_is_named(self, tmp_path):
        old = tasks()
        for row in old.splits["test"]:
            row["database"] = "unnamed"
        new = old.copy()
        new.resources["flights"] = "c" * 64
        found = since(tmp_path, old, new)
        assert comparable(found, "test")[0]
        assert comparable(found, "train") == (False, "the resource 'flights' changed")

    @pytest.mark.parametrize(
        ("roles", "answer"),
        [({"gold": "grading"}, True), ({"difficulty": "input"}, True), ({"check": "input"}, False)],
    )
    def test_a_role_matters_where_it_shows_or_hides(self, tmp_path, roles, answer):
        new = tasks()
        new.roles |= roles
        assert comparable(since(tmp_path, tasks(), new), "test")[0] is answer

    @pytest.mark.parametrize(("values", "answer"), [(["a"] * 4, True), (["a", "a", "a", None], False)])
    def test_a_new_field_matters_where_its_values_differ(self, tmp_path, values, answer):
        new = tasks(train=0)
        for row, value in zip(new.splits["test"], values, strict=True):
            row["hint"] = value
        assert comparable(since(tmp_path, tasks(train=0), new), "test")[0] is answer

    def test_a_split_of_one_side_is_not(self, tmp_path):
        new = tasks()
        new.splits["dev"] = new.splits.pop("test")
        found = since(tmp_path, tasks(), new)
        assert comparable(found, "test") == (False, "there is no split 'test' any more")
        assert comparable(found, "dev") == (False, "there is no split 'dev' in the release")

    def test_what_is_recorded_as_a_whole_is_where_it_is_equal(self, tmp_path):
        new = tasks()
        assert comparable(since(tmp_path, tasks(), new, most=0), "test")[0]
        new.splits["test"][0]["gold"] = 0
        assert comparable(since(tmp_path, tasks(), new, most=0), "test") == (False, "some of 4 test tasks edited")
        del new.splits["test"][0]
        assert comparable(since(tmp_path, tasks(), new, most=0), "test") == (
            False,
            "the tasks of test changed, and the release records them as a whole only",
        )


def test_scanned_without_a_release_nothing_is_told_apart(tmp_path):
    found = scan(tmp_path, tasks())
    assert found.then is found.rows
    assert found.extras.data == b""
