"""Scoring in a held process: whatever a reward does is a result, and nothing of it survives."""

import os
import pickle
import re
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from hfenv.errors import AuthorCodeError, MissingPackagesError, UsageError
from hfenv.runtime.contracts import RecordedOutcome, Turn
from hfenv.runtime.messages import ScoreTurns
from hfenv.runtime.scoring import Scorer, ScoringLimits

QUICK = ScoringLimits(score_s=2.0, memory_mb=512)
TURN = Turn("x", RecordedOutcome({"said": "x"}), None)


def job(name="odd", turns=1, first=0):
    return ScoreTurns({"id": name}, (TURN,) * turns, first)


def scored(part, *jobs, limits=QUICK, **options):
    with Scorer(part, limits=limits, **options) as scorer:
        return [scores for (scores, *_) in scorer.score(jobs)]


def reward(folder, body, top=""):
    lines = "".join(f"    {line}\n" for line in body.strip("\n").splitlines())
    text = f"import hfenv, os, sys, time\n{top}\ndef score(task, transcript):\n    if task['id'] == 'even':\n"
    (folder.root / "reward/reward.py").write_text(f"{text}        return 0.5\n{lines}", encoding="utf-8")
    return folder.part("reward")


def test_a_score_comes_back_with_its_parts(folder):
    part = reward(folder, "return hfenv.Score(-0.25, {'form': -0.25}, 'agent_fault')")
    odd, even = scored(part, job(), job("even"))
    assert (odd.total, odd.parts, odd.status, odd.error) == (-0.25, {"form": -0.25}, "agent_fault", None)
    assert (even.total, even.parts, even.status, even.error) == (0.5, {}, "ok", None)


HOSTILE = {
    "raises": ("raise ValueError('no')", "ValueError: no"),
    "leaves": ("sys.exit(0)", "SystemExit"),
    "interrupts": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "dies": ("os._exit(3)", "exit code 3"),
    "kills itself": ("os.kill(os.getpid(), 9)", "SIGKILL"),
    "kills its group": ("os.killpg(0, 9)", "SIGKILL"),
    "stops": ("os.kill(os.getpid(), 19)", "No answer within 2 s"),
    "sleeps": ("time.sleep(60)", "No answer within 2 s"),
    "spins": ("while True: pass", "No answer within 2 s"),
    "recurses": ("f = lambda: f()\nf()", "RecursionError"),
    "crashes": ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
    "a text": ("return 'yes'", "returned a str"),
    "not a number": ("return float('nan')", "total = nan"),
    "takes memory": ("return float(len(bytearray(10 << 30)))", "memory"),
    "shares memory": ("import mmap; mmap.mmap(-1, 10 << 30)", "memory"),
    "asks the network": ("import socket; socket.create_connection(('192.0.2.1', 80))", "no network"),
    "looks a name up": ("import socket; socket.getaddrinfo('example.org', 80)", "no network"),
    "an error without words": ("class E(Exception):\n  def __str__(self): raise RuntimeError\nraise E", "score failed"),
    "closes its pipes": ("os.closerange(3, 200)", "exit code"),
    "a huge score": ("return hfenv.Score(0, {'p' * 5_000_000: 1})", "more than 4 MiB"),
    "forges answers": (
        "import hfenv.runtime.pipes as p\np.send_answer.__globals__['encode'] = lambda *a: b'\\xff' * 99",
        "sent no answer",
    ),
    "lies about its score": (
        "import hfenv.runtime.scoreworker as w\nw.Scored = lambda *a, **k: hfenv.Score(1.0)\nreturn 1.0",
        "can't be sent|something else",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_goes_wrong_is_that_score_s_result_and_no_other_s(folder, case, scratch):
    body, text = HOSTILE[case]
    before, odd, after = scored(reward(folder, body), job("even"), job(), job("even"))
    assert odd.error is not None
    assert re.search(text, odd.error), odd.error
    assert before.total == 0.5
    if case != "lies about its score":  # that one goes on lying, to its own damage
        assert after.total == 0.5
    assert list(scratch.iterdir()) == []


def test_a_parent_can_be_killed_only_by_its_own(folder):
    part = reward(folder, "os.kill(os.getppid(), 9)\nreturn 1.0")
    with Scorer(part, limits=QUICK) as scorer:
        if "namespaces" not in scorer.ready.enforced:
            pytest.skip("this system gives no namespaces")
        assert [scores[0].total for scores in scorer.score([job(), job("even")])] == [1.0, 0.5]


def test_a_flood_of_prints_neither_stops_nor_fills_anything(folder):
    part = reward(folder, "print('x' * 1000, file=sys.stderr)\nprint('y' * 1000)\nreturn 1.0")
    assert all(one.total == 1.0 for one in scored(part, *[job()] * 1000))


def test_a_reward_that_is_lost_again_and_again_is_given_up(folder):
    start = time.monotonic()
    found = scored(reward(folder, "time.sleep(60)"), job("even"), *[job()] * 500)
    assert found[0].total == 0.5
    assert [one.error for one in found if one.error and "No answer" in one.error] == ["No answer within 2 s."] * 3
    assert all("3 in a row" in one.error for one in found[4:])
    assert time.monotonic() - start < 60


@pytest.fixture
def mark(monkeypatch):
    """What all processes that a test starts have in their environment, and nobody else's."""
    text = uuid.uuid4().hex
    monkeypatch.setenv("HFENV_TEST_MARK", text)
    return f"HFENV_TEST_MARK={text}"


NO_NAMESPACES = """
import ctypes

class Library(ctypes.CDLL):
    def unshare(self, flags):
        return -1

ctypes.CDLL = Library
"""


@pytest.fixture(params=["as it is", "without namespaces"])
def system(request, tmp_path, monkeypatch):
    """This system, and one that gives nobody a namespace."""
    if request.param == "without namespaces":
        (tmp_path / "site").mkdir()
        (tmp_path / "site/sitecustomize.py").write_text(NO_NAMESPACES)
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")]))
    return request.param


def sleeping(text):
    found = subprocess.run(["ps", "-eo", "stat,args"], capture_output=True, text=True, check=True).stdout
    return [line for line in found.splitlines() if text in line and not line.startswith("Z")]


def test_what_holds_a_reward_is_told(folder, system):
    with Scorer(reward(folder, "return 1.0"), limits=QUICK) as scorer:
        assert "sockets" in scorer.ready.enforced
        if system == "without namespaces":
            assert "namespaces" not in scorer.ready.enforced


@pytest.mark.parametrize("case", ["dies", "kills its group", "stops", "sleeps", "crashes", "asks the network"])
def test_what_goes_wrong_stays_inside_without_namespaces_too(folder, system, case, scratch):
    body, text = HOSTILE[case]
    before, odd, after = scored(reward(folder, body), job("even"), job(), job("even"))
    assert (before.total, after.total) == (0.5, 0.5)
    assert text in odd.error
    assert list(scratch.iterdir()) == []


def test_children_end_with_their_reward(folder, marked_processes, mark, system):
    seconds = str(uuid.uuid4().int % 10**8 + 10**8)  # a sleep that no other test sleeps
    body = """
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.chdir("/")
            os.execve("/bin/sleep", ["sleep", "SECONDS"], {})
        os._exit(0)
return 1.0
""".replace("SECONDS", seconds)
    for last in ("return 1.0", "os._exit(1)", "time.sleep(60)"):
        with Scorer(reward(folder, body.replace("return 1.0", last)), limits=QUICK) as scorer:
            list(scorer.score([job()]))
        assert sleeping(f"sleep {seconds}") == []
    assert marked_processes(mark) == []


def test_nothing_is_left_when_the_caller_is_killed(folder, scratch, marked_processes, mark):
    part = reward(folder, "open('/dev/null').close()\nwhile True: pass")
    script = (
        "import sys, pickle\n"
        "from hfenv.runtime.scoring import Scorer, ScoringLimits\n"
        "part, job = pickle.load(open(sys.argv[1], 'rb'))\n"
        "with Scorer(part, limits=ScoringLimits(score_s=60)) as scorer:\n"
        "    scorer.ready; print('ready', flush=True)\n"
        "    list(scorer.score([job]))\n"
    )
    given = folder.root.parent / "given.pickle"
    given.write_bytes(pickle.dumps((part, job())))
    command = [sys.executable, "-c", script, str(given)]
    caller = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(scratch)})
    assert caller.stdout.readline() == b"ready\n"
    assert len(marked_processes(mark)) > 1
    caller.kill()
    caller.wait()
    caller.stdout.close()
    end = time.monotonic() + 20
    while (marked_processes(mark) or list(scratch.iterdir())) and time.monotonic() < end:
        time.sleep(0.05)
    assert marked_processes(mark) == []
    assert list(scratch.iterdir()) == []


def test_secrets_of_the_caller_stay_with_it(folder, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "secret-value")
    monkeypatch.setenv("MY_API_KEY", "secret-value")
    part = reward(folder, "return float('secret-value' in str(dict(os.environ)))")
    assert scored(part, job())[0].total == 0.0


def test_the_hash_seed_is_fixed_whatever_the_caller_has(folder, monkeypatch):
    part = reward(folder, "return float(hash('a') % 1000)")
    once = scored(part, job())[0].total
    monkeypatch.setenv("PYTHONHASHSEED", "77")
    assert scored(part, job())[0].total == once
    assert scored(part, job(), hash_seed=1)[0].total != once


def test_every_turn_of_a_transcript_is_scored_as_the_latest(folder):
    part = reward(folder, "task['seen'] = task.get('seen', 0) + 1\nreturn float(10 * len(transcript) + task['seen'])")
    with Scorer(part, limits=QUICK) as scorer:
        (three,), (two,) = [list(scorer.score([one])) for one in (job(turns=3), job(turns=3, first=1))]
    assert [one.total for one in three] == [11.0, 21.0, 31.0]
    assert [one.total for one in two] == [21.0, 31.0]


def test_a_turn_that_hangs_doesn_t_take_the_others_with_it(folder):
    part = reward(folder, "if len(transcript) == 2: time.sleep(60)\nreturn float(len(transcript))")
    with Scorer(part, limits=QUICK) as scorer:
        (four,) = scorer.score([job(turns=4)])
    assert [one.total if one.error is None else None for one in four] == [1.0, None, 3.0, 4.0]


def test_many_large_transcripts_pass_through_in_order(folder):
    part = reward(folder, "return float(transcript[-1].action['n'])")
    turns = (Turn({"n": n, "ballast": "b" * 100_000}, RecordedOutcome()) for n in range(200))
    jobs = (ScoreTurns({"id": "odd"}, (turn,), 0) for turn in turns)
    with Scorer(part, limits=QUICK) as scorer:
        assert [scores[0].total for scores in scorer.score(jobs)] == list(range(200))


def test_a_reward_that_can_t_be_imported_is_an_error(folder):
    for top, text in [
        ("1 / 0", "ZeroDivisionError"),
        ("os._exit(5)", "exit code 5"),
        ("x = [0] * 10**10", "MemoryError"),
    ]:
        with pytest.raises(AuthorCodeError, match=text):
            scored(reward(folder, "return 1.0", top), job())


def test_rewards_that_can_t_be_called_alone_are_refused_before_anything_runs(folder):
    marker = folder.root / "ran"
    part = reward(folder, "return 1.0", f"open({str(marker)!r}, 'w').close()")
    for change, error, text in [
        ({"builtin": True, "entry": None}, UsageError, "builtin"),
        ({"builtin": False, "entry": "reward/reward.py:score", "scope": "group"}, UsageError, "group"),
    ]:
        with pytest.raises(error, match=text):
            scored(folder.card(reward=change).part("reward"), job())
    folder.card(reward={"scope": "turn"}, requires={"packages": ["no-such-package-anywhere>=1"]})
    with pytest.raises(MissingPackagesError, match="no-such-package-anywhere"):
        scored(folder.part("reward"), job())
    assert not marker.exists()
    assert part.version


def test_lines_that_were_run_are_told(folder):
    part = reward(
        folder, "if task['id'] == 'never':\n    return 1.0\nreturn helper()", "def helper():\n    return 0.0\n"
    )
    with Scorer(part, limits=QUICK, trace=True) as scorer:
        list(scorer.score([job(), job("even")]))
        lines = scorer.lines_run()
    text = Path(part.root / "reward/reward.py").read_text().splitlines()
    missed = lines.possible["reward/reward.py"] - lines.reached["reward/reward.py"]
    assert [text[line - 1].strip() for line in sorted(missed)] == ["return 1.0"]
