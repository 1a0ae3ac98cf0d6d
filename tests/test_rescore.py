"""Rescoring: recorded rollouts under another reward, what is reported, and what is never made up."""

import json
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

import hfenv
from hfenv.errors import NotFoundError, UnreadableError, UsageError
from hfenv.rescoring import rescore_file
from hfenv.runtime.rollout import read_rollouts
from hfenv.runtime.scoring import ScoringLimits
from tests.support import CARD, replace_in, run_cli, write_environment

REWARD = """\
import hfenv


def score(task, transcript):
    said = transcript[-1].outcome.data["said"]
    if not said.isdigit():
        return hfenv.Score(-0.5, {"form": -0.5}, status="agent_fault")
    return hfenv.Score(float(said == task["answer"]), {"right": float(said == task["answer"])})
"""


@pytest.fixture
def adding(tmp_path):
    return write_environment(tmp_path / "adding")


@pytest.fixture
def other(tmp_path):
    """The same environment with a reward that takes less for a wrong form."""
    return write_environment(tmp_path / "other", files={"reward/reward.py": REWARD})


@pytest.fixture
def rollouts(adding, tmp_path):
    """Five episodes of the oracle, and five that say no number."""
    path = tmp_path / "rollouts.jsonl"
    texts = []
    for policy in ("oracle", "random"):
        done = run_cli("run", adding, "--policy", policy, "--episodes", 5, "--backend", "inline", "--out", path)
        assert done.exit_code == 0, done.stderr
        texts.append(path.read_text())
    path.write_text("".join(texts))
    return path


def edit(path, change):
    """Rewrite a rollout file, episode by episode."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(change(n, line) or line) + "\n" for n, line in enumerate(lines)))
    return path


def test_the_same_reward_gives_the_same_rewards(adding, rollouts, tmp_path):
    out = tmp_path / "again.jsonl"
    found = hfenv.rescore(rollouts, str(adding), out=out)
    assert (found.episodes, found.overall.episodes, found.overall.turns) == (10, 10, 10)
    assert (found.overall.changed_turns, found.overall.changed_episodes, found.overall.relabelled_turns) == (0, 0, 0)
    assert found.overall.return_before == found.overall.return_after == 0.0
    assert (found.moves, found.first_errors, found.measured_elsewhere, found.unmeasured) == ((), (), 0, 0)
    assert [json.loads(line) for line in out.read_text().splitlines()] == [
        json.loads(line) for line in rollouts.read_text().splitlines()
    ]


def test_another_reward_is_reported_and_written(other, rollouts, tmp_path):
    out = tmp_path / "new.jsonl"
    found = hfenv.rescore(rollouts, str(other), out=out)
    overall = found.overall
    assert (overall.changed_turns, overall.changed_episodes, overall.turns) == (5, 5, 10)
    assert (overall.return_before, overall.return_after) == (0.0, 0.25)
    assert (overall.u_before, overall.u_after) == (0.5, 0.5)
    assert [(move.before, move.after) for move in found.moves] == [(-1.0, -0.5)] * 5
    assert {name: tally.return_after for name, tally in found.by_policy.items()} == {"oracle": 1.0, "random": -0.5}
    assert list(found.by_split) == ["train"]
    old, new = (list(read_rollouts(path)) for path in (rollouts, out))
    assert [episode.total for episode in new] == [1.0] * 5 + [-0.5] * 5
    assert [dict(episode.turns[0].parts) for episode in new[5:]] == [{"form": -0.5}] * 5
    for before, after in zip(old, new, strict=True):
        assert after.provenance["reward"]["exact"] == found.exact != before.provenance["reward"]["exact"]
        assert (after.provenance["code"], after.provenance["release"]) == (before.provenance["code"], None)
        assert (after.task, after.turns[0].action) == (before.task, before.turns[0].action)
    assert hfenv.rescore(out, str(other)).overall.changed_turns == 0
    assert sorted(path.name for path in tmp_path.glob("*.part")) == []


def test_spoiled_episodes_are_counted_left_out_and_kept_in_the_file(other, rollouts, tmp_path):
    def spoil(n, line):
        if n % 5 == 0:
            line["status"] = line["turns"][0]["status"] = "infra_fault"
            line["total"] = line["turns"][0]["reward"] = 0.0

    out = tmp_path / "new.jsonl"
    found = hfenv.rescore(edit(rollouts, spoil), str(other), out=out)
    assert (found.episodes, found.masked, found.overall.episodes, found.failed) == (10, 2, 8, 0)
    assert found.overall.return_after == 0.25
    assert [episode.masked for episode in read_rollouts(out)] == [n % 5 == 0 for n in range(10)]


def test_a_score_that_fails_masks_its_episode_and_no_other(adding, rollouts, tmp_path):
    broken = REWARD.replace("    if not", "    if task['id'].endswith(('1', '3')): raise KeyError('gone')\n    if not")
    failing = write_environment(tmp_path / "failing", files={"reward/reward.py": broken})
    count = sum(json.loads(line)["task_id"][-1] in "13" for line in rollouts.read_text().splitlines())
    assert 0 < count < 10
    out = tmp_path / "new.jsonl"
    found = hfenv.rescore(rollouts, str(failing), out=out)
    assert (found.failed, found.errors, found.overall.episodes) == (count, count, 10 - count)
    assert len(found.first_errors) == 1
    assert "KeyError" in found.first_errors[0]
    assert sum(episode.masked for episode in read_rollouts(out)) == count
    masked = next(episode for episode in read_rollouts(out) if episode.masked)
    assert (masked.total, masked.turns[0].truncated, "KeyError" in masked.error) == (0.0, True, True)


def test_when_nothing_can_be_scored_the_command_fails_and_says_why(rollouts, tmp_path):
    failing = write_environment(tmp_path / "failing", files={"reward/reward.py": REWARD.replace('["said"]', '["x"]')})
    done = run_cli("rescore", rollouts, failing)
    assert done.exit_code == 1
    assert "KeyError: 'x'" in done.stderr
    assert "10 episodes got no score" in done.stdout


MEASURE = "\n\ndef measure(task, transcript, context):\n    return {}\n\n\ndef score"
MEASURING = REWARD.replace("\n\ndef score", MEASURE)


def test_it_says_when_another_measure_would_be_needed(adding, rollouts, tmp_path):
    measuring = write_environment(tmp_path / "measuring", files={"reward/reward.py": MEASURING})
    assert hfenv.rescore(rollouts, str(measuring)).unmeasured == 10
    done = run_cli("rescore", rollouts, measuring)
    assert "10 episodes have no evidence, and this reward has a measure" in done.stdout
    out = tmp_path / "measured.jsonl"
    run_cli("run", measuring, "--episodes", 4, "--backend", "inline", "--out", out)
    found = hfenv.rescore(out, str(measuring))
    assert (found.unmeasured, found.measured_elsewhere) == (0, 0)
    replace_in(measuring / "reward/reward.py", "return {}", "return {'more': 1}")
    found = hfenv.rescore(out, str(measuring))
    assert (found.unmeasured, found.measured_elsewhere) == (0, 4)
    assert hfenv.rescore(out, str(adding)).measured_elsewhere == 0


def test_evidence_is_used_and_measure_is_not_called(tmp_path):
    text = (
        "import hfenv\n\n\ndef measure(task, transcript, context):\n    return {'found': 0.25}\n\n\n"
        "def score(task, transcript):\n    return transcript[-1].evidence['found']\n"
    )
    first = write_environment(tmp_path / "first", files={"reward/reward.py": text})
    out = tmp_path / "measured.jsonl"
    run_cli("run", first, "--episodes", 3, "--backend", "inline", "--out", out)
    doubled = text.replace("{'found': 0.25}", "1 / 0").replace("['found']", "['found'] * 2")
    second = write_environment(tmp_path / "second", files={"reward/reward.py": doubled})
    found = hfenv.rescore(out, str(second))
    assert (found.overall.return_before, found.overall.return_after, found.errors) == (0.25, 0.5, 0)


def test_turns_of_long_episodes_and_rewards_of_whole_ones(tmp_path):
    code = (
        "import hfenv\n\n\nclass Adding(hfenv.TaskEnvironment):\n"
        "    def start(self, task, rng):\n        return 'go'\n\n"
        "    def execute(self, action):\n        return hfenv.Outcome(data={'said': str(action)})\n"
    )
    card = CARD.replace("limits: {max_steps: 1}", "limits: {max_steps: 3}").replace("[-1.0, 1.0]", "[-9.0, 99.0]")
    files = {"env/environment.py": code, "README.md": card}
    reward = "def score(task, transcript):\n    return float(len(transcript)%s)\n"
    by_turn = write_environment(tmp_path / "turns", files={**files, "reward/reward.py": reward % ""})
    out = tmp_path / "long.jsonl"
    assert run_cli("run", by_turn, "--episodes", 2, "--backend", "inline", "--out", out).exit_code == 0
    again = hfenv.rescore(out, str(by_turn))
    assert (again.overall.turns, again.overall.changed_turns, again.overall.return_after) == (6, 0, 6.0)
    whole_card = card.replace("range: [-9.0", "scope: episode, range: [-9.0")
    files = {**files, "README.md": whole_card, "reward/reward.py": reward % " * 10"}
    whole = write_environment(tmp_path / "whole", files=files)
    new = tmp_path / "new.jsonl"
    found = hfenv.rescore(out, str(whole), out=new)
    assert (found.overall.return_after, found.overall.changed_turns) == (30.0, 6)
    assert [turn.reward for turn in next(read_rollouts(new)).turns] == [0.0, 0.0, 30.0]


def test_groups_that_rank_otherwise_are_counted(adding, tmp_path):
    out = tmp_path / "groups.jsonl"
    run_cli("run", adding, "--policy", "oracle", "--episodes", 3, "--repeats", 3, "--backend", "inline", "--out", out)
    edit(out, lambda n, line: line["turns"][0]["data"].update({"said": str(n)}))
    text = "def score(task, transcript):\n    said = int(transcript[-1].outcome.data['said'])\n    return %s\n"
    upward = write_environment(tmp_path / "up", files={"reward/reward.py": text % "said / 100"})
    flat = write_environment(tmp_path / "flat", files={"reward/reward.py": text % "0.5"})
    down = write_environment(tmp_path / "down", files={"reward/reward.py": text % "-said / 100"})
    first = tmp_path / "first.jsonl"
    groups = hfenv.rescore(out, str(upward), out=first).groups
    assert (groups.groups, groups.flat_before, groups.flat_after, groups.reordered) == (3, 3, 0, 3)
    assert hfenv.rescore(first, str(down)).groups.reordered == 3
    assert hfenv.rescore(first, str(flat)).groups.flat_after == 3
    assert hfenv.rescore(first, str(upward)).groups.reordered == 0


def test_a_release_on_a_hub_and_one_component_of_it(adding, rollouts):
    assert run_cli("push", "local/adding", adding, "--hub", "local").exit_code == 0
    replace_in(adding / "reward/reward.py", "hfenv.Score(-1.0, ", "hfenv.Score(-0.25, ")
    run_cli("bump", "reward", "major", "-m", "Milder", "--path", adding)
    assert run_cli("push", "local/adding", adding, "--hub", "local").exit_code == 0
    for ref, mean in [("@reward=2.0.0", 0.375), ("@reward=1.0.0", 0.0), ("@1.0.0", 0.0), ("", 0.375)]:
        done = run_cli(
            "rescore", rollouts, f"local/adding{ref}", "--hub", "local", "--trust-remote-code", "--format", "json"
        )
        assert done.exit_code == 0, done.stderr
        assert done.json["overall"]["return_after"] == mean
        assert len(done.json["reward"]["revision"]) == 40
    assert run_cli("rescore", rollouts, "local/adding", "--hub", "local").exit_code == 7
    quiet = run_cli("rescore", rollouts, "local/adding", "--hub", "local", "--trust-remote-code", "--format", "quiet")
    assert quiet.stdout == "0.375\n"


@pytest.mark.parametrize(
    ("reward", "text"),
    [("builtin: true, range: [-1.0, 1.0]}", "builtin"),
     ('entry: "reward/reward.py:score", scope: group, range: [-1.0, 1.0]}', "group")],
)  # fmt: skip
def test_rewards_that_can_t_be_called_alone_are_refused(adding, rollouts, reward, text):
    replace_in(adding / "README.md", 'entry: "reward/reward.py:score", range: [-1.0, 1.0]}', reward)
    with pytest.raises(UsageError, match=text):
        hfenv.rescore(rollouts, str(adding))


BAD = {
    "no JSON": b"{",
    "another format": b'{"format": 9}',
    "no episode": b"[1, 2]",
    "latin": b'"\xff"',
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("case", BAD)
def test_a_line_that_is_no_episode_is_named(other, rollouts, tmp_path, case):
    rollouts.write_bytes(rollouts.read_bytes() + BAD[case] + b"\n")
    out = tmp_path / "new.jsonl"
    with pytest.raises(UnreadableError, match=r"rollouts\.jsonl:11"):
        hfenv.rescore(rollouts, str(other), out=out)
    assert not out.exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line.update(total="1"), lambda line: line.update(total=float("nan")),
        lambda line: line.update(task=[1]), lambda line: line.update(provenance="x"),
        lambda line: line["turns"][0].update(reward=None), lambda line: line["turns"][0].update(reward=10**400),
        lambda line: line["turns"][0].update(parts=[1]), lambda line: line["turns"][0].update(parts={"a": "b"}),
        lambda line: line["turns"][0].update(status="fine"), lambda line: line["turns"][0].update(truncated=1),
    ],
)  # fmt: skip
def test_values_that_no_run_writes_are_refused(other, rollouts, change):
    edit(rollouts, lambda n, line: change(line) if n == 2 else None)
    done = run_cli("rescore", rollouts, other)
    assert (done.exit_code, done.stdout) == (3, "")
    assert "rollouts.jsonl:3" in done.stderr


@pytest.mark.parametrize("depth", [400, 700])
def test_data_that_is_nested_deeply_is_scored_or_is_an_error(other, rollouts, depth):
    def nest(n, line):
        if n == 1:
            line["turns"][0]["data"]["more"] = json.loads("[" * depth + "]" * depth)

    found = hfenv.rescore(edit(rollouts, nest), str(other))
    assert (found.episodes, found.overall.episodes + found.errors) == (10, 10)
    assert found.errors == 0 or depth > 500


def test_a_line_without_end_is_not_read_into_memory(other, tmp_path, monkeypatch):
    monkeypatch.setattr("hfenv.runtime.rollout._MAX_LINE", 1 << 16)
    path = tmp_path / "rollouts.jsonl"
    path.write_bytes(b" {" + b"x" * (1 << 20))
    with pytest.raises(UnreadableError, match=r"rollouts\.jsonl:1: the line has more than"):
        hfenv.rescore(path, str(other))


def test_odd_files_that_are_rollouts_all_the_same(other, rollouts, tmp_path):
    edit(rollouts, lambda n, line: line.update(provenance=None, split=None, group_id=None, turns=[], total=0))
    found = hfenv.rescore(rollouts, str(other))
    assert (found.overall.episodes, found.overall.turns, found.by_split, dict(found.recorded_under)) == (
        10, 0, {}, {"unknown": 10}
    )  # fmt: skip
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n")
    assert hfenv.rescore(empty, str(other)).overall.return_after is None
    with pytest.raises(NotFoundError):
        hfenv.rescore(tmp_path / "nothing.jsonl", str(other))


def test_a_full_disk_is_a_sentence_and_keeps_the_old_file(other, rollouts, tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    out = tmp_path / "new.jsonl"
    out.write_text("old")
    (tmp_path / "new.jsonl.part").symlink_to("/dev/full")
    done = run_cli("rescore", rollouts, other, "--out", out)
    assert done.exit_code == 2
    assert "No space left" in done.stderr
    assert out.read_text() == "old"


def test_a_killed_command_leaves_no_process_and_no_half_file(other, rollouts, tmp_path, marked):
    replace_in(other / "reward/reward.py", "    said = ", "    import time\n    time.sleep(0.5)\n    said = ")
    out = tmp_path / "new.jsonl"
    command = [sys.executable, "-m", "hfenv.cli", "rescore", str(rollouts), str(other), "--out", str(out)]
    with subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL) as running:
        end = time.monotonic() + 30
        while len(marked()) < 3 and time.monotonic() < end:
            time.sleep(0.05)
        running.send_signal(signal.SIGKILL)
    end = time.monotonic() + 20
    while marked() and time.monotonic() < end:
        time.sleep(0.05)
    assert marked() == []
    assert not out.exists()


@pytest.fixture
def marked(monkeypatch):
    """Ids of the processes that this test started, and that inherited its environment."""
    mark = f"HFENV_TEST_MARK={uuid.uuid4().hex}"
    monkeypatch.setenv(*mark.split("="))

    def find():
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and mark.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    return find


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_episodes(other, rollouts, tmp_path):
    import tracemalloc

    from hfenv.components.ownership import Component
    from hfenv.specify import LocalFolder

    part = LocalFolder.read(other).parts[Component.REWARD]
    line = rollouts.read_text().splitlines()[0]
    peaks = []
    for number in (300, 3000):
        path = tmp_path / f"{number}.jsonl"
        path.write_text("".join(json.dumps({**json.loads(line), "index": n}) + "\n" for n in range(number)))
        tracemalloc.start()
        found = rescore_file(path, part, limits=ScoringLimits(score_s=20), out=tmp_path / "out.jsonl")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert found.overall.episodes == number
    assert peaks[1] < peaks[0] + (1 << 20)
