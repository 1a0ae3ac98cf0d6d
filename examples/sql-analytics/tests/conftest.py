"""What the tests share: the environment as hfenv loads it, its tasks, and its modules on the path."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


@pytest.fixture(scope="session")
def resources():
    folder = ROOT / "tasks" / "resources"
    if not (folder / "flights.sqlite").is_file():
        pytest.exit("The databases aren't built yet: python scripts/database.py", returncode=2)
    return folder


@pytest.fixture(scope="session")
def tasks():
    splits = {}
    for split in ("train", "test"):
        with (ROOT / "tasks" / f"{split}.jsonl").open(encoding="utf-8", newline="\n") as file:
            splits[split] = [json.loads(line) for line in file]
    return splits


@pytest.fixture(scope="session")
def environment(resources):
    import hfenv

    loaded = hfenv.load(str(ROOT), split="test")
    yield loaded
    loaded.close()


@pytest.fixture(scope="session")
def play(environment):
    """Reward and info of one query on one task of the test split."""

    def play_one(task_id, sql):
        environment.reset(task_id=task_id)
        _, reward, terminated, _, info = environment.step(sql)
        assert terminated
        assert not info["hfenv"]["mask"]
        return reward, info

    return play_one
