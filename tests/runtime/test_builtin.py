"""Plain environments and Gymnasium's are accepted as they are, with a reward of their own."""

import pytest

from hfenv.errors import AuthorCodeError, UsageError
from hfenv.runtime.loader import load_environment
from hfenv.runtime.pool import EnvironmentPool
from hfenv.runtime.reward import load_reward_function

PLAIN = """
    import hfenv

    class Sums(hfenv.Environment):
        def reset(self, *, seed=None, task_id=None, options=None):
            self.task_id, self.left = task_id, 2
            return [seed, task_id, options], {"own": 1}

        def step(self, action):
            self.left -= 1
            return hfenv.StepResult(self.left, 0.5, self.left == 0, False, {"own": 2})

        def close(self):
            self.closed = True
"""
GYM = """
    import gymnasium

    def make():
        return gymnasium.make("CartPole-v1")
"""
BUILTIN = {"builtin": True, "entry": None, "range": [0.0, 500.0]}


def test_a_plain_environment(folder):
    folder.write("env/environment.py", PLAIN).card(reward=BUILTIN)
    with load_environment(folder.spec()) as env:
        (seed, task_id, options), info = env.reset(seed=0, options={"level": 3})
        assert (seed, task_id, options) == (0, info["task_id"], {"level": 3})
        assert info["own"] == 1
        results = [env.step("x"), env.step("x")]
        assert [result.reward for result in results] == [0.5, 0.5]
        assert results[1].terminated
        assert results[1].info["task_id"] == task_id
        assert results[1].info["hfenv"]["status"] == "ok"
        assert env.action_space.type == "text"
        instance = env.unwrapped
    assert instance.closed


def gym_folder(folder):
    folder.write("env/environment.py", GYM)
    return folder.card(
        reward=BUILTIN,
        code={"entry": "env/environment.py:make"},
        action={"type": "discrete", "n": 2},
        limits={"max_steps": 7},
    )


def test_a_gymnasium_environment(folder):
    pytest.importorskip("gymnasium")
    with load_environment(gym_folder(folder).spec()) as env:
        first, info = env.reset(seed=4)
        assert first.shape == (4,)
        assert info["task_id"].startswith("t")
        assert env.action_space.n == 2
        steps = 0
        while True:
            result = env.step(steps % 2)
            steps += 1
            if result.terminated or result.truncated:
                break
        assert steps == 7
        assert result.truncated
        assert (env.reset(seed=4)[0] == first).all()


def test_arrays_cross_to_worker_processes_and_episodes_are_the_same(folder):
    pytest.importorskip("gymnasium")
    spec = gym_folder(folder).spec()
    with EnvironmentPool(spec, 2) as pool:
        observations, _ = pool.reset(seed=1)
        assert [observation.shape for observation in observations] == [(4,), (4,)]
        assert pool.step([0, 1])[1].observation.dtype.name == "float32"
        there = list(pool.rollout("random", episodes=6, seed=0))
    with EnvironmentPool(spec, 1, backend="inline") as pool:
        here = list(pool.rollout("random", episodes=6, seed=0))
    assert there == here
    assert {turn.action for episode in here for turn in episode.turns} == {0, 1}


@pytest.mark.parametrize(
    ("step", "said"),
    [("return 1, 2, 3", "step didn't return"), ("return 0, float('nan'), True, False, {}", "returned the reward nan")],
)
def test_a_plain_environment_that_breaks_the_contract(folder, step, said):
    code = PLAIN.replace("self.left -= 1", step)
    folder.write("env/environment.py", code).card(reward=BUILTIN)
    with load_environment(folder.spec()) as env:
        env.reset(seed=0)
        with pytest.raises(AuthorCodeError, match=said):
            env.step("x")


def test_card_and_class_must_agree_on_whose_the_reward_is(folder):
    with pytest.raises(AuthorCodeError, match=r"the card says reward\.builtin"):
        load_environment(folder.card(reward=BUILTIN).spec())
    folder.card(reward={"builtin": False, "entry": "reward/reward.py:score"}).write("env/environment.py", PLAIN)
    with pytest.raises(AuthorCodeError, match="computes its reward itself"):
        load_environment(folder.spec())


def test_a_builtin_reward_can_not_be_loaded_alone(folder):
    with pytest.raises(UsageError, match="computes its reward itself"):
        load_reward_function(folder.card(reward=BUILTIN).part("reward"))


def test_a_group_reward_is_refused_with_a_sentence(folder):
    folder.card(reward={"scope": "group"})
    with pytest.raises(UsageError, match="group"):
        load_environment(folder.spec())
