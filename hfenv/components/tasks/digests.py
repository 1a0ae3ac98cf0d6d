"""Digests of the tasks in one range of a task file: what each row is known by, what counts in it, and its meta fields.

The canonical form is `hfenv-json-1`: JSON with keys sorted by code point, no spaces, ASCII only, numbers as Python
writes them. `1` and `1.0` are two values, as they are for whoever formats a task into a prompt or compares answers. A
field that is null counts as absent: Parquet and `load_dataset` give every row all fields.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from hfenv.card.regular import open_regular
from hfenv.components.taskfiles import parse_line
from hfenv.components.tasks.lines import MAX_LINE, line_numbers, read_line, read_lines
from hfenv.components.tasks.shapes import kind_of
from hfenv.errors import UnreadableError

CANONICAL = "hfenv-json-1"
KEY, CONTENT, META = 16, 16, 8  # bytes of the digest of an id, of a task's content, of its meta fields
EXTRA = 2 * META  # bytes for what newer fields hold: content, then meta fields; zeros where they hold nothing
_LAYOUTS = 512
_METAS, _META_LENGTH = 1024, 200


@dataclass(frozen=True, slots=True)
class DigestTerms:
    """Roles of the fields by the card; with `released`, those of another index that the rows will be compared with."""

    roles: Mapping[str, str]
    released: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class DigestJob:
    """A range of a file: bytes of JSON Lines, rows of Parquet. `file` is its place among all files, `name` what
    errors call it. With `only`, the lines at these offsets are read instead of the range."""

    file: int
    path: Path
    name: str
    start: int
    stop: int
    terms: DigestTerms
    only: array[int] | None = None


@dataclass(slots=True)
class Digested:
    """Columns with an entry for each row of a range, and what the range shows of the fields.

    `then_*` are the digests under the released roles, `extras` those of what only newer fields hold (EXTRA); all three
    are empty where no row would have another digest. `offsets` are as in `Found`. With an `error`, the columns
    are of no use.
    """

    keys: bytearray = field(default_factory=bytearray)
    contents: bytearray = field(default_factory=bytearray)
    metas: bytearray = field(default_factory=bytearray)
    then_contents: bytearray = field(default_factory=bytearray)
    then_metas: bytearray = field(default_factory=bytearray)
    extras: bytearray = field(default_factory=bytearray)
    names: bytearray = field(default_factory=bytearray)  # ids as UTF-8, one after the other
    lengths: array[int] = field(default_factory=lambda: array("L"))
    offsets: array[int] = field(default_factory=lambda: array("Q"))
    kinds: dict[str, set[str]] = field(default_factory=dict)
    used: Counter[str] = field(default_factory=Counter)  # rows by the resources that they name
    error: UnreadableError | None = None


@dataclass(frozen=True, slots=True)
class _Layout:
    """Rows with the same fields of the same types; names are sorted, and fields that are null left out."""

    content: tuple[str, ...]
    meta: tuple[str, ...]
    then_content: tuple[str, ...]
    then_meta: tuple[str, ...]
    extra: tuple[str, ...]
    extra_meta: tuple[str, ...]
    resources: tuple[str, ...]
    metas: dict[tuple[Any, ...], bytes] | None  # digests of meta fields seen before, where these are all text

    @property
    def differs(self) -> bool:
        return self.content != self.then_content or self.meta != self.then_meta


def _encoder() -> Callable[[Any], str]:
    """The canonical form as a function. `encode` makes the same C encoder anew for each value, a fifth of the work."""
    plain = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False)
    made: Any = getattr(json.encoder, "c_make_encoder", None)
    try:
        parts = made(None, plain.default, json.encoder.encode_basestring_ascii, None, ":", ",", True, False, False)
        sample = {"b": ["\u00e9", 1.0, None], "a": {"": True}}
        if "".join(parts(sample, 0)) == plain.encode(sample):
            return lambda value: "".join(parts(value, 0))
    except TypeError:  # another Python's JSON is made otherwise
        pass
    return plain.encode


_encode = _encoder()


def canonical(value: Any) -> str:
    """The canonical form of a value. Raises ValueError, TypeError or RecursionError for what JSON can't say."""
    return _encode(value)


def id_digest(task_id: str) -> bytes:
    """What a task is known by in an index: the first 16 bytes of the SHA-256 of its id."""
    return sha256(task_id.encode("utf-8", "surrogatepass")).digest()[:KEY]


def digest(job: DigestJob) -> Digested:
    """Read one range. What can't be read ends up in `error`; nothing is raised for what a file may hold."""
    run = _Run(job)
    try:
        rows = _parquet_rows(job) if job.path.suffix == ".parquet" else _json_rows(job)
        for offset, values in rows:
            run.row(values, offset)
    except UnreadableError as error:
        return Digested(error=error)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return Digested(error=UnreadableError(f"{job.name} can't be read: {reason}.", "Check the file and its rights."))
    return run.result()


def _json_rows(job: DigestJob) -> Iterator[tuple[int, dict[str, Any]]]:
    decoder: Any = json.JSONDecoder(parse_constant=_refuse)
    scan = decoder.scan_once  # leaves out a look at whitespace for each line
    for offset, line in _lines(job):
        data = line.rstrip(b" \t\r\n")
        try:
            text = data.decode()
            values, end = scan(text, 0)
        except (StopIteration, ValueError, RecursionError):
            values, end, text = None, 0, ""
        if type(values) is not dict or end != len(text):  # a blank line, or something that its error has to be found of
            if not line.strip():
                continue
            values = parse_line(line, _place(job, offset))
        yield offset, values


def _lines(job: DigestJob) -> Iterator[tuple[int, bytes]]:
    if job.only is not None:
        with open_regular(job.path) as stream:
            yield from ((offset, read_line(stream, offset)) for offset in job.only)
        return
    for offset, _, line, length in read_lines(job.path, job.start, job.stop):
        if line is None:
            raise _unreadable(job, offset, f"the line has {length:,} bytes; more than {MAX_LINE >> 20} MiB aren't read")
        yield offset, line


def _parquet_rows(job: DigestJob) -> Iterator[tuple[int, dict[str, Any]]]:
    from hfenv.components.tasks.parquet import read_range

    try:
        yield from read_range(job.path, job.start, job.stop)
    except UnreadableError as error:
        raise UnreadableError(f"{job.name}: {error.message}", error.hint) from None


def _place(job: DigestJob, offset: int) -> str:
    line = offset + 1 if job.path.suffix == ".parquet" else line_numbers(job.path, [offset])[offset]
    return f"{job.name}:{line}"


def _unreadable(job: DigestJob, offset: int, problem: str, hint: str = "Write one JSON object per line.") -> Exception:
    return UnreadableError(f"{_place(job, offset)}: {problem}.", hint)


def _refuse(name: str) -> Any:
    raise ValueError(name)


class _Run:
    def __init__(self, job: DigestJob) -> None:
        self._job = job
        self._found = Digested()
        self._layouts: dict[tuple[tuple[str, ...], tuple[type, ...]], _Layout] = {}
        self._differs = False

    def row(self, values: dict[str, Any], offset: int) -> None:
        key = (tuple(values), tuple(map(type, values.values())))
        layout = self._layouts.get(key) or self._lay_out(key)
        found = self._found
        task_id = values.get("id")
        if type(task_id) is not str or not task_id:
            hint = 'Give every task an id of its own, in quotes: "id": "easy-0001".'
            raise _unreadable(self._job, offset, "the task has no string 'id'", hint)
        try:
            name = task_id.encode()
        except UnicodeEncodeError:
            name = task_id.encode("utf-8", "surrogatepass")
        try:
            content = _digest(values, layout.content)
            meta = _meta_digest(values, layout)
            if self._differs:
                found.then_contents += _digest(values, layout.then_content) if layout.differs else content
                found.then_metas += _digest(values, layout.then_meta)[:META] if layout.differs else meta
                for names in (layout.extra, layout.extra_meta):
                    found.extras += _digest(values, names)[:META] if names else bytes(META)
        except (TypeError, ValueError, RecursionError) as error:
            problem = "nested too deeply" if isinstance(error, RecursionError) else error
            hint = "Store text, finite numbers, true, false, lists or maps."
            raise _unreadable(self._job, offset, f"the row isn't plain JSON: {problem}", hint) from None
        found.keys += sha256(name).digest()[:KEY]
        found.contents += content
        found.metas += meta
        found.names += name
        found.lengths.append(len(name))
        found.offsets.append(offset)
        for resource in layout.resources:
            value = values[resource]
            found.used.update({v for v in (value if type(value) is list else [value]) if type(v) is str})

    def result(self) -> Digested:
        return self._found

    def _lay_out(self, key: tuple[tuple[str, ...], tuple[type, ...]]) -> _Layout:
        types = dict(zip(*key, strict=True))
        names = sorted(name for name, type_ in types.items() if type_ is not type(None) and name != "id")
        roles = self._job.terms.roles
        then = roles if self._job.terms.released is None else self._job.terms.released
        known = names if self._job.terms.released is None else [name for name in names if name in then]
        meta = tuple(name for name in names if roles.get(name) == "meta")
        layout = _Layout(
            content=tuple(name for name in names if roles.get(name) != "meta"),
            meta=meta,
            then_content=tuple(name for name in known if then.get(name) != "meta"),
            then_meta=tuple(name for name in known if then.get(name) == "meta"),
            extra=tuple(name for name in names if name not in known and roles.get(name) != "meta"),
            extra_meta=tuple(name for name in meta if name not in known),
            resources=tuple(name for name in names if roles.get(name) == "resource"),
            metas={} if all(types[name] is str for name in meta) else None,
        )
        for name, type_ in types.items():
            if name != "id":
                self._found.kinds.setdefault(name, set()).update({kind_of(type_)} - {"null"})
        if layout.differs and not self._differs:
            self._differs = True
            self._found.then_contents[:] = self._found.contents
            self._found.then_metas[:] = self._found.metas
            self._found.extras[:] = bytes(EXTRA * (len(self._found.keys) // KEY))
        if len(self._layouts) >= _LAYOUTS:
            self._layouts.clear()
        self._layouts[key] = layout
        return layout


def _digest(values: Mapping[str, Any], names: tuple[str, ...]) -> bytes:
    return sha256(_encode({name: values[name] for name in names}).encode()).digest()[:CONTENT]


def _meta_digest(values: Mapping[str, Any], layout: _Layout) -> bytes:
    """Most task sets have few different meta values, so that the work is done once for each."""
    if layout.metas is None:
        return _digest(values, layout.meta)[:META]
    texts = tuple([values[name] for name in layout.meta])
    found = layout.metas.get(texts)
    if found is None:
        found = _digest(values, layout.meta)[:META]
        if len(layout.metas) < _METAS and sum(map(len, texts)) <= _META_LENGTH:
            layout.metas[texts] = found
    return found
