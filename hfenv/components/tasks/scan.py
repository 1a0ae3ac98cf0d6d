"""One range of a task file in one pass: every check that looks at a row by itself, and hashes for those that don't."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from hfenv.components.tasks.json import LineReader
from hfenv.components.tasks.leaks import Leak, candidates, fold, fold_value, gives_away, is_source, may_give_away
from hfenv.components.tasks.lines import read_lines
from hfenv.components.tasks.range import Found, Job, Terms
from hfenv.components.tasks.shapes import DATE, KINDS, TEXT, Node, Shaper, is_date, is_odd, kind_of
from hfenv.errors import UnreadableError

_LAYOUTS = 512
_FAR = 1 << 62  # beyond it, and for what compares with nothing, a number gets a closer look
_UTF8_MARK = b"\xef\xbb\xbf"
_WORDS = {"text": "text", "bool": "true or false", "int": "a number", "float": "a number", "list": "a list"}
_WORDS |= {"object": "an object", "null": "null"}


@dataclass(slots=True)
class _Layout:
    """Rows with the same fields of the same types, which are all looked at in the same way."""

    first: int
    key: tuple[tuple[str, ...], tuple[type, ...]]
    bad_id: str | None
    missing: tuple[str, ...]
    inputs: tuple[str, ...]
    plain: bool  # whether the inputs are all text
    targets: tuple[str, ...]  # of text
    other_targets: tuple[str, ...]  # numbers and lists
    listed_targets: tuple[str, ...]
    copied: tuple[str, ...]  # what the card declares as targets, but for text
    others: Callable[[dict[str, Any]], Any]  # values that are neither id nor input nor meta
    nested_others: tuple[str, ...]
    resources: tuple[str, ...]
    nested: tuple[str, ...]
    numbers: tuple[str, ...]
    foreign: tuple[str, ...]
    rows: int = 0


def scan(job: Job, terms: Terms) -> Found:
    """Read one range. What can't be read is a finding; nothing is raised for what a file may hold."""
    run = _Scan(job, terms)
    try:
        run.parquet() if job.is_parquet else run.json()
    except UnreadableError as error:
        run.unreadable("", 0, error.message.rstrip("."), error.hint, kind="file", column=0)
    except OSError as error:
        fix = "Check the file and its rights."
        run.unreadable("", 0, str(error.strerror or error), fix, kind="file", column=0)
    return run.result()


def question(values: Mapping[str, Any], roles: Mapping[str, str]) -> tuple[tuple[bytes, ...], tuple[str, ...]]:
    """What makes up a row's question: its inputs without regard to case and whitespace, and its resources."""
    inputs = tuple(fold_value(values[n]) for n, r in roles.items() if r == "input" and values.get(n) is not None)
    resources = tuple(str(values[n]) for n, r in roles.items() if r == "resource" and values.get(n) is not None)
    return inputs, resources


class _Scan:
    def __init__(self, job: Job, terms: Terms) -> None:
        self._job = job
        self._terms = terms
        self._found = Found()
        self._layouts: dict[tuple[tuple[str, ...], tuple[type, ...]], _Layout] = {}
        self._dates: set[str] = set()  # columns whose texts were all dates so far
        self._texts: set[str] = set()  # columns with a text that is none
        self._shaper = Shaper(job.file)

    def json(self) -> None:
        reader, found, tally = LineReader(), self._found, self._found.tally
        canary = (self._terms.canary or "").encode()
        for offset, number, line, length in read_lines(self._job.path, self._job.start, self._job.stop):
            found.lines = number
            values, data = None, b""
            if line is None:
                reader.too_long(length)
            else:
                mark = 3 if offset == 0 and line.startswith(_UTF8_MARK) else 0
                data = line[mark:].rstrip(b" \t\r\n")
                if not data:
                    continue
                values = reader.read(data, offset + mark)
            for problem in reader.problems:
                found.unreadable |= problem.rule == "HFE301"
                subject = problem.subject or str(offset)
                tally.add(
                    problem.rule,
                    subject,
                    number,
                    problem.message,
                    problem.fix,
                    kind=problem.kind,
                    column=problem.column,
                )
            if values is not None:
                self._row(values, number, offset)
                if canary and (canary in data) is not self._job.evaluation:
                    self._canary_amiss(number)

    def parquet(self) -> None:
        from hfenv.components.tasks.parquet import read_range

        canary = self._terms.canary
        for number, (row, values) in enumerate(read_range(self._job.path, self._job.start, self._job.stop), start=1):
            self._found.lines = number
            self._row(values, number, row)
            if canary and (canary in str(values)) is not self._job.evaluation:
                self._canary_amiss(number)

    def unreadable(self, subject: str, line: int, message: str, fix: str, *, kind: str, column: int = 1) -> None:
        self._found.unreadable = True
        self._found.tally.add("HFE301", subject, line, message, fix, kind=kind, column=column)

    def result(self) -> Found:
        self._flush()
        self._found.columns.rows = self._found.rows
        for name in self._dates & self._found.columns.nodes.keys():
            kinds = self._found.columns.nodes[name].kinds
            kinds[DATE] = kinds.pop(TEXT)
        return self._found

    def _row(self, values: dict[str, Any], line: int, offset: int) -> None:
        found = self._found
        key = (tuple(values), tuple(map(type, values.values())))
        layout = self._layouts.get(key) or self._lay_out(key, line)
        layout.rows += 1
        found.rows += 1
        found.offsets.append(offset)
        if layout.bad_id is None and values["id"]:
            found.ids.append(hash(values["id"]))
        else:
            found.ids.append(0)
            what = layout.bad_id or "the 'id' is empty"
            fix = 'Give every task an id of its own, in quotes: "id": "easy-0001".'
            found.tally.add("HFE302", what, line, what, fix)
        if layout.missing or layout.foreign:
            self._amiss(layout, line)
        for name in layout.numbers:
            number = values[name]
            if not -_FAR < number < _FAR and is_odd(number):
                self._odd(name, number, line)
        for name in layout.nested:
            self._nested(name, values[name], line)
        if self._dates:
            for name in [n for n in self._dates if type(v := values.get(n)) is str and not is_date(v)]:
                self._dates.remove(name)
                self._texts.add(name)
        try:
            self._meaning(layout, values, line)
        except RecursionError:
            del found.texts[found.rows - 1 :]
            self._put_hashes(0, 0)

    def _meaning(self, layout: _Layout, values: dict[str, Any], line: int) -> None:
        """The question and its answer: hashes of them, and whether the one gives the other away."""
        grade = self._terms.grade
        if grade is not None and values.get(grade) is not None:
            self._found.grades[str(values[grade])] += 1
        if layout.resources:
            self._resources(layout, values, line)
        folding = fold if layout.plain else fold_value
        texts = [folding(values[name]) for name in layout.inputs]
        text = b"\x1f".join(texts)
        if not text and not layout.resources:
            self._put_hashes(0, 0)
            return
        asked = hash((text, *[str(values[name]) for name in layout.resources])) if layout.resources else hash(text)
        others = layout.others(values)
        if layout.nested_others:  # lists and objects have no hash of their own
            others = (others, *[repr(values[name]) for name in layout.nested_others])
        self._found.texts.append(asked)
        self._found.wholes.append(hash((asked, others)))
        for name in layout.targets:
            target = fold(values[name])
            if target in text and target:
                self._leak(name, target, dict(zip(layout.inputs, texts, strict=True)), values, line)
                if target in texts:
                    self._copied(layout, name, values, line)
        for name in layout.copied:
            self._copied(layout, name, values, line)
        for name in layout.other_targets if may_give_away(text) else layout.listed_targets:
            for target in candidates(values[name]):
                if target in text and target:
                    self._leak(name, target, dict(zip(layout.inputs, texts, strict=True)), values, line)

    def _put_hashes(self, text: int, whole: int) -> None:
        self._found.texts.append(text)
        self._found.wholes.append(whole)

    def _lay_out(self, key: tuple[tuple[str, ...], tuple[type, ...]], line: int) -> _Layout:
        if len(self._layouts) >= _LAYOUTS:
            self._flush()
        types = dict(zip(*key, strict=True))
        roles = self._terms.roles
        kinds = {name: kind_of(type_) for name, type_ in types.items()}
        given = [name for name in types if kinds[name] != "null"]
        answers = (
            sorted(n for n in given if n != "id" and roles.get(n, "target") in ("target", "grading")) if roles else []
        )
        simple = [name for name in answers if kinds[name] in ("text", "int", "float", "bool")]
        layout = _Layout(
            first=line,
            key=key,
            bad_id=_bad_id(kinds),
            missing=tuple(name for name in roles if name not in types),
            inputs=tuple(name for name, role in roles.items() if role == "input" and kinds.get(name, "null") != "null"),
            plain=all(kinds.get(name, "null") in ("text", "null") for name, role in roles.items() if role == "input"),
            targets=tuple(name for name in answers if kinds[name] == "text"),
            other_targets=tuple(name for name in answers if kinds[name] in ("list", "int", "float")),
            listed_targets=tuple(name for name in answers if kinds[name] == "list"),
            copied=tuple(name for name in answers if kinds[name] != "text" and roles.get(name) == "target"),
            others=itemgetter(*simple) if simple else _nothing,
            nested_others=tuple(name for name in answers if name not in simple),
            resources=tuple(n for n, role in roles.items() if role == "resource" and kinds.get(n, "null") != "null"),
            nested=tuple(name for name in given if kinds[name] in ("list", "object")),
            numbers=tuple(name for name in given if kinds[name] in ("int", "float")),
            foreign=tuple(name for name in given if types[name] not in KINDS),
        )
        self._dates |= {name for name in given if kinds[name] == "text"} - self._texts
        self._layouts[key] = layout
        return layout

    def _flush(self) -> None:
        for layout in self._layouts.values():
            for name, type_ in zip(*layout.key, strict=True):
                if (node := self._found.columns.node(name)) is not None:
                    node.note(kind_of(type_), (self._job.file, layout.first), layout.rows)
        self._layouts.clear()

    def _amiss(self, layout: _Layout, line: int) -> None:
        for name in layout.missing:
            message = f"the declared field '{name[:60]}' is missing"
            fix = "Add it to the task, or take it off the card's fields."
            self._found.tally.add("HFE304", name, line, message, fix)
        for name in layout.foreign:
            type_ = layout.key[1][layout.key[0].index(name)]
            self._foreign(name, type_.__name__, line)

    def _foreign(self, name: str, type_: str, line: int) -> None:
        message = f"the row isn't plain JSON: the field '{name[:60]}' is of the type {type_}"
        fix = "Store text, numbers, true, false, lists or maps."
        self.unreadable(name, line, message, fix, kind="foreign")

    def _odd(self, name: str, value: Any, line: int) -> None:
        where = f"the field '{name[:60]}'"
        if type(value) is int:
            message = f"{where} holds a whole number beyond 64 bits"
            self._found.tally.add("HFE313", name, line, message, "Store such a number as text.")
        else:
            message = f"{where} is not a finite number"
            fix = "Write null, or a number between -1.7e308 and 1.7e308."
            self._found.tally.add("HFE312", name, line, message, fix)

    def _nested(self, name: str, value: Any, line: int) -> None:
        node = self._found.columns.node(name) or Node()
        self._shaper.note(node, name, value, line)
        for odd in self._shaper.odd:
            if odd == "depth":
                message = f"the field '{name[:60]}' is nested too deeply for `load_dataset` and the Hub's viewer"
                self._found.tally.add("HFE317", name, line, message, "Store it as JSON text.", kind="depth")
            elif isinstance(odd, str):
                self._foreign(name, odd, line)
            else:
                self._odd(name, odd, line)

    def _resources(self, layout: _Layout, values: dict[str, Any], line: int) -> None:
        names = self._terms.resources
        for name in layout.resources:
            value = values[name]
            for used in value if isinstance(value, list) else [value]:
                if not isinstance(used, str) or used not in names:
                    message = f"the field '{name[:60]}' names no entry of resources: {repr(used)[:60]}"
                    known = ", ".join(sorted(names)[:20]) or "none"
                    fix = f"Resources on the card: {known}."
                    self._found.tally.add("HFE306", f"{name}={repr(used)[:200]}", line, message, fix)

    def _leak(self, name: str, target: bytes, texts: Mapping[str, bytes], values: dict[str, Any], line: int) -> None:
        for asked, text in texts.items():
            if target in text and not is_source(asked) and gives_away(target, text, values[asked]):
                leak = self._found.leaks.setdefault((name, asked), Leak(line))
                if leak.last != line:
                    leak.rows += 1
                    leak.last = line
                leak.add(hash(target))

    def _copied(self, layout: _Layout, name: str, values: dict[str, Any], line: int) -> None:
        if self._terms.roles.get(name) != "target":
            return  # what grading needs may well be what is asked about
        wanted = _stripped(values[name])
        for asked in layout.inputs:
            if _stripped(values[asked]) == wanted:
                copy = self._found.copies.setdefault((name, asked), Leak(line))
                copy.rows += 1
                copy.add(hash(str(wanted)))

    def _canary_amiss(self, line: int) -> None:
        if self._job.evaluation:
            message, fix = "the task lacks the card's canary", "Put the canary into a field of every evaluation task."
        else:
            message = "a training task holds the canary of the evaluation tasks"
            fix = "Take it out; a model that trains on it can't be told from one that trained on the evaluation."
        self._found.tally.add("HFE320", "", line, message, fix)


def _nothing(values: dict[str, Any]) -> None:
    """What itemgetter would give for no names."""


def _stripped(value: Any) -> Any:
    return value.strip() if type(value) is str else value


def _bad_id(kinds: Mapping[str, str]) -> str | None:
    if "id" not in kinds:
        return "the task has no 'id'"
    kind = kinds["id"]
    return None if kind == "text" else f"the 'id' is {_WORDS.get(kind, kind)}, not text"
