"""Values and uses that no author or caller should come up with, and some do: each ends in a sentence, none is lost."""

import asyncio
import json
from pathlib import Path

import pytest

from hfenv.card.manifest import ActionSection
from hfenv.errors import AuthorCodeError, UsageError
from hfenv.runtime import seeds
from hfenv.runtime.chat import extract
from hfenv.runtime.loader import load_environment
from hfenv.runtime.policies import RandomPolicy, Reply
from hfenv.runtime.pool import EnvironmentPool
from hfenv.runtime.rollout import RolloutWriter, read_rollouts


class Unspeakable:
    def __repr__(self):
        raise RuntimeError("no text")

    def __reduce__(self):
        raise RuntimeError("no bytes")


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "result",
    ["10**400", "hfenv.Score(1, {'a': None})", "hfenv.Score(1, [1])", "hfenv.Score(1, {1})",
     "hfenv.Score(1, {'a': 10**400})", "1j", "'1.0'", "b'1'"],
)  # fmt: skip
def test_what_is_no_score(folder, result):
    folder.write("reward/reward.py", f"import hfenv\n\ndef score(task, transcript):\n    return {result}\n")
    with load_environment(folder.spec()) as env:
        env.reset(seed=0)
        with pytest.raises(AuthorCodeError, match="returned"):
            env.step("x")


def test_reward_code_that_changes_what_it_is_given(folder):
    folder.write("reward/reward.py", """
        def measure(task, transcript, context):
            task["answer"] = "changed"
            transcript[-1].outcome.data["said"] = "changed"
            return {"found": 1}

        def score(task, transcript):
            transcript[-1].evidence["found"] = "changed"
            return 0.0 if task["answer"] == "changed" else 1.0
    """)  # fmt: skip
    with load_environment(folder.spec()) as env:
        env.reset(seed=0)
        assert env.step("x").reward == 1.0
        assert (env.last_turn.data, env.last_turn.evidence) == ({"said": "x"}, {"found": 1})


@pytest.mark.parametrize(
    "action",
    [float("nan"), 10**6000, nested(5000), {1}, Unspeakable(), len],
    ids=["nan", "long number", "deep", "set", "object", "function"],
)
def test_an_action_that_is_no_json_is_the_callers_mistake(folder, action):
    with load_environment(folder.spec()) as env:
        env.reset(seed=0)
        with pytest.raises(UsageError, match="action"):
            env.step(action)
        assert env.step("0").observation == {"again": 1}  # the episode goes on


@pytest.mark.parametrize("completion", ["NaN", "[1e999]", '{"a": -Infinity}', "[" * 5000 + "]" * 5000])
@pytest.mark.parametrize("kind", ["json", "box", "tool_calls"])
def test_a_completion_that_no_record_could_hold_stays_text(kind, completion):
    assert extract(completion, ActionSection(kind, "", "raw", {})) == completion


def test_half_a_surrogate_pair_is_replaced_before_it_is_judged(folder, tmp_path):
    def policy(task, observation, info, rng):
        return Reply("a\ud800b", completion="\udcff", extra={"tokens": ["\ud800", "\U0001f600"]})

    with (
        EnvironmentPool(folder.spec(), 1, backend="inline") as pool,
        RolloutWriter(tmp_path / "rollouts.jsonl") as out,
    ):
        for episode in pool.rollout(policy, episodes=1):
            out.write(episode)
    (found,) = read_rollouts(tmp_path / "rollouts.jsonl")
    turn = found.turns[0]
    assert (turn.action, turn.data, turn.completion) == ("a\ufffdb", {"said": "a\ufffdb"}, "\ufffd")
    assert turn.extra == {"tokens": ["\ufffd", "\U0001f600"]}


def test_what_cannot_be_recorded_is_recorded_as_text(folder, tmp_path):
    def policy(task, observation, info, rng):
        return Reply("x", completion=nested(5000), extra=Unspeakable())

    with (
        EnvironmentPool(folder.spec(), 1, backend="inline") as pool,
        RolloutWriter(tmp_path / "rollouts.jsonl") as out,
    ):
        for episode in pool.rollout(policy, episodes=1):
            out.write(episode)
    values = json.loads((tmp_path / "rollouts.jsonl").read_text(encoding="utf-8"))
    assert values["turns"][0]["extra"] == "<Unspeakable>"


@pytest.mark.parametrize("action", [lambda: 1, Unspeakable(), nested(5000)], ids=["lambda", "object", "deep"])
def test_an_action_that_cannot_be_sent_to_a_worker(folder, action):
    with EnvironmentPool(folder.spec(), 1) as pool:
        with pytest.raises(UsageError, match="can't be sent"):
            list(pool.rollout(lambda *given: action, episodes=1))
        assert len(list(pool.rollout(lambda *given: "x", episodes=1))) == 1


def test_observations_and_methods_without_text(folder):
    with load_environment(folder.spec()) as env:
        for observation in ({"x": Unspeakable()}, nested(5000), {"x": 10**6000}):
            with pytest.raises(AuthorCodeError, match="no text"):
                env.render(observation)
    code = (folder.root / "env/environment.py").read_text(encoding="utf-8")
    more = "    def render(self, observation):\n        return 1 / 0\n\n    parse = render\n"
    (folder.root / "env/environment.py").write_text(f"{code}\n{more}", encoding="utf-8")
    with load_environment(folder.spec()) as env:
        for method in (env.render, env.parse):
            with pytest.raises(AuthorCodeError, match=r"environment\.py, line \d+: ZeroDivisionError"):
                method("x")


@pytest.mark.parametrize(
    "template",
    ["{{ 1 / 0 }}", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "{{ range(10**9) }}", "{{ nothing }}",
     "{{ observation.__class__.__mro__ }}", "{{ ''.__class__.mro() }}", "{% include 'x' %}"],
)  # fmt: skip
def test_hostile_templates(folder, template):
    folder.write("env/prompt.md", template)
    with load_environment(folder.spec()) as env, pytest.raises(AuthorCodeError, match=r"prompt\.md"):
        env.render({"question": "q"})


@pytest.mark.parametrize(
    "arguments",
    [{"task_id": []}, {"task_id": 5}, {"options": 5}, {"options": {"where": 5}}, {"options": {"where": "level"}}],
)
def test_resets_with_arguments_of_the_wrong_type(folder, arguments):
    with load_environment(folder.spec()) as env, pytest.raises(UsageError):
        env.reset(**arguments)


@pytest.mark.parametrize(
    "arguments",
    [{"step_timeout": "5"}, {"step_timeout": float("nan")}, {"setup_timeout": 0}, {"setup_timeout": None},
     {"retries": -1}, {"retries": "x"}],
)  # fmt: skip
def test_pools_with_arguments_of_the_wrong_type(folder, arguments):
    with pytest.raises(UsageError, match=next(iter(arguments))):
        EnvironmentPool(folder.spec(), 1, backend="inline", **arguments)


def test_rollouts_with_arguments_of_the_wrong_type(folder):
    with EnvironmentPool(folder.spec(), 1, backend="inline") as pool:
        for arguments in ({"episodes": "3"}, {"episodes": 2.0}, {"episodes": 2, "repeats": 1.5}, {"tasks": "t1"}):
            with pytest.raises(UsageError):
                pool.rollout("random", **arguments)
        with pytest.raises(UsageError, match="batched"):
            list(pool.rollout(lambda *given: None, episodes=1, batched=True))
        pool.reset(seed=0)
        for actions in (None, 5, "x"):
            with pytest.raises(UsageError):
                pool.step(actions)


def say_x(task, observation, info, rng):
    return "x"


@pytest.mark.parametrize("backend", ["inline", "process"])
def test_a_pool_does_one_thing_at_a_time(folder, backend):
    with EnvironmentPool(folder.spec(), 2, backend=backend) as pool:
        first = pool.rollout(say_x, episodes=4)
        next(first)
        assert [episode.index for episode in pool.rollout(say_x, episodes=3)] == [0, 1, 2]
        with pytest.raises(UsageError, match="something else"):
            list(first)

        def meddle(task, observation, info, rng):
            pool.reset(seed=1)
            return "x"

        with pytest.raises(UsageError, match="something else"):
            list(pool.rollout(meddle, episodes=2))
        last = pool.rollout(say_x, episodes=6)
        next(last)
        pool.close()
        with pytest.raises(UsageError, match="closed"):
            list(last)


@pytest.mark.parametrize("backend", ["inline", "process"])
def test_async_policies(folder, backend):
    async def policy(task, observation, info, rng):
        await asyncio.sleep(0)
        return str(rng.randrange(12))

    async def batched(tasks, observations, infos, rngs):
        return [str(rng.randrange(12)) for rng in rngs]

    with EnvironmentPool(folder.spec(), 2, backend=backend) as pool:
        one = list(pool.rollout(policy, episodes=4, seed=3))
        assert list(pool.rollout(batched, episodes=4, seed=3, batched=True)) == one
        assert list(pool.rollout("heuristic", episodes=4, seed=3)) == one


ESCAPES = """
    import os
    import subprocess
    import sys

    import hfenv

    # As a runner of agents' code does: a scrubbed environment, and the code puts itself into the background.
    DETACH = "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], " \
             "env={}, start_new_session=True, stdout=-3, stderr=-3); print(p.pid)"

    class Sums(hfenv.TaskEnvironment):
        def start(self, task, rng):
            return "ready"

        def execute(self, action):
            if action == "exit":
                os._exit(3)
            done = subprocess.run([sys.executable, "-c", DETACH], env={}, capture_output=True, text=True, check=True)
            return hfenv.Outcome(data={"said": int(done.stdout)}, output=int(done.stdout))
"""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
@pytest.mark.parametrize("end", ["close", "exit"])
def test_orphans_with_an_environment_of_their_own_end_too(folder, end):
    folder.write("env/environment.py", ESCAPES)
    with EnvironmentPool(folder.spec(), 1) as pool:
        pool.reset(seed=0)
        orphan = pool.step(["escape"])[0].info["raw_output"]
        assert is_alive(orphan)
        if end == "exit":
            assert pool.step(["exit"])[0].info["hfenv"]["mask"]
            assert not is_alive(orphan)
    assert not is_alive(orphan)


def is_alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    "error", ["KeyboardInterrupt()", "SystemExit(2)", "asyncio.CancelledError()", "BaseException()"]
)
def test_what_a_coroutine_raises_ends_its_episode_and_nothing_else(folder, error):
    code = "import asyncio\nimport hfenv\n\nclass Sums(hfenv.TaskEnvironment):\n    def start(self, task, rng):\n"
    code += f"        return 1\n\n    async def execute(self, action):\n        raise {error}()\n"
    folder.write("env/environment.py", code)
    with load_environment(folder.spec()) as env:
        for _ in range(2):
            env.reset(seed=0)
            assert env.step("x").info["hfenv"]["mask"]


def test_a_policy_file_with_a_dataclass(folder, tmp_path):
    text = "from __future__ import annotations\nfrom dataclasses import dataclass\nimport typing\n\n@dataclass\n"
    text += "class Say:\n    what: str = 'hello'\n    kind: typing.ClassVar[int] = 3\n\n"
    text += "    def __call__(self, *given):\n        return self.what\n"
    (tmp_path / "own.py").write_text(text, encoding="utf-8")
    with EnvironmentPool(folder.spec(), 1, backend="inline") as pool:
        (episode,) = pool.rollout(f"{tmp_path}/own.py:Say", episodes=1)
    assert episode.turns[0].action == "hello"


def test_random_actions_of_spaces_that_are_not_ours():
    class Pairs:
        def seed(self, seed):
            self.left = seed

        def sample(self):
            return {"left": self.left}

    policy = RandomPolicy(ActionSection("multimodal", "", "raw", {}), Pairs())
    assert policy({}, "words of a text", {}, seeds.generator(0)) == {"left": seeds.generator(0).getrandbits(31)}
