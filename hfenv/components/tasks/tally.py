"""Mistakes in task files, counted: the first few of a kind with their place, the rest as a number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

SHOWN = 5  # subjects of one kind in one file before the rest is only counted


@dataclass(slots=True)
class Noted:
    """One subject of one kind of mistake: where it is first, and in how many rows."""

    line: int
    column: int
    message: str
    fix: str
    rows: int = 1


@dataclass(slots=True)
class Tally:
    """The mistakes of one file or of a range of it, by rule and kind and then by subject.

    Ranges that are absorbed in their order give what one reading of the whole file gives.
    """

    noted: dict[tuple[str, str], dict[str, Noted]] = field(default_factory=dict)
    more: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(
        self,
        rule: str,
        subject: str,
        line: int,
        message: str,
        fix: str,
        *,
        kind: str = "",
        column: int = 1,
        rows: int = 1,
    ) -> None:
        """Count rows under their subject; the message of the first one is kept."""
        self._put((rule, kind), subject, Noted(line, column, message, fix, rows))

    def absorb(self, later: Tally, base: int) -> None:
        """Add what a later range found; its lines count from `base`."""
        for key, of_kind in later.noted.items():
            for subject, noted in of_kind.items():
                line = noted.line + base if noted.line else 0
                self._put(key, subject, Noted(line, noted.column, noted.message, noted.fix, noted.rows))
        for key, count in later.more.items():
            self.more[key] = self.more.get(key, 0) + count

    def findings(self, path: str) -> Iterator[Finding]:
        """One finding for each subject, and one for those that are only counted."""
        for (rule, _), of_kind in self.noted.items():
            for noted in of_kind.values():
                more = noted.rows - 1
                others = f" (and in {more} more {'task' if more == 1 else 'tasks'})" if more else ""
                message = noted.message + others
                yield Finding(
                    rule, severity(rule), path, message, line=noted.line, column=noted.column, fix=noted.fix,
                    count=noted.rows,
                )  # fmt: skip
        for (rule, _), count in self.more.items():
            what = "task has a mistake" if count == 1 else "tasks have mistakes"
            yield Finding(
                rule, severity(rule), path, f"{count} more {what} of this kind", fix="See the ones with a line.",
                count=count,
            )  # fmt: skip

    def _put(self, key: tuple[str, str], subject: str, noted: Noted) -> None:
        of_kind = self.noted.setdefault(key, {})
        if (before := of_kind.get(subject)) is not None:
            before.rows += noted.rows
        elif len(of_kind) < SHOWN:
            of_kind[subject] = noted
        else:
            self.more[key] = self.more.get(key, 0) + noted.rows
