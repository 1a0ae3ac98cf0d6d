"""Whatever the author wrote, sync or async, both faces work, also where an event loop is running already."""

import asyncio
import threading

import pytest

from hfenv.errors import AuthorCodeError
from hfenv.runtime.loader import load_environment

ASYNC_CODE = """
    import asyncio
    import hfenv

    class Sums(hfenv.TaskEnvironment):
        async def start(self, task, rng):
            self.loop = asyncio.get_running_loop()
            await asyncio.sleep(0)
            self.answer = task["answer"]
            return task["question"]

        async def execute(self, action):
            await asyncio.sleep(0.001)
            if action == "break":
                raise RuntimeError("async trouble")
            assert asyncio.get_running_loop() is self.loop
            return hfenv.Outcome(data={"said": action}, terminated=True)

        async def close(self):
            await asyncio.sleep(0)
            (self.config_file).write_text("closed")

        def __init__(self):
            self.config_file = self.resource("trace")
"""
ASYNC_REWARD = """
    import asyncio

    async def measure(task, transcript, context):
        await asyncio.sleep(0)
        return {"said": transcript[-1].action}

    def score(task, transcript):
        return float(transcript[-1].evidence["said"] == task["answer"])
"""
THREADED = """
    import sqlite3
    import hfenv

    class Sums(hfenv.TaskEnvironment):
        def __init__(self):
            self.db = sqlite3.connect(":memory:")  # may be used in this thread only

        def start(self, task, rng):
            return self.db.execute("SELECT 1").fetchone()[0]

        def execute(self, action):
            return hfenv.Outcome(data={"said": self.db.execute("SELECT 2").fetchone()[0]}, terminated=True)

        def close(self):
            self.db.close()
"""


@pytest.fixture
def asynchronous(folder, tmp_path):
    folder.write("env/environment.py", ASYNC_CODE).write("reward/reward.py", ASYNC_REWARD)
    return folder.spec(resources={"trace": tmp_path / "trace"})


def play(spec):
    with load_environment(spec) as env:
        env.reset(task_id="t2")
        return env.step("4").reward


async def play_async(spec):
    env = load_environment(spec)
    await env.areset(task_id="t2")
    result = await env.astep("4")
    await env.aclose()
    await env.aclose()
    return result.reward


def test_async_code_from_a_sync_caller(asynchronous, tmp_path):
    assert play(asynchronous) == 1.0
    assert (tmp_path / "trace").read_text(encoding="utf-8") == "closed"


def test_async_code_from_a_sync_caller_inside_of_a_running_loop(asynchronous):
    async def notebook():
        return play(asynchronous)

    assert asyncio.run(notebook()) == 1.0


def test_both_faces_of_async_code_share_one_loop(asynchronous):
    async def mixed():
        env = load_environment(asynchronous)
        env.reset(task_id="t2")
        result = await env.astep("4")
        env.close()
        return result.reward

    assert asyncio.run(mixed()) == 1.0


def test_many_async_environments_wait_side_by_side(asynchronous):
    async def many():
        return await asyncio.gather(*(play_async(asynchronous) for _ in range(20)))

    assert asyncio.run(many()) == [1.0] * 20


def test_an_exception_in_a_coroutine_is_a_fault(asynchronous):
    with load_environment(asynchronous) as env:
        env.reset(seed=0)
        result = env.step("break")
    assert result.info["hfenv"]["status"] == "infra_fault"
    assert "RuntimeError: async trouble" in result.info["error"]


def test_an_async_measure_beside_sync_code(folder):
    folder.write("reward/reward.py", ASYNC_REWARD)
    assert play(folder.spec()) == 1.0
    assert asyncio.run(play_async(folder.spec())) == 1.0


def test_sync_code_from_an_async_caller_stays_in_one_thread_off_the_loop(folder):
    folder.write("env/environment.py", THREADED).write("reward/reward.py", "def score(t, s): return 0.5")
    spec = folder.spec()
    assert asyncio.run(play_async(spec)) == 0.5

    async def mixed():
        env = load_environment(spec)
        rewards = []
        await env.areset(seed=0)
        rewards.append(env.step("x").reward)
        env.reset(seed=0)
        rewards.append((await env.astep("x")).reward)
        await env.aclose()
        other = load_environment(spec)
        other.reset(seed=0)
        rewards.append((await other.astep("x")).reward)
        other.close()
        return rewards

    assert asyncio.run(mixed()) == [0.5] * 3


def test_blocking_sync_code_does_not_block_the_callers_loop(folder):
    entered, released = threading.Event(), threading.Event()
    folder.write(
        "env/environment.py",
        """
        import hfenv

        class Sums(hfenv.TaskEnvironment):
            def start(self, task, rng):
                return "?"

            def execute(self, action):
                entered, released = action.events
                entered.set()
                assert released.wait(60)
                return hfenv.Outcome(data={"said": 1}, terminated=True)
        """,
    )

    class Action:
        events = (entered, released)

        def tolist(self):
            return "events"

    async def main():
        env = load_environment(folder.spec())
        await env.areset(seed=0)
        step = asyncio.ensure_future(env.astep(Action()))
        while not entered.is_set():  # only a loop that goes on gets out of here
            await asyncio.sleep(0)
        assert not step.done()
        released.set()
        result = await step
        await env.aclose()
        return result.terminated

    assert asyncio.run(main()) is True


def test_an_async_score_is_refused(folder):
    folder.write("reward/reward.py", "async def score(task, transcript): return 0")
    with pytest.raises(AuthorCodeError, match="a score is pure"):
        load_environment(folder.spec())
