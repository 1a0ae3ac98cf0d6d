"""Does an input give its target away? Word for word, and not as an option, a label or a name that belongs there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

LABELS = 64  # different leaking values of a field beyond which they are no labels
_WORDS, _LENGTH, _HAN = 4, 20, 8
_CANDIDATES = 20  # accepted answers of one task that are looked at

_FOLDED = bytes(32 if chr(code).isspace() else ord(chr(code).lower()) for code in range(128)) + bytes(range(128, 256))
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# "the answer is ...", "Solution: ...", "答案：...", right before the target
_MARKER = r"(?:answer|solution|ground[ -]truth|答案|解答|正解)\W{0,3}(?:is|=|:|：|是|为|->|→)"
_MARKED = re.compile(_MARKER + r"[\s\"'`*$(\[]*$")
_MARKS_AGAIN = re.compile(_MARKER)
# what ends an answer that is given away; "yes or no", "a, b or c", "a number" go on
_ENDS = re.compile(r"[\"'`*$)\]]*\s*?(?:$|[\n!?;。！？；\x1e\x1f]|\.(?!\d))")
# "(b) ", "2. ", "- " right before the target: one option among several
_OPTION = re.compile(r"(?:(?:^|[\s(\[])(?:[a-j]|\d{1,2}|[ivx]{1,4})[).:\]]|[-*•|/,\"'\x1e])\s*$")
# Fields that hold what an answer is to be found in, or the answers to choose from.
_SOURCES = frozenset(
    re.findall(
        r"\w+",
        "context contexts passage passages document documents doc docs article articles paragraph paragraphs story "
        "excerpt evidence page pages html dialogue transcript contract abstract email emails log logs review reference"
        " references choice choices option options candidate candidates label labels",
    )
)


@dataclass(slots=True)
class Leak:
    """A target field that stands in an input field: first line, rows, and the values, as far as they may be labels."""

    line: int
    rows: int = 0
    last: int = 0
    values: set[int] = field(default_factory=set)

    def add(self, value: int) -> None:
        if len(self.values) < LABELS:
            self.values.add(value)

    def absorb(self, later: Leak) -> None:
        """Add the rows of a later range."""
        self.rows += later.rows
        for value in later.values:
            self.add(value)

    @property
    def counts(self) -> bool:
        """A few values again and again are labels that the input lists, not answers."""
        return len(self.values) >= LABELS or self.rows < 6 or 3 * len(self.values) > self.rows

    def is_everywhere(self, rows: int) -> bool:
        """Whether this holds for nearly all of so many rows, with values that differ: then it is no coincidence."""
        return self.rows >= max(2, rows - rows // 10) and len(self.values) > 1


def fold(text: str) -> bytes:
    """Text without regard to case and whitespace, as UTF-8."""
    if text.isascii():
        # Most texts are, and bytes are folded several times faster; the outcome is the same.
        folded = text.encode().translate(_FOLDED).strip()
        return folded if b"  " not in folded else b" ".join(folded.split())
    return " ".join(text.casefold().split()).encode("utf-8", "surrogatepass")


def fold_value(value: Any) -> bytes:
    """The same of any JSON value; items are kept apart by a character that folded text doesn't have."""
    if type(value) is str:
        return fold(value)
    if type(value) is list:
        return b"\x1e".join([b"", *map(fold_value, value), b""])
    if type(value) is dict:
        return b"\x1e".join([b"", *(fold(name) + b"\x1d" + fold_value(value[name]) for name in sorted(value)), b""])
    return fold(str(value))


def is_source(name: str) -> bool:
    """Whether a field's name says that answers are to be found in it."""
    return not _SOURCES.isdisjoint(name.casefold().replace("-", "_").split("_"))


def candidates(value: Any) -> Iterator[bytes]:
    """The folded texts of a target; objects are left out, since a call's arguments stand in what asks for it."""
    if type(value) is str:
        yield fold(value)
    elif type(value) is list:
        yield from (fold(item) for item in value[:_CANDIDATES] if type(item) is str)
    elif type(value) in (int, float):
        yield str(value).encode()


def may_give_away(text: bytes) -> bool:
    """Whether a folded text has one of the words after which a number is an answer, at a quick look."""
    return b"answer" in text or b"solution" in text or b"truth" in text or not text.isascii()


def gives_away(wanted: bytes, text_folded: bytes, raw: Any) -> bool:
    """Whether an input (`text_folded`, from `raw`) gives away a folded target that is known to stand in it."""
    target, folded = (part.decode("utf-8", "surrogatepass") for part in (wanted, text_folded))
    if (len(target) >= _LENGTH and target.count(" ") >= _WORDS - 1) or len(_CJK.findall(target)) >= _HAN:
        return folded == target or any(
            not _OPTION.search(folded[max(0, at - 8) : at]) for at in _places(target, folded)
        )
    text = raw.casefold() if type(raw) is str else folded
    for at in _places(target, text):
        end = at + len(target)
        if _MARKED.search(text[max(0, at - 40) : at]) and _ENDS.match(text, end):
            # Worked examples have answers too; the task's own comes last.
            return not _MARKS_AGAIN.search(text, end)
    return False


def _places(target: str, text: str) -> Iterator[int]:
    """Where a target stands as whole words; the first few places say enough."""
    at = text.find(target)
    for _ in range(50):
        if at < 0:
            return
        before, after = text[at - 1 : at], text[at + len(target) : at + len(target) + 1]
        inside = (before.isalnum() and target[0].isalnum()) or (after.isalnum() and target[-1].isalnum())
        if not inside or _CJK.match(target):
            yield at
        at = text.find(target, at + 1)
