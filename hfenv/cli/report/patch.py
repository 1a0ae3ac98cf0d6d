"""What `--fix` would change, as a unified diff that `git apply` and `patch` take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from difflib import SequenceMatcher, unified_diff

from hfenv.card.nodes import LineTable
from hfenv.components.checks.fixing import FixPlan
from hfenv.secret_shapes import holds_secret

_HIDDEN = "(not shown: this line may hold a secret)"
_NO_END = "\n\\ No newline at end of file"


def render(plan: FixPlan, card: str, executable: Sequence[str], private: Set[int]) -> str:
    """The diff of one environment, empty where nothing would change.

    `card` and `executable` are the files as paths from the folder of the call, `private` lines of the card that are
    never shown: a diff with such a line in it can be read, but not applied.
    """
    lines = list(_content(plan, card.lstrip("/"), private)) if plan.before != plan.after else []
    for path in (path.lstrip("/") for path in executable):
        lines += [f"diff --git a/{path} b/{path}", "old mode 100644", "new mode 100755"]
    return "\n".join(lines)


def _content(plan: FixPlan, card: str, private: Set[int]) -> Iterator[str]:
    text = plan.before.decode("utf-8", "replace")
    before, after = _lines(text), _lines(plan.after.decode("utf-8", "replace"))
    hidden = _hidden(text, private) | {index for index, line in enumerate(before) if holds_secret(line)}
    if hidden:
        before, after = _masked(before, after, hidden)
    after = [_HIDDEN if holds_secret(line) else line for line in after]
    end = "\t" if " " in card else ""  # where a name ends, as git has it
    return unified_diff(before, after, f"a/{card}{end}", f"b/{card}{end}", lineterm="")


def _lines(text: str) -> list[str]:
    """Lines as diffs have them: only LF ends one, and the last says so where it has none."""
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += _NO_END
        return lines
    return lines[:-1]


def _hidden(text: str, private: Set[int]) -> set[int]:
    """Indices of a diff's lines in which private lines are, which end at every kind of line break."""
    starts = LineTable.of(text.removeprefix("\ufeff")).starts
    return {text.removeprefix("\ufeff").count("\n", 0, starts[line - 1]) for line in private if line <= len(starts)}


def _masked(before: list[str], after: list[str], hidden: set[int]) -> tuple[list[str], list[str]]:
    """Both texts with private lines, and what takes their place, not shown."""
    old, new = list(before), list(after)
    for tag, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        here = [index for index in range(i, j) if index in hidden]
        for index in here:
            old[index] = _HIDDEN
        if tag == "equal":
            for index in here:
                new[k + index - i] = _HIDDEN
        elif here:
            new[k:m] = [f"{_HIDDEN} as it would be"] * (m - k)
    return old, new
