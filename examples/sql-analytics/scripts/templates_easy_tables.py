"""Task templates of grade easy on airports, planes, weather and remarks: one table, no join, no subquery."""

from __future__ import annotations

from phrases import DESTS, ENDS, MAKERS, MONTHS, ORIGINS, ZONES, Template, quoted, same

TEMPLATES = (
    Template(
        "high_airports",
        (
            "List faa and name of airports whose altitude (alt) is above {alt} feet and whose time zone (tzone) is '{zone}', sorted by altitude from high to low, then by faa.",
            "Which airports in the time zone (tzone) '{zone}' lie higher than {alt} feet (alt)? Return faa and name, highest first, equal ones by ascending faa.",
        ),
        "SELECT faa, name FROM airports WHERE alt > {alt} AND tzone = {zone} ORDER BY alt DESC, faa",
        {"alt": same(600, 900, 1200, 2000, 3000, 4500), "zone": ZONES},
    ),
    Template(
        "airport",
        (
            "What are the name, altitude (alt) and time zone (tzone) of the airport with the code (faa) {code}? Return one row with these three columns.",
        ),
        "SELECT name, alt, tzone FROM airports WHERE faa = {code}",
        {"code": DESTS},
    ),
    Template(
        "airports_by_zone",
        (
            "For each daylight-saving code (dst) and time zone offset (tz), how many airports lie at {alt} feet (alt) or higher? Return dst, tz and the number, without combinations that have none, sorted by dst, then tz, both ascending.",
        ),
        "SELECT dst, tz, COUNT(*) FROM airports WHERE alt >= {alt} GROUP BY dst, tz ORDER BY dst, tz",
        {"alt": same(0, 100, 250, 500, 750, 1000, 1500, 2500, 3500, 4000, 5000, 6000)},
    ),
    Template(
        "northernmost",
        (
            "Which {n} airports with a time zone offset (tz) of {tz} lie furthest north (largest lat)? Return faa, name and lat, from north to south, equal ones by ascending faa.",
        ),
        "SELECT faa, name, lat FROM airports WHERE tz = {tz} ORDER BY lat DESC, faa LIMIT {n}",
        {"n": same(3, 4, 6, 7, 9), "tz": same(-5, -6, -7, -8, -9)},
    ),
    Template(
        "airport_names",
        (
            "List faa and name of airports whose name contains '{word}' (capital or small letters alike) and whose altitude (alt) is below {alt} feet, in any order.",
        ),
        "SELECT faa, name FROM airports WHERE name LIKE '%' || {word} || '%' AND alt < {alt}",
        {
            "word": quoted("Regional", "Municipal", "County", "Intl", "Field", "Memorial", "Lake"),
            "alt": same(100, 300, 800),
        },
    ),
    Template(
        "planes_count",
        (
            "How many planes made by manufacturer '{maker}' have at least {seats} seats? Return one number.",
            "Count the planes whose manufacturer is '{maker}' and which have {seats} seats or more. Return one number.",
        ),
        "SELECT COUNT(*) FROM planes WHERE manufacturer = {maker} AND seats >= {seats}",
        {"maker": MAKERS[:5], "seats": same(50, 80, 100, 140, 150, 180, 200, 250)},
    ),
    Template(
        "models",
        (
            "For each model of planes made by '{maker}' with more than {seats} seats, how many of these planes are there? Return model and number, sorted by the number from large to small, then by model.",
        ),
        "SELECT model, COUNT(*) FROM planes WHERE manufacturer = {maker} AND seats > {seats} GROUP BY model ORDER BY COUNT(*) DESC, model",
        {"maker": MAKERS[:4], "seats": same(20, 60, 100, 145, 175, 190, 260)},
    ),
    Template(
        "oldest",
        (
            "Which {n} planes made by '{maker}' are the oldest by year of manufacture (year, not NULL)? Return tailnum and year, oldest first, equal years by ascending tailnum; the sorting also decides who is among the {n}.",
        ),
        "SELECT tailnum, year FROM planes WHERE manufacturer = {maker} AND year IS NOT NULL ORDER BY year, tailnum LIMIT {n}",
        {"n": same(3, 5, 10, 15), "maker": MAKERS},
        only_test=True,
    ),
    Template(
        "engines",
        (
            "For each engine type (engine), give the number of planes built in {year} or later and their average number of seats, rounded to 2 decimals. Leave out engine types without such planes; sort by engine in ascending order.",
        ),
        "SELECT engine, COUNT(*), ROUND(AVG(seats), 2) FROM planes WHERE year >= {year} GROUP BY engine ORDER BY engine",
        {"year": same(*range(1985, 2012))},
    ),
    Template(
        "weather_extreme",
        ("What was the {end} {what} at {origin} in {month}, by the table weather? Ignore NULL and return one number.",),
        "SELECT {end}({what}) FROM weather WHERE origin = {origin} AND month = {month}",
        {
            "end": ENDS,
            "what": [
                ("temperature (temp)", "temp"),
                ("dew point (dewp)", "dewp"),
                ("air pressure (pressure)", "pressure"),
            ],
            "origin": ORIGINS,
            "month": MONTHS,
        },
    ),
    Template(
        "poor_sight",
        (
            "List month, day, hour and visib of the rows of weather at {origin} in {month} with a visibility (visib) below {visib} miles, sorted by day, then hour, both ascending.",
        ),
        "SELECT month, day, hour, visib FROM weather WHERE origin = {origin} AND month = {month} AND visib < {visib} ORDER BY day, hour",
        {"origin": ORIGINS, "month": MONTHS, "visib": same(2, 5, 9)},
    ),
    Template(
        "wind",
        (
            "How many rows of weather at {origin} have a wind speed (wind_speed) above {speed} and a temperature (temp) below {temp}? Return one number.",
        ),
        "SELECT COUNT(*) FROM weather WHERE origin = {origin} AND wind_speed > {speed} AND temp < {temp}",
        {"origin": ORIGINS, "speed": same(8, 10, 12, 15), "temp": same(35, 40, 50, 60, 70)},
    ),
    Template(
        "author",
        (
            "Show id and title of the remarks written by the author {author} (exactly so, between the brackets: [{author}]), sorted by ascending id.",
        ),
        "SELECT id, title FROM remarks WHERE author = {author} ORDER BY id",
        {
            "author": quoted(
                "O'Brien",
                "Zoë Müller",
                "李雷",
                'Ana "Nina" Souza',
                "D'Angelo",
                "Мария",
                "Nguyễn Văn A",
                "Łukasz",
                "Smith & Sons",
                "Back\\slash",
                " Leading Space",
                "Emoji 🛫 Fan",
                "NULL",
                "5% Club",
                "under_score",
                "j. r. smith",
            )
        },
        edge="special characters",
        count=12,
    ),
    Template(
        "contains",
        (
            "Show id and title of remarks whose {column} contains the text between the brackets, letter case included: [{text}]. Sort by ascending id.",
        ),
        "SELECT id, title FROM remarks WHERE instr({column}, {text}) > 0 ORDER BY id",
        {
            "column": same("title", "body"),
            "text": quoted("%", "_", "'", '"', "\\", "☕", "О", "ü", "Ü", "&", "50%", ";", "服务", "(", "bag", "O'"),
        },
        edge="special characters",
        count=12,
    ),
    Template(
        "empty_text",
        (
            "Show id and author of remarks whose {column} is {what} and whose rating is {rating}, sorted by ascending id.",
        ),
        "SELECT id, author FROM remarks WHERE {column} {what} AND rating {rating} ORDER BY id",
        {
            "column": same("body", "tag"),
            "what": [
                ("the empty text, not NULL", "= ''"),
                ("NULL, not the empty text", "IS NULL"),
                ("the text NULL, not a missing value", "= 'NULL'"),
            ],
            "rating": [
                ("missing (NULL)", "IS NULL"),
                ("3 or better", ">= 3"),
                ("below 3", "< 3"),
                ("exactly 1", "= 1"),
            ],
        },
        edge="special characters",
    ),
    Template(
        "repeated",
        (
            "List the {column} of each remark with the rating {rating} on airline code '{carrier}' or on any airline code that sorts before it (carrier, NULL left out): one row per remark, repeated values stay, in any order.",
        ),
        "SELECT {column} FROM remarks WHERE rating = {rating} AND carrier <= {carrier}",
        {
            "column": same("title", "author", "tag"),
            "rating": same(1, 2, 3, 4, 5),
            "carrier": quoted("B6", "DL", "MQ", "UA"),
        },
        edge="duplicates",
        count=12,
    ),
)
