"""The catalogue as text: one rule for a terminal, all of them as the page of the documentation."""

from __future__ import annotations

from textwrap import wrap

from hfenv.rules.catalogue import RULES
from hfenv.rules.rule import Example, Group, Rule

PAGE = "docs/rules.md"
_HEAD = """\
# Rules

What `hfenv validate` looks for. A rule's number never changes its meaning. `hfenv rule HFE012` prints one of them.

An **error** fails validation; a **warning** fails it with `--strict`; a **note** never does. Rules marked *fixable* are
cured by `hfenv validate --fix` where the cure is certain. Rules marked *unreadable* end with exit code 3: of a card
that can't be read, nothing else on it can be judged. How to ignore a finding: [validation.md](validation.md).

This page is made from the catalogue by `hfenv rule --format markdown`.
"""
_SEVERITIES = {"error": "error", "warning": "warning", "info": "note"}


def as_text(rule: Rule) -> str:
    """One rule with everything that is known of it, for a terminal."""
    parts = [f"{rule.id}  {rule.title}", f"{rule.group.value}: {_marks(rule)}", "", *wrap(rule.explanation, 100)]
    for name, example in (("Bad", rule.bad), ("Good", rule.good)):
        if example is not None:
            parts += ["", f"{name}: {_where(example)}", *("    " + line for line in _lines(example))]
    return "\n".join(line.rstrip() for line in parts)


def as_page() -> str:
    """The page of the documentation: rules by group, then each with its examples."""
    parts = [_HEAD]
    for group in Group:
        rules = [rule for rule in RULES.values() if rule.group is group]
        rows = [f"| [{rule.id}](#{rule.id.lower()}) | {_marks(rule)} | {rule.title} |" for rule in rules]
        parts.append("\n".join([f"## {group.value}\n", "| rule | | what is asked |", "|---|---|---|", *rows, ""]))
        parts += [_section(rule) for rule in rules]
    return "\n".join(parts)


def _section(rule: Rule) -> str:
    lines = [f"### {rule.id}", "", f"**{rule.title}** ({_marks(rule)})", "", rule.explanation, ""]
    for name, example in (("Bad", rule.bad), ("Good", rule.good)):
        if example is not None:
            lines += [f"{name}, {_where(example)}:", ""]
            if example.text is not None:
                lines += [f"````{_language(example)}", *_lines(example), "````", ""]
    return "\n".join(lines)


def _marks(rule: Rule) -> str:
    marks = [_SEVERITIES[rule.severity.value]]
    if rule.fatal:
        marks.append("unreadable")
    if rule.fixable:
        marks.append("fixable")
    return ", ".join(marks)


def _where(example: Example) -> str:
    path = example.path.encode("ascii", "backslashreplace").decode()
    return f"without {path}" if example.text is None else f"in {path}"


def _lines(example: Example) -> list[str]:
    """The example's lines, with signs that nobody can see as escapes, and long ones cut."""
    shown = []
    for line in (example.text or "").split("\n"):
        visible = "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)
        shown.append(visible if len(visible) <= 160 else f"{visible[:150]} ...")
    if shown and not shown[-1]:
        shown.pop()
    return shown if len(shown) <= 24 else [*shown[:20], f"... {len(shown) - 20} more lines"]


def _language(example: Example) -> str:
    if example.path != "README.md":
        return {"py": "python", "json": "json", "jsonl": "json"}.get(example.path.rpartition(".")[2], "text")
    return "markdown" if (example.text or "").startswith(("#", "---")) else "yaml"
