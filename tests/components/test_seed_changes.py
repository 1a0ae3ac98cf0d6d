"""What changed in generated splits: seeds, sampled tasks and the generator, and what that needs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hfenv.card.reader import manifest, read_card
from hfenv.components.ownership import walk
from hfenv.components.tasks.changes import classify_tasks, comparable
from hfenv.components.tasks.index import TaskIndex, index_tasks, task_source
from hfenv.components.tasks.record import from_json, to_json
from hfenv.components.tasks.since import SinceRelease, since_release
from hfenv.components.versions import Level
from hfenv.errors import UnreadableError
from tests.arithmetic import GENERATOR, write_arithmetic
from tests.support import replace_in

SEEDS = "[0, 100000], test: [100000, 100200]"
SAMPLED = 5


def rows(split, first, count=SAMPLED, **changed):
    tasks = (
        {"id": f"{split}-{seed}", "question": f"{seed} + 1?", "answer": str(seed + 1), "difficulty": "easy"} | changed
        for seed in range(first, first + count)
    )
    return "".join(json.dumps(task) + "\n" for task in tasks)


class Environment:
    """A folder with samples as they are written here: nothing runs."""

    def __init__(self, root: Path) -> None:
        self.root = write_arithmetic(root, most=None)
        self.write("train", rows("train", 0)).write("test", rows("test", 100_000))

    def write(self, split: str, text: str) -> Environment:
        path = self.root / f"tasks/sample/{split}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return self

    def seeds(self, text: str) -> Environment:
        replace_in(self.root / "README.md", SEEDS, text)
        return self

    def card(self, old: str, new: str) -> Environment:
        replace_in(self.root / "README.md", old, new)
        return self

    def generator(self, text: str) -> Environment:
        (self.root / "tasks/generate.py").write_text(text)
        return self

    def index(self) -> TaskIndex:
        return from_json(json.loads(json.dumps(to_json(self._scanned().index()))), "release.json")

    def since(self, old: TaskIndex) -> SinceRelease:
        return since_release(old, self._scanned(old.roles))

    def _scanned(self, released=None):
        block = manifest(read_card(self.root / "README.md"))
        return index_tasks(task_source(self.root, block, walk(self.root)), released=released, workers=1)


@pytest.fixture
def environment(tmp_path):
    return Environment(tmp_path / "arithmetic")


@pytest.fixture
def released(environment):
    return environment.index()


def changes(environment, released):
    since = environment.since(released)
    found = classify_tasks(since)
    assert (since.old.meaning == environment.index().meaning) is (found == ())
    return [(change.kind.value, change.name, change.level, change.count) for change in found]


def may_compare(environment, released, split="test"):
    return comparable(environment.since(released), split)


def test_nothing_changed(environment, released):
    assert changes(environment, released) == []
    yes, why = may_compare(environment, released)
    assert yes
    assert why == "the same 200 test tasks, as far as 5 sampled ones tell"


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [
        ("[0, 99000], test: [100000, 100200]", [("task-removed", "train", Level.MAJOR, 1000)]),
        ("[0, 99999], test: [100000, 100200]", [("task-removed", "train", Level.MAJOR, 1)]),
        ("[0, 100000], test: [100000, 100300]", [("task-added-evaluation", "test", Level.MAJOR, 100)]),
        ("[0, 100000], test: [100000, 100199]", [("task-removed", "test", Level.MAJOR, 1)]),
    ],
)
def test_fewer_seeds_and_more_of_an_evaluation_need_a_major_version(seeds, expected, environment, released):
    environment.seeds(seeds)
    assert changes(environment, released) == expected
    assert may_compare(environment, released, "test")[0] is (expected[0][1] != "test")


def test_more_training_seeds_need_a_minor_version(environment):
    environment.card(SEEDS, "[0, 90000], test: [100000, 100200]")
    released = environment.index()
    environment.card("[0, 90000]", "[0, 100000]")
    assert changes(environment, released) == [("task-added-training", "train", Level.MINOR, 10_000)]
    assert may_compare(environment, released, "test")[0]
    assert may_compare(environment, released, "train") == (False, "10,000 train tasks added")


def test_other_seeds_are_removed_and_added_ones(environment, released):
    environment.seeds("[0, 100000], test: [300000, 300200]").write("test", rows("test", 300_000))
    found = changes(environment, released)
    assert found == [
        ("task-removed", "test", Level.MAJOR, 200),
        ("task-added-evaluation", "test", Level.MAJOR, 200),
    ]


def test_a_shifted_range_removes_adds_and_leaves_the_common_sampled_tasks_compared(environment, released):
    environment.seeds("[2, 100002], test: [200000, 200200]").write("train", rows("train", 2))
    environment.write("test", rows("test", 200_000))
    found = changes(environment, released)
    assert ("task-removed", "train", Level.MAJOR, 2) in found
    assert ("task-added-training", "train", Level.MINOR, 2) in found
    assert not any(kind in ("task-edited", "task-renamed", "task-unknown") for kind, *_ in found)


def test_an_edited_sampled_task_is_an_edited_task(environment, released):
    environment.write("test", rows("test", 100_000, 2, answer="0") + rows("test", 100_002, 3))
    assert changes(environment, released) == [("task-edited", "test", Level.MAJOR, 2)]
    assert may_compare(environment, released) == (False, "2 of 200 test tasks edited")


def test_a_generator_with_an_equal_sample_needs_a_patch_and_says_on_how_many_tasks(environment, released):
    environment.generator(GENERATOR.replace("0.25", "0.26"))
    since = environment.since(released)
    assert changes(environment, released) == [("generator", "generator", Level.PATCH, None)]
    message = classify_tasks(since)[0].message
    assert message == (
        "the generator changed, and 5 sampled train tasks and 5 sampled test tasks in the folder didn't; "
        "hfenv tasks sample --check tells whether it still makes them"
    )
    assert may_compare(environment, released)[0]


def test_a_generator_with_another_sample_says_so(environment, released):
    environment.generator(GENERATOR.replace("0.25", "0.26")).write("test", rows("test", 100_000, answer="0"))
    found = classify_tasks(environment.since(released))
    assert max(change.level for change in found) is Level.MAJOR
    assert found[-1].message == "the generator changed, and 5 of 10 sampled tasks with it"


@pytest.mark.parametrize(
    ("old", "new", "is_change"),
    [('"""One sum."""', '"""Two numbers."""', False), ("    hard =", "    # how hard\n    hard =", False),
     ("10**6", "10**7", True)],
)  # fmt: skip
def test_comments_of_a_generator_mean_nothing(old, new, is_change, environment, released):
    environment.generator(GENERATOR.replace(old, new))
    assert bool(changes(environment, released)) is is_change


def test_what_lies_beside_the_generator_is_part_of_it_and_entry_too(environment, released):
    (environment.root / "tasks/words.txt").write_text("one\n")
    assert changes(environment, released) == [("generator", "generator", Level.PATCH, None)]
    (environment.root / "tasks/words.txt").unlink()
    assert changes(environment, released) == []
    environment.card("generate.py:generate", "generate.py:other")
    assert changes(environment, released) == [("generator", "generator", Level.PATCH, None)]


def test_a_longer_sample_is_no_change_of_the_tasks_but_another_record(environment, released):
    environment.write("test", rows("test", 100_000, 9))
    since = environment.since(released)
    assert classify_tasks(since) == ()
    assert comparable(since, "test") == (True, "the same 200 test tasks, as far as 5 sampled ones tell")


def test_a_shorter_sample_can_hide_nothing(environment, released):
    environment.write("test", rows("test", 100_000, 3))
    assert changes(environment, released) == [("task-unknown", "test", Level.MAJOR, 2)]
    assert not may_compare(environment, released)[0]


@pytest.mark.parametrize("generated_first", [True, False])
def test_a_split_that_begins_or_stops_being_generated_is_another_one(generated_first, environment):
    first = environment.index()
    environment.seeds("[0, 100000]")
    second = environment.index()
    if not generated_first:
        environment.card("[0, 100000]", SEEDS)
    found = changes(environment, first if generated_first else second)
    assert [one for one in found if one[0] == "task-unknown"] == [("task-unknown", "test", Level.MAJOR, None)]
    assert not may_compare(environment, first if generated_first else second)[0]


def test_a_new_split_counts_its_seeds_and_a_removed_one_too(environment):
    both = environment.index()
    environment.card(", test: tasks/sample/test.jsonl", "").card(", test: [100000, 100200]", "")
    sample = environment.root / "tasks/sample/test.jsonl"
    sample.rename(environment.root / "sample.jsonl")
    one = environment.index()
    found = changes(environment, both)
    assert found == [("task-removed", "test", Level.MAJOR, 200), ("split-removed", "test", Level.MAJOR, 200)]
    (environment.root / "sample.jsonl").rename(sample)
    environment.card("sample/train.jsonl", "sample/train.jsonl, test: tasks/sample/test.jsonl")
    environment.card("[0, 100000]", SEEDS)
    found = changes(environment, one)
    assert found == [("split-added", "test", Level.MINOR, 200)]


def test_a_sample_too_long_for_a_record_is_known_as_a_whole(environment):
    scanned = environment._scanned()
    old = from_json(to_json(scanned.index(most=5)), "release.json")
    assert old.rows.split("train") is None
    assert changes(environment, old) == []
    environment.write("train", rows("train", 0, answer="0"))
    assert changes(environment, old) == [("task-edited", "train", Level.MAJOR, None)]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data["splits"]["test"].update(seeds=[0]),
        lambda data: data["splits"]["test"].update(seeds=[100000, 100000.0]),
        lambda data: data["splits"]["test"].update(seeds=[True, 100200]),
        lambda data: data["splits"]["test"].update(seeds=[-1, 100200]),
        lambda data: data["splits"]["test"].update(seeds=[100000, 100004]),
        lambda data: data["splits"]["test"].update(seeds=[100001, 100200]),
        lambda data: data["splits"]["test"].update(seeds="[100000, 100200]"),
        lambda data: data.pop("generator"),
        lambda data: data.update(generator="x"),
        lambda data: [split.pop("seeds") for split in data["splits"].values()],
    ],
)
def test_a_damaged_record_is_refused(damage, released):
    data = json.loads(json.dumps(to_json(released)))
    damage(data)
    with pytest.raises(UnreadableError, match=r"release\.json"):
        from_json(data, "release.json")


def test_seeds_and_generator_are_part_of_the_meaning(released):
    other = replace(released, generator="0" * 64)
    assert len({released.meaning, other.meaning, replace(released, seeds={}).meaning}) == 3
