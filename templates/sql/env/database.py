"""Runs one reading statement on a private copy of a database; reward/, versioned apart, has the same file."""

import re
import sqlite3
from pathlib import Path
from typing import Any

MAX_ROWS = 1_000
MAX_SQL = 10_000  # characters
MAX_STEPS = 1_000_000  # instructions of SQLite's virtual machine, so that no query runs for ever
MAX_VALUE = 100_000  # bytes of one value
FUNCTIONS = frozenset(
    "abs avg coalesce count date group_concat ifnull iif instr length like lower ltrim max min nullif rank replace "
    "round row_number rtrim strftime substr sum total trim upper".split()
)


def open_database(path: Path) -> sqlite3.Connection:
    """A new database in memory, filled by a script of SQL; nothing an agent does can reach the file."""
    connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=0, check_same_thread=False)
    connection.executescript(path.read_text(encoding="utf-8"))
    if hasattr(connection, "setlimit"):  # Python 3.11 and newer
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
    return connection


def schema_of(path: Path) -> str:
    """The CREATE TABLE statements of a script, for the agent to read."""
    return "\n".join(re.findall(r"^CREATE TABLE .*?;$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))


def run(connection: sqlite3.Connection, sql: Any) -> dict[str, Any]:
    """Run one statement; gives rows, the tables that were read, and an error with its kind, or None for both."""
    tables: set[str] = set()
    denied: list[int] = []
    steps = 0

    def allow(action: int, first: Any, second: Any, *_: Any) -> int:
        """An allow-list: reading tables, selecting, harmless functions; whatever else SQLite can do is refused."""
        if action == sqlite3.SQLITE_READ and not str(first).startswith(("sqlite_", "pragma_")):
            tables.add(first)
            return sqlite3.SQLITE_OK
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and str(second).lower() in FUNCTIONS:
            return sqlite3.SQLITE_OK
        denied.append(action)
        return sqlite3.SQLITE_DENY

    def overdue() -> int:
        nonlocal steps
        steps += 1_000
        return int(steps > MAX_STEPS)

    def failed(kind: str, error: str) -> dict[str, Any]:
        return {"rows": [], "tables": [], "kind": kind, "error": error}

    if not isinstance(sql, str) or len(sql) > MAX_SQL:
        return failed("wrong", f"A statement is a text of at most {MAX_SQL} characters.")
    connection.set_authorizer(allow)
    connection.set_progress_handler(overdue, 1_000)
    try:
        cursor = connection.execute(sql)
        rows = [list(row) for row in cursor.fetchmany(MAX_ROWS + 1)]
    except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError) as error:
        reading = {sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION}
        return failed("destructive" if {*denied} - reading else "wrong", str(error).encode("utf-8", "replace").decode())
    finally:
        connection.set_authorizer(None)
        connection.set_progress_handler(None, 0)
    if cursor.description is None:
        return failed("wrong", "There is no statement.")
    if len(rows) > MAX_ROWS:
        return failed("wrong", f"The result has more than {MAX_ROWS} rows.")
    if any(isinstance(value, bytes) or value in (float("inf"), float("-inf")) for row in rows for value in row):
        return failed("wrong", "The result has values that are neither text nor finite numbers.")
    return {"rows": rows, "tables": sorted(tables), "kind": None, "error": None}
