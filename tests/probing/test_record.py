"""Recording probes: what is chosen, what never gets into the file, and what the set leaves out."""

import json
from dataclasses import replace

import pytest

from hfenv.components.probes import read_probes
from hfenv.errors import StorageError, UsageError
from hfenv.probing.quality import Attempt, judge
from hfenv.probing.record import LARGEST, record, rescored, write_probes
from hfenv.runtime.rollout import Episode, TurnRecord
from tests.probing.conftest import probe

RIGHT = {"right": 1.0}
FORM = {"form": -0.5}
TOKEN = "hf_" + "QwRtZuIoPlKjHgFdSaYxCvBnM2749183xq"


def turn(said, reward=0.0, parts=None, status="ok", **rest):
    return TurnRecord(said, data={"said": said}, reward=reward, parts=parts or {}, status=status, **rest)


def episode(*turns, answer="7", index=0, **changes):
    task = {"id": f"t-{answer}", "question": "?", "answer": answer}
    whole = Episode(index, None, 1, task["id"], "train", task, turns, 0.0, "ok", None)
    return replace(whole, **changes)


def varied(number=40):
    """Episodes of all sorts, most of them alike."""
    for n in range(number):
        yield episode(turn("7", 1.0, RIGHT, terminated=True), answer="7", index=n)
        yield episode(turn(str(n + 20), 0.0, {"right": 0.0}), answer=f"{n}", index=n)
    yield episode(turn("x" * 3000, -0.5, FORM, "agent_fault"))
    yield episode(turn("", -0.5, FORM, "agent_fault"))
    yield episode(turn("sieben ö", -0.5, FORM, "agent_fault"))


def test_turns_of_every_sort_are_chosen_and_few_of_those_that_are_alike(part):
    done = record(part(), varied(), ())
    said = [one.turns[-1].action for one in done.probes]
    assert {"7", "x" * 3000, "", "sieben ö"} <= set(said)
    assert done.added == len(done.probes) == len({one.question for one in done.probes})
    assert len(done.probes) < 15
    assert done.turns == 83
    assert (done.differed, done.flaky, done.failed) == (0, (), ())
    assert record(part(), varied(), ()).probes == done.probes


def test_a_second_time_adds_nothing_and_replaces_nothing(part):
    done = record(part(), varied(), ())
    again = record(part(), varied(), done.probes)
    assert (again.probes, again.added, again.kept, again.updated) == (done.probes, 0, len(done.probes), 0)


def test_most_bounds_the_file_and_never_removes(part):
    three = record(part(), varied(), (), most=3)
    assert len(three.probes) == 3
    assert len({(p.expected.status, p.expected.total) for p in three.probes}) == 3
    assert record(part(), varied(), three.probes, most=2).probes == three.probes
    assert len(record(part(), varied(), three.probes, most=5).probes) == 5


def test_the_expected_score_is_the_present_one(part):
    recorded = [episode(turn("7", 0.25, RIGHT)), episode(turn("8", 0.0, {"right": 0.0}))]
    done = record(part(), recorded, [probe("9", 0.75, line=1)])
    assert [(one.turns[-1].action, one.expected.total) for one in done.probes] == [("9", 0.0), ("8", 0.0), ("7", 1.0)]
    assert (done.kept, done.added, done.updated, done.differed) == (1, 2, 1, 1)


def test_a_turn_is_recorded_with_all_before_it(part):
    done = record(part(), [episode(turn("5"), turn("7", 1.0, RIGHT, terminated=True))], ())
    assert sorted([t.action for t in one.turns] for one in done.probes) == [["5"], ["5", "7"]]
    last_only = record(part(scope="episode"), [episode(turn("5"), turn("7", 1.0, RIGHT, terminated=True))], ())
    assert [[t.action for t in one.turns] for one in last_only.probes] == [["5", "7"]]


def test_what_no_probe_should_hold_is_left_out(part):
    fault = turn("1", status="infra_fault", truncated=True)
    rollouts = [
        episode(turn(f"token {TOKEN}")), episode(turn("9" * (LARGEST + 1))), episode(fault, status="infra_fault"),
        episode(turn("1"), task=None), episode(turn("1"), task={"id": 7}), episode(),
    ]  # fmt: skip
    done = record(part(), rollouts, ())
    assert (done.probes, done.secret, done.unfit, done.turns) == ((), 1, 1, 2)


def test_deep_and_broken_text_is_written_as_it_reads_back(part, tmp_path):
    nested = json.loads("[" * 450 + "]" * 450)
    done = record(part(), [episode(turn("7 \ud800")), episode(turn("7", extra=None, evidence=nested))], ())
    assert (len(done.probes), done.unfit) == (1, 1)
    (tmp_path / "reward").mkdir()
    write_probes(tmp_path, done.probes)
    assert read_probes(tmp_path) == done.probes


def test_flaky_and_failing_turns_are_named_and_not_written(part):
    top = '        if said == "8":\n            import random\n            return random.random()\n'
    top += '        if said == "9":\n            raise KeyError\n'
    reward = part("        if not said.isdigit():", f"{top}        if not said.isdigit():")
    rollouts = [episode(turn(said, 1.0, RIGHT)) for said in ("7", "8", "9")]
    done = record(reward, rollouts, [probe("8", 0.0, answer="1", line=1)])
    assert [one.turns[-1].action for one in done.probes] == ["8", "7"]
    assert {ref.line for ref in done.flaky} == {0, 1}
    assert "KeyError" in done.failed[0][1]


def test_updating_changes_what_differs_alone(part):
    probes = (probe("7", 1.0, line=1), probe("8", 0.5, line=2))
    done = rescored(part(), probes)
    assert (done.probes[0], done.updated) == (probes[0], 1)
    assert done.probes[1].expected.total == 0.0


@pytest.mark.slow
def test_a_long_recording_holds_few_candidates(part):
    import tracemalloc

    def endless(number):
        for n in range(number):
            yield episode(turn(f"{n}" * 50, 0.0, {"right": 0.0}), answer=f"{n}")

    tracemalloc.start()
    record(part(), endless(6000), ())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 << 20


def test_a_file_that_can_t_be_written_stays_as_it_was(part, tmp_path):
    (tmp_path / "reward").mkdir()
    write_probes(tmp_path, (probe("7", 1.0),))
    before = (tmp_path / "reward/probes.jsonl").read_bytes()
    (tmp_path / "other").mkdir()
    (tmp_path / "other/reward").write_text("in the way")
    with pytest.raises(StorageError):
        write_probes(tmp_path / "other", (probe("8", 0.0),))
    assert (tmp_path / "reward/probes.jsonl").read_bytes() == before


def test_a_builtin_reward_has_no_probes(part):
    with pytest.raises(UsageError, match="builtin"):
        record(part(builtin=True, entry=None), varied(), ())


def test_a_set_is_judged_by_what_it_leaves_out(part):
    reward = part(parts=["right", "form", "style"], range=[-1.0, 1.0])
    quality = judge(reward, (probe("7", 1.0),))
    assert quality.attempts[Attempt.FULL_MARK] == 1
    assert set(quality.missing) == set(Attempt) - {Attempt.FULL_MARK}
    assert (quality.statuses, quality.unused_parts) == ({"ok": 1, "agent_fault": 0}, ("form", "style"))
    (place,) = quality.unreached
    assert 'hfenv.Score(-0.5, {"form": -0.5}' in (reward.root / place.path).read_text().splitlines()[place.first - 1]
    assert any("No probe reaches reward/reward.py, line " in hint for hint in quality.hints)


def test_a_good_set_gets_no_hints(part):
    done = record(part(parts=["right", "form"]), varied(), ())
    assert judge(part(parts=["right", "form"]), done.probes).hints == ()


def test_actions_that_are_numbers_have_no_format_to_break(part):
    reward = part()
    manifest = replace(reward.manifest, action=replace(reward.manifest.action, type="discrete"))
    quality = judge(replace(reward, manifest=manifest), (probe("7", 1.0), probe("8", 0.0)))
    assert set(quality.attempts) == {Attempt.FULL_MARK, Attempt.ZERO}
