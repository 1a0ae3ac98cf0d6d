"""`hfenv rule`: what a rule asks, why, and how it looks kept and broken."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

import typer

from hfenv.cli.options import new_app
from hfenv.cli.output import Format, Output, table
from hfenv.errors import UsageError
from hfenv.rules.catalogue import RULES, nearest_rule
from hfenv.rules.page import as_page, as_text
from hfenv.rules.rule import Example, Rule

app = new_app()


class RuleFormat(str, Enum):
    """How rules are printed; `markdown` is the page of the documentation."""

    HUMAN = "human"
    JSON = "json"
    QUIET = "quiet"
    MARKDOWN = "markdown"


@app.command()
def rule(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[RULE]...", help="Such as HFE012; all without.")] = None,
    fmt: Annotated[RuleFormat, typer.Option("--format", help="How to print the result.")] = RuleFormat.HUMAN,
) -> None:
    """What a rule asks, why, and how it looks kept and broken. Without a rule: the list of all."""
    chosen = [_find(name) for name in ids or ()] or list(RULES.values())
    if fmt is RuleFormat.MARKDOWN:
        if ids:
            raise UsageError("The page is made of all rules.", "Leave the rules away, or another --format.")
        Output().result("rule", {}, as_page().rstrip("\n"))
        return
    rows = [(r.id, r.severity.value, "yes" if r.fixable else "", r.title) for r in chosen]
    human = "\n\n".join(as_text(r) for r in chosen) if ids else table(("rule", "severity", "fixable", "title"), rows)
    Output(Format(fmt.value)).result(
        "rule", {"rules": [_data(r) for r in chosen]}, human, quiet="\n".join(r.id for r in chosen)
    )


def _find(name: str) -> Rule:
    number = name.upper().removeprefix("HFE")
    found = RULES.get(f"HFE{number.zfill(3)}")
    if found is None:
        near = nearest_rule(f"HFE{number}")
        guess = f"Did you mean {near}? " if near else ""
        raise UsageError(f"There is no rule '{name}'.", f"{guess}hfenv rule lists them.")
    return found


def _data(found: Rule) -> dict[str, Any]:
    return {
        "id": found.id,
        "severity": found.severity.value,
        "group": found.group.value,
        "title": found.title,
        "explanation": found.explanation,
        "fixable": found.fixable,
        "unreadable": found.fatal,
        "bad": _example(found.bad),
        "good": _example(found.good),
    }


def _example(example: Example | None) -> dict[str, Any] | None:
    return {"path": example.path, "text": example.text} if example is not None else None
