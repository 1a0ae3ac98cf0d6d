"""Task templates of grade hard: subqueries, grouping with conditions, set operations, windows."""

from __future__ import annotations

from phrases import DELAYS, MAKERS, METRICS, MONTHS, ORIGINS, THINGS, Choice, Template, quoted, same

PLAIN = ("carrier", "origin", "month", "long", "short", "before", "after")
PLACES = ("origin", "month", "before", "after", "long", "short")
AND_LATE = (*PLAIN, "late", "late_arrival", "early")
KEYS: list[Choice] = [("carrier", "carrier"), ("destination (dest)", "dest")]

TEMPLATES = (
    Template(
        "above_average",
        (
            "How many flights {where} have a larger {metric} than the average {metric} over all flights {where}? Ignore NULL. Return one number.",
            "Take the average {metric} of all flights {where} (NULL ignored) and count how many of the same flights lie above it. Return one number.",
        ),
        "SELECT COUNT(*) FROM flights WHERE {cond} AND {metric} > (SELECT AVG({metric}) FROM flights WHERE {cond})",
        {"metric": METRICS},
        (1, 2),
        PLAIN,
        count=12,
    ),
    Template(
        "busy_dests",
        (
            "Which destinations have at least {n} flights {where}? Return dest, the number of flights and their average {metric} (NULL ignored, rounded to 2 decimals), sorted by the number from large to small, then by dest.",
            "For every destination with {n} or more flights {where}, give dest, flight count and mean {metric}, rounded to 2 decimals without counting NULL; highest count first, equal counts by ascending dest.",
        ),
        "SELECT dest, COUNT(*), ROUND(AVG({metric}), 2) FROM flights WHERE {cond} GROUP BY dest HAVING COUNT(*) >= {n} ORDER BY COUNT(*) DESC, dest",
        {"n": same(20, 30, 40, 60), "metric": DELAYS},
        (1, 2),
        PLAIN,
        count=12,
    ),
    Template(
        "worse_than_all",
        (
            "Which carriers have an average {metric} above the overall average, both taken over flights {where} and ignoring NULL? Return carrier and its average, rounded to 2 decimals, sorted by carrier.",
            "Over flights {where}, compare each carrier's mean {metric} with the mean over all of these flights (NULL ignored). Return the carriers above it with their mean, rounded to 2 decimals, in ascending order of carrier.",
        ),
        "SELECT carrier, ROUND(AVG({metric}), 2) FROM flights WHERE {cond} GROUP BY carrier HAVING AVG({metric}) > (SELECT AVG({metric}) FROM flights WHERE {cond}) ORDER BY carrier",
        {"metric": METRICS},
        (1, 2),
        (*PLACES, "dest"),
        count=12,
    ),
    Template(
        "busiest_days",
        (
            "For each origin, on which day or days of {month} did most flights {where} take place? Return origin, day and the number of these flights, all days on a tie, sorted by origin, then day.",
        ),
        "WITH days AS (SELECT origin, day, COUNT(*) AS n FROM flights WHERE month = {month} AND {cond} GROUP BY origin, day) SELECT origin, day, n FROM days AS d WHERE n = (SELECT MAX(n) FROM days WHERE origin = d.origin) ORDER BY origin, day",
        {"month": MONTHS},
        (1, 2),
        ("carrier", "before", "after", "long", "short", "late"),
    ),
    Template(
        "shares",
        (
            "What share of all flights {where} does each carrier have, in percent? Return carrier and share, rounded to 2 decimals, sorted by the number of its flights from large to small, then by carrier.",
            "Split the flights {where} by carrier and return carrier and percentage of the whole, rounded to 2 decimals: the carrier with most flights first, equal numbers by ascending carrier.",
        ),
        "SELECT carrier, ROUND(100.0 * COUNT(*) / (SELECT COUNT(*) FROM flights WHERE {cond}), 2) FROM flights WHERE {cond} GROUP BY carrier ORDER BY COUNT(*) DESC, carrier",
        {},
        (1, 2),
        (*PLACES, "dest", "late", "late_arrival"),
        count=12,
    ),
    Template(
        "nth_dest",
        (
            "Order the destinations of flights {where} by their number of flights from large to small, equal numbers by ascending dest. Which destination comes in place {n} (the first is place 1)? Return dest and its number of flights.",
        ),
        "SELECT dest, COUNT(*) FROM flights WHERE {cond} GROUP BY dest ORDER BY COUNT(*) DESC, dest LIMIT 1 OFFSET {n} - 1",
        {"n": same(2, 3, 4, 5)},
        (1, 2),
        AND_LATE,
    ),
    Template(
        "top_per_origin",
        (
            "For each origin, list the {n} {key} values with the most flights {where}. Return origin, {key} and number of flights, sorted by origin, then the number from large to small, then {key}; within an origin, equal numbers are ranked by ascending {key}, also for who is among the {n}.",
            "Which {n} {key} values lead at each origin by number of flights {where}? Rank equal numbers by ascending {key}. Return origin, {key} and the number, by origin, then number from large to small, then {key}.",
        ),
        "SELECT origin, {key}, n FROM (SELECT origin, {key}, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY origin ORDER BY COUNT(*) DESC, {key}) AS place FROM flights WHERE {cond} GROUP BY origin, {key}) WHERE place <= {n} ORDER BY origin, n DESC, {key}",
        {"n": same(1, 2, 3), "key": KEYS},
        (1, 2),
        ("month", "before", "after", "long", "short", "late"),
        count=12,
    ),
    Template(
        "only_one",
        (
            "Which destinations did carrier '{one}' reach with flights {where}, but carrier '{other}' didn't reach with such flights? Return dest in ascending order.",
        ),
        "SELECT dest FROM flights WHERE carrier = {one} AND {cond} EXCEPT SELECT dest FROM flights WHERE carrier = {other} AND {cond} ORDER BY dest",
        {"one": quoted("DL", "UA", "EV", "B6", "MQ"), "other": quoted("AA", "9E", "US", "WN")},
        (1, 2),
        PLACES,
    ),
    Template(
        "both",
        (
            "Which destinations are served by flights {where} of carrier '{one}' as well as of carrier '{other}'? Return dest, each once, in ascending order.",
        ),
        "SELECT dest FROM flights WHERE carrier = {one} AND {cond} INTERSECT SELECT dest FROM flights WHERE carrier = {other} AND {cond} ORDER BY dest",
        {"one": quoted("DL", "UA", "EV", "B6"), "other": quoted("AA", "9E", "MQ", "WN")},
        (1, 2),
        PLACES,
    ),
    Template(
        "shared_planes",
        (
            "Which tail numbers (not NULL) have flights {where} to at least {n} different destinations? Return tailnum and the number of destinations, sorted by that number from large to small, then by tailnum.",
        ),
        "SELECT tailnum, COUNT(DISTINCT dest) FROM flights WHERE tailnum IS NOT NULL AND {cond} GROUP BY tailnum HAVING COUNT(DISTINCT dest) >= {n} ORDER BY COUNT(DISTINCT dest) DESC, tailnum",
        {"n": same(3, 4, 5)},
        (2, 3),
        AND_LATE,
        count=9,
    ),
    Template(
        "cancelled_months",
        (
            "In which months were more than {n} percent of the flights {where} cancelled (dep_time is NULL)? Return month and that percentage, rounded to 2 decimals, sorted by month.",
        ),
        "SELECT month, ROUND(100.0 * SUM(dep_time IS NULL) / COUNT(*), 2) FROM flights WHERE {cond} GROUP BY month HAVING 100.0 * SUM(dep_time IS NULL) / COUNT(*) > {n} ORDER BY month",
        {"n": same(1, 2, 3, 4)},
        (1, 2),
        ("carrier", "origin", "before", "after", "long", "short", "dest"),
    ),
    Template(
        "all_origins",
        (
            "Which {key} values have at least {n} flights {where} from each of the three origins EWR, JFK and LGA? Return {key} in ascending order.",
            "List every {key} with {n} or more flights {where} from EWR, from JFK and from LGA each, sorted in ascending order.",
        ),
        "SELECT {key} FROM (SELECT {key}, origin FROM flights WHERE {cond} GROUP BY {key}, origin HAVING COUNT(*) >= {n}) GROUP BY {key} HAVING COUNT(*) = 3 ORDER BY {key}",
        {"n": same(1, 2, 3, 5, 10), "key": KEYS},
        (1, 2),
        ("month", "before", "after", "long", "short", "late", "early"),
    ),
    Template(
        "windy_days",
        (
            "On which days in {month} was the day's average wind speed at {origin} (weather.wind_speed, NULL ignored) above {speed} while at least {n} flights from there departed more than 30 minutes late (dep_delay)? Return day, average wind speed rounded to 2 decimals and number of these flights, sorted by day.",
        ),
        "WITH wind AS (SELECT day, AVG(wind_speed) AS speed FROM weather WHERE origin = {origin} AND month = {month} GROUP BY day), late AS (SELECT day, COUNT(*) AS n FROM flights WHERE origin = {origin} AND month = {month} AND dep_delay > 30 GROUP BY day) SELECT wind.day, ROUND(wind.speed, 2), late.n FROM wind JOIN late ON late.day = wind.day WHERE wind.speed > {speed} AND late.n >= {n} ORDER BY wind.day",
        {"origin": ORIGINS, "month": MONTHS, "speed": same(7, 9, 11), "n": same(1, 2)},
    ),
    Template(
        "hard_workers",
        (
            "Which planes in planes flew at least {n} flights {where}? Return tailnum, manufacturer and the number of flights, sorted by the number from large to small, then by tailnum.",
        ),
        "SELECT p.tailnum, p.manufacturer, c.n FROM (SELECT tailnum, COUNT(*) AS n FROM flights WHERE {cond} GROUP BY tailnum HAVING COUNT(*) >= {n}) AS c JOIN planes p ON p.tailnum = c.tailnum ORDER BY c.n DESC, p.tailnum",
        {"n": same(2, 3, 4, 6)},
        (2, 3),
        AND_LATE,
        count=9,
    ),
    Template(
        "longer_than_own",
        (
            "How many flights {where} are longer than the average distance of all flights from the same origin (all flights of the table)? Return one number.",
            "For each flight {where}, compare its distance with the mean distance of all flights in the table that leave from the same origin. How many are longer? Return one number.",
        ),
        "SELECT COUNT(*) FROM flights f JOIN (SELECT origin, AVG(distance) AS mean FROM flights GROUP BY origin) AS o ON o.origin = f.origin WHERE f.distance > o.mean AND {cond}",
        {},
        (2, 3),
        ("carrier", "month", "before", "after", "late", "late_arrival", "early"),
        "f.",
    ),
    Template(
        "running",
        (
            "For each of the days 1 to {n} of {month} with flights {where}, return day, the number of these flights and their running total since day 1 of that month, sorted by day.",
        ),
        "SELECT day, COUNT(*), SUM(COUNT(*)) OVER (ORDER BY day) FROM flights WHERE month = {month} AND day <= {n} AND {cond} GROUP BY day ORDER BY day",
        {"month": MONTHS, "n": same(7, 10, 14)},
        (1, 2),
        ("carrier", "origin", "before", "after", "long", "short"),
        only_test=True,
    ),
    Template(
        "ranks",
        (
            "Rank the carriers within each origin by their average {metric} over flights {where} (NULL ignored, the largest average has rank 1, equal averages share a rank and leave a gap, as RANK does). Return origin, carrier and rank for ranks up to {n}, sorted by origin, then rank, then carrier.",
        ),
        "SELECT origin, carrier, place FROM (SELECT origin, carrier, RANK() OVER (PARTITION BY origin ORDER BY AVG({metric}) DESC) AS place FROM flights WHERE {metric} IS NOT NULL AND {cond} GROUP BY origin, carrier) WHERE place <= {n} ORDER BY origin, place, carrier",
        {"metric": METRICS, "n": same(1, 2, 3)},
        (1, 1),
        ("month", "before", "after", "long", "short", "dest"),
    ),
    Template(
        "jumps",
        (
            "On which days of {month} were there at least {n} more flights {where} than on the calendar day before in the same month? Only days that have such flights, and whose day before has some too, are compared. Return day and the difference, sorted by day.",
        ),
        "WITH days AS (SELECT day, COUNT(*) AS n FROM flights WHERE month = {month} AND {cond} GROUP BY day) SELECT d.day, d.n - e.n FROM days d JOIN days e ON e.day = d.day - 1 WHERE d.n - e.n >= {n} ORDER BY d.day",
        {"month": MONTHS, "n": same(1, 2, 3, 4)},
        (1, 2),
        ("carrier", "origin", "before", "after", "long", "short"),
    ),
    Template(
        "favourite",
        (
            "What is each airline's most frequent destination over flights {where}? On equal numbers the alphabetically first dest counts. Return the airline's name, dest and number of flights, sorted by name.",
        ),
        "SELECT a.name, c.dest, c.n FROM (SELECT carrier, dest, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY carrier ORDER BY COUNT(*) DESC, dest) AS place FROM flights WHERE {cond} GROUP BY carrier, dest) AS c JOIN airlines a ON a.carrier = c.carrier WHERE c.place = 1 ORDER BY a.name",
        {},
        (1, 2),
        (*PLACES, "late"),
    ),
    Template(
        "kind_authors",
        (
            "Which authors of remarks have at least {n} ratings {what} and an average rating (NULL ignored) {than} the average over all ratings {what}? Return author and average, rounded to 2 decimals, sorted by the number of ratings from large to small, then by author.",
        ),
        "SELECT author, ROUND(AVG(rating), 2) FROM remarks WHERE rating IS NOT NULL AND {what} GROUP BY author HAVING COUNT(*) >= {n} AND AVG(rating) {than} (SELECT AVG(rating) FROM remarks WHERE {what}) ORDER BY COUNT(*) DESC, author",
        {
            "n": same(2, 3, 4),
            "than": [("above", ">"), ("below", "<")],
            "what": [
                ("of remarks with a body (not NULL)", "body IS NOT NULL"),
                ("of remarks with a tag (not NULL)", "tag IS NOT NULL"),
                ("of remarks about an airline (carrier not NULL)", "carrier IS NOT NULL"),
                ("of remarks about an airport (airport not NULL)", "airport IS NOT NULL"),
            ],
        },
        edge="special characters",
        count=8,
    ),
    Template(
        "popular_texts",
        (
            "Which values of {column} (not NULL) occur in at least {n} remarks that have {what}, by at least two different authors? Return {column}, the number of these remarks and the number of different authors, sorted by the number of remarks from large to small, then by {column}.",
        ),
        "SELECT {column}, COUNT(*), COUNT(DISTINCT author) FROM remarks WHERE {column} IS NOT NULL AND {what} GROUP BY {column} HAVING COUNT(*) >= {n} AND COUNT(DISTINCT author) >= 2 ORDER BY COUNT(*) DESC, {column}",
        {
            "column": same("title", "body", "tag", "airport"),
            "n": same(3, 4, 5),
            "what": [
                ("a rating (not NULL)", "rating IS NOT NULL"),
                ("a rating of 3 or better", "rating >= 3"),
                ("no rating (NULL)", "rating IS NULL"),
                ("a body (not NULL)", "body IS NOT NULL"),
            ],
        },
        edge="duplicates",
    ),
    Template(
        "pairs",
        (
            "For each pair of carrier and destination with at least {n} flights {where}, give carrier, dest, the number of flights and the average {metric} (NULL ignored, rounded to 2 decimals, NULL if there is no value), in any order.",
        ),
        "SELECT carrier, dest, COUNT(*), ROUND(AVG({metric}), 2) FROM flights WHERE {cond} GROUP BY carrier, dest HAVING COUNT(*) >= {n}",
        {"n": same(1, 2), "metric": METRICS[:3]},
        (1, 1),
        ("origin", "month", "before", "after", "long", "short"),
        edge="large",
    ),
    Template(
        "idle_planes",
        (
            "List the tail numbers of planes in planes made by '{maker}' with at least {seats} seats that have no flight {where}, in any order.",
        ),
        "SELECT tailnum FROM planes AS p WHERE manufacturer = {maker} AND seats >= {seats} AND NOT EXISTS (SELECT 1 FROM flights WHERE tailnum = p.tailnum AND {cond})",
        {"maker": MAKERS[:4], "seats": same(50, 100, 150)},
        (1, 2),
        PLAIN,
        edge="large",
    ),
    Template(
        "classes",
        (
            "Divide the flights {where} into 'cancelled' (dep_time is NULL), 'on time' (dep_delay of at most {n} minutes) and 'late' (all others). Return each class that occurs and its number of flights, sorted by class in ascending order.",
            "Label each flight {where}: 'cancelled' if dep_time is NULL, 'on time' if dep_delay is {n} minutes or less, else 'late'. Return label and number of flights for the labels that occur, in ascending order of label.",
        ),
        "SELECT CASE WHEN dep_time IS NULL THEN 'cancelled' WHEN dep_delay <= {n} THEN 'on time' ELSE 'late' END AS class, COUNT(*) FROM flights WHERE {cond} GROUP BY class ORDER BY class",
        {"n": same(0, 5, 10, 15, 20)},
        (1, 2),
        (*PLAIN, "dest"),
        count=12,
    ),
    Template(
        "monthly_record",
        (
            "For each month, which flight {where} had the largest {metric} (not NULL)? On equal values the smallest id counts. Return month, id and that value, sorted by month; leave out months without any.",
        ),
        "SELECT month, id, {metric} FROM (SELECT month, id, {metric}, ROW_NUMBER() OVER (PARTITION BY month ORDER BY {metric} DESC, id) AS place FROM flights WHERE {metric} IS NOT NULL AND {cond}) WHERE place = 1 ORDER BY month",
        {"metric": METRICS[:3]},
        (1, 2),
        ("carrier", "origin", "dest", "before", "after", "short"),
    ),
    Template(
        "difference",
        (
            "For each {key}, what is its average {metric} in {first} less that in {second}, over flights {where} (NULL ignored)? Return {key} and the difference, rounded to 2 decimals, for those with a value in both months, sorted by {key}.",
        ),
        "WITH a AS (SELECT {key}, AVG({metric}) AS mean FROM flights WHERE month = {first} AND {metric} IS NOT NULL AND {cond} GROUP BY {key}), b AS (SELECT {key}, AVG({metric}) AS mean FROM flights WHERE month = {second} AND {metric} IS NOT NULL AND {cond} GROUP BY {key}) SELECT a.{key}, ROUND(a.mean - b.mean, 2) FROM a JOIN b ON b.{key} = a.{key} ORDER BY a.{key}",
        {
            "key": [("origin", "origin"), ("carrier", "carrier")],
            "metric": DELAYS,
            "first": MONTHS[:6],
            "second": MONTHS[6:],
        },
        (1, 1),
        ("before", "after", "long", "short"),
        only_test=True,
    ),
    Template(
        "swapped_planes",
        (
            "Which tail numbers (not NULL) flew for carrier '{one}' as well as for carrier '{other}' on flights {where}? Return tailnum, each once, in ascending order.",
        ),
        "SELECT tailnum FROM flights WHERE carrier = {one} AND tailnum IS NOT NULL AND {cond} INTERSECT SELECT tailnum FROM flights WHERE carrier = {other} AND tailnum IS NOT NULL AND {cond} ORDER BY tailnum",
        {"one": quoted("DL", "UA", "EV", "B6"), "other": quoted("AA", "MQ", "US", "WN")},
        (1, 1),
        PLACES,
        edge="empty",
    ),
    Template(
        "hot_hours",
        (
            "How many flights {where} were scheduled to depart from {origin} in an hour that was warmer (weather.temp) than the average temperature at {origin} in {month}? Match weather to flights by origin, month, day and hour; ignore NULL. Return one number.",
        ),
        "SELECT COUNT(*) FROM flights f JOIN weather w ON w.origin = f.origin AND w.month = f.month AND w.day = f.day AND w.hour = f.hour WHERE f.origin = {origin} AND {cond} AND w.temp > (SELECT AVG(temp) FROM weather WHERE origin = {origin} AND month = {month})",
        {"origin": ORIGINS, "month": MONTHS},
        (1, 2),
        ("carrier", "dest", "before", "after", "late", "long"),
        "f.",
    ),
    Template(
        "most_different",
        (
            "Which carriers have flights {where} with the most different {thing}? Return carrier and the number of different values (NULL isn't counted), all carriers on a tie, sorted by carrier.",
        ),
        "WITH c AS (SELECT carrier, COUNT(DISTINCT {thing}) AS n FROM flights WHERE {cond} GROUP BY carrier) SELECT carrier, n FROM c WHERE n = (SELECT MAX(n) FROM c) ORDER BY carrier",
        {"thing": [THINGS[0], *THINGS[2:]]},
        (1, 2),
        (*PLACES, "late", "early"),
    ),
)
