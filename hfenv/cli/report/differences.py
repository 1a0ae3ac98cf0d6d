"""What differs between two environments, for people: the verdict first, then component by component."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import typer

from hfenv.card.quoting import short
from hfenv.cli.escapes import said
from hfenv.cli.output import table
from hfenv.components.evidence import by_weight, line_of
from hfenv.components.tasks.diff import FieldDifference, TaskDifference
from hfenv.diffing.comparing import as_counts
from hfenv.diffing.result import (
    ComponentDifference,
    EnvironmentDifference,
    FileDifference,
    PackageDifference,
    Verdict,
)

_COLOURS = {Verdict.YES: "green", Verdict.NO: "red", Verdict.PARTLY: "yellow"}
_LINES = {"+": "green", "-": "red", "@": "cyan"}
_WIDEST = 400  # code points of a line of source
_PATCH_LINES = 10  # of a patch for each row of tasks that is shown


def render(found: EnvironmentDifference, rows: Sequence[TaskDifference], *, most: int, colour: bool) -> str:
    """The whole text; at most so many tasks, files and changes of one kind are shown."""
    line = said(found.comparable.line)
    blocks = [typer.style(line, fg=_COLOURS[found.comparable.verdict], bold=True) if colour else line]
    blocks += [_sides(found), _splits(found), _components(found)]
    for one in found.components.values():
        if not one.same:
            blocks.append("\n".join(_component(one, most)))
            if rows and one.component.value == "tasks":
                blocks.append(_rows(found, rows))
            if one.component.value == "reward":
                blocks.append("\n".join(_probes(found, most)))
            blocks += _patches(one.files, most * _PATCH_LINES, colour)
    blocks += [_card(found, most), _packages(found.packages)]
    return "\n\n".join(block for block in blocks if block)


def _sides(found: EnvironmentDifference) -> str:
    lines = []
    for word, side, place in zip(("old", "new"), found.sides, (0, 1), strict=True):
        what = f"release {side.release}" if side.release else f"unreleased: {side.note}"
        commits = {one.commits[place] for one in found.components.values()}
        commit = commits.pop() if len(commits) == 1 else None
        lines.append(f"{word}: {said(side.name)} ({said(what)}{f', {commit}' if commit else ''})")
    return "\n".join(lines)


def _splits(found: EnvironmentDifference) -> str:
    if found.components and all(one.same for one in found.components.values()):
        return ""
    rows = [
        (said(short(one.split)), "yes" if one.comparable else "no" if one.on_both else "-", said(one.reason))
        for one in found.comparable.splits
    ]
    return table(("split", "same tasks", "why"), rows)


def _components(found: EnvironmentDifference) -> str:
    rows = []
    for one in found.components.values():
        needs = "-" if one.same else "unknown" if one.problem else one.level.word
        what = "the same" if one.same else said(one.problem) if one.problem else _summary(found, one)
        rows.append((one.component.value, *map(said, one.versions), needs, what))
    return table(("component", "old", "new", "needs", "what"), rows)


def _summary(found: EnvironmentDifference, one: ComponentDifference) -> str:
    if one.component.value == "tasks" and (counts := as_counts(found.tasks)):
        kinds = dict.fromkeys(kind for split in counts.values() for kind in split)
        totals = {kind: sum(split.get(kind, 0) for split in counts.values()) for kind in kinds}
        return ", ".join(f"{count:,} {kind}" for kind, count in totals.items())
    return f"{len(one.changes):,} {'change' if len(one.changes) == 1 else 'changes'}"


def _component(one: ComponentDifference, most: int) -> Iterator[str]:
    if one.problem:
        yield f"{said(one.step)}: what changed can't be told: {said(one.problem)}"
    else:
        yield f"{said(one.step)} needs {one.level.word}"
    for change in islice(by_weight(one.changes), most):
        yield f"  {change.level.word:<5}  {said(line_of(change))}"
        yield f"         {said(change.why)}"
    yield from _more(len(one.changes), most)
    yield from _files(one.files, most)


def _files(files: Sequence[FileDifference], most: int) -> Iterator[str]:
    for file in files[:most]:
        before = f" (was {said(file.before_path)})" if file.before_path not in ("", file.path) else ""
        unseen = f": {said(file.unseen)}" if file.unseen else ""
        yield f"  {file.kind.value:<7}  {said(file.path)}{before}{unseen}"
    yield from _more(len(files), most)


def _more(count: int, most: int) -> Iterator[str]:
    if count > most:
        yield f"  and {count - most:,} more"


def _rows(found: EnvironmentDifference, rows: Sequence[TaskDifference]) -> str:
    total = sum(sum(kinds.values()) for kinds in as_counts(found.tasks).values())
    lines = []
    for row in rows:
        texts = [_field(field) for field in row.fields] or [""]
        lines.append((row.kind.value, _moved(row.before_split, row.split), _moved(row.before_id, row.id), texts[0]))
        lines += [("", "", "", text) for text in texts[1:]]
    more = f"\nand {total - len(rows):,} more" if total > len(rows) else ""
    return table(("task", "split", "id", "what"), lines) + more


def _probes(found: EnvironmentDifference, most: int) -> Iterator[str]:
    report = found.probes.report if found.probes is not None else None
    if report is None:
        return
    yield f"probes: {said(report.sentence)}"
    for move in report.moved[:most]:
        yield f"  {said(short(move.probe.task_id))}: {said(move.told)}"
    yield from _more(len(report.moved), most)
    for failure in report.failed[:most]:
        lines = failure.error.splitlines() or [""]
        yield f"  {said(short(failure.probe.task_id))} ({failure.side.value} reward): {said(lines[-1][:_WIDEST])}"
    yield from _more(len(report.failed), most)


def _moved(before: str, after: str) -> str:
    now = said(short(after))
    return now if before in ("", after) else f"{said(short(before))} -> {now}"


def _field(field: FieldDifference) -> str:
    before, after = ("-" if value is None else said(value) for value in (field.before, field.after))
    return f"{said(short(field.name))} ({field.role}): {before} -> {after}"


def _patches(files: Sequence[FileDifference], most: int, colour: bool) -> Iterator[str]:
    """Unified diffs, cut after so many lines in all."""
    left = most
    for file in files:
        if not file.patch:
            continue
        lines = file.patch.removesuffix("\n").split("\n")
        shown = [_line(line, colour) for line in lines[: max(left, 0)]]
        if len(shown) < len(lines):
            shown.append(f"({len(lines) - len(shown):,} more lines of {said(file.path)})")
        left -= len(lines)
        yield "\n".join(shown)


def _line(line: str, colour: bool) -> str:
    text = said(line[:_WIDEST].removesuffix("\r").replace("\t", "    ")) + ("..." if len(line) > _WIDEST else "")
    fg = _LINES.get(line[:1])
    return typer.style(text, fg=fg) if colour and fg is not None else text


def _card(found: EnvironmentDifference, most: int) -> str:
    card, lines = found.card, list[str]()
    for key in card.keys[:most]:
        before, after = ("-" if value is None else said(value) for value in (key.before, key.after))
        lines.append(f"  {said(key.key)}: {before} -> {after}")
    lines += _more(len(card.keys), most)
    for one in card.sections[:most]:
        title = said(one.title) or "(before the first section)"
        lines.append(f"  section {title} {one.kind} ({one.lines[0]:,} -> {one.lines[1]:,} lines)")
    lines += _more(len(card.sections), most)
    parts = ["\n".join(["card:", *lines])] if lines else []
    if card.files:
        parts.append("\n".join(["files of no component:", *_files(card.files, most)]))
    return "\n\n".join(parts)


def _packages(found: Sequence[PackageDifference]) -> str:
    if not found:
        return ""
    rows = [[said(short(text)) if text else "-" for text in (p.name, *p.required, *p.resolved)] for p in found]
    return table(("package", "required before", "after", "released with before", "after"), rows)
