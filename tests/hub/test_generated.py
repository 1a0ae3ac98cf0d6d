"""Generated tasks through the hub: pushed with their samples, trusted like code, the same in every process."""

from __future__ import annotations

import json
import sys

import datasets
import pytest

import hfenv
from hfenv.errors import TrustError, UsageError
from hfenv.hub.client import connect
from hfenv.specify import Origin, specify
from tests.arithmetic import sample, write_arithmetic
from tests.support import replace_in, run_cli

REPO = "local/arithmetic"


@pytest.fixture
def arithmetic(tmp_path):
    """The environment, pushed; returns its folder and the revision."""
    root = write_arithmetic(tmp_path / "arithmetic")
    result = run_cli("push", REPO, root, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return root, result.json["revision"]


def push(root):
    result = run_cli("push", REPO, root, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return result.json["revision"]


def imported():
    return [name for name in sys.modules if name.startswith("_hfenv_tasks_")]


def test_one_task_is_the_same_alone_in_a_pool_in_a_data_set_and_in_the_sample(arithmetic):
    root, revision = arithmetic
    ref = f"{REPO}@{revision}"
    with hfenv.load(ref, split="test", trust_remote_code=True) as env:
        observation, info = env.reset(seed=7)
        task = env.task_row
        assert env.reset(task_id=info["task_id"])[0] == observation
    rows = hfenv.load_tasks(ref, split="test", trust_remote_code=True)
    assert len(rows) == 200
    assert rows[int(task["id"].removeprefix("test-")) - 100_000] == task
    ids = ["test-100003", "test-100150", task["id"]]
    with hfenv.EnvironmentPool(ref, 2, split="test", trust_remote_code=True) as pool:
        episodes = list(pool.rollout("oracle", tasks=ids, repeats=2, seed=0))
    played = {episode.task_id: episode.task for episode in episodes}
    assert played == {row["id"]: row for row in rows if row["id"] in ids}
    assert {episode.total for episode in episodes} == {1.0}
    sampled = [json.loads(line) for line in (root / "tasks/sample/test.jsonl").read_text().splitlines()]
    assert sampled == list(rows)[:20]


def test_the_hubs_own_loader_sees_the_samples_and_the_card_counts_seeds(arithmetic):
    _, revision = arithmetic
    with connect("local") as hub:
        spec = specify(f"{REPO}@{revision}", origin=Origin(trust_remote_code=True, opened=hub))
    files = {split: str(spec.tasks.root / f"tasks/sample/{split}.jsonl") for split in ("train", "test")}
    sampled = datasets.load_dataset("json", data_files=files)
    assert {split: len(rows) for split, rows in sampled.items()} == {"train": 20, "test": 20}
    card = (spec.tasks.root / "README.md").read_text()
    assert "100K<n<1M" in card
    assert "tasks/sample/test.jsonl" in card.split("configs:")[1]
    assert "difficulty: {" not in card
    record = json.loads((spec.tasks.root / "release.json").read_text())
    assert {split: found["rows"] for split, found in record["splits"].items()} == {"train": 100_000, "test": 200}


def test_nothing_runs_without_trust_and_the_refusal_says_what_would(arithmetic):
    _, revision = arithmetic
    before = imported()
    for call in (hfenv.load_tasks, hfenv.load):
        with pytest.raises(TrustError, match="nothing of it was imported"):
            call(f"{REPO}@{revision}", split="test")
    assert imported() == before
    assert run_cli("run", f"{REPO}@{revision}", "--episodes", 1).exit_code == 7


def test_trust_is_in_exactly_this_generator(arithmetic):
    root, revision = arithmetic
    assert run_cli("trust", "add", f"{REPO}@{revision}").exit_code == 0
    hfenv.load(f"{REPO}@{revision}").close()
    assert len(hfenv.load_tasks(f"{REPO}@{revision}", split="train", most=3)) == 3
    listed = run_cli("trust", "list", "--format", "json").json["trusted"]
    assert listed[0]["tasks"]

    replace_in(root / "tasks/generate.py", '"""One sum."""', '"""One sum, as ever."""')
    run_cli("bump", "tasks", "patch", "-m", "Say it better", "--path", root)
    edited = push(root)
    for call in (hfenv.load_tasks, hfenv.load):
        with pytest.raises(TrustError, match="hfenv trust add"):
            call(f"{REPO}@{edited}")
    with pytest.raises(TrustError):  # its code is trusted, but together with other tasks
        hfenv.load(f"{REPO}@code=1.0.0,tasks=1.0.1,reward=1.0.0")
    hfenv.load(f"{REPO}@code=1.0.0,tasks=1.0.0,reward=1.0.0").close()


def test_without_a_generator_new_tasks_ask_for_no_new_trust(pushed):
    root, revision = pushed
    assert run_cli("trust", "add", f"local/adding@{revision}").exit_code == 0
    replace_in(root / "tasks/test.jsonl", "13 + 7?", "13 plus 7?")
    (root / "tasks/helper.py").write_text("raise SystemExit('nobody imports this')\n")
    run_cli("bump", "tasks", "major", "-m", "Reword", "--path", root)
    result = run_cli("push", "local/adding", root, "--format", "json")
    hfenv.load(f"local/adding@{result.json['revision']}").close()
    assert run_cli("trust", "list", "--format", "json").json["trusted"][0]["tasks"] is None


def test_a_trust_file_of_before_is_read(arithmetic, home):
    _, revision = arithmetic
    run_cli("trust", "add", f"{REPO}@{revision}")
    stored = json.loads((home / "trust.json").read_text())
    del stored["trusted"][0]["tasks"]
    (home / "trust.json").write_text(json.dumps(stored))
    with pytest.raises(TrustError):
        hfenv.load(f"{REPO}@{revision}")


def test_a_pulled_folder_asks_for_trust_before_its_generator_runs(arithmetic, tmp_path):
    _, revision = arithmetic
    there = tmp_path / "pulled"
    assert run_cli("pull", f"{REPO}@{revision}", "--to", there).exit_code == 0
    for arguments in (("tasks", "sample", there), ("tasks", "sample", "--check", there)):
        refused = run_cli(*arguments)
        assert refused.exit_code == 7, refused.stderr
    with pytest.raises(TrustError):
        hfenv.load_tasks(str(there), split="test")
    assert run_cli("tasks", "sample", "--check", there, "--trust-remote-code").exit_code == 0
    assert run_cli("trust", "add", there).exit_code == 0
    assert len(hfenv.load_tasks(str(there), split="test", most=5)) == 5


def test_a_changed_file_of_the_generator_is_never_imported(arithmetic):
    _, revision = arithmetic
    with connect("local") as hub:
        spec = specify(f"{REPO}@{revision}", origin=Origin(trust_remote_code=True, opened=hub))
    file = spec.tasks.root / "tasks/words.py"
    file.chmod(0o644)
    file.write_text("ASK = 'Other'\n")
    with pytest.raises(hfenv.HfenvError) as caught:
        hfenv.load_tasks(f"{REPO}@{revision}", split="test", trust_remote_code=True)
    assert caught.value.exit_code == 7


def test_of_a_huge_range_some_are_asked_for(tmp_path):
    root = write_arithmetic(
        tmp_path / "huge", card=("[0, 100000], test: [100000, 100200]", "[1000, 1000000000000], test: [0, 9]")
    )
    with pytest.raises(UsageError, match="most="):
        hfenv.load_tasks(str(root))
    assert [row["id"] for row in hfenv.load_tasks(str(root), most=2)] == ["train-1000", "train-1001"]
    assert len(hfenv.load_tasks(str(root), split="test", most=50)) == 9
    with hfenv.load(str(root)) as env:
        assert len(env.tasks) == 10**12 - 1000
        assert env.reset(task_id="train-999999999999")[1]["task_id"] == "train-999999999999"


def test_an_edited_generator_shows_in_status_and_its_sample_says_how_much(arithmetic):
    root, _ = arithmetic
    assert run_cli("tasks", "sample", "--check", root).exit_code == 0
    replace_in(root / "tasks/generate.py", "rng.random() < 0.25", "rng.random() < 0.5")
    assert run_cli("status", root, "--format", "json").json["components"]["tasks"]["changed"]
    stale = run_cli("tasks", "sample", "--check", root, "--format", "json")
    assert stale.exit_code == 1
    differing = stale.json["splits"]["test"]["stale"]
    assert 0 < len(differing) < 20
    assert {tuple(task["fields"]) for task in differing} == {("answer", "difficulty", "question")}
    sample(root)
    assert run_cli("tasks", "sample", "--check", root).exit_code == 0
    assert len((root / "tasks/sample/test.jsonl").read_text().splitlines()) == 20


@pytest.mark.parametrize("most", [0, -1, True, 2.0])
def test_a_number_of_tasks_that_is_none_is_refused(most, arithmetic):
    with pytest.raises(UsageError, match="most is"):
        hfenv.load_tasks(REPO, most=most)


def test_of_rows_of_files_the_first_ones_can_be_asked_for_too(adding):
    assert [row["id"] for row in hfenv.load_tasks(str(adding), most=2)] == ["train-0", "train-1"]
    assert len(hfenv.load_tasks(str(adding), most=1000)) == 12
