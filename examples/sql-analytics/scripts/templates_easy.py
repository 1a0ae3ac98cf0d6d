"""Task templates of grade easy on flights: one table, no join, no subquery."""

from __future__ import annotations

from phrases import CARRIERS, DELAYS, DESTS, ENDS, METRICS, MONTHS, ORIGINS, THINGS, Choice, Template, quoted, same

KEYS: list[Choice] = [("carrier", "carrier"), ("origin", "origin"), ("month", "month"), ("dest", "dest")]

TEMPLATES = (
    Template(
        "count",
        (
            "How many flights {where} are there? Return one number.",
            "Count the flights {where}. Return one row with one column, the count.",
        ),
        "SELECT COUNT(*) FROM flights WHERE {cond}",
        conditions=(2, 3),
        count=14,
    ),
    Template(
        "average",
        (
            "What is the average {metric} of flights {where}? Flights where it is NULL don't count. Round to 2 decimals and return one number.",
            "Work out the mean {metric} over flights {where}, without those where it is NULL. Return one number, rounded to 2 decimals.",
        ),
        "SELECT ROUND(AVG({metric}), 2) FROM flights WHERE {cond}",
        {"metric": METRICS},
        (1, 2),
        count=12,
    ),
    Template(
        "extreme",
        (
            "What is the {end} {metric} among flights {where}? Ignore NULL. Return one number.",
            "Among flights {where}, find the {end} {metric} that is not NULL. Return one number.",
        ),
        "SELECT {end}({metric}) FROM flights WHERE {cond}",
        {"metric": METRICS, "end": ENDS},
        (2, 3),
    ),
    Template(
        "total",
        (
            "What is the sum of {metric} over flights {where}? NULL adds nothing. Return one number.",
            "Add up the {metric} of all flights {where}, leaving out NULL. Return one number.",
        ),
        "SELECT SUM({metric}) FROM flights WHERE {cond}",
        {"metric": METRICS[2:]},
        (1, 2),
    ),
    Template(
        "count_distinct",
        (
            "How many different {thing} occur among flights {where}? NULL is not counted. Return one number.",
            "Count the distinct {thing} of flights {where}; NULL doesn't count. Return one number.",
        ),
        "SELECT COUNT(DISTINCT {thing}) FROM flights WHERE {cond}",
        {"thing": THINGS},
        (2, 3),
    ),
    Template(
        "list_distinct",
        (
            "List the different {thing} of flights {where}, one per row, in ascending order, without NULL.",
            "Which {thing} occur among flights {where}? Return each once, sorted in ascending order; leave out NULL.",
        ),
        "SELECT DISTINCT {thing} FROM flights WHERE {cond} AND {thing} IS NOT NULL ORDER BY {thing}",
        {"thing": THINGS},
        (2, 3),
    ),
    Template(
        "missing",
        (
            "How many flights {where} have no {metric} recorded, that is, NULL? Return one number.",
            "Count the flights {where} whose {metric} is NULL. Return one number.",
        ),
        "SELECT COUNT(*) FROM flights WHERE {cond} AND {metric} IS NULL",
        {"metric": METRICS[:3]},
        (1, 2),
        ("carrier", "origin", "dest", "month", "before", "after", "long", "short"),
    ),
    Template(
        "top",
        (
            "Show id, carrier, flight, dest and {metric} of the {n} flights {where} with the largest {metric}, not NULL. Sort by it from large to small, then by id from small to large; the sorting also decides who is among the {n}.",
            "Which {n} flights {where} have the highest {metric} (leave out NULL)? Return id, carrier, flight, dest and that value, highest first, equal values by ascending id; the sorting also decides who is among the {n}.",
        ),
        "SELECT id, carrier, flight, dest, {metric} FROM flights WHERE {cond} AND {metric} IS NOT NULL ORDER BY {metric} DESC, id LIMIT {n}",
        {"metric": METRICS[:3], "n": same(3, 5, 8, 10)},
        (1, 2),
    ),
    Template(
        "group_count",
        (
            "For each {key} with at least one flight {where}, how many such flights are there? Return {key} and the number, sorted by the number from large to small, then by {key} in ascending order.",
            "Count the flights {where} per {key}. Return {key} and count, highest count first, equal counts by ascending {key}; leave out a {key} without any.",
        ),
        "SELECT {key}, COUNT(*) FROM flights WHERE {cond} GROUP BY {key} ORDER BY COUNT(*) DESC, {key}",
        {"key": KEYS},
        (1, 2),
        ("late", "late_arrival", "early", "airborne", "long", "before", "after"),
    ),
    Template(
        "share",
        (
            "What percentage of the flights {where} were cancelled (dep_time is NULL)? Return one number, rounded to 2 decimals.",
            "Of all flights {where}, how many percent never departed (dep_time is NULL)? Round to 2 decimals and return one number.",
        ),
        "SELECT ROUND(100.0 * SUM(dep_time IS NULL) / COUNT(*), 2) FROM flights WHERE {cond}",
        {},
        (1, 2),
        ("carrier", "origin", "dest", "month", "before", "after", "long", "short"),
    ),
    Template(
        "between",
        (
            "How many flights {where} covered between {low} and {high} miles, both ends included? Return one number.",
            "Count flights {where} with a distance from {low} up to and including {high} miles. Return one number.",
        ),
        "SELECT COUNT(*) FROM flights WHERE {cond} AND distance BETWEEN {low} AND {high}",
        {"low": same(200, 300, 450), "high": same(900, 1200, 2100)},
        (1, 2),
        ("carrier", "origin", "month", "late", "late_arrival", "early"),
        only_test=True,
    ),
    Template(
        "many_tails",
        ("List each tail number (tailnum) that occurs among flights {where} once, without NULL, in any order.",),
        "SELECT DISTINCT tailnum FROM flights WHERE {cond} AND tailnum IS NOT NULL",
        {},
        (2, 2),
        ("carrier", "origin", "month", "late"),
        edge="large",
    ),
    Template(
        "no_route",
        (
            "List id and tailnum of flights operated by carrier '{carrier}' to destination {dest}, sorted by ascending id.",
        ),
        "SELECT id, tailnum FROM flights WHERE carrier = {carrier} AND dest = {dest} ORDER BY id",
        {"carrier": quoted("AS", "HA", "VX", "YV", "FL", "F9", "WN"), "dest": DESTS},
        edge="empty",
    ),
    Template(
        "flight_log",
        (
            "Show id, dep_time, dep_delay and dest of the flights operated by carrier '{carrier}' from {origin} on day {day} of {month}, sorted by ascending id. NULL stays NULL.",
        ),
        "SELECT id, dep_time, dep_delay, dest FROM flights WHERE carrier = {carrier} AND origin = {origin} AND month = {month} AND day = {day} ORDER BY id",
        {"carrier": CARRIERS[:8], "origin": ORIGINS, "month": MONTHS, "day": same(*range(1, 29))},
    ),
    Template(
        "group_average",
        (
            "For each {key}, what is the average {metric} of flights {where}? Ignore NULL, leave out a {key} without any value, round to 2 decimals. Return {key} and the average, sorted by {key} in ascending order.",
        ),
        "SELECT {key}, ROUND(AVG({metric}), 2) FROM flights WHERE {cond} AND {metric} IS NOT NULL GROUP BY {key} ORDER BY {key}",
        {"key": KEYS[:3], "metric": DELAYS},
        (1, 1),
        ("dest", "after", "before", "long", "short"),
    ),
)
