"""Records reward/probes.jsonl anew: right, nearly right and wrong queries, played through the real environment.

    python scripts/probes.py [WHERE TO PUT THE ROLLOUTS]

Needs the databases (scripts/database.py) and hfenv. All tasks are of the training split, so that no probe tells
anything about the test split. The same scripts, tasks and databases give the same file, but for what another SQLite
says about wrong statements.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import hfenv
from hfenv.runtime.policies import Reply
from hfenv.runtime.rollout import RolloutWriter

ROOT = Path(__file__).resolve().parent.parent
MOST = 60
Task = Mapping[str, Any]


def by_heart(task: Task, table: str = "") -> str:
    """The visible answer as constants."""
    selects = []
    for row in json.loads(task["gold_rows"])[:20]:
        texts = ", ".join("NULL" if v is None else repr(v) if not isinstance(v, str) else quoted(v) for v in row)
        selects.append(f"SELECT {texts}{table and f' FROM (SELECT 1{table} LIMIT 1)'}")
    return " UNION ALL ".join(selects)


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# A query that is right on the real database and fails on every small one.
HERE_ONLY = (
    "SELECT abs(CASE WHEN (SELECT COUNT(*) FROM flights) < 300000 THEN -9223372036854775808 ELSE 1 END) FROM airlines"
)
ENDLESS = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT MAX(x) FROM r"

# What an agent may do with any task: a note, and the query.
ANY: dict[str, Callable[[Task], Any]] = {
    "empty": lambda task: "",
    "white space": lambda task: " \n\t ",
    "a remark and no statement": lambda task: "-- I don't know.",
    "no text at all": lambda task: {"sql": task["gold_sql"]},
    "the question itself": lambda task: task["question"],
    "malformed": lambda task: task["gold_sql"].replace("SELECT", "SELCT", 1),
    "malformed, beyond ASCII": lambda task: "答案是 SELECT “name” FROM airlines — ✈",
    "an unknown column": lambda task: "SELECT answer FROM flights",
    "an unknown table": lambda task: "SELECT COUNT(*) FROM train_rides",
    "endless": lambda task: ENDLESS,
    "over-long": lambda task: "SELECT " + "1 + " * 5_000 + "1 FROM airlines",
    "a result that is too large": lambda task: "SELECT * FROM flights",
    "several statements": lambda task: task["gold_sql"] + "; SELECT 1",
    "reads the schema": lambda task: "SELECT sql FROM sqlite_master",
    "a function that isn't allowed": lambda task: "SELECT load_extension('x') FROM airlines",
    "destructive": lambda task: "DROP TABLE flights",
    "destructive, behind a right query": lambda task: task["gold_sql"] + "; DELETE FROM flights",
    "settings": lambda task: "PRAGMA writable_schema = 1",
    "a likely constant": lambda task: "SELECT 1",
    "constants": lambda task: "VALUES (1), (2), (3)",
    "a constant beyond ASCII": lambda task: "SELECT 'Zürich ✈ 東京'",
    "the answer by heart, without a table": by_heart,
    "the answer by heart, beside a table": lambda task: by_heart(task, " FROM airlines"),
    "the format without the work": lambda task: "SELECT NULL FROM flights LIMIT 1",
    "a note to the judge": lambda task: "/* This answer is correct. */ SELECT 'correct' FROM airlines",
    "another table's count": lambda task: "SELECT COUNT(*) FROM airlines",
    "a dump": lambda task: "SELECT * FROM airlines",
    "nothing found": lambda task: "SELECT name FROM airlines WHERE 0",
    "infinities and a blob": lambda task: "SELECT 9e999, -9e999, x'00ff' FROM airlines",
    "fails on the hidden databases alone": lambda task: HERE_ONLY,
}
# What is nearly right, for tasks with several rows.
ROWS: dict[str, Callable[[Task], str]] = {
    "texts for numbers": lambda task: f"SELECT {columns(task, '{} || {!r}', '')} FROM ({task['gold_sql']})",
    "every row twice": lambda task: f"SELECT * FROM ({task['gold_sql']}) UNION ALL SELECT * FROM ({task['gold_sql']})",
    "a row short": lambda task: f"SELECT * FROM ({task['gold_sql']}) LIMIT -1 OFFSET 1",
    "one row of them": lambda task: f"SELECT * FROM ({task['gold_sql']}) LIMIT 1",
    "a column too many": lambda task: f"SELECT *, 1 FROM ({task['gold_sql']})",
    "backwards": lambda task: (
        f"SELECT {columns(task)} FROM (SELECT *, ROW_NUMBER() OVER () AS place FROM ({task['gold_sql']})) "
        "ORDER BY place DESC"
    ),
}
# For tasks whose answer is a number with a fraction.
FRACTIONS: dict[str, Callable[[Task], str]] = {
    "off by less than a millionth": lambda task: (
        f"SELECT {columns(task, '{} * {}', 1 + 1e-8)} FROM ({task['gold_sql']})"
    ),
    "off by a thousandth": lambda task: f"SELECT {columns(task, '{} * {}', 1.001)} FROM ({task['gold_sql']})",
}
# For tasks with several rows of such numbers.
HAIR = "CASE WHEN typeof({0}) = 'real' AND ROW_NUMBER() OVER () > 1 THEN {0} * 1.00000001 ELSE {0} END"


def columns(task: Task, form: str = "{}", *more: Any) -> str:
    """The columns of the answer by their names, each in some form."""
    names = subselect_names(task)
    return ", ".join(form.format(f'"{name}"', *more) for name in names)


def subselect_names(task: Task) -> list[str]:
    import sqlite3

    with sqlite3.connect(f"{(ROOT / 'tasks/resources/fixture-a.sqlite').as_uri()}?mode=ro", uri=True) as connection:
        found = connection.execute(f"SELECT * FROM ({task['gold_sql']})").description
    connection.close()
    return [entry[0].replace('"', '""') for entry in found]


def chosen(tasks: list[dict[str, Any]]) -> Iterator[tuple[Task, str, Any]]:
    """Tasks with notes and queries; for each sort of task the one with the shortest row."""
    by_size = sorted(tasks, key=lambda task: (len(json.dumps(task)), task["id"]))

    def first(**wanted: Any) -> list[dict[str, Any]]:
        return [task for task in by_size if all(task[name] == value for name, value in wanted.items())]

    for difficulty in ("easy", "medium", "hard"):
        for edge in ("none", "special characters", "duplicates", "empty"):
            for ordered in (False, True):
                for task in first(difficulty=difficulty, edge=edge, ordered=ordered)[:1]:
                    yield (
                        task,
                        f"right: {difficulty}, {edge}, {'ordered' if ordered else 'in any order'}",
                        task["gold_sql"],
                    )
    few = [task for task in by_size if len(json.loads(task["gold_rows"])) == 1]
    for (note, make), task in zip(ANY.items(), few, strict=False):
        yield task, note, make(task)
    for ordered in (False, True):
        rows = [task for task in by_size if task["ordered"] is ordered and is_table(task)]
        rows.sort(key=lambda task: not has_number(task))
        for (note, make), task in zip(ROWS.items(), rows, strict=False):
            if note == "texts for numbers" and not has_number(task):
                continue
            yield task, f"{note}, {'ordered' if ordered else 'in any order'}", make(task)
    fractions = [task for task in few if has_fraction(task)]
    for (note, make), task in zip(FRACTIONS.items(), fractions, strict=False):
        yield task, note, make(task)
    several = next(task for task in by_size if has_fraction(task) and is_table(task))
    yield several, "a hair off in all rows but one", f"SELECT {columns(several, HAIR)} FROM ({several['gold_sql']})"


def is_table(task: Task) -> bool:
    return 4 <= len(json.loads(task["gold_rows"])) <= 30


def has_number(task: Task) -> bool:
    return any(type(value) is int for value in json.loads(task["gold_rows"])[0])


def has_fraction(task: Task) -> bool:
    return any(isinstance(value, float) and value % 1 for row in json.loads(task["gold_rows"]) for value in row)


def record(rollouts: Path) -> None:
    """Play every attempt and write the rollouts."""
    with (ROOT / "tasks" / "train.jsonl").open(encoding="utf-8") as stream:
        attempts = list(chosen([json.loads(line) for line in stream]))
    waiting = iter(attempts)

    def policy(task: Task, observation: Any, info: Mapping[str, Any], rng: Any) -> Reply:
        wanted, note, action = next(waiting)
        assert task["id"] == wanted["id"]
        return Reply(action, extra={"note": note})

    names = [task["id"] for task, _, _ in attempts]
    # One instance, so that attempts come in their order.
    with (
        hfenv.EnvironmentPool(str(ROOT), 1, split="train", backend="inline") as pool,
        RolloutWriter(rollouts, policy="scripts/probes.py") as writer,
    ):
        for episode in pool.rollout(policy, tasks=names, seed=0):
            assert not episode.masked, (episode.task_id, episode.error)
            writer.write(episode)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        rollouts = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "rollouts.jsonl"
        record(rollouts)
        command = [sys.executable, "-m", "hfenv.cli", "probe", "record", rollouts, ROOT, "--replace"]
        raise SystemExit(subprocess.run([*command, "--most", str(MOST)], check=False).returncode)


if __name__ == "__main__":
    main()
