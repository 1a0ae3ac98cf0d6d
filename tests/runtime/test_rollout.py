"""Rollouts: the same episodes wherever they are played, records that can be read and scored again, policies."""

import json
import re

import pytest

from hfenv.errors import AuthorCodeError, NotFoundError, UnreadableError, UsageError
from hfenv.runtime.loader import load_environment
from hfenv.runtime.policies import Reply
from hfenv.runtime.pool import EnvironmentPool
from hfenv.runtime.reward import load_reward_function
from hfenv.runtime.rollout import RolloutWriter, read_rollouts

KEYS = [
    "format",
    "index",
    "group_id",
    "seed",
    "task_id",
    "split",
    "task",
    "turns",
    "total",
    "status",
    "provenance",
]
TURN_KEYS = [
    "action",
    "completion",
    "data",
    "evidence",
    "reward",
    "parts",
    "status",
    "terminated",
    "truncated",
    "extra",
]


def guess(task, observation, info, rng):
    assert "answer" not in task
    return str(rng.randrange(12))


def guess_all(tasks, observations, infos, rngs):
    return [str(rng.randrange(12)) for rng in rngs]


@pytest.fixture
def pool(folder):
    with EnvironmentPool(folder.spec(), 3, backend="inline") as pool:
        yield pool


def test_the_same_seed_gives_the_same_episodes_everywhere(folder):
    spec = folder.spec()
    played = {}
    for backend, size in (("inline", 1), ("inline", 5), ("process", 1), ("process", 8)):
        with EnvironmentPool(spec, size, backend=backend) as pool:
            played[backend, size] = [
                [episode.to_json() for episode in pool.rollout(policy, episodes=24, seed=7)]
                for policy in ("heuristic", "random", "counter", guess)
            ] + [[episode.to_json() for episode in pool.rollout(guess_all, episodes=24, seed=7, batched=True)]]
    first = played["inline", 1]
    assert all(other == first for other in played.values())
    heuristic, _, counter, own, batched = first
    assert heuristic == own == batched
    assert [episode["index"] for episode in own] == list(range(24))
    assert {episode["turns"][0]["action"] for episode in counter} == {"1"}
    assert len({episode["task_id"] for episode in own}) > 4


def test_an_episode_can_be_played_again_from_its_record(folder, pool):
    episode = list(pool.rollout("heuristic", episodes=5, seed=3))[4]
    with load_environment(folder.spec()) as env:
        env.reset(seed=episode.seed, task_id=episode.task_id)
        for turn in episode.turns:
            result = env.step(turn.action)
            assert (result.reward, env.last_turn.evidence) == (turn.reward, turn.evidence)


def test_the_oracle_sees_the_target_and_earns_everything(pool):
    ids = [f"t{n}" for n in range(8)]
    episodes = list(pool.rollout("oracle", tasks=ids, seed=0))
    assert [episode.u for episode in episodes] == [1.0] * 8
    assert [episode.task_id for episode in episodes] == ids


def test_a_group_begins_alike_and_its_policy_draws_apart(pool):
    episodes = list(pool.rollout("heuristic", tasks=["t7", "t6"], repeats=6, seed=0))
    assert [(episode.task_id, episode.group_id) for episode in episodes] == [("t7", 0)] * 6 + [("t6", 1)] * 6
    assert len({episode.seed for episode in episodes}) == 2
    assert len({episode.turns[0].action for episode in episodes[:6]}) > 1
    repeated = list(pool.rollout("heuristic", episodes=2, repeats=3, seed=0))
    assert [episode.group_id for episode in repeated] == [0, 0, 0, 1, 1, 1]
    assert [episode.group_id for episode in pool.rollout("heuristic", episodes=2, seed=0)] == [None, None]


def test_a_class_is_built_once_per_episode(pool):
    built = []

    class Policy:
        def __init__(self):
            built.append(self)
            self.calls = 0

        def __call__(self, task, observation, info, rng):
            self.calls += 1
            return f"never {self.calls}"

    episodes = list(pool.rollout(Policy, episodes=4, seed=0))
    assert len(built) == 4
    assert {tuple(turn.action for turn in episode.turns) for episode in episodes} == {("never 1", "never 2", "never 3")}


def test_completion_and_extra_are_recorded_beside_the_action(pool):
    episode = next(pool.rollout(lambda *_: Reply("4", "So: 4", {"tokens": [1, 2]}), tasks=["t2"]))
    assert (episode.turns[0].completion, episode.turns[0].extra) == ("So: 4", {"tokens": [1, 2]})


def test_rollout_files_hold_their_keys_and_score_again(folder, pool, tmp_path):
    path = tmp_path / "rollouts.jsonl"
    with RolloutWriter(path) as writer:
        for episode in pool.rollout("heuristic", episodes=6, seed=1):
            writer.write(episode)
            assert not path.exists()
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [list(line) for line in lines] == [KEYS] * 6
    assert {tuple(turn) for line in lines for turn in line["turns"]} == {tuple(TURN_KEYS)}
    assert not (tmp_path / "rollouts.jsonl.part").exists()
    reward = load_reward_function(folder.part("reward"))
    again = list(read_rollouts(path, reward.section))
    assert again == list(pool.rollout("heuristic", episodes=6, seed=1))
    for episode in again:
        totals = [reward(episode.task, episode.transcript[: n + 1]).total for n in range(len(episode.turns))]
        assert totals == [turn.reward for turn in episode.turns]
        assert episode.u == max(0.0, episode.total)


def test_an_interrupted_rollout_keeps_its_part_and_the_old_file(pool, tmp_path):
    path = tmp_path / "rollouts.jsonl"
    path.write_text("old\n", encoding="utf-8")

    def interrupted():
        with RolloutWriter(path) as writer:
            for episode in pool.rollout("heuristic", episodes=6, seed=1):
                writer.write(episode)
                if episode.index == 2:
                    raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text(encoding="utf-8") == "old\n"
    assert len(list(read_rollouts(tmp_path / "rollouts.jsonl.part"))) == 3


@pytest.mark.parametrize("line", ["{", "[]", '{"format": 2}', '{"format": 1, "turns": []}'])
def test_a_damaged_rollout_file_names_the_line(tmp_path, line):
    path = tmp_path / "rollouts.jsonl"
    path.write_text("\n" + line + "\n", encoding="utf-8")
    with pytest.raises(UnreadableError, match=r"rollouts\.jsonl:2"):
        list(read_rollouts(path))


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "1" + "0" * 400 + ".0"])
def test_numbers_that_json_has_not_are_refused_wherever_they_stand(pool, tmp_path, number):
    path = tmp_path / "rollouts.jsonl"
    with RolloutWriter(path) as writer:
        for episode in pool.rollout("heuristic", episodes=2, seed=1):
            writer.write(episode)
    first, second = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(first + re.sub(r'"evidence": ?[^,]+', f'"evidence": [{number}]', second, count=1), encoding="utf-8")
    assert number in path.read_text(encoding="utf-8")
    with pytest.raises(UnreadableError, match=r"rollouts\.jsonl:2: not a recorded episode"):
        list(read_rollouts(path))


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        ("sql", r"SELECT \w+ FROM \w+"),
        ("code", r"print\(.+\)"),
        ("text", r".+"),
    ],
)
def test_random_actions_of_language_types_use_the_words_of_the_observation(folder, kind, shape):
    folder.card(action={"type": kind})
    with EnvironmentPool(folder.spec(), 1, backend="inline") as pool:
        actions = [turn.action for episode in pool.rollout("random", episodes=10, seed=0) for turn in episode.turns]
    assert all(re.fullmatch(shape, action) for action in actions)
    assert len(set(actions)) > 3


@pytest.mark.parametrize(
    "action",
    [
        {"type": "discrete", "n": 3},
        {"type": "box", "low": -1, "high": [0.5, 1], "shape": [2]},
        {"type": "tool_calls"},
        {"type": "json"},
        {"type": "messages"},
        {"type": "image"},
        {"type": "multimodal"},
    ],
)
def test_there_is_a_random_policy_for_every_type_of_action(folder, action):
    folder.card(action=action)
    with EnvironmentPool(folder.spec(), 1, backend="inline") as pool:
        episodes = list(pool.rollout("random", episodes=20, seed=0))
    actions = [turn.action for episode in episodes for turn in episode.turns]
    assert not any(episode.masked for episode in episodes)
    if action["type"] == "discrete":
        assert set(actions) == {0, 1, 2}
    if action["type"] == "box":
        assert all(-1 <= first <= 0.5 and -1 <= second <= 1 for first, second in actions)


def test_a_callers_policy_by_name(pool, tmp_path, monkeypatch):
    (tmp_path / "my_policies_7.py").write_text("def four(task, observation, info, rng): return '4'\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("my_policies_7:four", "my_policies_7.py:four"):
        assert [episode.u for episode in pool.rollout(name, tasks=["t1", "t2"])] == [0.0, 1.0]
    with pytest.raises(NotFoundError, match="defines no policy 'five'"):
        list(pool.rollout("my_policies_7:five", episodes=1))
    with pytest.raises(NotFoundError, match="no_such_module_7"):
        list(pool.rollout("no_such_module_7:five", episodes=1))
    with pytest.raises(UsageError) as caught:
        list(pool.rollout("nobody", episodes=1))
    assert "random, oracle, heuristic, counter" in caught.value.hint


def test_errors_of_the_caller_come_out_of_a_rollout(pool):
    with pytest.raises(NotFoundError, match="no task 'nope'"):
        list(pool.rollout("oracle", tasks=["t1", "nope"]))
    with pytest.raises(ZeroDivisionError):
        list(pool.rollout(lambda *_: 1 / 0, episodes=2))
    with pytest.raises(UsageError, match="returned 1 actions for"):
        list(pool.rollout(lambda *_: ["x"], episodes=2, batched=True))
    with pytest.raises(UsageError, match="needs episodes or tasks"):
        pool.rollout("oracle")
    with pytest.raises(UsageError, match="name or a callable"):
        pool.rollout(7, episodes=1)
    assert len(list(pool.rollout("oracle", episodes=2))) == 2


def test_a_policy_on_the_card_that_fails_is_named(folder):
    folder.write("audit/policies.py", "def oracle(task, observation, info, rng): return task['nothing']")
    folder.card(policies={"oracle": "audit/policies.py:oracle"})
    for backend in ("inline", "process"):
        with (
            EnvironmentPool(folder.spec(), 1, backend=backend) as pool,
            pytest.raises(AuthorCodeError, match=r"'oracle' failed: audit/policies\.py, line 1: KeyError: 'nothing'"),
        ):
            list(pool.rollout("oracle", episodes=1))


def test_a_folder_in_the_place_of_the_file_is_refused_before_anything_is_played(tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(UsageError, match="folder"), RolloutWriter(tmp_path / "out"):
        pass
    assert list(tmp_path.glob("out*")) == [tmp_path / "out"]
