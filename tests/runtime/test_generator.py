"""Tasks that a generator makes: one for each seed, when it is asked for, and an author's error where there is none."""

from __future__ import annotations

import hashlib
import itertools
import json

import pytest

from hfenv.errors import AuthorCodeError, NotFoundError, UnreadableError, UsageError
from hfenv.runtime.loader import load_environment
from hfenv.runtime.pool import EnvironmentPool
from hfenv.runtime.tasks import MOST_SEARCHED, read_tasks

GENERATOR = """
    from pathlib import Path

    from .numbers import LEVELS

    MADE = []

    def generate(split, seed, rng):
        MADE.append(seed)
        number = rng.randrange(10)
        return {
            "question": f"{number} + {seed}", "answer": str(number + seed), "level": LEVELS[seed % 10 == 0],
            "split": split, "data": Path(__file__).with_name("data.txt").read_text(),
        }
"""


@pytest.fixture
def generated(folder):
    def make(first=0, stop=100, text=GENERATOR):
        folder.write("tasks/generate.py", text)
        folder.write("tasks/numbers.py", 'LEVELS = ("easy", "hard")')
        folder.write("tasks/data.txt", "beside")
        return folder.card(tasks={"generator": "tasks/generate.py:generate", "seeds": {"train": [first, stop]}})

    return make


def tasks_of(folder):
    return read_tasks(folder.part("tasks"), None)


def made(tasks):
    return tasks._generator._function.__globals__["MADE"]


def test_a_task_has_its_split_and_seed_as_id_and_is_found_by_it(generated):
    tasks = tasks_of(generated(5, 50))
    assert len(tasks) == 45
    row = tasks.by_id("train-7")
    assert row == tasks[2]
    assert (row["id"], row["split"], row["data"]) == ("train-7", "train", "beside\n")
    assert next(iter(row)) == "id"
    assert tasks[-1]["id"] == tasks.ids[-1] == "train-49"
    assert tasks.ids[:2] == ["train-5", "train-6"]
    assert "train-49" in tasks.ids
    assert "train-50" not in tasks.ids
    assert [task["id"] for task in tasks] == list(tasks.ids)


@pytest.mark.parametrize(
    "wrong",
    ["train-4", "train-50", "train-07", "train-+7", "train- 7", "train-7 ", "train-\u0667", "train-7_0", "train-",
     "train--7", "test-7", "7", "", "train-" + "9" * 5000, "train-7.0", "train-0x7"],
)  # fmt: skip
def test_an_id_that_no_seed_has_is_refused(wrong, generated):
    tasks = tasks_of(generated(5, 50))
    with pytest.raises(NotFoundError, match="has no task"):
        tasks.by_id(wrong)
    with pytest.raises(UsageError, match="is a text"):
        tasks.by_id(7)


def test_a_seed_picks_as_among_rows(generated):
    tasks = tasks_of(generated(1000, 2000))
    for seed in range(20):
        index = int.from_bytes(hashlib.sha256(f"hfenv:{seed}".encode()).digest(), "big") % 1000
        assert tasks.by_seed(seed)["id"] == f"train-{1000 + index}"


def test_its_random_numbers_come_from_split_and_seed_alone(generated):
    tasks = tasks_of(generated(0, 1000))
    numbers = [int(task["question"].split()[0]) for task in itertools.islice(tasks, 200)]
    assert {*numbers} == {*range(10)}
    assert numbers[::-1] == [int(tasks[index]["question"].split()[0]) for index in range(199, -1, -1)]
    # Recorded once: whoever loads a release has to get its tasks for ever.
    assert numbers[:12] == [5, 6, 1, 5, 6, 0, 7, 8, 5, 7, 5, 2]


def test_a_huge_range_costs_nothing_and_only_what_is_asked_for_is_made(generated):
    tasks = tasks_of(generated(7, 9_223_372_036_854_775_807))
    assert len(tasks) == 9_223_372_036_854_775_800
    tasks.by_seed(1)
    assert tasks[-1]["id"] == "train-9223372036854775806"
    assert [row["id"] for row in itertools.islice(tasks, 2)] == ["train-7", "train-8"]
    assert len(made(tasks)) == 4
    with pytest.raises(IndexError):
        tasks[len(tasks) - 1 + 1]


def test_whoever_takes_a_row_gets_a_copy_and_a_group_asks_once(generated):
    tasks = tasks_of(generated())
    row = tasks.by_id("train-3")
    row["question"] = "mine"
    assert tasks.by_id("train-3")["question"] != "mine"
    assert made(tasks) == [3]


class TestWhere:
    def test_a_small_range_is_searched_once(self, generated):
        tasks = tasks_of(generated(0, 100))
        assert tasks.matching({"level": "hard"}) == [*range(0, 100, 10)]
        row = tasks.by_seed(5, {"level": ["hard", "harder"]})
        index = int.from_bytes(hashlib.sha256(b"hfenv:5").digest(), "big") % 10
        assert row["id"] == f"train-{10 * index}"
        assert len(made(tasks)) == 101
        with pytest.raises(NotFoundError, match="No task of split 'train' has level='none'"):
            tasks.by_seed(5, {"level": "none"})
        with pytest.raises(UsageError, match="'answer' is no meta field"):
            tasks.by_seed(5, {"answer": "7"})

    def test_from_a_large_one_tasks_are_drawn_until_one_matches(self, generated):
        tasks = tasks_of(generated(0, 10**12))
        found = {tasks.by_seed(seed, {"level": "hard"})["id"] for seed in range(20)}
        assert len(found) > 15
        assert all(task.endswith("0") for task in found)
        assert tasks.by_seed(3, {"level": ["easy", "hard"]}) == tasks.by_seed(3)
        before = len(made(tasks))
        with pytest.raises(NotFoundError, match="None of 1,000 tasks drawn"):
            tasks.by_seed(5, {"level": "none"})
        assert len(made(tasks)) - before <= MOST_SEARCHED
        with pytest.raises(UsageError, match="which aren't all made to find some"):
            tasks.matching({"level": "hard"})
        with pytest.raises(UsageError, match="'answer' is no meta field"):
            tasks.by_seed(5, {"answer": "7"})


def test_an_environment_plays_them_and_filters_them(generated):
    with load_environment(generated(0, 10**9).spec()) as env:
        assert "1000000000 tasks" in repr(env)
        _, info = env.reset(seed=1, options={"where": {"level": "hard"}})
        assert info["task_id"].endswith("0")
        assert env.task_row["level"] == "hard"
        assert "answer" not in env.task
        assert env.step(env.task_row["answer"]).reward == 1.0


WORKERS = """
    import os

    def generate(split, seed, rng):
        return {"question": str(rng.random()), "answer": "0", "level": "easy"}
"""


def test_workers_make_the_same_tasks_as_this_process(generated):
    spec = generated(0, 10**12, WORKERS).spec()
    with EnvironmentPool(spec, 2) as pool:
        episodes = list(pool.rollout("oracle", episodes=6, seed=3))
    with load_environment(spec) as env:
        for episode in episodes:
            env.reset(seed=episode.seed)
            assert json.dumps(env.task_row) == json.dumps(dict(episode.task))
    assert len({episode.task_id for episode in episodes}) == 6


BAD = """
    import os, time

    def generate(split, seed, rng):
        if seed == 1:
            raise ValueError("no task for you")
        if seed == 2:
            return {"question": float("nan"), "answer": "0", "level": "easy"}
        if seed == 3:
            time.sleep(600)
        if seed == 4:
            os._exit(7)
        if seed == 5:
            return None
        return {"question": "0 + 0", "answer": "0", "level": "easy"}
"""


@pytest.mark.parametrize(
    ("seed", "message"),
    [(1, r"generate\.py, line \d+: ValueError: no task for you"), (2, r"\['question'\] is nan"), (5, "a NoneType")],
)
def test_a_task_that_cant_be_made_is_an_error_of_the_author(seed, message, generated):
    with load_environment(generated(0, 9, BAD).spec()) as env:
        with pytest.raises(AuthorCodeError, match=message):
            env.reset(task_id=f"train-{seed}")
        env.reset(task_id="train-0")
        assert env.step("0").reward == 1.0


def test_in_a_pool_it_spoils_its_own_episode_and_no_other(generated):
    spec = generated(0, 9, BAD).spec()
    ids = [f"train-{seed}" for seed in (0, 1, 2, 3, 4, 5, 6)]
    with EnvironmentPool(spec, 2, setup_timeout=3.0, retries=0) as pool:
        episodes = list(pool.rollout("oracle", tasks=ids, seed=0))
    assert [episode.task_id for episode in episodes] == ids
    assert {episode.task_id: episode.status for episode in episodes} == {
        task: "ok" if task in ("train-0", "train-6") else "infra_fault" for task in ids
    }
    assert [episode.total for episode in episodes] == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("generate = 1", "is no function"),
        ("class generate:\n    pass", "is no function"),
        ("def other(split, seed, rng):\n    return {}", "defines no 'generate'"),
        ("raise RuntimeError('not today')", "can't be imported.*not today"),
        ("from env.environment import Sums\ndef generate(split, seed, rng):\n    return {}", "can't be imported"),
    ],
)
def test_a_generator_that_is_none_is_told_when_it_is_loaded(text, message, generated):
    with pytest.raises(AuthorCodeError, match=message):
        tasks_of(generated(text=text))


def test_seeds_without_a_generator_and_a_range_without_seeds_are_refused(generated):
    folder = generated(5, 5)
    with pytest.raises(NotFoundError, match="has no tasks"):
        tasks_of(folder)
    del folder.block["tasks"]["generator"]
    with pytest.raises(UnreadableError, match="names no generator"):
        tasks_of(folder)


def test_two_revisions_live_side_by_side(generated, make_folder):
    one = tasks_of(generated())
    other = make_folder("other")
    other.write("tasks/generate.py", WORKERS).card(
        tasks={"generator": "tasks/generate.py:generate", "seeds": {"train": [0, 5]}}
    )
    assert tasks_of(other)[0]["answer"] == "0"
    assert "split" in one[0]
