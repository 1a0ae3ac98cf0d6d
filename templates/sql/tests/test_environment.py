"""The environment's own tests: what is paid and what isn't. Run them with `python -m pytest tests`."""

import json
import sqlite3
from pathlib import Path

import hfenv
import pytest

ROOT = Path(__file__).resolve().parent.parent
SPLITS = ("train", "test")


def tasks(split):
    return [json.loads(line) for line in (ROOT / "tasks" / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module", params=SPLITS)
def play(request):
    """All tasks of a split with a function that gives the reward of one query."""
    env = hfenv.load(str(ROOT), split=request.param)

    def reward(task, sql):
        env.reset(task_id=task["id"])
        return env.step(sql).reward

    yield [(task, lambda sql, task=task: reward(task, sql)) for task in tasks(request.param)]
    env.close()


def test_the_gold_query_earns_everything(play):
    for task, reward in play:
        assert reward(task["gold_sql"]) == pytest.approx(1.0), task["id"]


@pytest.mark.parametrize(
    "sql", ["", "SELEC 1", "SELECT nothing FROM orders", "SELECT 1; SELECT 2", "SELECT sql FROM sqlite_master"]
)
def test_failures_cost_something(play, sql):
    assert all(reward(sql) < 0 for _, reward in play)


@pytest.mark.parametrize(
    "sql", ["DROP TABLE orders", "DELETE FROM orders", "ATTACH 'x' AS x", "PRAGMA user_version = 1"]
)
def test_destructive_statements_cost_most_and_change_nothing(play, sql):
    for task, reward in play:
        assert reward(sql) == -1.0
        assert reward(task["gold_sql"]) == pytest.approx(1.0)


def test_an_answer_learned_by_heart_earns_next_to_nothing(play):
    database = sqlite3.connect(":memory:")
    database.executescript((ROOT / "tasks" / "resources" / "shop.sql").read_text(encoding="utf-8"))
    for task, reward in play:
        rows = database.execute(task["gold_sql"]).fetchall()
        constants = " UNION ALL ".join(f"SELECT {', '.join(map(literal, row))}" for row in rows)
        assert reward(constants) == 0.0
        assert reward(f"SELECT * FROM ({constants}) WHERE (SELECT COUNT(*) FROM orders) > 0") <= 0.1
    database.close()


def literal(value):
    return (
        "NULL"
        if value is None
        else repr(value)
        if isinstance(value, (int, float))
        else "'" + value.replace("'", "''") + "'"
    )


def test_an_endless_query_is_stopped(play):
    endless = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT MAX(x) FROM r"
    assert all(reward(endless) < 0 for _, reward in play)


def test_code_and_reward_read_databases_in_the_same_way():
    assert (ROOT / "env" / "database.py").read_bytes() == (ROOT / "reward" / "database.py").read_bytes()


def test_no_question_is_asked_twice():
    questions = [task["question"] for split in SPLITS for task in tasks(split)]
    assert len(set(questions)) == len(questions)
