"""Build tasks/train.jsonl and tasks/test.jsonl from the templates: draw, run every gold query, reject what isn't fair.

Run it after scripts/database.py: `python scripts/tasks.py`. The same databases give the same files, byte for byte.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT)]

import templates_easy  # noqa: E402
import templates_easy_tables  # noqa: E402
import templates_hard  # noqa: E402
import templates_medium  # noqa: E402
import templates_medium_remarks  # noqa: E402
from checks import Gold, Unfair, Workbench  # noqa: E402
from phrases import CONDITIONS, Choice, Template  # noqa: E402

GRADES: dict[str, tuple[Template, ...]] = {
    "easy": templates_easy.TEMPLATES + templates_easy_tables.TEMPLATES,
    "medium": templates_medium.TEMPLATES + templates_medium_remarks.TEMPLATES,
    "hard": templates_hard.TEMPLATES,
}
SEED = "sql-analytics tasks 1"
TEST_EVERY = 4  # every fourth task of a template goes into the test split
TRIES = 60  # draws per task before a template is given up

SCHEMA = """\
airlines(carrier TEXT PRIMARY KEY, name TEXT)
airports(faa TEXT PRIMARY KEY, name TEXT, lat REAL, lon REAL, alt INTEGER, tz INTEGER, dst TEXT, tzone TEXT)
planes(tailnum TEXT PRIMARY KEY, year INTEGER, type TEXT, manufacturer TEXT, model TEXT, engines INTEGER, \
seats INTEGER, speed INTEGER, engine TEXT)
flights(id INTEGER PRIMARY KEY, year INTEGER, month INTEGER, day INTEGER, dep_time INTEGER, sched_dep_time INTEGER, \
dep_delay INTEGER, arr_time INTEGER, sched_arr_time INTEGER, arr_delay INTEGER, carrier TEXT, flight INTEGER, \
tailnum TEXT, origin TEXT, dest TEXT, air_time INTEGER, distance INTEGER, hour INTEGER, minute INTEGER)
weather(origin TEXT, year INTEGER, month INTEGER, day INTEGER, hour INTEGER, temp REAL, dewp REAL, humid REAL, \
wind_dir INTEGER, wind_speed REAL, wind_gust REAL, precip REAL, pressure REAL, visib REAL)
remarks(id INTEGER PRIMARY KEY, airport TEXT, carrier TEXT, author TEXT, title TEXT, body TEXT, rating INTEGER, \
tag TEXT)
flights.carrier, remarks.carrier -> airlines.carrier; flights.origin, flights.dest, weather.origin, remarks.airport -> \
airports.faa; flights.tailnum -> planes.tailnum (each may be missing there)
Delays and air_time in minutes, distance in miles, alt in feet; hour is the scheduled hour of departure, 0 to 23.
Texts sort by code point; capital letters come before small ones."""


@dataclass(frozen=True)
class Draft:
    """One drawn task before it is tried: the words, the query, and the query without each of its conditions."""

    question: str
    sql: str
    weaker: tuple[str, ...]


def draw(template: Template, rng: random.Random) -> Draft:
    chosen = {name: _pick(rng, choices) for name, choices in template.choices.items()}
    drawn = _conditions(template, chosen, rng)
    words = {name: choice[0] for name, choice in chosen.items()} | {"where": " ".join(said for said, _ in drawn)}
    values = {name: choice[1] for name, choice in chosen.items()}
    tests = [test for _, test in drawn]
    question = _pick(rng, template.wordings).format_map(words)
    weaker = [tests[:at] + tests[at + 1 :] for at in range(len(tests))]
    return Draft(question, _sql(template, values, tests), tuple(_sql(template, values, rest) for rest in weaker))


def _sql(template: Template, values: Mapping[str, str], tests: list[str]) -> str:
    return template.sql.format_map({**values, "cond": " AND ".join(tests) or "1"})


def _conditions(template: Template, chosen: Mapping[str, Choice], rng: random.Random) -> list[Choice]:
    """Distinct conditions as (words, SQL), in the order in which a question reads best."""
    if template.conditions is None:
        return []
    low, high = template.conditions
    taken = {choice[1].rpartition(".")[2] for choice in chosen.values()}
    kinds = [kind for kind in template.kinds or CONDITIONS if kind not in taken]
    if len(kinds) < low:
        raise Unfair("too few conditions to draw")
    wanted: list[str] = []
    for _ in range(low + int(rng.random() * (high - low + 1))):
        rest = [
            kind
            for kind in kinds
            if kind not in wanted and {kind, *wanted} & {"before", "after"} != {"before", "after"}
        ]
        if rest:
            wanted.append(_pick(rng, rest))
    result = []
    for kind in sorted(wanted, key=list(CONDITIONS).index):
        wordings, test, values = CONDITIONS[kind]
        said, value = _pick(rng, values)
        result.append((_pick(rng, wordings).format(said), test.replace("{a}", template.alias).replace("{1}", value)))
    return result


def _pick(rng: random.Random, values: Any) -> Any:
    # Only random() is promised to give the same numbers in every Python.
    return values[int(rng.random() * len(values))]


def build(bench: Workbench) -> Iterator[tuple[str, dict[str, Any]]]:
    """Split and row of every task, in order."""
    questions: set[str] = set()
    queries: set[str] = set()
    results: set[str] = set()
    for grade, templates in GRADES.items():
        number = 0
        for template in templates:
            made = 0
            rng = random.Random(f"{SEED} {grade} {template.key}")
            for _ in range(TRIES * template.count):
                if made == template.count:
                    break
                try:
                    draft = draw(template, rng)
                    query = normalise(draft.sql)
                    if draft.question in questions or query in queries:
                        raise Unfair("drawn before")
                    gold = bench.gold(draft.sql, draft.weaker, template.edge)
                except Unfair as reason:
                    bench.rejected[str(reason)] += 1
                    continue
                if (result := gold.signature(template.edge)) in results:
                    continue
                questions.add(draft.question)
                queries.add(query)
                results.add(result)
                made, number = made + 1, number + 1
                split = "test" if template.only_test or made % TEST_EVERY == 0 else "train"
                yield split, _row(f"{grade}-{number:04}", grade, template, draft, gold)
            if made < template.count:
                print(
                    f"{grade} {template.key}: {made} of {template.count}", dict(bench.take_rejected()), file=sys.stderr
                )
            bench.take_rejected()


def _row(identifier: str, grade: str, template: Template, draft: Draft, gold: Gold) -> dict[str, Any]:
    return {
        "id": identifier,
        "question": draft.question,
        "schema": SCHEMA,
        "database": "flights",
        "gold_sql": draft.sql,
        "gold_rows": _json(gold.visible),
        "hidden_rows": _json(gold.hidden),
        "ordered": gold.ordered,
        "difficulty": grade,
        "edge": template.edge or "none",
        "template": template.key,
    }


def normalise(sql: str) -> str:
    """A query without differences in blanks and letter case outside of its texts."""
    parts = re.split(r"('(?:[^']|'')*')", sql)
    return "".join(part if at % 2 else re.sub(r"\s+", " ", part).lower() for at, part in enumerate(parts)).strip()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def main() -> int:
    rows: dict[str, list[str]] = {"train": [], "test": []}
    with Workbench(ROOT / "tasks" / "resources") as bench:
        for split, row in build(bench):
            rows[split].append(_json(row) + "\n")
    for split, lines in rows.items():
        (ROOT / "tasks" / f"{split}.jsonl").write_text("".join(lines), encoding="utf-8", newline="\n")
        print(f"{split}: {len(lines)} tasks", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
