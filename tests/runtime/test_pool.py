"""Pools: slots of their own, faults that stay in their slot, and nothing left behind."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from hfenv.errors import AuthorCodeError, HfenvError, UsageError
from hfenv.runtime.loader import load_environment
from hfenv.runtime.pool import EnvironmentPool

linux = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")

# What the action says happens, so that one environment serves all tests.
TROUBLE = """
    import os
    import subprocess
    import sys
    import time
    from pathlib import Path

    import hfenv

    SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]

    class Sums(hfenv.TaskEnvironment):
        def start(self, task, rng):
            (self.work_dir / "mine").write_text("x")
            self.task = task
            return {"folder": str(self.work_dir), "pid": os.getpid()}

        def execute(self, action):
            if action == "hang":
                time.sleep(600)
            if action == "exit":
                os._exit(7)
            if action == "raise":
                raise RuntimeError("out of order")
            if action == "flood":
                for _ in range(200):
                    print("x" * 10000)
                    os.write(1, b"y" * 10000)
                    os.write(2, b"z" * 10000)
            if action == "children":
                subprocess.Popen(SLEEPER)
                subprocess.Popen(SLEEPER, start_new_session=True)
                # An orphan of another session: its parent ends at once.
                subprocess.run(
                    [sys.executable, "-c", "import subprocess, sys; subprocess.Popen(sys.argv[1:], "
                     "start_new_session=True)", *SLEEPER], check=True)
            if action == "unsendable":
                return hfenv.Outcome(data={"said": 1}, observation=self)
            if action == "environment":
                return hfenv.Outcome(data={"said": sorted(os.environ)}, terminated=True)
            return hfenv.Outcome(data={"said": action}, observation=action, terminated=action == self.task["answer"])
"""


@pytest.fixture
def trouble(folder):
    folder.write("env/environment.py", TROUBLE)
    folder.card(limits={"max_steps": 2})
    return folder.spec()


@pytest.fixture(autouse=True)
def nothing_left(monkeypatch, marked_processes, scratch, request):
    """Every test ends without a process or a folder of its pools."""
    marker = f"HFENV_TEST_{os.getpid()}_{abs(hash(request.node.nodeid))}"
    monkeypatch.setenv("PYTHON_MARK", marker)  # a name that workers and their children inherit
    yield
    if Path("/proc/self/environ").exists():
        assert marked_processes(marker) == []
    assert list(scratch.iterdir()) == []


def test_slots_have_instances_and_folders_of_their_own(trouble):
    with EnvironmentPool(trouble, 3) as pool:
        observations, infos = pool.reset(seed=0)
        assert len({observation["pid"] for observation in observations}) == 3
        folders = [Path(observation["folder"]) for observation in observations]
        assert len(set(folders)) == 3
        assert all((folder / "mine").exists() for folder in folders)
        assert [info["hfenv"]["status"] for info in infos] == ["ok"] * 3
        results = pool.step(["a", "b", "c"])
        assert [result.observation for result in results] == ["a", "b", "c"]
    assert not any(folder.exists() for folder in folders)


def test_some_slots_can_be_stepped_and_reset_alone(trouble):
    with EnvironmentPool(trouble, 3, backend="inline") as pool:
        pool.reset(task_ids=["t1", "t2", "t3"])
        assert [result.reward for result in pool.step({2: "6", 0: "2"})] == [1.0, 1.0]
        with pytest.raises(UsageError, match="No episode is running in slot 0, 2"):
            pool.step(["x", "x", "x"])
        assert pool.reset(slots=[2], task_ids=["t5"])[1][0]["task_id"] == "t5"
        assert [result.observation for result in pool.step({1: "b", 2: "c"})] == ["b", "c"]
        with pytest.raises(UsageError, match="2 actions for 3 slots"):
            pool.step(["x", "x"])
        with pytest.raises(UsageError, match="no slot 9"):
            pool.step({9: "x"})


def test_vectorised_resets_depend_on_seeds_alone(trouble):
    def ids(size, backend):
        with EnvironmentPool(trouble, size, backend=backend) as pool:
            return [[info["task_id"] for info in pool.reset(seed=seed)[1]] for seed in (0, 1, None)]

    assert ids(4, "inline") == ids(4, "process")
    assert [row[:2] for row in ids(4, "inline")] == ids(2, "inline")


def test_a_factory_is_called_once_per_slot(trouble):
    made = []

    def factory():
        made.append(load_environment(trouble))
        return made[-1]

    with EnvironmentPool(factory, 3, backend="inline") as pool:
        assert len({id(env.unwrapped) for env in made}) == 3
        assert len(list(pool.rollout(lambda *_: "x", episodes=4))) == 4
    with pytest.raises(UsageError, match="factory can't be sent"):
        EnvironmentPool(factory, 3)


@pytest.mark.parametrize("fault", ["hang", "exit"])
def test_a_lost_slot_is_a_masked_fault_and_the_others_do_not_notice(trouble, fault):
    with EnvironmentPool(trouble, 3, step_timeout=2.0) as pool:
        first, _ = pool.reset(task_ids=["t1", "t2", "t3"])
        results = pool.step(["x", fault, "6"])
        assert [result.info["hfenv"]["mask"] for result in results] == [False, True, False]
        assert (results[1].reward, results[1].truncated) == (0.0, True)
        assert results[2].reward == 1.0
        said = results[1].info["error"]
        assert "No answer within 2 s" in said if fault == "hang" else "exit code 7" in said
        again, _ = pool.reset(task_ids=["t1", "t2", "t3"])
        assert [a["pid"] == b["pid"] for a, b in zip(first, again, strict=True)] == [True, False, True]
        assert not Path(first[1]["folder"]).exists()
        assert [result.reward for result in pool.step(["2", "4", "6"])] == [1.0] * 3


@pytest.mark.parametrize("fault", ["hang", "exit", "raise"])
def test_a_spoiled_episode_is_tried_again_then_masked_and_the_others_are_right(trouble, fault):
    def policy(task, observation, info, rng):
        return fault if task["id"] == "t3" else str(2 * int(task["id"][1:]))

    ids = [f"t{n}" for n in range(8)]
    with EnvironmentPool(trouble, 4, step_timeout=1.0, retries=1) as pool:
        episodes = list(pool.rollout(policy, tasks=ids))
        assert [episode.task_id for episode in episodes] == ids
        assert [episode.masked for episode in episodes] == [n == 3 for n in range(8)]
        assert [episode.total for episode in episodes] == [float(n != 3) for n in range(8)]
        stats = pool.stats()
        assert (stats.episodes, stats.faults, stats.retries) == (8, 2, 1)
        assert (stats.restarts == 0) == (fault == "raise")
        spoiled = episodes[3].turns[-1]
        assert (spoiled.action, spoiled.truncated, spoiled.status) == (fault, True, "infra_fault")
        expected = {"hang": "No answer within 1 s", "exit": "exit code 7", "raise": "RuntimeError: out of order"}
        assert expected[fault] in episodes[3].error


def test_a_fault_that_passes_leaves_no_trace_in_the_episode(folder, tmp_path):
    """The first attempt dies in the worker, beside a policy of the card; the second gives what no fault would have."""
    folder.write("env/environment.py", TROUBLE).card(limits={"max_steps": 2})
    folder.write(
        "audit/policies.py",
        f"""
        from pathlib import Path

        def oracle(task, observation, info, rng):
            mark = Path({str(tmp_path)!r}) / task["id"]
            if task["id"] == "t3" and not mark.exists():
                mark.touch()
                return "exit"
            return task["answer"] if rng.random() < 0.5 else "x"
        """,
    )
    with EnvironmentPool(folder.spec(), 2) as pool:
        once = list(pool.rollout("oracle", episodes=20, seed=0))
        assert pool.stats().retries == 1
        assert once == list(pool.rollout("oracle", episodes=20, seed=0))
        assert pool.stats().retries == 1


def test_a_hang_beside_a_policy_of_the_card_keeps_the_turns_before_it(folder):
    folder.write("env/environment.py", TROUBLE).card(limits={"max_steps": 5, "step_timeout_s": 0.1})
    folder.write("audit/policies.py", "def oracle(task, o, info, rng): return 'hang' if o == 'x' else 'x'")
    folder.card(policies={"oracle": "audit/policies.py:oracle"})
    with EnvironmentPool(folder.spec(), 1, retries=0) as pool:
        assert pool.limits.step == pytest.approx(1.15)
        episode = next(pool.rollout("oracle", episodes=1))
    assert episode.masked
    assert [turn.status for turn in episode.turns] == ["agent_fault", "infra_fault"]
    assert episode.task["answer"]


def test_a_slot_that_dies_in_reset_is_reset_again(folder, tmp_path):
    mark = tmp_path / "mark"
    dies_once = f"task['id'] == 't1' and not Path({str(mark)!r}).exists()"
    line = '(self.work_dir / "mine").write_text("x")'
    more = f"{line}; {dies_once} and (Path({str(mark)!r}).touch(), os._exit(1))"
    folder.write("env/environment.py", TROUBLE.replace(line, more))
    with EnvironmentPool(folder.spec(), 2) as pool:
        _, infos = pool.reset(task_ids=["t1", "t2"])
        assert [info["task_id"] for info in infos] == ["t1", "t2"]
        assert mark.exists()
        assert [result.reward for result in pool.step(["2", "4"])] == [1.0, 1.0]


def test_a_large_answer_that_stops_halfway_is_lost_like_any_other(folder):
    """The worker is stopped while its answer, larger than a pipe, is on its way."""
    folder.write(
        "env/environment.py",
        """
        import os, signal, threading, time
        import hfenv

        class Sums(hfenv.TaskEnvironment):
            def start(self, task, rng):
                return "?"

            def execute(self, action):
                if action == "stop":
                    threading.Timer(0.0, os.kill, (os.getpid(), signal.SIGSTOP)).start()
                return hfenv.Outcome(data={"said": action}, observation="x" * 5_000_000)
        """,
    )
    with EnvironmentPool(folder.spec(), 2, step_timeout=2.0) as pool:
        pool.reset(seed=0)
        results = pool.step(["stop", "go"])
        assert results[0].info["hfenv"]["mask"]
        assert len(results[1].observation) == 5_000_000


def test_a_relative_folder_works_from_other_working_folders(folder, monkeypatch):
    monkeypatch.chdir(folder.root.parent)
    folder.root = Path(folder.root.name)
    spec = folder.spec()
    monkeypatch.chdir("/")
    for backend in ("inline", "process"):
        with EnvironmentPool(spec, 1, backend=backend) as pool:
            assert [episode.u for episode in pool.rollout("oracle", tasks=["t1"])] == [1.0]


def test_a_rollout_that_never_works_gives_up(trouble):
    with (
        EnvironmentPool(trouble, 1, backend="inline") as pool,
        pytest.raises(AuthorCodeError, match="attempts in a row"),
    ):
        list(pool.rollout(lambda *_: "raise", episodes=100))


def test_a_flood_of_output_disturbs_nobody(trouble):
    with EnvironmentPool(trouble, 2) as pool:
        pool.reset(task_ids=["t1", "t1"])
        assert [result.observation for result in pool.step(["flood", "x"])] == ["flood", "x"]
        assert [result.reward for result in pool.step(["2", "2"])] == [1.0, 1.0]


def test_what_can_not_be_sent_is_a_fault_of_that_slot(trouble):
    with EnvironmentPool(trouble, 2) as pool:
        pool.reset(seed=0)
        results = pool.step(["unsendable", "x"])
        assert "can't be sent between processes" in results[0].info["error"]
        assert results[1].observation == "x"


@linux
@pytest.mark.parametrize("end", ["close", "hang", "exit"])
def test_children_and_orphans_of_a_slot_end_with_it(trouble, marked_processes, end):
    with EnvironmentPool(trouble, 2, step_timeout=2.0) as pool:
        pool.reset(task_ids=["t1", "t1"])
        before = len(marked_processes(os.environ["PYTHON_MARK"]))
        pool.step(["children", "x"])
        assert len(marked_processes(os.environ["PYTHON_MARK"])) == before + 3
        if end != "close":
            assert pool.step({0: end})[0].info["hfenv"]["mask"]
            assert len(marked_processes(os.environ["PYTHON_MARK"])) == before - 1
            assert pool.step({1: "2"})[0].reward == 1.0


def test_workers_inherit_no_secret(trouble, monkeypatch):
    secrets = ("HF_TOKEN", "HFENV_TOKEN", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "DATABASE_URL", "GITHUB_PAT")
    for name in secrets:
        monkeypatch.setenv(name, "secret")
    with EnvironmentPool(trouble, 1) as pool:
        [episode] = pool.rollout(lambda *_: "environment", episodes=1)
    names = set(episode.turns[0].data["said"])
    assert "PATH" in names
    assert not names & {
        "HF_TOKEN",
        "HFENV_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "OPENAI_API_KEY",
        "DATABASE_URL",
        "GITHUB_PAT",
    }


def test_authors_errors_come_out_when_the_pool_is_made(folder):
    folder.write("env/environment.py", "import hfenv\nx = undefined")
    for backend in ("inline", "process"):
        with pytest.raises(AuthorCodeError, match=r"env/environment\.py, line 2: NameError"):
            EnvironmentPool(folder.spec(), 2, backend=backend)


@pytest.mark.parametrize(
    ("code", "said"), [("import os; os._exit(3)", "exit code 3"), ("while True: pass", "within 1 s")]
)
def test_a_set_up_that_dies_or_hangs_is_told_after_a_few_attempts(folder, code, said):
    folder.write("env/environment.py", code)
    with pytest.raises(AuthorCodeError, match="was lost 3 times while it was set up") as caught:
        EnvironmentPool(folder.spec(), 1, setup_timeout=1.0)
    assert said in caught.value.message


@pytest.mark.parametrize("arguments", [{"num_envs": 0}, {"num_envs": True}, {"backend": "fork"}, {"step_timeout": 0}])
def test_wrong_arguments(trouble, arguments):
    with pytest.raises(UsageError):
        EnvironmentPool(trouble, **{"num_envs": 1} | arguments)


def test_leaving_early_and_exceptions_leave_nothing(trouble):
    def interrupted(pool):
        with pool:
            for episode in pool.rollout(lambda *_: "x", episodes=50):
                if episode.index == 3:
                    break
            assert len(list(pool.rollout(lambda *_: "x", episodes=3))) == 3
            raise KeyboardInterrupt

    pool = EnvironmentPool(trouble, 2)
    with pytest.raises(KeyboardInterrupt):
        interrupted(pool)
    pool.close()
    with pytest.raises(UsageError, match="pool is closed"):
        pool.reset()


SCRIPT = """
    import signal, sys, time
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job inherits it ignored
    sys.path.insert(0, {tests!r})
    from pathlib import Path
    from conftest import Folder
    from hfenv.runtime.pool import EnvironmentPool

    folder = Folder(Path({root!r}))
    folder.write("env/environment.py", Path({code!r}).read_text())
    pool = EnvironmentPool(folder.card(limits={{"max_steps": 2}}).spec(), 2)
    pool.reset(seed=0)
    pool.step(["children", "x"])
    print("ready", flush=True)
    {end}
"""


@linux
@pytest.mark.parametrize("end", ["kill", "interrupt", "forget"])
def test_nothing_survives_the_pools_process_however_it_ends(tmp_path, marked_processes, scratch, end):
    """A script without a main guard; killed, interrupted from the keyboard, or ending without a close."""
    code = tmp_path / "code.py"
    code.write_text(textwrap.dedent(TROUBLE), encoding="utf-8")
    last = "pass" if end == "forget" else "time.sleep(100)"
    text = SCRIPT.format(tests=str(Path(__file__).parent), root=str(tmp_path / "x"), code=str(code), end=last)
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(text), encoding="utf-8")
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline() == b"ready\n"
        if end != "forget":
            process.send_signal({"kill": signal.SIGKILL, "interrupt": signal.SIGINT}[end])
        process.wait()
    deadline = time.monotonic() + 30
    while (marked_processes(os.environ["PYTHON_MARK"]) or list(scratch.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert marked_processes(os.environ["PYTHON_MARK"]) == []


def test_workers_and_contracts_need_the_standard_library_only():
    program = (
        "import sys; before = set(sys.modules); import hfenv.runtime.worker; "
        "print(sorted({name.partition('.')[0] for name in set(sys.modules) - before} "
        "- set(sys.stdlib_module_names) - {'hfenv'}))"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_errors_of_workers_keep_their_kind(folder):
    with EnvironmentPool(folder.spec(), 1) as pool, pytest.raises(HfenvError) as caught:
        pool.reset(task_ids=["nope"])
    assert type(caught.value).__name__ == "NotFoundError"
