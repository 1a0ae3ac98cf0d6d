"""The environment as a trainer sees it: what is shown, what is paid, and what stays hidden."""

import json
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def test_guard_is_the_same_in_code_and_reward():
    assert (ROOT / "env" / "guard.py").read_bytes() == (ROOT / "reward" / "guard.py").read_bytes()


def test_every_grade_has_at_least_two_hundred_tasks(tasks):
    grades = Counter(task["difficulty"] for split in tasks.values() for task in split)
    assert set(grades) == {"easy", "medium", "hard"}
    assert min(grades.values()) >= 200
    assert {task["edge"] for split in tasks.values() for task in split} == {
        "none", "empty", "duplicates", "special characters", "large"
    }  # fmt: skip


def test_no_two_tasks_ask_the_same_in_or_across_splits(tasks):
    every = [task for split in tasks.values() for task in split]
    for field in ("id", "question", "gold_sql"):
        assert len({task[field].lower() for task in every}) == len(every)
    answers = [task["hidden_rows"] if task["gold_rows"] == "[]" else task["gold_rows"] for task in every]
    assert len(set(answers)) == len(every)


def test_what_is_shown_holds_no_answer(environment, tasks):
    task = tasks["test"][0]
    observation, info = environment.reset(task_id=task["id"])
    assert observation == {"question": task["question"], "schema": task["schema"]}
    after, _, _, _, stepped = environment.step("SELECT 1")
    shown = json.dumps([observation, info, after, stepped], default=str)
    assert task["gold_sql"] not in shown
    assert "hidden" not in shown


def test_gold_queries_earn_the_full_mark(tasks, play):
    for task in tasks["test"][::18]:
        assert play(task["id"], task["gold_sql"])[0] == pytest.approx(1.0), task["id"]


@pytest.mark.parametrize("change", ["{}", "{} ;", "-- because\n{}", "\r\n{}\r\n", "SELECT * FROM ({}) WHERE 1"])
def test_harmless_variants_earn_the_same(tasks, play, change):
    task = next(task for task in tasks["test"] if not task["ordered"] and task["difficulty"] == "medium")
    assert play(task["id"], change.format(task["gold_sql"]))[0] == pytest.approx(1.0)


def test_partial_credit_grows_with_the_right_rows(tasks, play):
    task = next(task for task in tasks["test"] if task["edge"] == "large")
    parts = [play(task["id"], f"SELECT * FROM ({task['gold_sql']}) LIMIT {n}")[0] for n in (1, 20, 100)]
    assert 0 < parts[0] < parts[1] < parts[2] < 0.5


def test_penalties_are_ranked(tasks, play):
    name = tasks["test"][0]["id"]
    queries = (
        "SELECT name FROM airlines",
        "SELECT x FROM flights",
        "SELECT FROM",
        "",
        "SELECT 1; SELECT 2",
        "DROP TABLE x",
    )
    wrong, failed, syntax, empty, several, destructive = (play(name, sql)[0] for sql in queries)
    assert wrong >= 0 > failed > syntax > empty > several > destructive == -1.0


def test_render_makes_a_prompt_of_question_and_result(environment, tasks):
    observation, _ = environment.reset(task_id=tasks["test"][0]["id"])
    (first,) = environment.render(observation)
    assert tasks["test"][0]["question"] in first["content"]
    after, *_ = environment.step(environment.parse("It is:\n```sql\nSELECT carrier FROM airlines\n```"))
    (second,) = environment.render(after)
    assert "16 rows" in second["content"]


def test_policies_on_the_card(tasks, play):
    from audit.policies import heuristic, oracle

    sample = tasks["test"][5::20]
    earned = {
        name: sum(max(0.0, play(task["id"], policy(task, None, {}, None))[0]) for task in sample) / len(sample)
        for name, policy in (("oracle", oracle), ("heuristic", heuristic))
    }
    assert earned["oracle"] == pytest.approx(1.0)
    assert 0.5 <= earned["heuristic"] <= 0.9
