"""One line of a task file to a row: every mistake in it is noted, and what can be read of it is still returned."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hfenv.card.header import looks_like
from hfenv.components.tasks.lines import MAX_LINE

_DIGITS = 4300  # Python's own limit for whole numbers, which not every 3.10 has
_LARGE = 1 << 20  # bytes of a line from which on it is asked how much is in it
_NESTED = 500_000  # lists and objects of one row: each takes many times the memory that it takes on the line
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_ELSEWHERE = "Put large content into tasks/resources/ and name it under resources on the card."
_PLAIN = "Write one JSON object per line."


@dataclass(frozen=True, slots=True)
class Problem:
    """A mistake in a line; `subject` groups equal ones, an empty one stands alone."""

    rule: str
    kind: str
    subject: str
    message: str
    fix: str
    column: int = 1


class LineReader:
    """Reads lines one after the other; `problems` holds those of the last one."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._scan = _scanner(object_pairs_hook=self._object)
        # A huge number would take minutes to convert on some Pythons; only long lines can hold one.
        self._scan_long = _scanner(object_pairs_hook=self._object, parse_int=_whole_number)

    def read(self, data: bytes, offset: int) -> dict[str, Any] | None:
        """The row on a line that starts at byte `offset` of its file; None where there is none to be had."""
        if self.problems:
            self.problems = []
        if len(data) > _LARGE and data.count(b"{") + data.count(b"[") > _NESTED:
            message = f"the line has more than {_NESTED:,} lists and objects"
            self._note("large", message, _ELSEWHERE)
            return None
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            at = offset + error.start
            message = f"byte {at} of the file (0x{data[error.start]:02x}) is not UTF-8"
            # A file is in one encoding as a whole: its first such line speaks for all.
            self._note("encoding", message, f"Save the file as UTF-8{looks_like(data)}.", subject="encoding")
            return None
        start = 0 if data[:1] == b"{" else len(data) - len(data.lstrip(b" \t\r"))
        try:
            values, end = (self._scan if len(data) <= _DIGITS else self._scan_long)(text, start)
        except StopIteration as stop:
            self._not_json("Expecting value", stop.value or start)
            return None
        except json.JSONDecodeError as error:
            self._not_json(error.msg, error.pos)
            return None
        except RecursionError:
            self._note("depth", "not JSON that can be read: nested too deeply", _PLAIN)
            return None
        except ValueError:
            self._note("number", f"a whole number of more than {_DIGITS} digits", "Store such a number as text.")
            return None
        if end != len(text):
            self._not_json("Extra data", end)
            return None
        if type(values) is not dict:
            self._note("object", "the row is no JSON object", _PLAIN)
            return None
        if b"\\u" in data and _SURROGATE.search(data):
            self._surrogates(values)
        return values

    def too_long(self, length: int) -> None:
        """Note a line that was not read at all."""
        self.problems = []
        self._note("large", f"the line has {length:,} bytes; more than {MAX_LINE >> 20} MiB aren't read", _ELSEWHERE)

    def _not_json(self, message: str, position: int) -> None:
        self._note("json", f"not JSON: {message}", _PLAIN, position + 1)

    def _note(self, kind: str, message: str, fix: str, column: int = 1, subject: str = "") -> None:
        self.problems.append(Problem("HFE301", kind, subject, message, fix, column))

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) != len(pairs):
            seen: set[str] = set()
            name = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
            message = f"the key '{name[:60]}' stands twice in one object; readers take either one or none"
            self.problems.append(Problem("HFE316", "", name, message, "Remove one of them."))
        return values

    def _surrogates(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            try:
                json.dumps({name: value}, ensure_ascii=False).encode()
            except UnicodeEncodeError as error:
                half = f"\\u{ord(error.object[error.start]):04x}"
                shown = name[:60].encode("utf-8", "replace").decode()
                message = f"the field '{shown}' holds {half}, one half of a character: it can't be written as UTF-8"
                fix = "Write the whole character, or remove the half."
                self.problems.append(Problem("HFE314", "", name, message, fix))
                return
            except RecursionError:
                return


def _scanner(**hooks: Any) -> Callable[[str, int], tuple[Any, int]]:
    """The decoder's own scanner: it says where a value ends, and leaves out a look at whitespace for each line."""
    decoder: Any = json.JSONDecoder(**hooks)
    scan: Callable[[str, int], tuple[Any, int]] = decoder.scan_once
    return scan


def _whole_number(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError("too many digits")
    return int(text)
