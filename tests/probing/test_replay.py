"""Probes replayed under a reward and its predecessor: what the report says, and what it never says."""

from dataclasses import replace

import pytest

from hfenv.errors import AuthorCodeError, UsageError
from hfenv.probing import Side, Verdict, replay
from hfenv.runtime.scoring import ScoringLimits
from tests.probing.conftest import KNOWN, PROBES, probe

QUICK = ScoringLimits(score_s=3)


def test_a_refactored_reward_is_unchanged_on_its_probes(part):
    new = part('right = WEIGHT * (said == task["answer"])', 'right = WEIGHT if said == task["answer"] else 0.0')
    report = replay(new, PROBES, known=KNOWN)
    assert (report.verdict, report.alike, report.sentence) == (Verdict.ALIKE, True, "unchanged on 3 probes")
    assert (report.probes, report.compared, report.stale) == (3, 3, ())
    assert "sockets" in report.enforced


def test_a_changed_weight_is_seen_with_its_numbers(part):
    report = replay(part("WEIGHT = 1.0", "WEIGHT = 0.9"), PROBES, known=KNOWN)
    assert (report.verdict, report.alike) == (Verdict.MOVED, False)
    (move,) = report.moved
    assert (move.probe.digest, move.probe.line, move.probe.task_id) == (PROBES[0].digest, 1, "t-7")
    assert (move.before.total, move.after.total, move.parts, move.added) == (1.0, 0.9, ("right",), ())
    assert report.sentence == "1 of 3 probes score otherwise: line 1, total 1 -> 0.9, right 1 -> 0.9"
    assert report.stale == report.moved


@pytest.mark.parametrize(
    ("old", "new", "moved"),
    [
        ('status="agent_fault"', 'status="ok"', [3]), ('{"form": -0.5}', '{"shape": -0.5}', [3]),
        ('{"form": -0.5}', "None", [3]), ('{"right": right}', '{"right": right * 0.5}', [1]),
        ("Score(right,", "Score(right + 1e-6,", [1, 2]), ("Score(right,", "Score(right + 1e-13,", []),
    ],
)  # fmt: skip
def test_total_parts_and_status_count_and_rounding_doesn_t(part, old, new, moved):
    report = replay(part(old, new), PROBES, known=KNOWN)
    assert [move.probe.line for move in report.moved] == moved
    assert report.verdict is (Verdict.MOVED if moved else Verdict.ALIKE)


def test_a_new_part_that_moves_no_total_is_told_apart(part):
    report = replay(part('{"right": right}', '{"right": right, "extra": 0.0}'), PROBES, known=KNOWN)
    assert (report.verdict, report.alike) == (Verdict.ADDS_PARTS, False)
    assert [(move.added, move.only_adds_parts) for move in report.moved] == [(("extra",), True)] * 2
    assert "have new parts" in report.sentence


def test_a_new_part_beside_a_changed_total_is_no_addition(part):
    new = part('hfenv.Score(right, {"right": right})', 'hfenv.Score(right / 2, {"right": right, "extra": 0.0})')
    assert replay(new, PROBES, known=KNOWN).verdict is Verdict.MOVED


def test_only_probes_of_the_last_release_tell_anything_about_its_reward(part):
    changed = part("WEIGHT = 1.0", "WEIGHT = 0.9")
    for known in (None, frozenset()):
        report = replay(changed, PROBES, known=known)
        assert (report.compared, report.verdict) == (0, Verdict.UNCLEAR)
        assert [move.probe.line for move in report.stale] == [1]
        assert report.sentence == "none of 3 probes was in the last release, so that they can't tell"
    report = replay(changed, PROBES, known=frozenset({PROBES[1].digest}))
    assert (report.compared, report.verdict, report.sentence) == (1, Verdict.ALIKE, "unchanged on 1 probe")


@pytest.mark.parametrize("left", [PROBES[1:], (probe("7", 0.9, line=1), *PROBES[1:]), ()])
def test_nobody_gets_a_verdict_by_removing_or_editing_the_probes_that_moved(part, left):
    report = replay(part("WEIGHT = 1.0", "WEIGHT = 0.9"), left, known=KNOWN)
    assert (report.verdict, report.missing, report.moved) == (Verdict.UNCLEAR, 3 - len(left[-2:]), ())
    assert "of the last release" in report.sentence
    assert "gone or edited" in report.sentence


def test_probes_that_took_new_parts_over_are_still_the_released_ones(part):
    new = part('{"right": right}', '{"right": right, "extra": 0.5, "more": 0.0}')
    moved = replay(new, PROBES, known=KNOWN).moved
    taken = tuple(replace(one, expected=move.after) for one, move in zip(PROBES, moved, strict=False))
    report = replay(new, (*taken, PROBES[2]), known=KNOWN)
    assert (report.verdict, report.missing, report.stale) == (Verdict.ADDS_PARTS, 0, ())
    assert [move.added for move in report.moved] == [("extra", "more")] * 2


def test_with_the_old_reward_at_hand_every_probe_is_compared(part):
    edited = (probe("7", 0.9, line=1), *PROBES[1:])
    report = replay(part("WEIGHT = 1.0", "WEIGHT = 0.9"), edited, old=part())
    assert (report.compared, report.stale) == (3, ())
    assert [(move.before.total, move.after.total) for move in report.moved] == [(1.0, 0.9)]


def test_names_of_parts_move_no_terminal(part):
    new = part('{"right": right}', '{"right": right, "\\x1b[31m" + "x" * 99: 1.0}')
    sentence = replay(new, PROBES, known=KNOWN).sentence
    assert "\x1b" not in sentence
    assert "x" * 60 not in sentence


def test_without_probes_nothing_is_run_and_nothing_is_said(part):
    report = replay(part("WEIGHT = 1.0", "1 / 0"), ())
    assert (report.verdict, report.sentence) == (Verdict.UNCLEAR, "there are no probes")


FLAKY = {
    "a random number": ("import random\n        right += random.random() * 1e-3", [1, 2]),
    "the clock": ("import time\n        right += time.time_ns() % 1e6 * 1e-9", [1, 2]),
    "the hash seed": ("right += list({'a', 'b', 'c', 'd', 'e', 'f'}).index('a') * 1e-3", [1, 2]),
    "what was scored before": ("score.calls = getattr(score, 'calls', 0) + 1; right += score.calls * 1e-3", [1, 2]),
    "the process": ("import os\n        right += hash(os.environ['TMPDIR']) % 997 * 1e-3", [1, 2]),
}


@pytest.mark.parametrize("case", FLAKY)
def test_a_score_that_depends_on_anything_else_is_flaky(part, case):
    line, lines = FLAKY[case]
    new = part('        return hfenv.Score(right, {"right": right})', f"        {line}\n        return right")
    report = replay(new, PROBES, known=KNOWN)
    assert {flake.probe.line for flake in report.flaky} == set(lines)
    assert {flake.side for flake in report.flaky} == {Side.NEW}
    assert (report.verdict, report.compared) == (Verdict.UNCLEAR, 1)
    assert "scored differently in two runs" in report.sentence


def test_a_flaky_predecessor_makes_no_verdict_either(part):
    line = "import random\n        right += random.random()"
    old = part('        return hfenv.Score(right, {"right": right})', f"        {line}\n        return right")
    report = replay(part(), PROBES, old=old)
    assert report.verdict is Verdict.UNCLEAR
    assert {flake.side for flake in report.flaky} == {Side.OLD}


@pytest.mark.parametrize(
    ("line", "text"),
    [("raise KeyError('x')", "KeyError"), ("import os; os._exit(1)", "exit code 1"), ("while True: pass", "3 s")],
)
def test_a_probe_without_a_score_makes_no_verdict_and_hides_no_other(part, line, text):
    new = part("        if not said.isdigit():", f"        if not said.isdigit():\n            {line}")
    report = replay(new, PROBES, known=KNOWN, limits=QUICK)
    (failure,) = report.failed
    assert (failure.probe.line, failure.side) == (3, Side.NEW)
    assert text in failure.error
    assert (report.verdict, report.compared) == (Verdict.UNCLEAR, 2)
    assert report.sentence == "1 probe got no score (line 3)"


def test_a_difference_outweighs_a_failure(part):
    text = "        if not said.isdigit():"
    new = part(text, f"{text}\n            raise KeyError")
    new_text = (new.root / "reward/reward.py").read_text().replace("WEIGHT = 1.0", "WEIGHT = 0.5")
    (new.root / "reward/reward.py").write_text(new_text)
    report = replay(new, PROBES, known=KNOWN)
    assert report.verdict is Verdict.MOVED
    assert report.sentence == "1 probe got no score (line 3), and 1 of 2 score otherwise"


def test_a_reward_that_changes_what_it_is_given_changes_no_other_probe(part):
    line = 'task["answer"] = "changed"; transcript[-1].outcome.data["said"] = "changed"'
    new = part("        return hfenv.Score(right,", f"        {line}\n        return hfenv.Score(right,")
    assert replay(new, PROBES, known=KNOWN).alike


def test_what_can_t_be_replayed_at_all_is_an_error(part):
    with pytest.raises(AuthorCodeError, match="ZeroDivisionError"):
        replay(part("WEIGHT = 1.0", "1 / 0"), PROBES)
    with pytest.raises(UsageError, match="builtin"):
        replay(part(builtin=True, entry=None), PROBES)
    with pytest.raises(AuthorCodeError, match="ZeroDivisionError"):
        replay(part(), PROBES, old=part("WEIGHT = 1.0", "1 / 0"))
