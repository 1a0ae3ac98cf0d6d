"""Shapes of questions about one table that the heuristic knows, each with the query that answers it."""

# A shape of question and the query that answers it. Groups named where, and fwhere for an aliased table, become
# conditions; metric, thing and key become the column they name; other groups stay as they are, text in quotes.
ONE_TABLE = (
    (r"How many flights (?P<where>.+) are there\?", "SELECT COUNT(*) FROM flights WHERE {where}"),
    (r"Count the flights (?P<where>[^.]+)\. Return one row", "SELECT COUNT(*) FROM flights WHERE {where}"),
    (
        r"What is the average (?P<metric>.+) of flights (?P<where>.+)\? Flights where it is NULL",
        "SELECT ROUND(AVG({metric}), 2) FROM flights WHERE {where}",
    ),
    (
        r"Work out the mean (?P<metric>.+) over flights (?P<where>.+), without those",
        "SELECT ROUND(AVG({metric}), 2) FROM flights WHERE {where}",
    ),
    (
        r"What is the largest (?P<metric>.+) among flights (?P<where>.+)\?",
        "SELECT MAX({metric}) FROM flights WHERE {where}",
    ),
    (
        r"What is the smallest (?P<metric>.+) among flights (?P<where>.+)\?",
        "SELECT MIN({metric}) FROM flights WHERE {where}",
    ),
    (
        r"What is the sum of (?P<metric>.+) over flights (?P<where>.+)\?",
        "SELECT SUM({metric}) FROM flights WHERE {where}",
    ),
    (
        r"How many different (?P<thing>.+) occur among flights (?P<where>.+)\?",
        "SELECT COUNT(DISTINCT {thing}) FROM flights WHERE {where}",
    ),
    (
        r"List the different (?P<thing>.+) of flights (?P<where>.+), one per row",
        "SELECT DISTINCT {thing} FROM flights WHERE {where} AND {thing} IS NOT NULL ORDER BY 1",
    ),
    (
        r"Which (?P<thing>.+) occur among flights (?P<where>.+)\?",
        "SELECT DISTINCT {thing} FROM flights WHERE {where} AND {thing} IS NOT NULL ORDER BY 1",
    ),
    (
        r"How many flights (?P<where>.+) have no (?P<metric>.+) recorded",
        "SELECT COUNT(*) FROM flights WHERE {where} AND {metric} IS NULL",
    ),
    (
        r"Show id, carrier, flight, dest and (?P<metric>.+) of the (?P<n>\d+) flights (?P<where>.+) with the largest",
        "SELECT id, carrier, flight, dest, {metric} FROM flights WHERE {where} AND {metric} IS NOT NULL "
        "ORDER BY {metric} DESC, id LIMIT {n}",
    ),
    (
        r"For each (?P<key>\w+) with at least one flight (?P<where>.+), how many such",
        "SELECT {key}, COUNT(*) FROM flights WHERE {where} GROUP BY 1 ORDER BY 2 DESC, 1",
    ),
    (
        r"What percentage of the flights (?P<where>.+) were cancelled",
        "SELECT ROUND(100.0 * SUM(dep_time IS NULL) / COUNT(*), 2) FROM flights WHERE {where}",
    ),
    (
        r"List each tail number \(tailnum\) that occurs among flights (?P<where>.+) once",
        "SELECT DISTINCT tailnum FROM flights WHERE {where} AND tailnum IS NOT NULL",
    ),
    (
        r"List id and tailnum of flights (?P<where>.+), sorted by",
        "SELECT id, tailnum FROM flights WHERE {where} ORDER BY id",
    ),
    (
        r"List faa and name of airports whose altitude \(alt\) is above (?P<n>\d+) feet and .+ is '(?P<zone>.+)', sorted",
        "SELECT faa, name FROM airports WHERE alt > {n} AND tzone = '{zone}' ORDER BY alt DESC, faa",
    ),
    (
        r"of the airport with the code \(faa\) (?P<code>\w+)\?",
        "SELECT name, alt, tzone FROM airports WHERE faa = '{code}'",
    ),
    (
        r"Which (?P<n>\d+) airports with a time zone offset \(tz\) of (?P<tz>-?\d+) lie furthest north",
        "SELECT faa, name, lat FROM airports WHERE tz = {tz} ORDER BY lat DESC, faa LIMIT {n}",
    ),
    (
        r"How many planes made by manufacturer '(?P<maker>.+)' have at least (?P<n>\d+) seats\?",
        "SELECT COUNT(*) FROM planes WHERE manufacturer = '{maker}' AND seats >= {n}",
    ),
    (
        r"Count the planes whose manufacturer is '(?P<maker>.+)' and which have (?P<n>\d+) seats or more",
        "SELECT COUNT(*) FROM planes WHERE manufacturer = '{maker}' AND seats >= {n}",
    ),
    (
        r"For each engine type \(engine\), give the number of planes built in (?P<n>\d+) or later",
        "SELECT engine, COUNT(*), ROUND(AVG(seats), 2) FROM planes WHERE year >= {n} GROUP BY 1 ORDER BY 1",
    ),
    (
        r"remarks written by the author .+ \(exactly so, between the brackets: \[(?P<author>.+)\]\)",
        "SELECT id, title FROM remarks WHERE author = '{author}' ORDER BY id",
    ),
    (
        r"remarks whose (?P<key>\w+) contains the text between the brackets, letter case included: \[(?P<text>.+)\]\.",
        "SELECT id, title FROM remarks WHERE instr({key}, '{text}') > 0 ORDER BY id",
    ),
    (
        r"How many flights (?P<where>.+) have a larger (?P<metric>.+) than the average",
        "SELECT COUNT(*) FROM flights WHERE {where} AND {metric} > (SELECT AVG({metric}) FROM flights WHERE {where})",
    ),
    (
        r"Which destinations have at least (?P<n>\d+) flights (?P<where>.+)\? Return dest, .+ average (?P<metric>.+) \(NULL",
        "SELECT dest, COUNT(*), ROUND(AVG({metric}), 2) FROM flights WHERE {where} GROUP BY 1 HAVING COUNT(*) >= {n} "
        "ORDER BY 2 DESC, 1",
    ),
    (
        r"Which carriers have an average (?P<metric>.+) above the overall average, both taken over flights (?P<where>.+) and",
        "SELECT carrier, ROUND(AVG({metric}), 2) FROM flights WHERE {where} GROUP BY 1 "
        "HAVING AVG({metric}) > (SELECT AVG({metric}) FROM flights WHERE {where}) ORDER BY 1",
    ),
    (
        r"What share of all flights (?P<where>.+) does each carrier have",
        "SELECT carrier, ROUND(100.0 * COUNT(*) / (SELECT COUNT(*) FROM flights WHERE {where}), 2) FROM flights "
        "WHERE {where} GROUP BY 1 ORDER BY COUNT(*) DESC, 1",
    ),
    (
        r"Split the flights (?P<where>.+) by carrier and return",
        "SELECT carrier, ROUND(100.0 * COUNT(*) / (SELECT COUNT(*) FROM flights WHERE {where}), 2) FROM flights "
        "WHERE {where} GROUP BY 1 ORDER BY COUNT(*) DESC, 1",
    ),
    (
        r"Order the destinations of flights (?P<where>.+) by their number .+ in place (?P<n>\d+)",
        "SELECT dest, COUNT(*) FROM flights WHERE {where} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1 OFFSET {n} - 1",
    ),
    (
        r"Which destinations did carrier '(?P<one>\w+)' reach with flights (?P<where>.+), but carrier '(?P<two>\w+)'",
        "SELECT DISTINCT dest FROM flights WHERE {where} AND carrier = '{one}' AND dest NOT IN "
        "(SELECT dest FROM flights WHERE {where} AND carrier = '{two}') ORDER BY 1",
    ),
    (
        r"served by flights (?P<where>.+) of carrier '(?P<one>\w+)' as well as of carrier '(?P<two>\w+)'",
        "SELECT DISTINCT dest FROM flights WHERE {where} AND carrier = '{one}' AND dest IN "
        "(SELECT dest FROM flights WHERE {where} AND carrier = '{two}') ORDER BY 1",
    ),
    (
        r"have flights (?P<where>.+) to at least (?P<n>\d+) different destinations",
        "SELECT tailnum, COUNT(DISTINCT dest) FROM flights WHERE {where} AND tailnum IS NOT NULL GROUP BY 1 "
        "HAVING COUNT(DISTINCT dest) >= {n} ORDER BY 2 DESC, 1",
    ),
    (
        r"In which months were more than (?P<n>\d+) percent of the flights (?P<where>.+) cancelled",
        "SELECT month, ROUND(100.0 * SUM(dep_time IS NULL) / COUNT(*), 2) FROM flights WHERE {where} GROUP BY 1 "
        "HAVING 100.0 * SUM(dep_time IS NULL) / COUNT(*) > {n} ORDER BY 1",
    ),
    (
        r"with at least (?P<n>\d+) flights (?P<where>.+), give carrier, dest, the number of flights and the average (?P<metric>.+) \(NULL",
        "SELECT carrier, dest, COUNT(*), ROUND(AVG({metric}), 2) FROM flights WHERE {where} GROUP BY 1, 2 HAVING COUNT(*) >= {n}",
    ),
    (
        r"(?:Divide the flights|Label each flight) (?P<where>.+?)(?: into|:) 'cancelled' .+?(?P<n>\d+) minutes",
        "SELECT CASE WHEN dep_time IS NULL THEN 'cancelled' WHEN dep_delay <= {n} THEN 'on time' ELSE 'late' END, "
        "COUNT(*) FROM flights WHERE {where} GROUP BY 1 ORDER BY 1",
    ),
    (
        r"Among flights (?P<where>.+), find the (?P<end>largest|smallest) (?P<metric>.+) that is not NULL",
        "SELECT {end}({metric}) FROM flights WHERE {where}",
    ),
    (
        r"Add up the (?P<metric>.+) of all flights (?P<where>.+), leaving out NULL",
        "SELECT SUM({metric}) FROM flights WHERE {where}",
    ),
    (
        r"Count the distinct (?P<thing>.+) of flights (?P<where>.+); NULL",
        "SELECT COUNT(DISTINCT {thing}) FROM flights WHERE {where}",
    ),
    (
        r"Count the flights (?P<where>.+) whose (?P<metric>.+) is NULL",
        "SELECT COUNT(*) FROM flights WHERE {where} AND {metric} IS NULL",
    ),
    (
        r"Which (?P<n>\d+) flights (?P<where>.+) have the highest (?P<metric>.+) \(leave",
        "SELECT id, carrier, flight, dest, {metric} FROM flights WHERE {where} AND {metric} IS NOT NULL ORDER BY {metric} DESC, id LIMIT {n}",
    ),
    (
        r"Count the flights (?P<where>.+) per (?P<key>\w+)\. Return \w+ and count",
        "SELECT {key}, COUNT(*) FROM flights WHERE {where} GROUP BY 1 ORDER BY 2 DESC, 1",
    ),
    (
        r"Of all flights (?P<where>.+), how many percent never",
        "SELECT ROUND(100.0 * SUM(dep_time IS NULL) / COUNT(*), 2) FROM flights WHERE {where}",
    ),
    (
        r"For each (?P<key>carrier|origin|month), what is the average (?P<metric>.+) of flights (?P<where>.+)\? Ignore",
        "SELECT {key}, ROUND(AVG({metric}), 2) FROM flights WHERE {where} AND {metric} IS NOT NULL GROUP BY 1 ORDER BY 1",
    ),
    (
        r"How many flights (?P<where>.+) covered between (?P<low>\d+) and (?P<high>\d+) miles",
        "SELECT COUNT(*) FROM flights WHERE {where} AND distance BETWEEN {low} AND {high}",
    ),
    (
        r"What was the (?P<end>largest|smallest) .+\((?P<key>\w+)\) at (?P<place>\w+) in (?P<month>\w+), by",
        "SELECT {end}({key}) FROM weather WHERE origin = '{place}' AND month = {month}",
    ),
    (
        r"Which (?P<n>\d+) planes made by '(?P<maker>.+)' are the oldest",
        "SELECT tailnum, year FROM planes WHERE manufacturer = '{maker}' AND year IS NOT NULL ORDER BY year, tailnum LIMIT {n}",
    ),
    (
        r"Take the average (?P<metric>.+) of all flights (?P<where>.+) \(NULL ignored\)",
        "SELECT COUNT(*) FROM flights WHERE {where} AND {metric} > (SELECT AVG({metric}) FROM flights WHERE {where})",
    ),
    (
        r"For each origin, list the (?P<n>\d+) (?P<key>.+) values with the most flights (?P<where>.+)\. Return",
        "SELECT origin, x, n FROM (SELECT origin, {key} AS x, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY origin "
        "ORDER BY COUNT(*) DESC, {key}) AS place FROM flights WHERE {where} GROUP BY 1, 2) WHERE place <= {n} "
        "ORDER BY 1, 3 DESC, 2",
    ),
    (
        r"For each of the days 1 to (?P<n>\d+) of (?P<month>\w+) with flights (?P<where>.+), return day",
        "SELECT day, COUNT(*), SUM(COUNT(*)) OVER (ORDER BY day) FROM flights WHERE {where} AND month = {month} "
        "AND day <= {n} GROUP BY 1 ORDER BY 1",
    ),
    (
        r"For every destination with (?P<n>\d+) or more flights (?P<where>.+), give dest, flight count and mean (?P<metric>.+), rounded",
        "SELECT dest, COUNT(*), ROUND(AVG({metric}), 2) FROM flights WHERE {where} GROUP BY 1 HAVING COUNT(*) >= {n} ORDER BY 2 DESC, 1",
    ),
    (
        r"Which airports in the time zone \(tzone\) '(?P<zone>.+)' lie higher than (?P<n>\d+) feet \(alt\)\?",
        "SELECT faa, name FROM airports WHERE alt > {n} AND tzone = '{zone}' ORDER BY alt DESC, faa",
    ),
    (
        r"airports whose name contains '(?P<text>.+)' \(.+\) and whose altitude \(alt\) is below (?P<n>\d+) feet",
        "SELECT faa, name FROM airports WHERE name LIKE '%{text}%' AND alt < {n}",
    ),
    (
        r"For each model of planes made by '(?P<maker>.+)' with more than (?P<n>\d+) seats, how many",
        "SELECT model, COUNT(*) FROM planes WHERE manufacturer = '{maker}' AND seats > {n} GROUP BY 1 ORDER BY 2 DESC, 1",
    ),
    (
        r"rows of weather at (?P<place>\w+) have a wind speed .+ above (?P<fast>\d+) and a temperature .+ below (?P<cold>\d+)",
        "SELECT COUNT(*) FROM weather WHERE origin = '{place}' AND wind_speed > {fast} AND temp < {cold}",
    ),
    (
        r"Over flights (?P<where>.+), compare each carrier's mean (?P<metric>.+) with the mean over all",
        "SELECT carrier, ROUND(AVG({metric}), 2) FROM flights WHERE {where} GROUP BY 1 "
        "HAVING AVG({metric}) > (SELECT AVG({metric}) FROM flights WHERE {where}) ORDER BY 1",
    ),
    (
        r"tail numbers .+ flew for carrier '(?P<one>\w+)' as well as for carrier '(?P<two>\w+)' on flights (?P<where>.+)\?",
        "SELECT tailnum FROM flights WHERE {where} AND carrier = '{one}' AND tailnum IS NOT NULL INTERSECT "
        "SELECT tailnum FROM flights WHERE {where} AND carrier = '{two}' ORDER BY 1",
    ),
    (
        r"For each month, which flight (?P<where>.+) had the largest (?P<metric>.+) \(not NULL\)\?",
        "SELECT month, id, x FROM (SELECT month, id, {metric} AS x, ROW_NUMBER() OVER (PARTITION BY month ORDER BY "
        "{metric} DESC, id) AS place FROM flights WHERE {where} AND {metric} IS NOT NULL) WHERE place = 1 ORDER BY 1",
    ),
    (
        r"Rank the carriers .+ their average (?P<metric>.+) over flights (?P<where>.+) \(NULL .+ ranks up to (?P<n>\d+)",
        "SELECT origin, carrier, place FROM (SELECT origin, carrier, RANK() OVER (PARTITION BY origin ORDER BY "
        "AVG({metric}) DESC) AS place FROM flights WHERE {where} AND {metric} IS NOT NULL GROUP BY 1, 2) "
        "WHERE place <= {n} ORDER BY 1, 3, 2",
    ),
)
