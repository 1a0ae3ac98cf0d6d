"""Generated splits in a folder: the rules about them, and samples from generators of every kind."""

from __future__ import annotations

import json
import textwrap
import time
from pathlib import Path

import pytest

from hfenv.components.ownership import Component
from hfenv.components.snapshot import Snapshot
from hfenv.components.status import status
from hfenv.components.validation import validate
from hfenv.errors import AuthorCodeError, FindingsError, NotFoundError, UsageError
from hfenv.rules.catalogue import RULES
from hfenv.sampling import check_samples, require_fresh, write_samples
from tests.arithmetic import GENERATOR, write_arithmetic
from tests.support import replace_in, run_cli, write_environment
from tests.test_rules import into_card

GENERATED_RULES = ("HFE321", "HFE322", "HFE323", "HFE430")


@pytest.fixture
def root(tmp_path):
    return write_arithmetic(tmp_path / "arithmetic", most=4)


def found(root):
    return [(finding.rule, finding.path) for finding in validate(root).findings]


def generator(root, text):
    (root / "tasks/generate.py").write_text(textwrap.dedent(text))
    return root


def sample_of(root, split="train"):
    return [json.loads(line) for line in (root / f"tasks/sample/{split}.jsonl").read_text("utf-8").splitlines()]


class TestRules:
    def put(self, root, example):
        if example.path == "README.md":
            (root / "README.md").write_text(into_card(example.text))
        else:
            (root / example.path).write_text(example.text)

    def test_the_environment_is_fine_but_for_nothing(self, root):
        assert found(root) == []

    @pytest.mark.parametrize("rule", GENERATED_RULES)
    def test_the_bad_example_breaks_the_rule_and_the_good_one_none(self, rule, root):
        self.put(root, RULES[rule].bad)
        assert rule in {name for name, _ in found(root)}
        self.put(root, RULES[rule].good)
        assert found(root) == []

    def test_a_generator_that_is_called_an_error_makes_no_task_and_its_cure_does(self, root):
        for example, works in ((RULES["HFE430"].bad, False), (RULES["HFE430"].good, True)):
            self.put(root, example)
            result = run_cli("run", root, "--policy", "oracle", "--episodes", 1, "--format", "json")
            assert (result.exit_code == 0 and not result.json["faults"]) is works, result.stderr

    @pytest.mark.parametrize(
        ("old", "new", "rules"),
        [
            ("[0, 100000]", "[5, 5]", {"HFE321"}),
            ("[0, 100000]", "[100000, 0]", {"HFE321"}),
            ("[0, 100000]", "[-1, 100000]", {"HFE107"}),
            ("[0, 100000]", "[0, 9223372036854775808]", {"HFE107"}),
            ("[0, 100000]", "[0.0, 100000]", {"HFE102"}),
            ("[0, 100000]", "[true, 100000]", {"HFE102"}),
            ("[0, 100000]", "[0]", {"HFE107"}),
            ("[0, 100000]", "[0, 1, 2]", {"HFE107"}),
            ("[0, 100000]", "100000", {"HFE102"}),
            ("[0, 100000]", "[0, 1000000000000]", {"HFE322"}),
            ("[0, 100000]", "[0, 100001]", {"HFE322"}),
            ("[0, 100000]", "[0, 3]", {"HFE323"}),
            ("[0, 100000]", "[1, 100000]", {"HFE323"}),
            ("seeds: {train", "seeds: {validation: [200000, 200100], train", {"HFE321"}),
            ("train: tasks/sample/train.jsonl", "train: [tasks/sample/train.jsonl]", set()),
            ("train: tasks/sample/train.jsonl", "train: tasks/sample/tr*.jsonl", {"HFE321"}),
            ("train: tasks/sample/train.jsonl", "train: tasks/sample/none.jsonl", {"HFE202"}),
            ("tasks/generate.py:generate", "tasks/generate.py:missing", {"HFE402"}),
            ("tasks/generate.py:generate", "tasks/none.py:generate", {"HFE201"}),
            ("tasks/generate.py:generate", "env/words.py:ASK", {"HFE205", "HFE402"}),
            ("    generator: \"tasks/generate.py:generate\"\n", "", {"HFE108"}),
        ],
    )  # fmt: skip
    def test_what_the_card_says(self, old, new, rules, root):
        replace_in(root / "README.md", old, new)
        assert {rule for rule, _ in found(root)} == rules

    def test_two_training_splits_may_share_seeds(self, root):
        replace_in(root / "README.md", "test: tasks/sample/test", "train_more: tasks/sample/more")
        replace_in(root / "README.md", "test: [100000, 100200]", "train_more: [0, 10]")
        rows = [row | {"id": f"train_more-{n}", "question": f"{n}?"} for n, row in enumerate(sample_of(root))]
        (root / "tasks/sample/more.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert found(root) == []

    @pytest.mark.parametrize(
        ("text", "rules"),
        [
            ("def generate(split, seed):\n    return {}\n", {"HFE430"}),
            ("def generate(seed, split, rng):\n    return {}\n", {"HFE430"}),
            ("async def generate(split, seed, rng):\n    return {}\n", {"HFE430"}),
            ("class generate:\n    pass\n", {"HFE430"}),
            ("def generate(split, seed, rng):\n    yield {}\n", {"HFE408"}),
            ("def generate(split, seed, rng):\n    print(seed)\n", {"HFE408"}),
            ("def generate(split, seed, rng):\n    return [seed]\n", {"HFE408"}),
            ("def generate(split, seed, rng):\n    return {}}\n", {"HFE401"}),
            ("import random\n\ndef generate(split, seed, rng):\n    return {'n': random.random()}\n", {"HFE422"}),
            ("import words\n\ndef generate(split, seed, rng):\n    return {}\n", {"HFE414"}),
            ("from .sums import one\n\ndef generate(split, seed, rng):\n    return {}\n", {"HFE413"}),
            ("import numpy\n\ndef generate(split, seed, rng):\n    return {}\n", {"HFE415"}),
            ("from env.words import ASK\n\ndef generate(split, seed, rng):\n    return {}\n", {"HFE414"}),
            ("def generate(*anything):\n    return dict(n=anything)\n", set()),
            ("def generate(split, seed, rng, more=None):\n    return {}\n", set()),
            ("make = lambda split, seed, rng: {}\ngenerate = make\n", set()),
        ],
    )
    def test_what_the_generator_is(self, text, rules, root):
        generator(root, text)
        assert {rule for rule, _ in found(root)} == rules

    def test_python_in_tasks_of_which_nothing_is_imported_is_nobodys_business(self, tmp_path):
        text = "import random, numpy, words\nX = random.random()\n"
        assert found(write_environment(tmp_path / "adding", files={"tasks/make.py": text})) == []

    @pytest.mark.parametrize(
        ("change", "line"),
        [
            (lambda rows: rows[::-1], 1),
            (lambda rows: rows[1:], 1),
            (lambda rows: [*rows[:2], {**rows[2], "id": "train-002"}, rows[3]], 3),
            (lambda rows: [*rows[:2], {**rows[2], "id": "train-7"}], 3),
            (lambda rows: [{**rows[0], "id": "0"}], 1),
        ],
    )
    def test_a_sample_is_the_first_tasks_in_order(self, change, line, root):
        rows = change(sample_of(root))
        (root / "tasks/sample/train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        report = validate(root)
        assert [(f.rule, f.path, f.line) for f in report.findings] == [("HFE323", "tasks/sample/train.jsonl", line)]

    def test_checks_of_rows_look_at_the_samples(self, root):
        test = sample_of(root, "test")
        test[0] |= {"question": sample_of(root)[0]["question"]}
        (root / "tasks/sample/test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in test))
        assert {rule for rule, _ in found(root)} == {"HFE310"}

    def test_counts_are_those_of_seeds(self, root):
        replace_in(root / "README.md", "license: apache-2.0", "license: apache-2.0\nsize_categories: [n<1K]")
        finding = validate(root).findings[0]
        assert (finding.rule, finding.message) == ("HFE308", "100,200 tasks are 100K<n<1M; the card says otherwise")


class TestSamples:
    def test_they_are_the_first_tasks_and_written_again_as_they_are(self, root):
        assert [row["id"] for row in sample_of(root, "test")] == [f"test-{n}" for n in range(100_000, 100_004)]
        before = (root / "tasks/sample/train.jsonl").read_bytes()
        report = write_samples(root)
        assert report.fresh
        assert [split.tasks for split in report.splits] == [4, 4]
        assert (root / "tasks/sample/train.jsonl").read_bytes() == before

    def test_without_a_number_as_many_as_there_were_else_a_hundred(self, root):
        (root / "tasks/sample/test.jsonl").unlink()
        report = write_samples(root)
        assert {split.split: split.tasks for split in report.splits} == {"train": 4, "test": 100}
        assert len(sample_of(root, "test")) == 100

    def test_never_more_than_there_are_seeds(self, root):
        replace_in(root / "README.md", "test: [100000, 100200]", "test: [100000, 100007]")
        write_samples(root, most=50)
        assert (len(sample_of(root)), len(sample_of(root, "test"))) == (50, 7)

    def test_values_are_plain_json_whatever_the_generator_returns(self, root):
        generator(
            root,
            """
            def generate(split, seed, rng):
                return {"question": ("two", "parts"), "answer": {1: True, "x": None}, "difficulty": "é\\u2028😀\\n"}
            """,
        )
        write_samples(root)
        wanted = {"question": ["two", "parts"], "answer": {"1": True, "x": None}, "difficulty": "é\u2028😀\n"}
        text = (root / "tasks/sample/train.jsonl").read_text("utf-8")
        assert [json.loads(line) for line in text.rstrip("\n").split("\n")] == [
            {"id": f"train-{seed}", **wanted} for seed in range(4)
        ]
        assert check_samples(root).fresh

    def test_a_stale_sample_is_told_by_its_tasks_and_fields(self, root):
        generator(root, GENERATOR.replace("str(one + other)", "str(one - other)"))
        report = check_samples(root)
        assert not report.fresh
        assert {task.fields for split in report.splits for task in split.stale} == {("answer",)}
        with pytest.raises(FindingsError, match=r"train-0 \(answer\), .* and 1 more"):
            report.require_fresh()

    def test_what_is_said_of_a_release_rests_on_fresh_samples(self, root):
        folder = Snapshot.of(root)
        states = require_fresh(folder, status(folder))
        assert states[Component.TASKS].probed == "8 sampled tasks are as the generator makes them today"
        generator(root, GENERATOR.replace("0.25", "0.5"))
        folder = Snapshot.of(root)
        with pytest.raises(FindingsError, match="hfenv tasks sample"):
            require_fresh(folder, status(folder))

    def test_rows_that_nobody_generates_are_stale_and_so_are_missing_ones(self, root):
        rows = sample_of(root)
        rows[1]["id"] = "mine"
        (root / "tasks/sample/train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert [(task.id, task.fields) for task in check_samples(root).splits[0].stale] == [
            ("train-1", ()),
            ("mine", ()),
        ]
        (root / "tasks/sample/train.jsonl").unlink()
        with pytest.raises(NotFoundError, match="tasks/sample/train"):
            check_samples(root)

    def test_an_environment_without_a_generator_has_no_samples(self, tmp_path):
        root = write_environment(tmp_path / "adding")
        assert check_samples(root).fresh
        assert check_samples(root).splits == ()
        with pytest.raises(UsageError, match="no generated splits"):
            write_samples(root)
        assert run_cli("tasks", "sample", "--check", root).exit_code == 0
        assert run_cli("tasks", "sample", root).exit_code == 2

    def test_when_the_generator_fails_all_files_stay_as_they_were(self, root):
        before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
        generator(root, GENERATOR.replace('"""One sum."""', 'assert split == "train", "no test"'))
        with pytest.raises(AuthorCodeError, match=r"seed 100000 of split 'test'.*line 5: AssertionError: no test"):
            write_samples(root)
        after = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
        del before[root / "tasks/generate.py"], after[root / "tasks/generate.py"]
        assert after == before


UNSTEADY = {
    "the clock": "import time\ndef generate(split, seed, rng): return {'n': time.time_ns()}",
    "the day": "import datetime\ndef generate(split, seed, rng): return {'n': str(datetime.date.today())}",
    "the hash of a text": "def generate(split, seed, rng): return {'n': hash(split)}",
    "the order of a set": "def generate(split, seed, rng): return {'n': [*{str(n) for n in range(20)}]}",
    "the order of keys": "def generate(split, seed, rng): return {key: 1 for key in {'a', 'b', 'c', 'd', 'e', 'f'}}",
    "a shared generator": "import random\ndef generate(split, seed, rng): return {'n': random.random()}",
    "earlier calls": "calls = []\ndef generate(split, seed, rng):\n    calls.append(1)\n    return {'n': len(calls)}",
    "the working folder": "import os\ndef generate(split, seed, rng): return {'n': os.getcwd()}",
}


@pytest.mark.parametrize("text", UNSTEADY.values(), ids=UNSTEADY)
def test_a_generator_that_rests_on_more_than_its_seed_is_refused(text, root):
    generator(root, text)
    with pytest.raises(AuthorCodeError, match="two different tasks of seed"):
        check_samples(root)


BROKEN = {
    "raises": ("raise KeyError('x')", "KeyError: 'x'"),
    "exits": ("raise SystemExit(0)", "SystemExit: 0"),
    "no dict": ("return [1]", "it returned a list"),
    "nothing": ("return None", "it returned a NoneType"),
    "NaN": ("return {'n': float('nan')}", r"\['n'\] is nan, which JSON has no number for"),
    "infinite": ("return {'n': [1e308 * 10]}", "is inf"),
    "a set": ("return {'n': {1}}", "is a set, which has no JSON form"),
    "bytes": ("return {'n': b'x'}", "is a bytes"),
    "itself": ("row = {}\n    row['row'] = row\n    return row", "contains itself"),
    "a key": ("return {(1, 2): 3}", "has a key of type tuple"),
    "another id": ("return {'id': 'mine'}", "it returned the id 'mine'"),
    "no id": ("return {'id': None}", "it returned the id None"),
    "a huge number": ("return {'n': 10 ** 5000}", "not plain JSON|digits"),
    "deep": ("n = []\n    for _ in range(600): n = [n]\n    return {'n': n}", "nested too deeply"),
    "recursion": ("return generate(split, seed, rng)", "RecursionError"),
    "dies": ("import os; os._exit(3)", "ended with exit code 3"),
    "is killed": ("import os; os.kill(os.getpid(), 9)", "was killed by SIGKILL"),
    "crashes": ("import ctypes; ctypes.string_at(0)", "was killed by SIG(SEGV|BUS)"),
    "too large": ("return {'n': 'x' * (17 << 20)}", "seed 0 of split 'train': the task takes more than 16 MiB"),
    "too much": ("return {'n': 'x' * (10 << 20)}", "the sampled tasks take more than 64 MiB"),
    "memory": ("return {'n': len(bytearray(10 << 30))}", "MemoryError"),
    "fills the disk": ("open('big', 'wb').write(bytes(300 << 20))\n    return {}", "File too large"),
    "the network": (
        "import socket; socket.create_connection(('localhost', 80))",
        r"PermissionError: a generator of tasks has no network|refused|unreachable",
    ),
    "a coroutine": ("async def later(): return {}\n    return later()", "it returned an awaitable"),
}


@pytest.mark.parametrize(("body", "message"), BROKEN.values(), ids=BROKEN)
def test_a_generator_that_makes_no_task_is_an_error_of_its_author(body, message, root):
    generator(root, f"def generate(split, seed, rng):\n    {body}\n")
    with pytest.raises(AuthorCodeError, match=message) as caught:
        write_samples(root)
    assert "tasks/generate.py" in caught.value.message
    assert caught.value.exit_code == 1


def test_one_that_cant_be_imported_is_one_too(root):
    generator(root, "import nothing_like_this\n")
    with pytest.raises(AuthorCodeError, match="nothing_like_this"):
        write_samples(root)
    generator(root, "x = 1\n")
    with pytest.raises(AuthorCodeError, match="defines no 'generate'"):
        write_samples(root)
    generator(root, "generate = 1\n")
    with pytest.raises(AuthorCodeError, match="is no function"):
        write_samples(root)


def test_one_that_hangs_is_stopped_with_all_that_it_started(root):
    seconds = f"{600 + time.time_ns() % 10**9 / 10**9:.9f}"  # a process that nobody else has
    generator(
        root,
        f"""
        import subprocess, time

        def generate(split, seed, rng):
            if seed == 2:
                subprocess.Popen(["sleep", "{seconds}"], start_new_session=True)
                print("now I sleep", flush=True)
                time.sleep(600)
            return {{}}
        """,
    )
    with pytest.raises(AuthorCodeError, match=r"seed 2 of split 'train': nothing came for 1 seconds.*\n.*now I sleep"):
        check_samples(root, seconds=1.0)
    for _ in range(50):
        if not (left := processes_with(seconds)):
            break
        time.sleep(0.1)
    assert left == []


def processes_with(argument):
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and argument.encode() in (entry / "cmdline").read_bytes():
                found.append(entry.name)
        except OSError:
            continue
    return found


def test_one_that_forks_makes_each_task_once(root):
    generator(
        root,
        """
        import os

        def generate(split, seed, rng):
            os.fork()
            return {"question": str(seed), "answer": "1", "difficulty": "easy"}
        """,
    )
    write_samples(root)
    assert [row["question"] for row in sample_of(root)] == ["0", "1", "2", "3"]


def test_what_it_prints_floods_nothing_and_its_input_is_empty(root):
    generator(
        root,
        """
        import sys

        def generate(split, seed, rng):
            print("x" * 100_000)
            return {"question": sys.stdin.read(), "answer": "1", "difficulty": "easy"}
        """,
    )
    result = run_cli("tasks", "sample", root)
    assert result.exit_code == 0
    assert "xxx" not in result.stdout + result.stderr
    assert sample_of(root)[0]["question"] == ""


def test_no_secret_reaches_it_and_it_leaves_nothing_behind(root, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr("tempfile.tempdir", None)
    generator(
        root,
        """
        import os, tempfile

        def generate(split, seed, rng):
            open("here", "w").close()
            tempfile.mkdtemp()
            return {"question": os.environ.get("HF_TOKEN", "none"), "answer": "1", "difficulty": "easy"}
        """,
    )
    before = sorted(path for path in root.rglob("*") if path.is_file())
    write_samples(root)
    assert sample_of(root)[0]["question"] == "none"
    assert sorted(path for path in root.rglob("*") if path.is_file()) == before
    assert list(scratch.iterdir()) == []
