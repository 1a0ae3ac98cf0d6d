"""Checks of the task files: readable rows, ids, declared fields, resources; streaming, nothing is kept but ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hfenv.card.declared import Declared
from hfenv.card.reader import Card
from hfenv.components.taskfiles import SUFFIXES, Row, iter_rows, split_files
from hfenv.errors import NotFoundError, UnreadableError
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

ROW_RULES = ("HFE301", "HFE302")
TASK_RULES = (*ROW_RULES, "HFE303", "HFE304", "HFE305", "HFE306")
_SHOWN = 5  # findings of one rule in one file before the rest is only counted


@dataclass(slots=True)
class _Noted:
    """One kind of mistake in one file: where it is first, and in how many rows."""

    line: int
    message: str
    fix: str
    rows: int = 1


@dataclass(slots=True)
class _Tally:
    """The mistakes of one file by rule and subject; beyond a few of one rule, the rest is only counted."""

    path: str
    noted: dict[str, dict[str, _Noted]] = field(default_factory=dict)
    more: dict[str, int] = field(default_factory=dict)

    def add(self, rule: str, subject: str, line: int, message: str, fix: str) -> None:
        of_rule = self.noted.setdefault(rule, {})
        if subject in of_rule:
            of_rule[subject].rows += 1
        elif len(of_rule) < _SHOWN:
            of_rule[subject] = _Noted(line, message, fix)
        else:
            self.more[rule] = self.more.get(rule, 0) + 1

    def findings(self) -> Iterator[Finding]:
        for rule, of_rule in self.noted.items():
            for noted in of_rule.values():
                others = f" (and in {noted.rows - 1} more tasks)" if noted.rows > 1 else ""
                message = noted.message + others
                yield Finding(rule, severity(rule), self.path, message, line=noted.line, column=1, fix=noted.fix)
        for rule, count in self.more.items():
            message = f"{count} more tasks with mistakes of this kind"
            yield Finding(rule, severity(rule), self.path, message, fix="See the ones with a line.")


def check_tasks(root: Path, card: Card, declared: Declared) -> list[Finding]:
    """All task files that the splits name; a pattern that matches nothing is the layout's business."""
    findings: list[Finding] = []
    ids: dict[str, tuple[str, int]] = {}
    seen: set[Path] = set()
    for split, patterns in declared.splits.items():
        rows = 0
        unreadable = False
        files = list(_files(root, patterns))
        for file in files:
            if file in seen:
                message = f"{file.relative_to(root).as_posix()} is named twice, so that its tasks have no unique ids"
                findings.append(_at_split(card, "HFE303", split, message, "Name each file in one split only."))
                rows += 1
                continue
            seen.add(file)
            tally = _Tally(file.relative_to(root).as_posix())
            count, failure = _check_file(file, tally, declared, ids)
            rows += count
            unreadable = unreadable or failure is not None
            findings += [*tally.findings(), *([failure] if failure else [])]
        if files and not rows and not unreadable:
            findings.append(_at_split(card, "HFE305", split, f"the split '{split}' has no tasks", "Add tasks."))
    return findings


def check_rows(root: Path) -> list[Finding]:
    """Where no card says what the splits are: every task file is read, and its ids looked at."""
    findings: list[Finding] = []
    folder = root / "tasks"
    files = sorted(path for suffix in SUFFIXES for path in folder.glob(f"*{suffix}") if path.is_file())
    for file in files:
        tally = _Tally(file.relative_to(root).as_posix())
        _, failure = _check_file(file, tally, None, {})
        kept = [finding for finding in tally.findings() if finding.rule in ROW_RULES]
        findings += [*kept, *([failure] if failure else [])]
    return findings


def _files(root: Path, patterns: Iterable[str]) -> Iterator[Path]:
    for pattern in patterns:
        try:
            yield from split_files(root, [pattern])
        except NotFoundError:
            continue


def _check_file(
    file: Path, tally: _Tally, declared: Declared | None, ids: dict[str, tuple[str, int]]
) -> tuple[int, Finding | None]:
    """Rows read, and the finding that ended the reading."""
    rows = 0
    try:
        for row in iter_rows(file):
            rows += 1
            _check_id(row, tally, ids)
            if declared is not None:
                _check_fields(row, tally, declared)
    except (UnreadableError, OSError) as error:
        message = error.message if isinstance(error, UnreadableError) else str(error.strerror)
        where = re.match(rf"{re.escape(file.name)}(?::(\d+))?: ?", message)
        line = int(where[1]) if where and where[1] else 0
        text = message[where.end() :] if where else message
        fix = error.hint if isinstance(error, UnreadableError) else "Check the file and its rights."
        return rows, Finding(
            "HFE301", severity("HFE301"), tally.path, text.rstrip("."), line=line, column=1 if line else 0, fix=fix
        )
    return rows, None


def _check_id(row: Row, tally: _Tally, ids: dict[str, tuple[str, int]]) -> None:
    task_id = row.values.get("id")
    if not isinstance(task_id, str) or not task_id:
        if "id" not in row.values:
            what = "the task has no 'id'"
        else:
            what = "the 'id' is empty" if task_id == "" else f"the 'id' is {_kind(task_id)}, not text"
        tally.add("HFE302", what, row.line, what, 'Give every task an id of its own, in quotes: "id": "easy-0001".')
        return
    path, line = ids.setdefault(task_id, (tally.path, row.line))
    if (path, line) != (tally.path, row.line):
        message = f"the id '{task_id[:60]}' stands already at {path}:{line}"
        tally.add("HFE303", task_id, row.line, message, "Give every task an id of its own.")


def _check_fields(row: Row, tally: _Tally, declared: Declared) -> None:
    names = {resource.name for resource in declared.resources}
    for name, role in declared.fields.items():
        if name not in row.values:
            message = f"the declared field '{name}' is missing"
            tally.add("HFE304", name, row.line, message, "Add it to the task, or take it off the card's fields.")
        elif role == "resource" and (value := row.values[name]) is not None:
            for used in value if isinstance(value, list) else [value]:
                if used not in names:
                    message = f"the field '{name}' names no entry of resources: {used!r}"[:160]
                    known = ", ".join(sorted(names)) or "none"
                    tally.add("HFE306", f"{name}={used!r}", row.line, message, f"Resources on the card: {known}.")


def _at_split(card: Card, rule: str, split: str, message: str, fix: str) -> Finding:
    pointer = f"/environment/tasks/splits/{split}"
    at = card.place(pointer)
    return Finding(rule, severity(rule), card.path, message, pointer, at.line, at.column, fix)


def _kind(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), "null")
