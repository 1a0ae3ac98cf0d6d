"""Task templates of grade medium on the table remarks, whose texts need care: joins of two tables."""

from __future__ import annotations

from phrases import Template, same

TEMPLATES = (
    Template(
        "remark_airlines",
        (
            "Show the id of each remark with a rating of {rating} on one of the airports {places}, together with the name of the airline it is about, sorted by ascending id. Remarks without a known airline are left out.",
        ),
        "SELECT r.id, a.name FROM remarks r JOIN airlines a ON a.carrier = r.carrier WHERE r.rating {rating} AND r.airport IN ({places}) ORDER BY r.id",
        {
            "rating": [("4 or better", ">= 4"), ("2 or worse", "<= 2"), ("exactly 3", "= 3"), ("1 or 5", "IN (1, 5)")],
            "places": [
                (", ".join(codes), ", ".join(f"'{code}'" for code in codes))
                for codes in (
                    ("ATL", "BOS", "CLT", "DFW", "FLL"),
                    ("LAX", "MIA", "MCO", "ORD", "SFO"),
                    ("DTW", "IAH", "LAS", "PBI", "TPA"),
                    ("BUF", "ROC", "SYR", "BTV", "PWM", "DCA"),
                )
            ],
        },
        edge="special characters",
    ),
    Template(
        "remark_counts",
        (
            "For every airline, also one without any, count the remarks about it {what}. Return the airline's name and the number (0 where there is none), sorted by name in ascending order.",
        ),
        "SELECT a.name, COUNT(r.id) FROM airlines a LEFT JOIN remarks r ON r.carrier = a.carrier AND {what} GROUP BY a.name ORDER BY a.name",
        {
            "what": [
                ("with a rating of 4 or better", "r.rating >= 4"),
                ("with a rating below 3", "r.rating < 3"),
                ("without a rating (NULL)", "r.rating IS NULL"),
                ("whose body is NULL", "r.body IS NULL"),
                ("whose body is the empty text", "r.body = ''"),
                ("with the tag 'lost&found'", "r.tag = 'lost&found'"),
                ("with the tag '100%'", "r.tag = '100%'"),
                ("with the tag [crew's corner] (the text between the brackets)", "r.tag = 'crew''s corner'"),
                ("whose title contains a percent sign", "instr(r.title, '%') > 0"),
                ("whose title contains an apostrophe (')", "instr(r.title, '''') > 0"),
                ("by the author O'Brien", "r.author = 'O''Brien'"),
                ("with the tag '行李'", "r.tag = '行李'"),
            ]
        },
        edge="special characters",
        count=11,
    ),
    Template(
        "remark_airports",
        (
            "For each airport in airports with rated remarks {what}, give its name, the number of such remarks that have a rating and their average rating, rounded to 2 decimals, sorted by name in ascending order.",
        ),
        "SELECT d.name, COUNT(r.rating), ROUND(AVG(r.rating), 2) FROM remarks r JOIN airports d ON d.faa = r.airport WHERE r.rating IS NOT NULL AND {what} GROUP BY d.faa, d.name ORDER BY d.name",
        {
            "what": [
                ("on the carrier code 'UA' or 'DL'", "r.carrier IN ('UA', 'DL')"),
                ("without a carrier", "r.carrier IS NULL"),
                ("with the tag 'food' or 'C++'", "r.tag IN ('food', 'C++')"),
                ("whose title is not the empty text", "r.title <> ''"),
                ("with the tag 'семья' or '行李'", "r.tag IN ('семья', '行李')"),
                ("whose body is not NULL", "r.body IS NOT NULL"),
                ("on a carrier code that sorts before 'F'", "r.carrier < 'F'"),
                ("on a carrier code that sorts after 'M'", "r.carrier > 'M'"),
            ]
        },
        edge="special characters",
        count=8,
    ),
    Template(
        "same_title",
        (
            "Find pairs of remarks with the same {column} and the same airport, where the first has a smaller id than the second and the {which} a rating of {rating}. Return both ids, sorted by the first, then the second.",
        ),
        "SELECT r.id, s.id FROM remarks r JOIN remarks s ON s.{column} = r.{column} AND s.airport = r.airport AND s.id > r.id WHERE {which}.rating = {rating} ORDER BY r.id, s.id",
        {
            "column": same("title", "author", "body"),
            "which": [("first has", "r"), ("second has", "s")],
            "rating": same(1, 2, 3, 4, 5),
        },
        edge="duplicates",
    ),
)
