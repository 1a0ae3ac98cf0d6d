"""The guard lets one reading statement through and says of everything else what it was."""

import hashlib
import sys

import pytest
from env.guard import MAX_ROWS, Database, Status, has_outer_order

ENDLESS = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT COUNT(*) FROM r"


@pytest.fixture
def database(resources):
    with Database(resources / "fixture-a.sqlite") as opened:
        yield opened


@pytest.mark.parametrize(
    ("sql", "status"),
    [
        ("", Status.EMPTY),
        (" \n\t;", Status.EMPTY),
        ("-- only a comment", Status.EMPTY),
        (None, Status.EMPTY),
        ({"sql": "SELECT 1"}, Status.EMPTY),
        ("SELEC 1", Status.SYNTAX),
        ("SELECT '\x00'", Status.SYNTAX),
        ("SELECT '\ud800'", Status.SYNTAX),
        ("SELECT ?", Status.SYNTAX),
        ("SELECT answer FROM flights", Status.FAILED),
        ("SELECT * FROM nowhere", Status.FAILED),
        ("SELECT SUM(9223372036854775807) FROM flights", Status.FAILED),
        ("SELECT 1; SELECT 2", Status.SEVERAL),
        ("SELECT 1; DROP TABLE flights", Status.SEVERAL),
        ("DROP TABLE flights", Status.DESTRUCTIVE),
        ("/* harmless */ DELETE FROM flights", Status.DESTRUCTIVE),
        ("WITH x AS (SELECT 1) DELETE FROM flights", Status.DESTRUCTIVE),
        ("INSERT INTO airlines VALUES ('XX', 'x')", Status.DESTRUCTIVE),
        ("REPLACE INTO airlines VALUES ('XX', 'x')", Status.DESTRUCTIVE),
        ("CREATE TEMP TABLE x (a)", Status.DESTRUCTIVE),
        ("PRAGMA query_only = 0", Status.DESTRUCTIVE),
        ("ATTACH ':memory:' AS x", Status.DESTRUCTIVE),
        ("VACUUM INTO 'copy.sqlite'", Status.DESTRUCTIVE),
        ("BEGIN IMMEDIATE", Status.DESTRUCTIVE),
        ("SELECT sql FROM sqlite_master", Status.FORBIDDEN),
        ("SELECT COUNT(*) FROM sqlite_schema", Status.FORBIDDEN),
        ("SELECT * FROM pragma_table_info('flights')", Status.FORBIDDEN),
        ("SELECT load_extension('x')", Status.FORBIDDEN),
        ("SELECT random()", Status.FORBIDDEN),
        (ENDLESS, Status.TIME_LIMIT),
        ("SELECT COUNT(*) FROM flights a, flights b, flights c", Status.TIME_LIMIT),
        ("SELECT * FROM flights", Status.SIZE_LIMIT),
        ("SELECT 1" + " " * 30_000, Status.SIZE_LIMIT),
    ],
)
def test_status(database, sql, status):
    assert database.run(sql).status is status
    assert database.run("SELECT COUNT(*) FROM airlines").rows == ((16,),)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 can't lower the limit on the size of a value")
def test_a_value_that_doubles_is_refused(database):
    doubling = "WITH RECURSIVE r(x) AS (SELECT 'aaaa' UNION ALL SELECT x || x FROM r) SELECT MAX(LENGTH(x)) FROM r"
    assert database.run(doubling).status is Status.SIZE_LIMIT


@pytest.mark.parametrize("sql", ["SELECT 1;", "SELECT 1 ;; \n", "-- why\nSELECT 1 -- done", "/* a */ SELECT 1; -- b"])
def test_comments_and_a_final_semicolon_change_nothing(database, sql):
    assert database.run(sql).rows == ((1,),)


def test_values_keep_their_types(database):
    result = database.run("SELECT 1, 1.5, '1', '', NULL, x'00ff', 9e999, 'ä🛫'")
    assert result.rows == ((1, 1.5, "1", "", None, {"blob": "00ff"}, {"real": "inf"}, "ä🛫"),)


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ("SELECT 1 UNION ALL SELECT 2", ()),
        ("SELECT COUNT(*) FROM flights", ("flights",)),
        ("WITH x AS (SELECT 1 AS a) SELECT COUNT(*) FROM x", ()),
        ("SELECT (SELECT MAX(alt) FROM airports) FROM airlines", ("airlines", "airports")),
    ],
)
def test_tables_that_were_read(database, sql, tables):
    first, again = database.run(sql), database.run(sql)
    assert first.tables == again.tables == tables


def test_the_number_of_rows_is_capped_at_the_limit(database):
    assert len(database.run(f"SELECT id FROM flights LIMIT {MAX_ROWS}").rows) == MAX_ROWS
    assert database.run(f"SELECT id FROM flights LIMIT {MAX_ROWS + 1}").status is Status.SIZE_LIMIT


def test_attempts_leave_file_and_folder_as_they_were(resources, tmp_path):
    path = tmp_path / "a copy #1?.sqlite"
    path.write_bytes((resources / "fixture-a.sqlite").read_bytes())
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    with Database(path) as database:
        for sql in ("DELETE FROM flights", f"VACUUM INTO '{tmp_path / 'x'}'", f"ATTACH '{tmp_path / 'y'}' AS y"):
            assert database.run(sql).status is Status.DESTRUCTIVE
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("sql", "ordered"),
    [
        ("SELECT a FROM t ORDER BY a", True),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a)", False),
        ("SELECT a, RANK() OVER (ORDER BY a) FROM t", False),
        ("SELECT 'ORDER BY' FROM t -- ORDER BY a", False),
        ("SELECT a FROM t EXCEPT SELECT b FROM u order  by 1", True),
    ],
)
def test_outer_order(sql, ordered):
    assert has_outer_order(sql) is ordered
