"""Components are imported from source only, under names of their content, and leave nothing behind when they fail."""

import importlib.util
import py_compile
import sys
import threading

import pytest

from hfenv.errors import AuthorCodeError, MissingPackagesError, UnreadableError
from hfenv.runtime.loader import load_environment
from hfenv.runtime.reward import load_reward_function


def imported():
    return {name for name in sys.modules if name.startswith("_hfenv_")}


def test_two_revisions_with_equally_named_siblings_live_side_by_side(make_folder):
    code = """
        import hfenv
        from . import helper
        from .helper import WORD

        class Sums(hfenv.TaskEnvironment):
            def start(self, task, rng):
                return [WORD, helper.WORD]

            def execute(self, action):
                return hfenv.Outcome(data={"said": helper.WORD}, terminated=True)
    """
    old = make_folder("old").write("env/environment.py", code).write("env/helper.py", "WORD = 'old'")
    new = make_folder("new").write("env/environment.py", code).write("env/helper.py", "WORD = 'new'")
    with load_environment(old.spec()) as first, load_environment(new.spec()) as second:
        assert first.reset(seed=0)[0] == ["old", "old"]
        assert second.reset(seed=0)[0] == ["new", "new"]
        assert first.reset(seed=1)[0] == ["old", "old"]


def test_an_edited_working_folder_is_imported_anew_in_the_same_process(folder):
    with load_environment(folder.spec()) as env:
        env.reset(task_id="t1")
        assert env.step("2").reward == 1.0
    folder.write("reward/reward.py", "def score(task, transcript): return 0.25")
    with load_environment(folder.spec()) as env:
        env.reset(task_id="t1")
        assert env.step("2").reward == 0.25


def test_new_code_runs_with_the_old_reward(make_folder):
    old, new = make_folder("old"), make_folder("new")
    old.write("reward/reward.py", "def score(task, transcript): return 0.5")
    spec = new.spec(reward=old.part("reward", revision="a" * 40))
    with load_environment(spec) as env:
        env.reset(seed=0)
        assert env.step("x").reward == 0.5
        assert env.provenance["reward"]["revision"] == "a" * 40
        assert env.provenance["code"]["revision"] is None


def test_planted_byte_code_is_neither_run_nor_written(folder, tmp_path):
    evil = tmp_path / "evil.py"
    evil.write_text("raise SystemExit('byte code was run')\n", encoding="utf-8")
    for place in ("env/environment.py", "reward/reward.py"):
        cached = importlib.util.cache_from_source(str(folder.root / place))
        # Unchecked byte code is what Python itself would run without a look at the source.
        py_compile.compile(str(evil), cached, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    planted = {path: path.read_bytes() for path in folder.root.rglob("*.pyc")}
    assert len(planted) == 2
    with load_environment(folder.spec()) as env:
        env.reset(task_id="t1")
        assert env.step("2").reward == 1.0
    assert {path: path.read_bytes() for path in folder.root.rglob("*.pyc")} == planted


def test_loading_writes_nothing_into_the_folder(folder):
    before = sorted(folder.root.rglob("*"))
    load_environment(folder.spec()).close()
    assert sorted(folder.root.rglob("*")) == before


@pytest.mark.parametrize(
    ("code", "said", "cure"),
    [
        ("import hfenv\n\nx = undefined_name\n", "env/environment.py, line 3: NameError", "Correct"),
        ("import hfenv\ndef broken(:\n", "env/environment.py, line 2: SyntaxError", "Correct"),
        ("raise SystemExit(3)\n", "env/environment.py, line 1: SystemExit: 3", "Correct"),
        ("import no_such_package_1\n", "No module named 'no_such_package_1'", "requires.packages"),
        ("import helper\n", "No module named 'helper'", "from . import helper"),
        ("from ..reward import reward\n", "_hfenv_code", "Correct"),
    ],
)
def test_code_that_fails_at_import_is_a_sentence_and_leaks_no_module(folder, code, said, cure):
    before = imported()
    folder.write("env/helper.py", "x = 1").write("env/environment.py", code)
    with pytest.raises(AuthorCodeError) as caught:
        load_environment(folder.spec())
    assert said in caught.value.message
    assert cure in caught.value.hint
    assert "\n" not in str(caught.value)
    assert imported() == before


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("env/environment.py:Nothing", "defines no 'Nothing'"),
        ("env/nowhere.py:Sums", "there is no such file"),
        ("tests/environment.py:Sums", "isn't in env/"),
        ("env/../reward/reward.py:score", "is 'env/../reward/reward.py:score'"),
        ("env.environment:Sums", "is 'env.environment:Sums'"),
        ("env/environment.py:hfenv", "neither a class nor a function"),
    ],
)
def test_a_wrong_entry_says_what_is_wrong(folder, entry, said):
    with pytest.raises(AuthorCodeError, match=said):
        load_environment(folder.card(code={"entry": entry}).spec())


def test_a_class_without_execute_says_which_method_is_missing(folder):
    folder.write(
        "env/environment.py", "import hfenv\nclass Sums(hfenv.TaskEnvironment):\n    def start(self, t, r): ..."
    )
    with pytest.raises(AuthorCodeError, match="doesn't define execute"):
        load_environment(folder.spec())


def test_missing_packages_are_named_before_anything_is_imported(folder, tmp_path):
    trace = tmp_path / "imported"
    folder.write("env/environment.py", f"open({str(trace)!r}, 'w').close()")
    folder.card(requires={"packages": ["no-such-package>=2", "pytest>=1", "pytest<1", "x; python_version < '3'"]})
    with pytest.raises(MissingPackagesError) as caught:
        load_environment(folder.spec())
    assert caught.value.hint == "pip install 'no-such-package>=2' 'pytest<1'"
    assert not trace.exists()


def test_python_and_requirements_are_checked(folder):
    with pytest.raises(MissingPackagesError, match="needs Python >=99"):
        load_environment(folder.card(requires={"python": ">=99"}).spec())
    with pytest.raises(UnreadableError, match=r"requires\.packages"):
        load_environment(folder.card(requires={"python": "", "packages": ["not a requirement"]}).spec())


def test_many_threads_may_load_at_once(folder):
    spec = folder.spec()
    rewards = []

    def load():
        with load_environment(spec) as env:
            env.reset(task_id="t2")
            rewards.append(env.step("4").reward)

    threads = [threading.Thread(target=load) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rewards == [1.0] * 8


def test_a_reward_can_be_loaded_alone_and_stays_in_its_folder(folder):
    reward = load_reward_function(folder.part("reward"))
    assert reward.measure is not None
    folder.write("reward/reward.py", "from ..env import environment\ndef score(task, transcript): return 0")
    with pytest.raises(AuthorCodeError, match="No module named"):
        load_reward_function(folder.part("reward"))
