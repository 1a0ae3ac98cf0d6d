"""What holds for any task set and any edits: an index sees the rows and nothing else, and no edit lowers the level."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hfenv.components.tasks.changes import classify_tasks, comparable
from hfenv.components.tasks.diff import differences
from hfenv.components.tasks.index import index_tasks
from hfenv.components.tasks.pair import diff_tasks
from hfenv.components.tasks.since import since_release
from hfenv.components.versions import Level
from tests.components.tasksets import ROLES, Form, Tasks, recorded, scan, task, tasks, write

FEW = settings(max_examples=25, deadline=None)
TEXT = st.text(max_size=8)
PLAIN = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
ANY = st.recursive(PLAIN | TEXT, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3))
# What a column of Parquet can hold as it is: values of one type.
COLUMNS = st.sampled_from([
    st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False), TEXT,
    st.lists(TEXT, min_size=1, max_size=3),
    st.fixed_dictionaries({"a": TEXT, "b": st.lists(st.integers(0, 9), min_size=1)}),
])  # fmt: skip


@st.composite
def task_sets(draw, *, typed: bool) -> Tasks:
    """Up to a dozen tasks in two splits, with fields of any roles; `typed` ones can be told by Parquet as they are."""
    names = draw(st.lists(TEXT.filter(lambda name: name and name != "id"), max_size=4, unique=True))
    roles = {name: draw(st.sampled_from(["input", "target", "grading", "meta"])) for name in names}
    values = {name: draw(COLUMNS) | st.none() if typed else ANY for name in names}
    ids = draw(st.lists(st.text(min_size=1, max_size=70), min_size=1, max_size=12, unique=True))
    rows = [{"id": one, **{name: draw(values[name]) for name in names}} for one in ids]
    for row in rows[::2]:  # as many authors write what is null
        for name in [name for name in row if row[name] is None]:
            del row[name]
    cut = draw(st.integers(0, len(rows)))
    return Tasks({"train": rows[:cut], "test": rows[cut:]}, roles, {})


def meaning(folder: str, model: Tasks, form: Form) -> str:
    return scan(Path(folder), model, form).index().meaning


@FEW
@given(task_sets(typed=False), st.integers(1, 4), st.booleans(), st.booleans(), st.text("az", max_size=3))
def test_an_index_is_one_under_key_order_whitespace_cuts_and_names_of_files(model, files, reverse, spaces, prefix):
    with tempfile.TemporaryDirectory() as folder:
        form = Form(files=files, reverse=reverse, spaces=spaces, prefix=prefix)
        assert meaning(folder, model, form) == meaning(folder, model, Form())


@FEW
@given(task_sets(typed=True), st.integers(1, 3), st.integers(1, 5))
def test_an_index_is_one_for_json_lines_and_parquet(model, files, group):
    with tempfile.TemporaryDirectory() as folder:
        form = Form(".parquet", files=files, group=group)
        assert meaning(folder, model, form) == meaning(folder, model, Form())


@FEW
@given(task_sets(typed=False), st.integers(0, 12))
def test_an_index_comes_back_from_a_record_as_it_was(model, most):
    with tempfile.TemporaryDirectory() as folder:
        scanned = scan(Path(folder), model)
        index = recorded(scanned.index(most))
        assert index.meaning == scanned.index().meaning
        assert recorded(index) == index
        again = since_release(index, scan(Path(folder), model, old=index.roles))
        assert classify_tasks(again) == ()


class Edits:
    """Edits of one release, each with a target of its own: a task, a field of a task, a field, a split, a resource.

    That no edit takes back what another did is what makes the property true: whoever restores a task that was removed
    needs no bump for it.
    """

    def __init__(self, model: Tasks) -> None:
        self.model = model
        self.rows = {row["id"]: row for rows in model.splits.values() for row in rows}

    def edit(self, name: str, field: str) -> None:
        self.rows[name][field] = f"edited {field}"

    def rename(self, name: str) -> None:
        self.rows[name]["id"] = f"renamed-{name}"

    def remove(self, name: str) -> None:
        for rows in self.model.splits.values():
            rows[:] = [row for row in rows if row is not self.rows[name]]

    def move(self, name: str) -> None:
        other = "train" if self.rows[name] in self.model.splits["test"] else "test"
        self.remove(name)
        self.model.splits[other].insert(0, self.rows[name])

    def add(self, split: str, number: int) -> None:
        rows = self.model.splits.setdefault(split, [])
        rows.insert(number % (len(rows) + 1), task(number))

    def reorder(self, split: str) -> None:
        released = {id(row) for row in self.rows.values()}
        rows = self.model.splits[split]
        places = [place for place, row in enumerate(rows) if id(row) in released]
        for place, row in zip(places, [rows[place] for place in reversed(places)], strict=True):
            rows[place] = row

    def give(self, field: str, role: str) -> None:
        self.model.roles[field] = role
        for row in self.rows.values():
            row[field] = "the same"

    def fill(self, name: str) -> None:
        self.rows[name]["filled"] = name

    def drop(self, field: str) -> None:
        self.model.roles.pop(field)
        for rows in self.model.splits.values():
            for row in rows:
                row.pop(field, None)

    def role(self, field: str, role: str) -> None:
        self.model.roles[field] = role

    def resource(self, name: str, digest: str) -> None:
        self.model.resources[name] = digest * 64


RELEASED = tasks(train=5, test=4)
IDS = [row["id"] for rows in RELEASED.splits.values() for row in rows]
CONTENT = ("question", "gold", "check", "database")


@st.composite
def edit_sequences(draw) -> list[Callable[[Edits], None]]:
    """Up to five edits, as functions."""
    dropped = draw(st.sampled_from([None, None, None, *ROLES]))
    fields = [name for name in ROLES if name != dropped]
    name = st.sampled_from(IDS)
    # What happens to a task as a whole happens to it once.
    fates = draw(st.dictionaries(name, st.sampled_from(["rename", "remove", "move"]), max_size=2))
    found = [lambda edits, one=one, fate=fate: getattr(edits, fate)(one) for one, fate in fates.items()]
    for one, field in draw(st.sets(st.tuples(name, st.sampled_from(fields)), max_size=2)):
        found.append(lambda edits, one=one, field=field: edits.edit(one, field))
    for number in draw(st.sets(st.integers(500, 520), max_size=2)):
        split = draw(st.sampled_from(["train", "train", "test", "dev"]))
        found.append(lambda edits, split=split, number=number: edits.add(split, number))
    for split in draw(st.sets(st.sampled_from(["train", "test"]), max_size=1)):
        found.append(lambda edits, split=split: edits.reorder(split))
    for role in draw(st.sets(st.sampled_from(["input", "target", "meta"]), max_size=1)):
        found.append(lambda edits, role=role: edits.give("given", role))
    for one in draw(st.sets(name, max_size=1)):
        found.append(lambda edits, one=one: edits.fill(one))
    for name_ in draw(st.sets(st.sampled_from(["flights", "unnamed", "more"]), max_size=1)):
        found.append(lambda edits, name_=name_: edits.resource(name_, "c"))
    for field in draw(st.sets(st.sampled_from(fields), max_size=1)):
        found.append(lambda edits, field=field: edits.role(field, "meta" if ROLES[field] != "meta" else "input"))
    if dropped is not None:
        found.append(lambda edits: edits.drop(dropped))
    return draw(st.permutations(found))[:5]


@FEW
@given(edit_sequences())
def test_a_diff_is_one_whether_equal_lines_are_left_out_or_read(sequence):
    edits = Edits(RELEASED.copy())
    for edit in sequence:
        edit(edits)
    with tempfile.TemporaryDirectory() as folder:
        old, new = write(Path(folder), RELEASED), write(Path(folder), edits.model)
        before = index_tasks(old)
        assert list(diff_tasks(old, new)) == list(differences(before, index_tasks(new, released=before.roles)))


@settings(max_examples=40, deadline=None)
@given(edit_sequences(), st.sampled_from([100_000, 100_000, 4, 0]))
def test_an_edit_more_never_lowers_the_level(sequence, most):
    with tempfile.TemporaryDirectory() as folder:
        index = recorded(scan(Path(folder), RELEASED).index(most))
        edits, levels = Edits(RELEASED.copy()), [Level.NONE]
        for edit in sequence:
            edit(edits)
            new = scan(Path(folder), edits.model, old=index.roles)
            since = since_release(index, new)
            levels.append(max((change.level for change in classify_tasks(since)), default=Level.NONE))
            # What is the same has the same meaning, and what costs a number its place in the table is major.
            assert (levels[-1] is Level.NONE) is (new.index().meaning == index.meaning)
            assert comparable(since, "test")[0] or levels[-1] is Level.MAJOR
        assert levels == sorted(levels)
