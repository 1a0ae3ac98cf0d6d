"""A loaded environment: tasks, seeds, info, limits and cleaning up."""

import gc
import hashlib
import json

import pytest

from hfenv.errors import AuthorCodeError, NotFoundError, UnreadableError, UsageError
from hfenv.runtime.loader import load_environment


@pytest.fixture
def env(folder):
    with load_environment(folder.spec()) as env:
        yield env


def test_a_seed_picks_the_task_as_agreed(env):
    for seed in range(20):
        expected = int(hashlib.sha256(f"hfenv:{seed}".encode()).hexdigest(), 16) % 8
        assert env.reset(seed=seed)[1]["task_id"] == f"t{expected}"


def test_a_reset_without_a_seed_continues_the_stream(env):
    def stream(seed):
        first = [env.reset(seed=seed)[0]]
        return first + [env.reset()[0] for _ in range(10)]

    assert stream(3) == stream(3)
    assert stream(3) != stream(4)
    assert len({json.dumps(observation) for observation in stream(3)}) > 5


def test_every_episode_of_a_stream_can_be_had_by_its_own_seed(env):
    env.reset(seed=5)
    env.reset()
    observation, info = env.reset()
    again, info_again = env.reset(seed=env.seed)
    assert (observation, info["task_id"]) == (again, info_again["task_id"])


def test_tasks_are_found_by_id_and_by_meta_fields(env):
    assert env.reset(task_id="t6")[1]["task_id"] == "t6"
    assert env.reset(options={"task_id": "t5"})[1]["task_id"] == "t5"
    found = {env.reset(seed=seed, options={"where": {"level": "hard"}})[1]["task_id"] for seed in range(60)}
    assert found == {"t4", "t5", "t6", "t7"}
    both = {env.reset(seed=seed, options={"where": {"level": ["hard", "easy"]}})[1]["task_id"] for seed in range(90)}
    assert len(both) == 8


def test_what_is_not_there_says_so(env):
    with pytest.raises(NotFoundError, match="no task 'nope'"):
        env.reset(task_id="nope")
    with pytest.raises(NotFoundError, match="level='odd'"):
        env.reset(options={"where": {"level": "odd"}})
    with pytest.raises(UsageError, match="'answer' is no meta field"):
        env.reset(options={"where": {"answer": "4"}})
    with pytest.raises(UsageError, match="seed is an integer"):
        env.reset(seed="0")
    with pytest.raises(NotFoundError, match="no resource 'db'"):
        env.unwrapped.resource("db")


def test_splits(folder):
    folder.write_rows([{"id": "x", "question": "?", "answer": "!"}], "dev")
    folder.card(tasks={"splits": {"dev": "tasks/dev.jsonl", "train": ["tasks/train.jsonl"]}})
    with load_environment(folder.spec()) as env:
        assert env.provenance["split"] == "train"
    with load_environment(folder.spec(split="dev")) as env:
        assert env.reset()[1]["task_id"] == "x"
    with pytest.raises(NotFoundError, match="no split 'test'"):
        load_environment(folder.spec(split="test"))
    folder.card(tasks={"splits": {"dev": "tasks/dev.jsonl", "test": "tasks/dev.jsonl"}})
    with pytest.raises(UsageError) as caught:
        load_environment(folder.spec())
    assert "dev, test" in caught.value.hint


def test_rows_without_an_id_and_ids_used_twice_are_refused(folder):
    with pytest.raises(UnreadableError, match="Task 2 of split 'train' has no string 'id'"):
        load_environment(folder.write_rows([{"id": "a"}, {"id": 7}]).spec())
    with pytest.raises(UnreadableError, match="two tasks 'a'"):
        load_environment(folder.write_rows([{"id": "a"}, {"id": "a"}]).spec())


def test_info_has_all_keys_and_nothing_of_the_target(env):
    _, begun = env.reset(task_id="t3")
    result = env.step("6")
    assert result.terminated
    assert result.reward == 1.0
    for info in (begun, result.info):
        assert set(info) == {"task_id", "raw_output", "elapsed_s", "error", "state", "hfenv"}
        assert {"status", "mask", "parts", "timings", "sandbox"} <= set(info["hfenv"])
    assert begun["hfenv"]["provenance"] == env.provenance
    assert "provenance" not in result.info["hfenv"]
    assert result.info["raw_output"] == "said 6"
    assert result.info["hfenv"]["parts"] == {"right": 1.0}
    assert set(result.info["hfenv"]["timings"]) == {"execute", "measure", "score"}
    assert env.task == {"id": "t3", "question": "3 + 3", "level": "easy"}


def test_outcome_data_reaches_the_reward_after_json_and_never_info(folder):
    folder.write(
        "env/environment.py",
        """
        import hfenv

        class Sums(hfenv.TaskEnvironment):
            def start(self, task, rng):
                return "?"

            def execute(self, action):
                return hfenv.Outcome(data={"secret": (1, 2), 3: "marker"}, error="refused", terminated=True)

            def state(self):
                return {"steps": 1}
        """,
    )
    folder.write(
        "reward/reward.py",
        """
        def score(task, transcript):
            assert transcript[-1].outcome.data == {"secret": [1, 2], "3": "marker"}
            return 1.0
        """,
    )
    with load_environment(folder.spec()) as env:
        env.reset(seed=0)
        result = env.step("x")
    assert result.reward == 1.0
    assert "marker" not in json.dumps(result.info)
    assert result.info["error"] == "refused"
    assert result.info["state"] == {"steps": 1}


def test_the_reward_sees_only_what_a_rollout_records(folder):
    folder.write("reward/reward.py", "def score(task, transcript): return float(transcript[-1].outcome.error is None)")
    with load_environment(folder.spec()) as env:
        env.reset(seed=0)
        result = env.step("x")
    assert result.info["hfenv"]["status"] == "infra_fault"
    assert "put it into the outcome's data" in result.info["error"]


def test_max_steps_truncates_and_the_reward_knows(folder):
    folder.write("reward/reward.py", "def score(task, transcript): return float(transcript[-1].outcome.truncated)")
    with load_environment(folder.spec()) as env:
        env.reset(seed=0)
        results = [env.step("x") for _ in range(3)]
    assert [result.truncated for result in results] == [False, False, True]
    assert [result.reward for result in results] == [0.0, 0.0, 1.0]


def test_a_reward_for_the_episode_is_asked_once_at_its_end(folder):
    folder.card(reward={"scope": "episode"})
    folder.write("reward/reward.py", "def score(task, transcript): return len(transcript) / 10")
    with load_environment(folder.spec()) as env:
        env.reset(seed=0)
        assert [env.step("x").reward for _ in range(3)] == [0.0, 0.0, 0.3]


def test_stepping_out_of_turn_is_refused(env):
    with pytest.raises(UsageError, match="no running episode"):
        env.step("x")
    env.reset(task_id="t1")
    env.step("2")
    with pytest.raises(UsageError, match="Call reset first"):
        env.step("2")
    env.close()
    env.close()
    with pytest.raises(UsageError, match="closed"):
        env.step("2")
    with pytest.raises(UsageError, match="closed"):
        env.reset()


@pytest.mark.parametrize(
    ("reward", "said"),
    [
        ("return 7", r"returned 7, outside of the declared range \[-1, 1\]"),
        ("return float('nan')", "total = nan"),
        ("return None", "returned a NoneType"),
        ("import hfenv; return hfenv.Score(1.0, {'a': float('inf')})", "a = inf"),
    ],
)
def test_a_reward_that_breaks_its_promise_is_the_authors_error(folder, reward, said):
    folder.write("reward/reward.py", f"def score(task, transcript):\n    {reward}")
    with load_environment(folder.spec()) as env:
        env.reset(task_id="t1")
        with pytest.raises(AuthorCodeError, match=said):
            env.step("2")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("{'rows': [1, {2, 3}]}", r"outcome.data\['rows'\]\[1\] is a set"),
        ("[1.0, float('nan')]", r"outcome.data\[1\] is nan"),
        ("b'bytes'", "outcome.data is a bytes"),
        ("{(1, 2): 3}", "key of type tuple"),
    ],
)
def test_data_that_is_not_json_is_named(folder, data, said):
    code = """
        import hfenv

        class Sums(hfenv.TaskEnvironment):
            def start(self, task, rng):
                return "?"

            def execute(self, action):
                return hfenv.Outcome(data=DATA)
    """
    folder.write("env/environment.py", code.replace("DATA", data))
    with load_environment(folder.spec()) as env:
        env.reset(seed=0)
        with pytest.raises(AuthorCodeError, match=said):
            env.step("x")
        assert env.reset(seed=0)[0] == "?"


@pytest.mark.parametrize("place", ["execute", "measure", "score"])
def test_an_exception_is_an_infrastructure_fault_and_the_next_episode_is_fine(folder, place):
    text = (folder.root / "reward/reward.py").read_text(encoding="utf-8")
    code = (folder.root / "env/environment.py").read_text(encoding="utf-8")
    broken = "if {} == 'break': raise KeyError('out of order')"
    if place == "execute":
        code = code.replace("self.asked += 1", "self.asked += 1; x = 1\n        " + broken.format("action"))
    else:
        line = f"def {place}(task, transcript{', context' if place == 'measure' else ''}):"
        text = text.replace(line, f"{line}\n    {broken.format('transcript[-1].action')}")
    folder.write("env/environment.py", code).write("reward/reward.py", text)
    with load_environment(folder.spec()) as env:
        env.reset(task_id="t1")
        folder_before = env.unwrapped.work_dir
        result = env.step("break")
        assert (result.reward, result.terminated, result.truncated) == (0.0, False, True)
        assert (result.info["hfenv"]["status"], result.info["hfenv"]["mask"]) == ("infra_fault", True)
        assert result.info["error"].endswith("KeyError: 'out of order'")
        assert ("environment.py" if place == "execute" else "reward.py") in result.info["error"]
        assert not folder_before.exists()
        env.reset(task_id="t1")
        assert env.step("2").reward == 1.0


def test_an_agents_own_fault_is_scored(env):
    env.reset(task_id="t1")
    result = env.step("nonsense")
    assert (result.info["hfenv"]["status"], result.info["hfenv"]["mask"]) == ("agent_fault", False)


def test_a_reward_may_report_an_infrastructure_fault(folder):
    folder.write("reward/reward.py", "import hfenv\ndef score(t, s): return hfenv.Score(0.7, status='infra_fault')")
    with load_environment(folder.spec()) as env:
        env.reset(seed=0)
        result = env.step("x")
    assert (result.reward, result.truncated, result.info["hfenv"]["mask"]) == (0.0, True, True)


def test_a_set_up_that_fails_says_where(folder):
    code = (folder.root / "env/environment.py").read_text(encoding="utf-8")
    folder.write("env/environment.py", code.replace("self.asked = 0", "self.asked = 1 / 0"))
    said = r"task 't\d' failed: env/environment.py, line 5: ZeroDivisionError"
    with load_environment(folder.spec()) as env, pytest.raises(AuthorCodeError, match=said):
        env.reset(seed=0)


WORKING = """
    import hfenv

    class Sums(hfenv.TaskEnvironment):
        def __init__(self):
            (self.work_dir / "locked").mkdir()
            (self.work_dir / "locked" / "file").write_text(str(len(self.tasks)))
            (self.work_dir / "locked").chmod(0o500)
            if self.config.get("fail") == "init":
                raise RuntimeError("init")

        def start(self, task, rng):
            if self.config.get("fail") == "start":
                raise RuntimeError("start")
            return str(self.work_dir)

        def execute(self, action):
            return hfenv.Outcome(data=1, terminated=True)

        def close(self):
            raise RuntimeError("close")
"""


@pytest.mark.parametrize("fail", ["init", "start", "no"])
def test_working_folders_are_private_and_always_removed(folder, scratch, fail):
    folder.write("env/environment.py", WORKING)
    folder.card(config={"type": "object", "properties": {"fail": {"type": "string", "default": "no"}}})
    spec = folder.spec(config={"fail": fail})
    if fail == "init":
        with pytest.raises(AuthorCodeError, match="can't be built"):
            load_environment(spec)
    else:
        first, second = load_environment(spec), load_environment(spec)
        assert first.unwrapped.work_dir != second.unwrapped.work_dir
        if fail == "start":
            with pytest.raises(AuthorCodeError):
                first.reset()
        first.close()
        del second
        gc.collect()
    assert list(scratch.iterdir()) == []


def test_a_task_that_start_changes_is_whole_in_the_next_episode_and_for_the_reward(folder):
    code = (folder.root / "env/environment.py").read_text(encoding="utf-8")
    folder.write("env/environment.py", code.replace("self.asked = 0", "self.asked = 0; task['question'] = 'spoiled'"))
    folder.write("reward/reward.py", "def score(task, transcript): return float(task['question'] == '1 + 1')")
    with load_environment(folder.spec()) as env:
        for _ in range(2):
            env.reset(task_id="t1")
            assert env.step("2").reward == 1.0
        assert env.tasks[1]["question"] == "1 + 1"


def test_a_class_may_not_be_driven_by_hand(folder):
    with load_environment(folder.spec()) as env, pytest.raises(UsageError, match="which hfenv drives"):
        env.unwrapped.reset(seed=0)
