"""Shapes of questions that need several tables, written like those in shapes.py."""

AIRLINE = "FROM flights f JOIN airlines a ON a.carrier = f.carrier"
DEST = "FROM flights f JOIN airports d ON d.faa = f.dest"
PLANE = "FROM flights f JOIN planes p ON p.tailnum = f.tailnum"
HOUR = (
    "FROM flights f JOIN weather w ON w.origin = f.origin AND w.month = f.month AND w.day = f.day AND w.hour = f.hour"
)

SEVERAL_TABLES = (
    (
        r"How many flights (?P<fwhere>.+) were operated by the airline named '(?P<name>.+)'\?",
        f"SELECT COUNT(*) {AIRLINE} WHERE {{fwhere}} AND a.name = '{{name}}'",
    ),
    (
        r"Count the flights of the airline with the name '(?P<name>.+?)' (?P<fwhere>.+)\. Return",
        f"SELECT COUNT(*) {AIRLINE} WHERE {{fwhere}} AND a.name = '{{name}}'",
    ),
    (
        r"For each airline name with at least one flight (?P<fwhere>.+), how many such",
        f"SELECT a.name, COUNT(*) {AIRLINE} WHERE {{fwhere}} GROUP BY 1 ORDER BY 2 DESC, 1",
    ),
    (
        r"For each airline name, what is the average (?P<metric>.+) of its flights (?P<fwhere>.+)\? Ignore",
        f"SELECT a.name, ROUND(AVG(f.{{metric}}), 2) {AIRLINE} WHERE {{fwhere}} AND f.{{metric}} IS NOT NULL GROUP BY 1 ORDER BY 1",
    ),
    (
        r"How many flights (?P<fwhere>.+) go to an airport whose altitude \(airports.alt\) is above (?P<n>\d+) feet",
        f"SELECT COUNT(*) {DEST} WHERE {{fwhere}} AND d.alt > {{n}}",
    ),
    (
        r"List the names of the airports that are destinations of flights (?P<fwhere>.+): each name once",
        f"SELECT DISTINCT d.name {DEST} WHERE {{fwhere}} ORDER BY 1",
    ),
    (
        r"Count the flights (?P<fwhere>.+) per time zone \(tzone\) of the destination",
        f"SELECT d.tzone, COUNT(*) {DEST} WHERE {{fwhere}} GROUP BY 1 ORDER BY 2 DESC, 1",
    ),
    (
        r"What is the average number of seats \(planes.seats\) over flights (?P<fwhere>.+)\? Every",
        f"SELECT ROUND(AVG(p.seats), 2) {PLANE} WHERE {{fwhere}}",
    ),
    (
        r"Which (?P<n>\d+) manufacturers .+ of the most flights (?P<fwhere>.+)\? Return",
        f"SELECT p.manufacturer, COUNT(*) {PLANE} WHERE {{fwhere}} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {{n}}",
    ),
    (
        r"How many flights (?P<fwhere>.+) were flown by planes built before (?P<n>\d+)",
        f"SELECT COUNT(*) {PLANE} WHERE {{fwhere}} AND p.year < {{n}}",
    ),
    (
        r"For each engine type \(planes.engine\), count the flights (?P<fwhere>.+) and the different planes",
        f"SELECT p.engine, COUNT(*), COUNT(DISTINCT p.tailnum) {PLANE} WHERE {{fwhere}} GROUP BY 1 ORDER BY 1",
    ),
    (
        r"Which models \(planes.model\) made by '(?P<maker>.+)' were used on flights (?P<fwhere>.+)\?",
        f"SELECT DISTINCT p.model {PLANE} WHERE {{fwhere}} AND p.manufacturer = '{{maker}}' ORDER BY 1",
    ),
    (
        r"How many flights (?P<fwhere>.+) go to a destination whose code is missing from airports",
        "SELECT COUNT(*) FROM flights f LEFT JOIN airports d ON d.faa = f.dest WHERE d.faa IS NULL AND {fwhere}",
    ),
    (
        r"How many flights (?P<fwhere>.+) were scheduled to depart in an hour with .*\((?P<key>\w+)\) (?P<sense>below|above) (?P<n>\d+)(?: miles)?\?",
        f"SELECT COUNT(*) {HOUR} WHERE {{fwhere}} AND w.{{key}} {{sense}} {{n}}",
    ),
    (
        r"List tail number and model of the planes in planes that flew at least one flight (?P<fwhere>.+): each",
        f"SELECT DISTINCT p.tailnum, p.model {PLANE} WHERE {{fwhere}}",
    ),
    (
        r"List the id of flights that the airline named '(?P<name>.+)' operated to (?P<dest>\w{3}) (?P<fwhere>.+), sorted",
        f"SELECT f.id {AIRLINE} WHERE {{fwhere}} AND a.name = '{{name}}' AND f.dest = '{{dest}}' ORDER BY 1",
    ),
    (
        r"Which planes in planes flew at least (?P<n>\d+) flights (?P<fwhere>.+)\? Return",
        f"SELECT p.tailnum, p.manufacturer, COUNT(*) {PLANE} WHERE {{fwhere}} GROUP BY 1, 2 HAVING COUNT(*) >= {{n}} ORDER BY 3 DESC, 1",
    ),
    (
        r"What is each airline's most frequent destination over flights (?P<fwhere>.+)\? On equal",
        "SELECT name, dest, n FROM (SELECT a.name, f.dest, COUNT(*) AS n, ROW_NUMBER() OVER "
        f"(PARTITION BY a.name ORDER BY COUNT(*) DESC, f.dest) AS place {AIRLINE} WHERE {{fwhere}} GROUP BY 1, 2) "
        "WHERE place = 1 ORDER BY 1",
    ),
    (
        r"Count the flights (?P<fwhere>.+) per airline\.",
        f"SELECT a.name, COUNT(*) {AIRLINE} WHERE {{fwhere}} GROUP BY 1 ORDER BY 2 DESC, 1",
    ),
    (
        r"Which (?P<n>\d+) airlines have the most flights (?P<fwhere>.+)\? Return",
        f"SELECT a.name, COUNT(*) {AIRLINE} WHERE {{fwhere}} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {{n}}",
    ),
    (
        r"Count the flights (?P<fwhere>.+) whose destination airport lies higher than (?P<n>\d+) feet",
        f"SELECT COUNT(*) {DEST} WHERE {{fwhere}} AND d.alt > {{n}}",
    ),
    (
        r"To which airports do flights (?P<fwhere>.+) go\?",
        f"SELECT DISTINCT d.name {DEST} WHERE {{fwhere}} ORDER BY 1",
    ),
    (
        r"Over all flights (?P<fwhere>.+) whose plane is in planes, work out",
        f"SELECT ROUND(AVG(p.seats), 2) {PLANE} WHERE {{fwhere}}",
    ),
    (
        r"Count the flights (?P<fwhere>.+) whose plane has a year of manufacture \(planes.year\) below (?P<n>\d+)",
        f"SELECT COUNT(*) {PLANE} WHERE {{fwhere}} AND p.year < {{n}}",
    ),
    (
        r"How many flights (?P<fwhere>.+) have a tail number \(not NULL\) that is missing from planes",
        "SELECT COUNT(*) FROM flights f WHERE {fwhere} AND f.tailnum NOT IN (SELECT tailnum FROM planes)",
    ),
    (
        r"Count the flights (?P<fwhere>.+) that were due to leave in an hour with .*\((?P<key>\w+)\) (?P<sense>below|above) (?P<n>\d+)(?: miles)?\.",
        f"SELECT COUNT(*) {HOUR} WHERE {{fwhere}} AND w.{{key}} {{sense}} {{n}}",
    ),
    (
        r"What is the average (?P<metric>.+) of flights (?P<fwhere>.+) to airports north of latitude (?P<n>\d+)",
        f"SELECT ROUND(AVG(f.{{metric}}), 2) {DEST} WHERE {{fwhere}} AND d.lat > {{n}}",
    ),
    (
        r"Which (?P<n>\d+) pairs of airline name and destination airport name have the most flights (?P<fwhere>.+)\? Return",
        f"SELECT a.name, d.name, COUNT(*) {AIRLINE} JOIN airports d ON d.faa = f.dest WHERE {{fwhere}} "
        "GROUP BY a.name, d.faa ORDER BY 3 DESC, 1, 2 LIMIT {n}",
    ),
    (
        r"What is the highest (?P<metric>.+) in the weather rows that match flights (?P<fwhere>.+)\? Match",
        f"SELECT MAX(w.{{metric}}), COUNT(*) {HOUR} WHERE {{fwhere}}",
    ),
    (
        r"airports in the time zone \(tzone\) '(?P<zone>.+)' above (?P<n>-?\d+) feet \(alt\) to which no flight goes",
        "SELECT faa FROM airports WHERE tzone = '{zone}' AND alt > {n} AND faa NOT IN (SELECT dest FROM flights)",
    ),
    (
        r"planes made by '(?P<maker>.+)' with at least (?P<n>\d+) seats that have no flight (?P<where>.+), in any",
        "SELECT tailnum FROM planes WHERE manufacturer = '{maker}' AND seats >= {n} AND tailnum NOT IN "
        "(SELECT tailnum FROM flights WHERE {where} AND tailnum IS NOT NULL)",
    ),
)
