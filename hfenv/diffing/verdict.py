"""Whether numbers measured on two environments may stand in one table, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hfenv.card.quoting import short
from hfenv.components.ownership import Component
from hfenv.components.tasks.changes import comparable
from hfenv.components.tasks.index import is_training
from hfenv.components.tasks.pair import TaskPair
from hfenv.components.versions import Level, is_version, level_between, parse_version
from hfenv.diffing.result import Comparability, ComponentDifference, SplitVerdict, Verdict

_Splits = tuple[Sequence[str], Sequence[str]]


def comparability(
    components: Mapping[Component, ComponentDifference],
    splits: _Splits,
    tasks: TaskPair | None,
    *,
    breaking: Mapping[Component, Level],
    one_line: bool,
) -> Comparability:
    """The verdict. `splits` are those of both cards; `tasks` is None where the tasks are the same, or can't be read.

    `breaking` has the level of code and reward from the older to the newer version. `one_line` says that the versions
    of both sides are of one environment, so that a major version by its author counts.
    """
    reasons = tuple(
        reason
        for component in (Component.CODE, Component.REWARD)
        if (reason := _broken(components[component], breaking.get(component, Level.NONE), one_line=one_line))
    )
    verdicts = tuple(
        _split(components[Component.TASKS], name, splits, tasks) for name in dict.fromkeys((*splits[1], *splits[0]))
    )
    counted = [v for v in verdicts if v.on_both and v.evaluation] or [v for v in verdicts if v.on_both]
    fine = [v for v in counted if v.comparable]
    some = Verdict.YES if len(fine) == len(counted) else Verdict.PARTLY
    verdict = Verdict.NO if reasons or not fine else some
    return Comparability(verdict, reasons, verdicts, _line(verdict, reasons, counted, components))


def _broken(found: ComponentDifference, level: Level, *, one_line: bool) -> str:
    """Why numbers under both versions of code or reward aren't comparable; empty where they are."""
    if found.same:
        return ""
    if found.problem:
        return f"{found.step}, of which can't be told what changed"
    if level is Level.MAJOR:
        return found.step if found.versions[0] != found.versions[1] else f"{found.step} edited"
    if one_line and all(map(is_version, found.versions)):
        low, high = sorted(found.versions, key=parse_version)
        if level_between(low, high) is Level.MAJOR:
            return found.step
    return ""


def _split(found: ComponentDifference, name: str, splits: _Splits, tasks: TaskPair | None) -> SplitVerdict:
    evaluation = not is_training(name)
    if name not in splits[0] or name not in splits[1]:
        where = "only the first side" if name in splits[0] else "only the second side"
        return SplitVerdict(name, evaluation, False, f"{where} has a split '{short(name)}'", on_both=False)
    if found.same:
        return SplitVerdict(name, evaluation, True, f"the same {short(name)} tasks")
    if tasks is None:
        return SplitVerdict(name, evaluation, False, f"the {short(name)} tasks of both can't be compared")
    return SplitVerdict(name, evaluation, *comparable(tasks.since, name))


def _line(
    verdict: Verdict,
    reasons: Sequence[str],
    counted: Sequence[SplitVerdict],
    components: Mapping[Component, ComponentDifference],
) -> str:
    """The first line of a comparison, with the reason in it."""
    wrong = [split.reason for split in counted if not split.comparable]
    right = [split for split in counted if split.comparable]
    if not counted:
        return "comparable: no, they have no split in common"
    if verdict is Verdict.NO:
        return f"comparable: no, {', '.join(dict.fromkeys((*reasons, *wrong)))}"
    if verdict is Verdict.PARTLY:
        names = ", ".join(short(split.split) for split in right)
        return f"comparable: on {names} only; {', '.join(dict.fromkeys(wrong))}"
    same = " and ".join(dict.fromkeys(split.reason for split in right))
    steps = [
        f"{one.step} needs no major version"
        for component, one in components.items()
        if component is not Component.TASKS and not one.same
    ]
    if all(one.same for one in components.values()):
        return "comparable: yes, code, tasks and reward are the same"
    return f"comparable: yes, {', '.join([same, *steps])}"
