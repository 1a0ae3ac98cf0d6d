"""Runs one read-only statement of an agent on an immutable SQLite file, within limits, and says what became of it.

env/ and reward/ each hold this same file: the two are versioned apart, so neither may import the other.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import Any

TABLES = frozenset({"airlines", "airports", "flights", "planes", "remarks", "weather"})
FUNCTIONS = frozenset(
    "abs avg ceil ceiling char coalesce count cume_dist date datetime dense_rank exp first_value floor "
    "glob group_concat ifnull iif instr julianday lag last_value lead length like ln log log10 log2 lower ltrim max "
    "min mod nth_value ntile nullif percent_rank pow power quote rank replace round row_number rtrim sign sqrt "
    "strftime substr substring sum time total trim trunc typeof unicode unixepoch upper".split()
)
WRITING = frozenset(
    "alter analyze attach begin commit create delete detach drop end insert pragma reindex release replace rollback "
    "savepoint truncate update vacuum".split()
)
MAX_SQL = 20_000  # characters of a statement
MAX_ROWS = 5_000
MAX_BYTES = 1_000_000  # of one value, and of all values of a result
MAX_STEPS = 60_000_000  # virtual machine instructions: the same on a busy and on an idle machine
MAX_CPU_S = 3.0  # processor time of this thread, for instructions that take long
_CHECK_EVERY = 20_000


class Status(str, Enum):
    """What became of a statement."""

    OK = "ok"
    EMPTY = "empty"
    SYNTAX = "syntax"
    FAILED = "failed"  # names that do not exist, or an error while running
    TIME_LIMIT = "time_limit"
    SIZE_LIMIT = "size_limit"
    SEVERAL = "several_statements"
    FORBIDDEN = "forbidden"
    DESTRUCTIVE = "destructive"


@dataclass(frozen=True)
class Result:
    """`rows` hold JSON values; a blob is {"blob": hex} and an infinity {"real": "inf"}, so that types survive."""

    status: Status
    message: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    tables: tuple[str, ...] = ()

    def as_data(self) -> dict[str, Any]:
        return {
            "status": self.status.value,
            "message": self.message,
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "tables": list(self.tables),
        }


class Database:
    """One private connection to one immutable file; statements pass an allow-list, never a list of bad words."""

    def __init__(self, path: Path) -> None:
        uri = f"{Path(path).absolute().as_uri()}?mode=ro&immutable=1"
        # Without the statement cache the authorizer sees each statement, also one that was run before. Python 3.10
        # keeps a small cache all the same, so that `run` makes each text unique.
        self._connection = sqlite3.connect(
            uri, uri=True, isolation_level=None, cached_statements=0, check_same_thread=False
        )
        self._connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        # The file never changes, so it may be mapped instead of read again for every statement.
        self._connection.execute(f"PRAGMA mmap_size = {1 << 28}").close()
        _limit(self._connection)
        self._tables: set[str] = set()
        self._denied: set[int] = set()
        self.steps = 0
        self._runs = 0
        self._deadline = 0.0
        self._connection.set_authorizer(self._authorize)
        self._connection.set_progress_handler(self._overdue, _CHECK_EVERY)

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, sql: object, max_rows: int = MAX_ROWS) -> Result:
        """Run one statement; whatever an agent sends, the answer is a Result and never an exception."""
        if not isinstance(sql, str) or not _bare(sql):
            return Result(Status.EMPTY, "There is no statement.")
        if len(sql) > MAX_SQL:
            return Result(Status.SIZE_LIMIT, f"The statement is longer than {MAX_SQL} characters.")
        if "\x00" in sql or any("\ud800" <= char <= "\udfff" for char in sql):
            return Result(Status.SYNTAX, "The statement has characters that are no text.")
        self._tables, self._denied, self.steps = set(), set(), 0
        self._deadline = time.thread_time() + MAX_CPU_S
        self._runs += 1
        statement = re.sub(r"[;\s]+\Z", "", sql)
        try:
            cursor = self._connection.execute(f"{statement}\n-- {self._runs}")
            try:
                return self._fetch(cursor, max_rows)
            finally:
                cursor.close()
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
            status = self._classify(sql, str(error))
            return Result(status, _sentence(status, error), tables=tuple(sorted(self._tables)))

    def _fetch(self, cursor: sqlite3.Cursor, max_rows: int) -> Result:
        if cursor.description is None:
            return Result(Status.EMPTY, "There is no statement.")
        columns = tuple(str(entry[0]) for entry in cursor.description)
        rows: list[tuple[Any, ...]] = []
        size = 0
        for row in cursor:
            size += sum(len(value) if isinstance(value, (str, bytes)) else 8 for value in row)
            if len(rows) == max_rows or size > MAX_BYTES:
                message = f"The result has more than {max_rows} rows or {MAX_BYTES} bytes."
                return Result(Status.SIZE_LIMIT, message, columns, tables=tuple(sorted(self._tables)))
            rows.append(tuple(_json_value(value) for value in row))
        return Result(Status.OK, "", columns, tuple(rows), tuple(sorted(self._tables)))

    def _authorize(self, action: int, first: Any, second: Any, _database: Any, _inner: Any) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and str(second).lower() in FUNCTIONS:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            if str(first).lower() in TABLES:
                self._tables.add(str(first).lower())
                return sqlite3.SQLITE_OK
            # A common table expression of which no column is read: COUNT(*) over it, for example.
            if second == "" and not _internal(str(first)):
                return sqlite3.SQLITE_OK
        # Opening pragma_table_info and its like counts as an UPDATE of the schema; it is no attempt to change anything.
        self._denied.add(sqlite3.SQLITE_READ if _internal(str(first)) else action)
        return sqlite3.SQLITE_DENY

    def _overdue(self) -> int:
        self.steps += _CHECK_EVERY
        return int(self.steps > MAX_STEPS or time.thread_time() > self._deadline)

    def _classify(self, sql: str, message: str) -> Status:
        keyword = re.match(r"[a-z]*", _bare(sql).lower())
        if self._denied - {sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION} or (keyword and keyword.group() in WRITING):
            return Status.DESTRUCTIVE
        if self._denied:
            return Status.FORBIDDEN
        if "one statement at a time" in message:
            return Status.SEVERAL
        if "interrupted" in message:
            return Status.TIME_LIMIT
        if "too big" in message or "too large" in message or "out of memory" in message or "too many" in message:
            return Status.SIZE_LIMIT
        failed = (
            "no such",
            "ambiguous column",
            "misuse of",
            "wrong number of arguments",
            "unsafe use",
            "integer overflow",
        )
        return Status.FAILED if message.startswith(failed) else Status.SYNTAX


def _limit(connection: sqlite3.Connection) -> None:
    if not hasattr(connection, "setlimit"):  # Python 3.10: the limits on rows, bytes and steps have to do
        return
    for name, value in (
        ("LENGTH", MAX_BYTES),
        ("SQL_LENGTH", 4 * MAX_SQL),
        ("COLUMN", 200),
        ("EXPR_DEPTH", 200),
        ("COMPOUND_SELECT", 50),
        ("VDBE_OP", 50_000),
        ("ATTACHED", 0),
        ("LIKE_PATTERN_LENGTH", 500),
        ("TRIGGER_DEPTH", 0),
        ("WORKER_THREADS", 0),
    ):
        connection.setlimit(getattr(sqlite3, f"SQLITE_LIMIT_{name}"), value)


def _internal(name: str) -> bool:
    return name.lower().startswith(("sqlite_", "pragma_", "json_", "dbstat", "bytecode", "tables_used", "fts", "rtree"))


def _bare(sql: str) -> str:
    """The statement without leading comments, blanks and empty statements."""
    return re.sub(r"\A(?:\s|\ufeff|;|--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z))+", "", sql, flags=re.DOTALL)


def _json_value(value: object) -> Any:
    if isinstance(value, bytes):
        return {"blob": value.hex()}
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return {"real": str(value)}
    return value


def _sentence(status: Status, error: Exception) -> str:
    if status is Status.DESTRUCTIVE:
        return "Only a SELECT is allowed; the database is read-only."
    if status is Status.FORBIDDEN:
        return f"The statement reads or calls what isn't part of this environment: {error}"
    return str(error).encode("utf-8", "replace").decode()


def has_outer_order(sql: str) -> bool:
    """Whether the outermost query of a statement has an ORDER BY, which alone makes order part of an answer."""
    depth = 0
    words: list[str] = []
    for token in _tokens(sql):
        depth += (token == "(") - (token == ")")
        if depth == 0:
            words.append(token.upper())
    return ("ORDER", "BY") in pairwise(words)


def _tokens(sql: str) -> Iterator[str]:
    pattern = r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\[[^\]]*\]|`[^`]*`|--[^\n]*|/\*.*?\*/|[A-Za-z_]\w*|\d[\w.]*|\S"""
    for match in re.finditer(pattern, sql, flags=re.DOTALL):
        if not match.group().startswith(("--", "/*")):
            yield match.group()
