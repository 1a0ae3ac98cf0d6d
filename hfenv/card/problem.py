"""The error of a card that can't be read: a rule, a place, what is wrong there and the cure."""

from __future__ import annotations

from hfenv.errors import UnreadableError
from hfenv.findings import Finding, Repair, Severity


class CardError(UnreadableError):
    """Reading stopped here; `finding()` is the same thing as data, for reports that go on without the card.

    `at` is the line and the column, or nothing where there is no place in the file; `repair` the cure for a machine,
    where it is certain.
    """

    def __init__(self, rule: str, path: str, problem: str, hint: str, *at: int, repair: Repair | None = None) -> None:
        line, column = at or (0, 0)
        place = f"{path}:{line}:{column}" if line else path
        super().__init__(f"{place}: {problem}", hint)
        self.rule = rule
        self.path = path
        self.problem = problem
        self.line = line
        self.column = column
        self.repair = repair

    def __reduce__(self) -> tuple[type[CardError], tuple[str | int, ...], dict[str, Repair | None]]:
        # The default would rebuild from (message, hint), which this signature doesn't take.
        arguments = (self.rule, self.path, self.problem, self.hint, self.line, self.column)
        return type(self), arguments, {"repair": self.repair}

    def finding(self) -> Finding:
        return Finding(
            self.rule,
            Severity.ERROR,
            self.path,
            self.problem,
            line=self.line,
            column=self.column,
            fix=self.hint,
            repair=self.repair,
        )
