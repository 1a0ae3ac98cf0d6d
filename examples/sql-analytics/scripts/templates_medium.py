"""Task templates of grade medium: joins of two or three tables."""

from __future__ import annotations

from phrases import AIRLINES, DELAYS, DESTS, MAKERS, METRICS, MONTHS, ZONES, Choice, Template, quoted, same

AIRLINE = "FROM flights f JOIN airlines a ON a.carrier = f.carrier"
DEST = "FROM flights f JOIN airports d ON d.faa = f.dest"
PLANE = "FROM flights f JOIN planes p ON p.tailnum = f.tailnum"
HOUR = (
    "FROM flights f JOIN weather w ON w.origin = f.origin AND w.month = f.month AND w.day = f.day AND w.hour = f.hour"
)
MATCH = "Match weather to flights by origin, month, day and hour"
NOT_CARRIER = (
    "origin",
    "dest",
    "month",
    "before",
    "after",
    "long",
    "short",
    "late",
    "late_arrival",
    "early",
    "airborne",
)
NOT_DEST = ("carrier", "origin", "month", "before", "after", "late", "late_arrival", "early")
PLAIN = ("carrier", "origin", "month", "dest", "late", "long", "before", "after")
F_DELAYS: list[Choice] = [(words, f"f.{column}") for words, column in DELAYS]
F_METRICS: list[Choice] = [(words, f"f.{column}") for words, column in METRICS]
SKIES: list[Choice] = [
    ("a visibility (visib) below 3 miles", "w.visib < 3"),
    ("a visibility (visib) below 8 miles", "w.visib < 8"),
    ("a wind speed (wind_speed) above 12", "w.wind_speed > 12"),
    ("a wind speed (wind_speed) above 18", "w.wind_speed > 18"),
    ("a temperature (temp) above 80", "w.temp > 80"),
    ("a temperature (temp) below 32", "w.temp < 32"),
    ("rain or snow (precip above 0)", "w.precip > 0"),
    ("a humidity (humid) above 85", "w.humid > 85"),
]

TEMPLATES = (
    Template(
        "airline_count",
        (
            "How many flights {where} were operated by the airline named '{airline}'? Return one number.",
            "Count the flights of the airline with the name '{airline}' {where}. Return one number.",
        ),
        f"SELECT COUNT(*) {AIRLINE} WHERE a.name = {{airline}} AND {{cond}}",
        {"airline": AIRLINES},
        (1, 2),
        NOT_CARRIER,
        "f.",
        count=14,
    ),
    Template(
        "airline_group",
        (
            "For each airline name with at least one flight {where}, how many such flights are there? Return the airline's name and the number, sorted by the number from large to small, then by name.",
            "Count the flights {where} per airline. Return airline name and count, highest count first, equal counts by ascending name; leave out airlines without any.",
        ),
        f"SELECT a.name, COUNT(*) {AIRLINE} WHERE {{cond}} GROUP BY a.name ORDER BY COUNT(*) DESC, a.name",
        {},
        (1, 2),
        NOT_CARRIER,
        "f.",
        count=12,
    ),
    Template(
        "airline_top",
        (
            "Which {n} airlines have the most flights {where}? Return the airline's name and its number of flights, most flights first, equal numbers by ascending name; the sorting also decides who is among the {n}.",
        ),
        f"SELECT a.name, COUNT(*) {AIRLINE} WHERE {{cond}} GROUP BY a.name ORDER BY COUNT(*) DESC, a.name LIMIT {{n}}",
        {"n": same(2, 3, 4)},
        (2, 3),
        NOT_CARRIER,
        "f.",
    ),
    Template(
        "airline_average",
        (
            "For each airline name, what is the average {metric} of its flights {where}? Ignore NULL, leave out airlines without any value, round to 2 decimals. Return name and average, sorted by name in ascending order.",
        ),
        f"SELECT a.name, ROUND(AVG({{metric}}), 2) {AIRLINE} WHERE {{cond}} AND {{metric}} IS NOT NULL GROUP BY a.name ORDER BY a.name",
        {"metric": F_METRICS},
        (1, 2),
        ("origin", "dest", "month", "before", "after", "long"),
        "f.",
    ),
    Template(
        "high_dest",
        (
            "How many flights {where} go to an airport whose altitude (airports.alt) is above {alt} feet? Destinations that are missing from airports don't count. Return one number.",
            "Count the flights {where} whose destination airport lies higher than {alt} feet (airports.alt). Return one number.",
        ),
        f"SELECT COUNT(*) {DEST} WHERE d.alt > {{alt}} AND {{cond}}",
        {"alt": same(100, 300, 500, 700, 1000, 2000)},
        (1, 2),
        NOT_DEST,
        "f.",
    ),
    Template(
        "dest_names",
        (
            "List the names of the airports that are destinations of flights {where}: each name once, in ascending order. Destinations that are missing from airports are left out.",
            "To which airports do flights {where} go? Return each airport's name (airports.name) once, sorted in ascending order; skip destinations that aren't in airports.",
        ),
        f"SELECT DISTINCT d.name {DEST} WHERE {{cond}} ORDER BY d.name",
        {},
        (2, 3),
        NOT_DEST,
        "f.",
        count=12,
    ),
    Template(
        "dest_zone",
        (
            "Count the flights {where} per time zone (tzone) of the destination airport. Return tzone and the number, sorted by the number from large to small, then by tzone; destinations that are missing from airports are left out.",
        ),
        f"SELECT d.tzone, COUNT(*) {DEST} WHERE {{cond}} GROUP BY d.tzone ORDER BY COUNT(*) DESC, d.tzone",
        {},
        (1, 2),
        NOT_DEST,
        "f.",
    ),
    Template(
        "north",
        (
            "What is the average {metric} of flights {where} to airports north of latitude {lat} (airports.lat above it)? Ignore NULL, round to 2 decimals, return one number.",
        ),
        f"SELECT ROUND(AVG({{metric}}), 2) {DEST} WHERE d.lat > {{lat}} AND {{cond}}",
        {"metric": F_METRICS, "lat": same(30, 35, 38, 40, 42)},
        (1, 2),
        NOT_DEST,
        "f.",
    ),
    Template(
        "seats",
        (
            "What is the average number of seats (planes.seats) over flights {where}? Every flight counts, if its plane is in planes; round to 2 decimals and return one number.",
            "Over all flights {where} whose plane is in planes, work out the mean of planes.seats, once per flight. Return one number, rounded to 2 decimals.",
        ),
        f"SELECT ROUND(AVG(p.seats), 2) {PLANE} WHERE {{cond}}",
        {},
        (2, 3),
        PLAIN,
        "f.",
        count=12,
    ),
    Template(
        "makers",
        (
            "Which {n} manufacturers (planes.manufacturer) built the planes of the most flights {where}? Return manufacturer and number of flights, most flights first, equal numbers by ascending manufacturer; the sorting also decides who is among the {n}.",
        ),
        f"SELECT p.manufacturer, COUNT(*) {PLANE} WHERE {{cond}} GROUP BY p.manufacturer ORDER BY COUNT(*) DESC, p.manufacturer LIMIT {{n}}",
        {"n": same(2, 3, 5)},
        (1, 2),
        PLAIN,
        "f.",
    ),
    Template(
        "old_planes",
        (
            "How many flights {where} were flown by planes built before {year} (planes.year)? Return one number.",
            "Count the flights {where} whose plane has a year of manufacture (planes.year) below {year}. Return one number.",
        ),
        f"SELECT COUNT(*) {PLANE} WHERE p.year < {{year}} AND {{cond}}",
        {"year": same(1990, 1993, 1996, 1999, 2001, 2003, 2005)},
        (1, 2),
        PLAIN,
        "f.",
    ),
    Template(
        "engine_types",
        (
            "For each engine type (planes.engine), count the flights {where} and the different planes that flew them. Return engine, flights and planes, sorted by engine in ascending order; leave out engine types without flights.",
        ),
        f"SELECT p.engine, COUNT(*), COUNT(DISTINCT p.tailnum) {PLANE} WHERE {{cond}} GROUP BY p.engine ORDER BY p.engine",
        {},
        (1, 2),
        PLAIN,
        "f.",
    ),
    Template(
        "models_used",
        (
            "Which models (planes.model) made by '{maker}' were used on flights {where}? Return each model once, in ascending order.",
        ),
        f"SELECT DISTINCT p.model {PLANE} WHERE p.manufacturer = {{maker}} AND {{cond}} ORDER BY p.model",
        {"maker": MAKERS[:4]},
        (1, 2),
        PLAIN,
        "f.",
    ),
    Template(
        "unknown_planes",
        ("How many flights {where} have a tail number (not NULL) that is missing from planes? Return one number.",),
        "SELECT COUNT(*) FROM flights f LEFT JOIN planes p ON p.tailnum = f.tailnum WHERE f.tailnum IS NOT NULL AND p.tailnum IS NULL AND {cond}",
        {},
        (2, 3),
        PLAIN,
        "f.",
        only_test=True,
    ),
    Template(
        "unknown_dests",
        ("How many flights {where} go to a destination whose code is missing from airports? Return one number.",),
        "SELECT COUNT(*) FROM flights f LEFT JOIN airports d ON d.faa = f.dest WHERE d.faa IS NULL AND {cond}",
        {},
        (1, 2),
        NOT_DEST,
        "f.",
    ),
    Template(
        "sky_count",
        (
            "How many flights {where} were scheduled to depart in an hour with {sky}? "
            + MATCH
            + ". Return one number.",
            "Count the flights {where} that were due to leave in an hour with {sky}. " + MATCH + ". Return one number.",
        ),
        f"SELECT COUNT(*) {HOUR} WHERE {{sky}} AND {{cond}}",
        {"sky": SKIES},
        (1, 2),
        PLAIN,
        "f.",
        count=14,
    ),
    Template(
        "sky_delay",
        (
            "For each origin, what is the average {metric} of flights {where} scheduled to depart in an hour with {sky}? "
            + MATCH
            + ". Ignore NULL, leave out origins without any value, round to 2 decimals. Return origin and average, sorted by origin.",
        ),
        f"SELECT f.origin, ROUND(AVG({{metric}}), 2) {HOUR} WHERE {{sky}} AND {{metric}} IS NOT NULL AND {{cond}} GROUP BY f.origin ORDER BY f.origin",
        {"metric": F_DELAYS, "sky": SKIES},
        (1, 1),
        ("carrier", "month", "before", "after", "long", "short"),
        "f.",
    ),
    Template(
        "sky_extreme",
        (
            "What is the highest wind speed (wind_speed) in the weather rows that match flights {where}? "
            + MATCH
            + "; ignore NULL. Return one row with that number and the number of matching pairs of flight and weather row.",
        ),
        f"SELECT MAX(w.wind_speed), COUNT(*) {HOUR} WHERE {{cond}}",
        {},
        (2, 3),
        PLAIN,
        "f.",
    ),
    Template(
        "never_reached",
        (
            "List the codes (faa) of airports in the time zone (tzone) '{zone}' above {alt} feet (alt) to which no flight goes, in any order.",
        ),
        "SELECT d.faa FROM airports d LEFT JOIN flights f ON f.dest = d.faa WHERE f.id IS NULL AND d.tzone = {zone} AND d.alt > {alt}",
        {"zone": ZONES, "alt": same(-10, 50, 200, 450, 800, 1500)},
        edge="large",
        count=9,
    ),
    Template(
        "routes",
        (
            "Which {n} pairs of airline name and destination airport name have the most flights {where}? Return airline name, airport name and number of flights, most flights first, equal numbers by airline name, then airport name, both ascending; the sorting also decides who is among the {n}. Destinations that are missing from airports are left out.",
        ),
        "SELECT a.name, d.name, COUNT(*) FROM flights f JOIN airlines a ON a.carrier = f.carrier JOIN airports d ON d.faa = f.dest WHERE {cond} GROUP BY a.name, d.faa, d.name ORDER BY COUNT(*) DESC, a.name, d.name LIMIT {n}",
        {"n": same(3, 4, 5)},
        (1, 2),
        ("origin", "month", "after", "before", "late", "early"),
        "f.",
    ),
    Template(
        "big_planes",
        (
            "Show id, model and seats for the {n} flights {where} with the largest {metric} among those flown by a plane with at least {seats} seats (planes.seats). Largest value first, equal values by ascending id, NULL left out; the sorting also decides who is among the {n}.",
        ),
        f"SELECT f.id, p.model, p.seats {PLANE} WHERE p.seats >= {{seats}} AND {{metric}} IS NOT NULL AND {{cond}} ORDER BY {{metric}} DESC, f.id LIMIT {{n}}",
        {"n": same(3, 5, 7), "metric": F_METRICS[:3], "seats": same(100, 140, 170, 180)},
        (1, 2),
        PLAIN,
        "f.",
    ),
    Template(
        "tails_models",
        (
            "List tail number and model of the planes in planes that flew at least one flight {where}: each plane once, in any order.",
        ),
        f"SELECT DISTINCT p.tailnum, p.model {PLANE} WHERE {{cond}}",
        {},
        (2, 2),
        ("carrier", "origin", "month", "late"),
        "f.",
        edge="large",
    ),
    Template(
        "no_airline_route",
        (
            "List the id of flights that the airline named '{airline}' operated to {dest} in {month}, sorted by ascending id.",
        ),
        f"SELECT f.id {AIRLINE} WHERE a.name = {{airline}} AND f.dest = {{dest}} AND f.month = {{month}} ORDER BY f.id",
        {
            "airline": quoted(
                "Hawaiian Airlines Inc.",
                "Alaska Airlines Inc.",
                "Virgin America",
                "Mesa Airlines Inc.",
                "AirTran Airways Corporation",
            ),
            "dest": DESTS[:16],
            "month": MONTHS,
        },
        edge="empty",
    ),
    Template(
        "airline_origin",
        (
            "For each airline name and origin, give the number of flights {where} and the largest {metric} among them (NULL if none has one), for pairs with at least one such flight, sorted by name, then origin, both ascending.",
        ),
        f"SELECT a.name, f.origin, COUNT(*), MAX({{metric}}) {AIRLINE} WHERE {{cond}} GROUP BY a.name, f.origin ORDER BY a.name, f.origin",
        {"metric": F_DELAYS},
        (1, 2),
        ("dest", "month", "before", "after", "short"),
        "f.",
        only_test=True,
    ),
)
