"""`hfenv validate` on code, reward and policies, judged by their syntax trees: HFE4xx."""

from __future__ import annotations

import inspect
import sys

import pytest

from hfenv.components.validation import validate
from hfenv.findings import Severity
from hfenv.rules.catalogue import RULES
from tests.fine_environments import FINE
from tests.support import CARD, REWARD, replace_in, run_cli, write_environment
from tests.test_rules import into_card

HERE = sys.version_info[:2]


@pytest.fixture
def root(tmp_path):
    return write_environment(tmp_path / "adding")


def write(root, path, text):
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text if isinstance(text, bytes) else text.encode())


def found(root):
    """Rule, line and column of every finding, in the order of the report."""
    return [(f.rule, f.line, f.column) for f in validate(root).findings]


def rules(root):
    return [finding.rule for finding in validate(root).findings]


def lines(root, path):
    return [(f.rule, f.line) for f in validate(root).findings if f.path == path]


def only(root):
    report = validate(root)
    assert len(report.findings) == 1, report.findings
    return report.findings[0]


def require(root, requires):
    replace_in(root / "README.md", "  limits:", f"  requires: {requires}\n  limits:")


def say_builtin(root):
    entry = 'entry: "reward/reward.py:score"'
    replace_in(root / "README.md", entry, "builtin: true")


# Parsing

MATCH = "def kind(x):\n    match x:\n        case 1:\n            return 'one'\n"


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "-" * 100_000 + "1",
        "x = a" + ".b" * 100_000,
        "x = 1" + " + 1" * 100_000,
        "x = " + "(" * 10_000 + ")" * 10_000,
        "x = " + "lambda: " * 50_000 + "1",
        "if a: pass\n" + "elif b: pass\n" * 5_000,
        "x = a" + "()" * 100_000,
        "x = '\0'",
        b"# -*- coding: banana -*-\nx = 1\n",
        b"x = '\xff'\n",
        "x = 1\n".encode("utf-16"),
        "if x:\n\ty = 1\n        z = 2\n",
        "x = 1\n" * 400_000,
        "def f(:\n",
    ],
)
def test_what_python_cannot_parse_is_a_finding_and_nothing_worse(root, text):
    write(root, "env/words.py", text if isinstance(text, bytes) else text + "\n")
    finding = only(root)
    assert (finding.rule, finding.path) == ("HFE401", "env/words.py")
    assert finding.fix


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\ufeffASK = 'é'\n",
        b"# -*- coding: latin-1 -*-\nASK = '\xe9'\n",
        "ASK = 1\r\nX = 2\r\n",
        "ASK = (" + "1 + " * 900 + "1)\n",
        "ASK = [" + "'word', " * 100_000 + "]\n",
        "ASK = '\\d'\n",
    ],
)
def test_odd_files_that_python_reads_give_no_finding(root, text):
    write(root, "env/more.py", text)
    assert [rule for rule in rules(root) if rule.startswith("HFE4")] == []


def test_files_are_parsed_as_the_oldest_python_that_the_card_allows(root):
    require(root, '{python: ">=3.10"}')
    write(root, "env/words.py", MATCH + "ASK = ''\n")
    assert found(root) == []
    if HERE > (3, 10):
        write(root, "env/words.py", "ASK = ''\ntry:\n    pass\nexcept* ValueError:\n    pass\n")
        finding = only(root)
        assert finding.rule == "HFE401"
        assert "Python 3.10, which the card allows" in finding.message
        replace_in(root / "README.md", ">=3.10", ">=3.11")
        assert found(root) == []


@pytest.mark.parametrize(
    ("code", "since", "line"),
    [
        ("try:\n    pass\nexcept* ValueError:\n    x = 1\n    y = 2\n", "3.11", 3),
        ("def f():\n    try:\n        pass\n    except* OSError:\n        x = 1\n    return x\n", "3.11", 4),
        ("x = 1\ntype Pair = tuple[int, int]\n", "3.12", 2),
        ("x = 1\n\n\ndef first[T](x: list[T]) -> T:\n    y = x\n    return y[0]\n", "3.12", 4),
        ("class Box[T]:\n    x = 1\n    y = 2\n", "3.12", 1),
    ],
)  # fmt: skip
def test_syntax_that_is_too_new_is_named_with_its_python_and_line(root, code, since, line):
    require(root, '{python: ">=3.10"}')
    write(root, "env/more.py", code)
    finding = only(root)
    assert (finding.rule, finding.line) == ("HFE401", line)
    assert f"only {since} and newer have" in finding.message
    assert "Write it otherwise" in finding.fix
    assert f'">={since}"' in finding.fix


@pytest.mark.parametrize(
    "code", ["def f(:\n", "x = (1,\n", "x = [1 2]\n", "except* = 3\n", "type = = 3\n", "print 'x'\n"]
)
def test_mistakes_in_any_python_are_not_called_new(root, code):
    require(root, '{python: ">=3.10"}')
    write(root, "env/more.py", code)
    assert only(root).fix == "Correct the syntax."


def test_syntax_that_only_a_newer_python_knows_is_skipped_with_a_reason(root):
    newer = f"3.{HERE[1] + 1}"
    require(root, f'{{python: ">={newer}"}}')
    assert found(root) == []
    write(root, "env/words.py", "ASK = some new syntax\n")
    report = validate(root)
    reasons = {skipped.rule: skipped.reason for skipped in report.skipped}
    assert report.findings == ()
    assert newer in reasons["HFE401"]
    assert "env/words.py" in reasons["HFE401"]
    assert "HFE401" not in report.ran
    write(root, "env/words.py", "ASK = 1\n  X = 2\n")  # no Python reads that
    assert rules(root) == ["HFE401"]


# What the card requires


@pytest.mark.parametrize("python", [">=3.10", ">=3.10,<3.13", "~=3.11", "==3.12.4", "!=3.11.1", ">3.10"])
def test_specifiers_that_some_python_fulfils(root, python):
    require(root, f'{{python: "{python}"}}')
    assert "HFE406" not in rules(root)


@pytest.mark.parametrize("python", ["^3.10", "3.10", "banana", ">=3.12,<3.11", "<3.8", "==2.7"])
def test_specifiers_that_no_python_fulfils(root, python):
    require(root, f'{{python: "{python}"}}')
    finding = only(root)
    assert (finding.rule, finding.pointer) == ("HFE406", "/environment/requires/python")
    line = (root / "README.md").read_text("utf-8").splitlines()[finding.line - 1]
    assert line[finding.column - 1 :].startswith(f'"{python}"')


def test_requirements_that_pip_does_not_understand_are_found_at_their_place(root):
    require(root, '{packages: ["numpy>=1.2", "sqlglot 30", "-e .", "x[a,b]; python_version < \'3\'", "a @ file:///b"]}')
    assert [(f.rule, f.pointer) for f in validate(root).findings] == [
        ("HFE407", "/environment/requires/packages/1"),
        ("HFE407", "/environment/requires/packages/2"),
    ]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("git+https://a/b", '"name @ git+https://a/b"'),
        ("https://a/b-1.0.zip", '"name @ https://a/b-1.0.zip"'),
        ("-e git+ssh://git@a/b.git", '"name @ git+ssh://git@a/b.git"'),
        ("git@a.org:b/c.git", '"name @ git+ssh://git@a.org/b/c.git"'),
        ("git+https://a/b@v1#egg=foo&subdirectory=x", '"foo @ git+https://a/b@v1#subdirectory=x"'),
        ("-r requirements.txt", '"name @ https://..."'),
        ("sqlglot 30", '"sqlglot>=1.2"'),
    ],
)
def test_the_cure_of_a_requirement_keeps_what_was_meant(root, text, written):
    require(root, f'{{packages: ["{text}"]}}')
    finding = only(root)
    assert finding.rule == "HFE407"
    assert written in finding.fix


def test_requirements_are_checked_on_a_bare_card_too(root):
    require(root, '{python: "^3"}')
    assert [f.rule for f in validate(root / "README.md").findings] == ["HFE406"]


# The environment's class

HEAD = "import hfenv\nimport gymnasium\nfrom elsewhere import Base\n"
TASK = "class Adding(hfenv.TaskEnvironment):\n"
START = "    def start(self, task, rng): return 1\n"
EXECUTE = "    async def execute(self, action): return hfenv.Outcome()\n"
RESET = "    def reset(self, *, seed=None, options=None): return 1, {}\n"
TASK_RESET = "    def reset(self, *, seed=None, task_id=None, options=None): return 1, {}\n"
STEP = "    def step(self, action): return 1, 0.0, True, False, {}\n"
CLOSE = "    def close(self): ...\n"
INNER = "import hfenv\n\nclass Thing(hfenv.TaskEnvironment):\n" + START


def environment(root, code, *, builtin=False):
    require(root, "{packages: [gymnasium, elsewhere]}")
    if builtin:
        say_builtin(root)
    write(root, "env/environment.py", HEAD + code + "\n")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (TASK + START + EXECUTE, []),
        (TASK + START + EXECUTE + CLOSE + "    def state(self): return {}\n", []),
        (TASK + START, [("HFE403", 4)]),
        (TASK + EXECUTE + "    start = None\n", []),
        (TASK + "    def start(self, task): return 1\n" + EXECUTE, [("HFE403", 5)]),
        (TASK + "    @Base\n    def start(self): return 1\n" + EXECUTE, []),
        (TASK + START + "    def execute(self, action, *, how): return hfenv.Outcome()\n", [("HFE403", 6)]),
        (TASK + START + EXECUTE + "    def close(self, how): ...\n", [("HFE403", 7)]),
        (TASK + START + EXECUTE + "    def state(self, how): ...\n", [("HFE403", 7)]),
        ("class Adding(Base):\n    pass", []),
        ("class Adding(Base):\n    def step(self): return 1, 0.0, True, False, {}", [("HFE403", 5)]),
        ("class Adding(hfenv.TaskEnvironment, Base):\n" + START, []),
        ("class Adding(metaclass=Base):\n" + START, []),
        ("class Adding:\n" + START + EXECUTE, [("HFE403", 4)]),
        ("class Up(hfenv.TaskEnvironment):\n" + START + "class Adding(Up):\n    execute = print", []),
        ("from .inner import Thing as Adding", [("HFE403", 3)]),
        ("from .inner import Thing\n\nclass Adding(Thing):\n" + EXECUTE, []),
        ("from . import inner\n\nclass Adding(inner.Thing):\n    x = 1", [("HFE403", 6)]),
        ("from .inner import *\n\nclass Adding(Thing):\n" + EXECUTE, []),
        ("from hfenv import *\n\nclass Adding(TaskEnvironment):\n" + EXECUTE, [("HFE403", 6)]),
        ("from abc import abstractmethod as later\n" + TASK + START + "    @later\n" + EXECUTE, [("HFE403", 8)]),
        ("try:\n    from hfenv import TaskEnvironment\nexcept ImportError:\n    TaskEnvironment = None\n"
         "class Adding(TaskEnvironment):\n" + START, [("HFE403", 8)]),
        ("Adding = 3", [("HFE402", 7)]),
        ("Adding = Base()", []),
        (TASK.replace("Adding", "Up") + START + EXECUTE + "Adding = Up()", [("HFE402", 7)]),
        ("class Addings: ...", [("HFE402", 7)]),
        ("from .inner import *", [("HFE402", 7)]),
        ("from elsewhere import *", []),
        ("def __getattr__(name): ...", []),
    ],
)  # fmt: skip
def test_a_task_environment_has_the_methods_that_hfenv_calls(root, code, expected):
    write(root, "env/inner.py", INNER)
    environment(root, code)
    if expected and expected[0][0] == "HFE402":
        expected = [("HFE402", (CARD[: CARD.index('"env/environment.py')]).count("\n") + 1)]
    assert [(f.rule, f.line) for f in validate(root).findings] == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("class Adding(gymnasium.Env):\n" + RESET + STEP, []),
        ("class Adding(gymnasium.Env):\n    def reset(self, **kw): return 1, {}\n" + STEP, []),
        ("class Adding(gymnasium.Env):\n    def reset(self, seed=None): return 1, {}\n" + STEP, [("HFE403", 5)]),
        ("class Adding(gymnasium.Env):\n    def reset(self, level, **kw): return 1, {}\n" + STEP, [("HFE403", 5)]),
        ("class Adding(gymnasium.Env):\n" + RESET, [("HFE403", 4)]),
        ("class Adding(hfenv.Environment):\n" + TASK_RESET + STEP, []),
        ("class Adding(hfenv.Environment):\n" + RESET + STEP, [("HFE403", 5)]),
        ("class Adding(hfenv.Environment):\n    def reset(self): return 1, {}\n" + STEP, [("HFE403", 5)]),
        ("class Adding:\n" + RESET + STEP, [("HFE403", 4)]),
        ("class Adding:\n" + RESET + STEP + CLOSE, []),
        ("class Adding:\n    def __getattr__(self, name): ...", []),
        ("from dm_env import Environment\nclass Adding(Environment):\n    pass", [("HFE415", 4)]),
    ],
)
def test_an_environment_of_its_own_has_the_methods_that_hfenv_calls(root, code, expected):
    environment(root, code, builtin=True)
    assert [(f.rule, f.line) for f in validate(root).findings] == expected


@pytest.mark.parametrize(
    ("code", "builtin", "expected"),
    [
        (TASK + START + EXECUTE, True, "/environment/reward/builtin"),
        ("class Adding(hfenv.Environment):\n" + TASK_RESET + STEP, False, "/environment/reward/entry"),
        ("class Adding(gymnasium.Env):\n" + RESET + STEP, False, "/environment/reward/entry"),
        ("class Adding(gymnasium.Env, hfenv.TaskEnvironment):\n" + START + EXECUTE, False, None),
        ("class Adding(Base):\n" + RESET + STEP, False, None),
        ("class Its(gymnasium.Env):\n" + RESET + STEP + "def Adding():\n    return Its()", False,
         "/environment/reward/entry"),
    ],
)  # fmt: skip
def test_class_and_card_agree_on_who_computes_the_reward(root, code, builtin, expected):
    environment(root, code, builtin=builtin)
    assert [(f.rule, f.pointer) for f in validate(root).findings] == ([("HFE410", expected)] if expected else [])


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (TASK + "    def __init__(self): self.n = 0\n" + START + EXECUTE, []),
        (TASK + "    def __init__(self, n=0, *rest, **more): self.n = 0\n" + START + EXECUTE, []),
        (TASK + "    def __init__(self, n): self.n = n\n" + START + EXECUTE, [("HFE409", 5)]),
        (TASK + "    def __init__(self, *, n): self.n = n\n" + START + EXECUTE, [("HFE409", 5)]),
        ("class Up(hfenv.TaskEnvironment):\n    def __init__(self, n): self.n = n\n" + START + EXECUTE
         + "class Adding(Up):\n    def __init__(self): super().__init__(3)", []),
        ("def Adding(**config): return Base()", []),
        ("async def Adding(): return Base()", [("HFE409", 4)]),
        ("def Adding():\n    yield Base()", [("HFE409", 4)]),
        ("def Adding(): print()", [("HFE409", 4)]),
        ("def Adding(level): return Base(level)", [("HFE409", 4)]),
        ("class Up(hfenv.TaskEnvironment):\n" + START + EXECUTE + "def Adding(): return Up()", [("HFE417", 7)]),
    ],
)  # fmt: skip
def test_the_entry_can_be_built(root, code, expected):
    environment(root, code)
    assert [(f.rule, f.line) for f in validate(root).findings] == expected


def test_a_function_gets_the_cards_config(root):
    environment(root, "def Adding(level): return Base(level)")
    config = "  config: {level: {type: integer, default: 3}, noise: {type: number}}\n  limits:"
    replace_in(root / "README.md", "  limits:", config)
    assert rules(root) == []
    replace_in(root / "README.md", "noise: {type: number}", "noise: {type: number, default: 0.1}")
    assert "no argument 'noise'" in only(root).message
    replace_in(root / "env/environment.py", "def Adding(level)", "def Adding(level, **more)")
    assert rules(root) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return hfenv.Outcome(data=action)", []),
        ("return self.helper(action)", []),
        ("if action:\n            return hfenv.Outcome()\n        raise ValueError(action)", []),
        ("def inner():\n            yield 1\n        return hfenv.Outcome(data=list(inner()))", []),
        ("return {'rows': action}", [6]),
        ("return hfenv.Outcome() if action else None", [6]),
        ("return action, 1", [6]),
        ("yield hfenv.Outcome()", [6]),
        ("self.x = action", [5]),
        ("raise NotImplementedError", [5]),
        ("if not action:\n            return\n        return hfenv.Outcome()", [7]),
    ],
)
def test_execute_returns_an_outcome(root, body, expected):
    environment(root, TASK + f"    def execute(self, action):\n        {body}\n" + START)
    assert [(f.rule, f.line) for f in validate(root).findings] == [("HFE408", line) for line in expected]


def test_reset_and_step_return_two_and_five_values(root):
    code = (
        "class Adding(gymnasium.Env):\n"
        "    def reset(self, *, seed=None, options=None):\n        return {'x': 1}\n"
        "    def step(self, action):\n        return 1, 0.0, True, {}\n"
    )
    environment(root, code, builtin=True)
    assert [(f.rule, f.line) for f in validate(root).findings] == [("HFE408", 6), ("HFE408", 8)]
    write(root, "env/environment.py", HEAD + code.replace("{'x': 1}", "1, {}").replace("True, {}", "*rest, {}"))
    assert rules(root) == []


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("def start(self, rng, task): return 1", [("HFE403", 5)]),
        ("async def start(self, rng, row): return 1", [("HFE403", 5)]),
        ("def start(self, row, random): return 1", []),
        ("def start(self, _, task): return 1", []),
        ("def start(self, a, b): return 1", []),
    ],
)
def test_start_is_called_by_position(root, method, expected):
    environment(root, TASK + f"    {method}\n" + EXECUTE)
    assert [(f.rule, f.line) for f in validate(root).findings] == expected


def test_what_a_base_from_elsewhere_calls_is_not_judged_by_its_order(root):
    environment(root, "class Adding(Base):\n    def start(self, rng, task): return 1\n" + EXECUTE)
    assert rules(root) == []


def test_what_hfenv_never_calls_is_pointed_out(root):
    environment(root, TASK + START + EXECUTE + TASK_RESET + STEP)
    assert [(f.rule, f.line) for f in validate(root).findings] == [("HFE416", 7), ("HFE416", 8)]
    write(
        root, "env/environment.py", "import hfenv\n" + TASK + START.replace("1", "self.reset()") + EXECUTE + TASK_RESET
    )
    replace_in(root / "README.md", "packages: [gymnasium, elsewhere]", "packages: []")
    assert rules(root) == []


# The reward and the policies


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def score(task, transcript): return 1\ndef measure(task, transcript, context): ...", []),
        ("def score(task, transcript, *, scale=1): return 1\nasync def measure(*arguments): return {}", []),
        ("def score(*arguments): return 0.5", []),
        ("score = make()", []),
        ("score = lambda task, transcript: 1.0", []),
        ("async def score(task, transcript): return 1", ["HFE404"]),
        ("def score(task): return 1", ["HFE404"]),
        ("def score(task, transcript, *, scale): return 1", ["HFE404"]),
        ("def score(task, transcript, context): return 1", ["HFE404"]),
        ("class score: ...", ["HFE404"]),
        ("def score(task, transcript): return 1\ndef measure(task, transcript): ...", ["HFE405"]),
        ("def score(task, transcript): return 1\nasync def measure(task, transcript, context): yield 1", ["HFE408"]),
        ("@cache\ndef score(task): ...", []),
        ("def score(transcript, task): return 1", ["HFE404"]),
        ("def score(traj, t, *, scale=1): return 1", ["HFE404"]),
        ("def score(t, task): return 1", []),
        ("def score(a, task): return 1", []),
        ("def score(transcript, *rest): return 1", []),
        ("def score(task, transcript): return 1\ndef measure(context, task, transcript): ...", ["HFE405"]),
        ("def score(task, transcript): return 1\nasync def measure(transcript, task, ctx): ...", ["HFE405"]),
        ("def score(task, transcript): return 1\ndef score_group(transcripts, task): return [1]", ["HFE404"]),
        ("def scored(task, transcript): return 1", ["HFE402"]),
        ("score = 1.0", ["HFE402"]),
        ("def score(task, transcript): yield 1.0", ["HFE408"]),
        ("def score(task, transcript): return {'total': 1.0}", ["HFE408"]),
        ("def score(task, transcript): return f'{task}'", ["HFE408"]),
        ("def score(task, transcript): pass", ["HFE408"]),
        ("def score(task, transcript): return True if task else -1", []),
        ("def score(task, transcript): return sum(x for x in task)", []),
        ("from .inner import score", ["HFE404"]),
        ("from .inner import *", ["HFE404"]),
        ("from .inner import other as score\ndef measure(task, transcript, context): ...", ["HFE416"]),
        ("from .inner import other as score", []),
    ],
)
def test_the_reward_is_a_function_of_task_and_transcript(root, code, expected):
    write(root, "reward/inner.py", "def score(): return 1\n\n\ndef other(task, transcript):\n    return 1\n")
    write(root, "reward/reward.py", code + "\n")
    assert rules(root) == expected


def test_a_group_reward_needs_its_function(root):
    replace_in(root / "README.md", "range: [-1.0, 1.0]", "scope: group, range: [-1.0, 1.0]")
    assert rules(root) == ["HFE404"]
    write(root, "reward/reward.py", REWARD + "\n\ndef score_group(task, transcripts):\n    return [0.0]\n")
    assert rules(root) == []
    replace_in(root / "reward/reward.py", "return [0.0]", "yield 0.0")
    assert rules(root) == ["HFE408"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("async def oracle(task, observation, info, rng): return 1", []),
        ("def oracle(*arguments): return 1", []),
        ("class oracle:\n    def __call__(self, task, observation, info, rng): return 1", []),
        ("class oracle(dict): ...", []),
        ("oracle = make(3)", []),
        ("def oracle(task, observation): return 1", [("HFE411", 1)]),
        ("def oracle(task, observation, info, rng): yield 1", [("HFE408", 1)]),
        ("def oracle(observation, task, info, rng): return 1", [("HFE411", 1)]),
        ("def oracle(task, obs, rng, info): return 1", [("HFE411", 1)]),
        ("def oracle(task, obs, _info, _rng): return 1", []),
        ("def oracle(a, b, c, d): return 1", []),
        ("class oracle:\n    def __call__(self, obs, task, info, rng): return 1", [("HFE411", 2)]),
        ("class oracle: ...", [("HFE411", 1)]),
        ("class oracle:\n    def __init__(self, n): ...\n    def __call__(self, *a): return 1", [("HFE411", 2)]),
        ("class oracle:\n    def __call__(self, task): return 1", [("HFE411", 2)]),
    ],
)
def test_policies_can_be_called(root, code, expected):
    write(root, "audit/policies.py", code + "\n")
    assert lines(root, "audit/policies.py") == expected


def test_policies_stand_in_folders_that_are_imported(root):
    replace_in(root / "README.md", "audit/policies.py:oracle", "tests/policies.py:oracle")
    write(root, "tests/policies.py", "def oracle(task, observation, info, rng):\n    return 1\n")
    finding = only(root)
    assert (finding.rule, finding.pointer) == ("HFE411", "/environment/policies/oracle")


def test_a_path_with_a_dot_cannot_be_imported(root):
    replace_in(root / "README.md", "env/environment.py", "env/v1.0/environment.py")
    write(root, "env/v1.0/environment.py", "import hfenv\n" + TASK + START + EXECUTE)
    assert (only(root).rule, only(root).pointer) == ("HFE402", "/environment/code/entry")


# Names of hfenv's own


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("x = hfenv.TaskEnv", "no 'TaskEnv'"),
        ("from hfenv import TaskEnviroment", "no 'TaskEnviroment'"),
        ("x = hfenv.Outcome(done=True)", "no argument 'done'"),
        ("x = hfenv.Outcome(1, 2, 3, True, False, 'e', 7)", "7 arguments"),
        ("x = hfenv.Score()", "0 arguments"),
        ("x = hfenv.Score(1.0, status='fine')", "'fine'"),
        ("x = hfenv.StepResult(1, 0.5, True, {})", "4 arguments"),
        ("from hfenv import Score as S\ndef f(): return S(1.0, parts={}, note='x')", "no argument 'note'"),
    ],
)
def test_what_hfenv_does_not_have(root, code, says):
    write(root, "env/more.py", f"import hfenv\n\n{code}\n")
    finding = only(root)
    assert (finding.rule, finding.path) == ("HFE412", "env/more.py")
    assert says in finding.message


def test_what_hfenv_has_is_left_alone(root):
    code = (
        "import hfenv\nimport hfenv.errors\nfrom hfenv import errors, __version__\n"
        "from hfenv.runtime.contracts import Turn\n\nx = hfenv.Score(1.0, None, 'ok'), hfenv.Score(*[1.0])\n"
        "y = hfenv.Outcome(**{}), hfenv.StepResult(*range(5)), hfenv.__name__\n\n\n"
        "def f(hfenv):\n    return hfenv.anything(1)\n"
    )
    write(root, "env/more.py", code)
    assert found(root) == []


def test_the_arguments_of_hfenvs_classes_are_those_that_are_checked():
    import hfenv
    from hfenv.components.code.calls import _ARGUMENTS, _STATUSES
    from hfenv.runtime.contracts import STATUSES

    assert set(_STATUSES) == set(STATUSES)
    for name, (arguments, required) in _ARGUMENTS.items():
        parameters = inspect.signature(getattr(hfenv, name)).parameters.values()
        assert tuple(p.name for p in parameters) == arguments
        assert sum(p.default is p.empty for p in parameters) == required


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("transcript[-1].outcome.error", ["HFE412"]),
        ("transcript[-1].outcome.output['rows']", ["HFE412"]),
        ("transcript[-1].outcome.data['error']", []),
        ("transcript[-1].outcome.truncated", []),
        ("task['outcome'].output", []),
    ],
)
def test_a_reward_sees_what_is_recorded(root, expression, expected):
    write(root, "reward/reward.py", f"def score(task, transcript):\n    return float({expression})\n")
    assert rules(root) == expected


def test_an_outcome_with_a_name_of_its_own_is_followed(root):
    code = "def score(task, transcript):\n    outcome = transcript[-1].outcome\n    return 1.0 - bool(outcome.error)\n"
    write(root, "reward/reward.py", code)
    assert found(root) == [("HFE412", 3, 23)]


# Imports


@pytest.mark.parametrize(
    ("path", "code", "expected"),
    [
        ("env/more.py", "from .wrods import ASK", "'words'"),
        ("env/more.py", "from .words import ASKED", "'ASK'"),
        ("env/more.py", "from . import wrods", "'words'"),
        ("env/more.py", "def f():\n    from .nothing import x", "Correct the module"),
        ("env/more.py", "from ..reward.reward import score", "Copy"),
        ("env/more.py", "from .. import reward", "Copy"),
        ("env/more.py", "from ....x import y", "own folder"),
        ("reward/more.py", "from ..env import words", "Copy"),
        ("env/sub/more.py", "from .words import ASK", "Correct the module"),
        ("env/sub/more.py", "from ..environment import Addin", "'Adding'"),
    ],
)
def test_a_relative_import_that_certainly_fails(root, path, code, expected):
    write(root, path, code + "\n")
    finding = only(root)
    assert (finding.rule, finding.path) == ("HFE413", path)
    assert expected in finding.fix


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("env/more.py", "from . import words, environment\nfrom .words import ASK\nfrom .. import env"),
        ("env/sub/more.py", "from ..words import ASK\nfrom .. import words\nfrom . import more"),
        ("env/sub/__init__.py", "from ..words import ASK\nfrom . import deep\n"),
        ("env/more.py", "try:\n    from ._fast import x\nexcept ImportError:\n    x = None"),
        ("env/more.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .types import x"),
        ("env/more.py", "if __name__ == '__main__':\n    from .demo import x"),
        ("env/more.py", "from .odd import a, b, c, d, e, f, g, h, i, __doc__, deep"),
        ("audit/more.py", "from ..env.words import ASK\nfrom .policies import oracle"),
        ("env/test_more.py", "from environment import Adding\nimport pytest"),
        ("tests/test_x.py", "from environment import Adding\nimport pytest"),
    ],
)
def test_relative_imports_that_work(root, path, code):
    odd = (
        "import json as a\nb: int = 1\nfor c in (1,): pass\nwith open(__file__) as d: pass\n(e, [f, *g]) = 1, (2, 3)\n"
        "def _set():\n    global h\n    h = 1\nif (i := 3): pass\n"
    )
    write(root, "env/odd/__init__.py", odd)
    write(root, "env/odd/deep.py", "")
    write(root, "env/sub/deep.py", "")
    write(root, path, code + "\n")
    assert [f for f in validate(root).findings if f.rule not in ("HFE204",)] == []


@pytest.mark.parametrize(
    ("path", "code", "fix"),
    [
        ("env/more.py", "import words", "Write 'from . import words'."),
        ("env/more.py", "def f():\n    from words import ASK, X", "Write 'from .words import ASK, X'."),
        ("env/more.py", "from env.words import ASK", "Write 'from .words import ASK'."),
        ("env/more.py", "import env.words", "Write 'from . import words'."),
        ("env/sub/more.py", "from env.words import ASK", "Write 'from ..words import ASK'."),
        ("env/more.py", "import importlib\nx = importlib.import_module('words')", "Write 'from . import words'."),
        ("reward/more.py", "from env.words import ASK", "Copy"),
    ],
)
def test_an_absolute_import_of_a_sibling(root, path, code, fix):
    write(root, path, code + "\n")
    finding = only(root)
    assert (finding.rule, finding.path) == ("HFE414", path)
    assert finding.fix.startswith(fix)


def test_policies_import_the_code_beside_them(root):
    write(root, "audit/policies.py", "from env.words import ASK\n\n\ndef oracle(*arguments):\n    return ASK\n")
    assert only(root).fix == "Write 'from ..env.words import ASK'."


def test_names_that_only_look_like_siblings(root):
    write(root, "env/random.py", "import random\nimport queue\n")
    write(root, "env/queue.py", "")
    write(root, "env/chess.py", "import chess\n")
    require(root, "{packages: [chess]}")
    assert found(root) == []


@pytest.mark.parametrize(
    ("code", "packages"),
    [
        ("import numpy as np", "[numpy>=1.26]"),
        ("import yaml, cv2, PIL.Image", "[PyYAML, opencv-python, Pillow]"),
        ("import cv2", "[opencv-contrib-python-headless]"),
        ("from sklearn.svm import SVC\nimport bs4, dateutil.parser", "[scikit_learn, beautifulsoup4, python-dateutil]"),
        ("import stable_baselines3", "[\"stable-baselines3[extra]>=2; python_version > '3'\"]"),
        ("from google.cloud import storage\nimport google.protobuf", "[google-cloud-storage, protobuf]"),
        ("import ruamel.yaml", "[ruamel.yaml]"),
        ("from google import genai\nfrom google.genai import types", "[google-genai]"),
        ("from google.cloud import storage\nimport google.auth", "[google-cloud-storage]"),
        ("from google.cloud import something", "[google-cloud-something-else]"),
        ("import azure.storage.blob\nfrom azure.core import exceptions", "[azure-storage-blob]"),
        ("from llama_index.core import Document", "[llama-index]"),
        ("import sphinxcontrib.bibtex", "[sphinxcontrib-bibtex]"),
        ("import chess", "[python-chess]"),
        ("import foo", '["foo @ git+https://example.org/foo"]'),
        ("import barlib", "[py-barlib]"),
        ("import json, tomllib, sqlite3, __future__, _thread, distutils", "[]"),
        ("try:\n    import orjson as json\nexcept ImportError:\n    import json", "[]"),
        ("try:\n    import tomllib\nexcept ModuleNotFoundError:\n    import tomli as tomllib", "[]"),
        ("import contextlib\nwith contextlib.suppress(ImportError):\n    import orjson", "[]"),
        ("from typing import TYPE_CHECKING as T\nif T:\n    import numpy", "[]"),
        ("import typing\nif typing.TYPE_CHECKING:\n    import numpy\nelse:\n    numpy = None", "[]"),
        ("TEXT = '''\nimport numpy\n'''\n# import numpy", "[]"),
        ("import hfenv.errors", "[]"),
        ("import attr, attrs", "[attrs]"),
    ],
)
def test_imports_that_the_card_asks_for_or_that_need_no_asking(root, code, packages):
    require(root, f"{{packages: {packages}}}")
    write(root, "env/more.py", code + "\n")
    assert found(root) == []


@pytest.mark.parametrize(
    ("code", "packages", "wanted"),
    [
        ("import numpy as np", "[]", "numpy"),
        ("def f():\n    import yaml", "[pandas]", "pyyaml"),
        ("try:\n    import numpy\nexcept ValueError:\n    pass", "[]", "numpy"),
        ("try:\n    pass\nfinally:\n    import cv2", "[]", "opencv-python-headless"),
        ("from sklearn import svm", "[numpy-stl]", "scikit-learn"),
        ("import importlib\nx = importlib.import_module('numpy.random')", "[]", "numpy"),
        ("class A:\n    import numpy", "[]", "numpy"),
        ("if 1:\n    import numpy\nelse:\n    import numpy.linalg", "[]", "numpy"),
        ("match 1:\n    case 1:\n        import numpy", "[]", "numpy"),
        ("import google.protobuf", "[]", "protobuf"),
        ("import google.protobuf.message", "[google-cloud-storage]", "protobuf"),
        ("from google.cloud import storage", "[]", "google-cloud-storage"),
        ("from google.cloud import vision_v1", "[]", "google-cloud-vision"),
        ("from google import genai", "[google]", "google-genai"),
        ("from azure.storage.blob import BlobClient", "[]", "azure-storage-blob"),
        ("import azure.ai.inference", "[]", "azure-ai-inference"),
        ("with open(__file__) as f:\n    import numpy", "[]", "numpy"),
    ],
)
def test_imports_that_the_card_does_not_ask_for(root, code, packages, wanted):
    require(root, f"{{packages: {packages}}}")
    write(root, "env/more.py", code + "\n")
    finding = only(root)
    assert (finding.rule, finding.severity.value) == ("HFE415", "warning")
    assert f'"{wanted}"' in finding.fix


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("from google.cloud import unheard", "google.cloud.unheard"),
        ("import azure.unheard.of", "azure.unheard.of"),
        ("import google", "google"),
    ],
)
def test_a_namespace_is_not_taken_for_a_package(root, code, name):
    write(root, "env/more.py", code + "\n")
    assert f"Add the package that provides {name} to" in only(root).fix


# The standard library of the Pythons that the card allows


@pytest.mark.parametrize(
    ("requires", "code", "expected"),
    [
        ('python: ">=3.10"', "import tomllib", [("HFE427", 1)]),
        ('python: ">=3.10"', "def f():\n    from tomllib import loads", [("HFE427", 2)]),
        ('python: ">=3.10"', "from typing import Self, Any\nfrom enum import StrEnum", [("HFE427", 1), ("HFE427", 2)]),
        ('python: ">=3.10"', "from concurrent import futures, interpreters", [("HFE427", 1)]),
        ('python: ">=3.11"', "import tomllib", []),
        ('python: "!=3.10.*"', "import tomllib", []),
        ('python: ">=3.10"', "from distutils.core import setup", [("HFE427", 1)]),
        ('python: ">=3.10"', "import imp\nimport asyncore", [("HFE427", 1), ("HFE427", 2)]),
        ('python: ">=3.10,<3.12"', "import distutils, imp, asyncore, telnetlib", []),
        ('python: "==3.12.*"', "import telnetlib\nimport asyncore", [("HFE427", 2)]),
        ('python: ">=3.10", packages: [setuptools]', "import distutils", []),
        ('python: ">=3.10", packages: [standard-telnetlib]', "import telnetlib", []),
        ("packages: []", "import tomllib, distutils", []),
        ('python: ">=3.10"', "try:\n    import tomllib\nexcept ImportError:\n    tomllib = None", []),
        ('python: ">=3.10"', "import sys\nif sys.version_info >= (3, 11):\n    import tomllib", []),
        ('python: ">=3.10"', "import sys\nif sys.version_info < (3, 12):\n    import imp\nelse:\n    imp = None", []),
        ('python: ">=3.10"', "from sys import version_info as v\nOLD = v < (3, 12)\nif OLD:\n    import imp", []),
        ('python: ">=3.10"', "import sys\nif sys.argv:\n    import imp", [("HFE427", 3)]),
        ('python: ">=3.10"', "import typing\nif typing.TYPE_CHECKING:\n    from typing import Self", []),
        ('python: ">=3.10"', "from .imp import x\nfrom . import tomllib", []),
    ],
)
def test_the_standard_library_of_every_python_that_the_card_allows(root, requires, code, expected):
    require(root, f"{{{requires}}}")
    write(root, "env/imp.py", "x = 1\n")
    write(root, "env/tomllib.py", "x = 1\n")
    write(root, "env/more.py", code + "\n")
    report = validate(root)
    assert [(f.rule, f.line) for f in report.findings] == expected
    assert report.ok
    assert all("which the card allows" in f.message and "Python" in f.fix for f in report.findings)


def test_a_package_is_asked_for_once_and_in_the_reward_and_policies_too(root):
    for path in ("env/environment.py", "reward/reward.py", "audit/policies.py"):
        text = (root / path).read_text("utf-8")
        write(root, path, "import numpy\n" + text)
    write(root, "audit/other.py", "import pandas\n")  # no policy of the card's imports it
    finding = only(root)
    assert (finding.path, finding.line) == ("audit/policies.py", 1)
    assert "2 more times" in finding.message


# Chance, clocks and the world outside

OUTSIDE = """\
import os, random, secrets, socket, subprocess, time, uuid
from datetime import datetime as dt
from pathlib import Path
from random import choice as c
from urllib import request

HERE = Path(__file__).parent
WORDS = (HERE / "words.txt").read_text()
TABLE = open(HERE / "table.csv").read()
MODE = os.environ["MODE"]


def score(task, transcript):
    {body}
    return 1.0


def measure(task, transcript, context):
    request.urlopen("https://judge.example"), time.time(), random.random(), open("x"), subprocess.run(["ls"])
    return helper_of_measure()


def helper_of_measure():
    return time.time()


def other():
    return uuid.uuid4()


class Judge:
    def __init__(self):
        self.started = time.monotonic()

    def __hash__(self):
        return hash("judge")


JUDGE = Judge()
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("pass", []),
        ("random.Random(7).random(), random.Random(task['id'])", []),
        ("random.random()", [("HFE418", 14)]),
        ("c([1]), secrets.token_hex(), os.urandom(3)", [("HFE418", 14)] * 3),
        ("random.Random().random()", [("HFE418", 14)]),
        ("sorted([1], key=lambda x: random.random())", [("HFE418", 14)]),
        ("[random.random() for random in task]", []),
        ("hash('x')", [("HFE418", 14)]),
        ("hash((1, 2)), hash(3), hash(-2.5), hash(len('abc')), hash(frozenset({1, 2}))", []),
        ("hash(int('3')), hash(i), hash((row, col)), hash(round(task['amount'])), hash(transcript[0].reward)", []),
        ("n = len(transcript); hash((n, n + 1))", []),
        ("hash(f'{i}')", [("HFE418", 14)]),
        ("hash((1, 'a'))", [("HFE418", 14)]),
        ("hash(str(i)), hash(b'x'), hash('a' + x), hash(x.lower())", [("HFE418", 14)] * 4),
        ("hash(task['answer']), hash(transcript[-1].action), hash(task.get('city'))", [("HFE418", 14)] * 3),
        ("hash(tuple(sorted(task['words'])))", [("HFE418", 14)]),
        ("said = transcript[-1].outcome.data['said']; hash(said)", [("HFE418", 14)]),
        ("other()", [("HFE418", 28)]),
        ("list(map(other, []))", [("HFE418", 28)]),
        ("random = task; random.random(); time = 3", []),
        ("task.random.random(), task.time.time(), transcript.now()", []),
        ("secrets.compare_digest('a', 'b')", []),
        ("time.time()", [("HFE419", 14)]),
        ("time.strftime('%Y', task['when']), dt.fromtimestamp(3), time.gmtime(3)", []),
        ("dt.now(), time.gmtime(), time.strftime('%Y')", [("HFE419", 14)] * 3),
        ("JUDGE.ask()", [("HFE419", 33)]),
        ("Judge", [("HFE419", 33)]),
        ("request.urlopen('https://x'), socket.socket()", [("HFE420", 14)] * 2),
        ("open('/data/x'), Path('x').read_text(), task['path'].write_bytes(b'')", [("HFE421", 14)] * 3),
        ("open(HERE / 'x'), (HERE / 'y').read_text(), WORDS", []),
        ("os.environ.get('X'), os.getenv('X')", [("HFE421", 14)] * 2),
        ("MODE", [("HFE421", 10)]),
        ("subprocess.run(['ls'])", [("HFE421", 14)]),
        ("import time as t; t.time()", [("HFE419", 14)]),
        ("from . import more; more.late()", [("HFE419", 5)]),
        ("from .more import late; late()", [("HFE419", 5)]),
        ("measure(task, transcript, None)", [("HFE420", 19), ("HFE419", 19), ("HFE418", 19), ("HFE421", 19),
                                             ("HFE421", 19), ("HFE419", 24)]),
    ],
)  # fmt: skip
def test_what_a_score_depends_on(root, body, expected):
    write(root, "reward/more.py", "import time\n\n\ndef late():\n    return time.perf_counter()\n")
    write(root, "reward/reward.py", OUTSIDE.format(body=body))
    assert [(f.rule, f.line) for f in validate(root).findings] == expected


@pytest.mark.parametrize("call", ["random.random()", "uuid.uuid4()", "random.Random()", "np.random.rand()"])
def test_the_cure_for_chance_is_one_that_a_score_has(root, call):
    require(root, "{packages: [numpy]}")
    code = (
        f"import random, uuid\nimport numpy as np\n\n\ndef score(task, transcript):\n    return float(bool({call}))\n"
    )
    write(root, "reward/reward.py", code)
    fix = only(root).fix
    assert "context.rng" in fix
    assert "random.Random(task[" in fix
    assert "handed in" not in fix


def test_what_runs_when_the_reward_is_imported_counts(root):
    write(root, "reward/more.py", "import random\n\nrandom.seed(0)\n\n\ndef x():\n    return 1\n")
    write(root, "reward/reward.py", REWARD.replace("import hfenv", "import hfenv\nfrom .more import x"))
    assert found(root) == []  # nothing that score uses comes from there
    replace_in(root / "reward/reward.py", "    said =", "    x()\n    said =")
    assert found(root) == [("HFE418", 3, 1)]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import random\nx = random.choice('ab')", [("HFE422", 2)]),
        ("import numpy as np\nx = np.random.rand(3)", [("HFE422", 2)]),
        ("import numpy\nr = numpy.random\nx = r.randint(3)", [("HFE422", 3)]),
        ("from numpy.random import default_rng as g\nx = g()", [("HFE422", 2)]),
        ("from numpy import random\nx = random.default_rng(None)", [("HFE422", 2)]),
        ("import numpy as np\nx = np.random.default_rng(3).random(), np.random.Generator(np.random.PCG64(1))", []),
        ("import numpy as np\ndef f(rng: np.random.Generator): return rng.random()", []),
        ("import random\ndef f(rng: random.Random): return rng.random()", []),
        ("import random\ndef f(random): return random.random()", []),
        ("import random\nclass A:\n    def f(self): return self.random.random()", []),
        ("import random\nclass A:\n    random = 1\n    def f(self): return random.random()", [("HFE422", 4)]),
        ("import random\nx = random.Random(f'{3}')", []),
        ("import random\nx = random.Random()", [("HFE422", 2)]),
        ("from dataclasses import field\nimport random\nx = field(default_factory=random.random)", [("HFE422", 3)]),
        ("import torch\nx = torch.rand(3), torch.rand(3, generator=g)", [("HFE422", 2)]),
        ("import secrets, uuid\nx = uuid.uuid4(), secrets.token_hex()", []),
        ("if __name__ == '__main__':\n    import random\n    print(random.random())", []),
        ("def f():\n    import os, random as r\n    return r.random()", [("HFE422", 3)]),
        ("def f():\n    from random import (\n        choice,\n    )\n    return choice([1])", [("HFE422", 5)]),
        ("import random\ndef f():\n    roll = random.random\n    return roll()", [("HFE422", 3), ("HFE422", 4)]),
        ("try:\n    import numpy as np\nexcept ImportError:\n    np = None\nx = np.random.rand()", [("HFE422", 5)]),
        ("import random\ndef f():\n    global random\n    random = 1\n    return random.random()", [("HFE422", 5)]),
        ("def random(): return 1\nx = random()", []),
    ],
)
def test_generators_in_the_environments_code(root, code, expected):
    require(root, "{packages: [numpy, torch]}")
    write(root, "env/more.py", code + "\n")
    assert [(f.rule, f.line) for f in validate(root).findings] == expected
    replace_in(root / "README.md", "  limits:", "  determinism: stochastic\n  limits:")
    assert found(root) == []


# Code that others shall trust


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f(x): return eval(x)", ["HFE423"]),
        ("def f(x): exec(compile(x, 'a', 'exec'))", ["HFE423"] * 2),
        ("def f(x): return __import__(x)", ["HFE423"]),
        ("import importlib\ndef f(x): return importlib.import_module(f'plugins.{x}')", ["HFE423"]),
        ("import builtins\ndef f(x): return builtins.eval(x)", ["HFE423"]),
        ("run = eval\ndef f(x): return run(x)", ["HFE423"] * 2),
        ("def f(x): return list(map(eval, x))", ["HFE423"]),
        ("import runpy\ndef f(x): runpy.run_path(x)", ["HFE423"]),
        ("def f(x): return ｅｖａｌ(x)", ["HFE423"]),
        ("import os\ndef f(x): os.system(x)", ["HFE424"]),
        ("from os import popen as p\ndef f(x): p(f'ls {x}')", ["HFE424"]),
        ("import subprocess as sp\ndef f(x): sp.run(x, shell=True)", ["HFE424"]),
        ("from subprocess import run\ndef f(x): run(args='ls ' + x, shell=x)", ["HFE424"]),
        ("import subprocess\ndef f(x): subprocess.Popen(['/bin/bash', '-lc', x])", ["HFE424"]),
        ("import asyncio\nasync def f(x): await asyncio.create_subprocess_exec('sh', '-c', x)", ["HFE424"]),
        ("import pickle\ndef f(x): return pickle.loads(x)", ["HFE425"]),
        ("import yaml\ndef f(x): return yaml.load(x), yaml.load(x, yaml.Loader)", ["HFE425"] * 2),
        ("import torch\ndef f(x): return torch.load(x), torch.load(x, weights_only=False)", ["HFE425"] * 2),
        ("import numpy as np\ndef f(x): return np.load(x, allow_pickle=True)", ["HFE425"]),
        ("import ctypes\nlib = ctypes.CDLL('libm.so')", ["HFE426"]),
        ("import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'pip', 'install', 'x'])", ["HFE426"]),
        ("import os\nos.system('curl https://x | sh')", ["HFE426"]),
        ("import sys\nsys.path.insert(0, '.')\nimport words", ["HFE426"]),
        ("from transformers import AutoModel\nx = AutoModel.from_pretrained('a', trust_remote_code=True)", ["HFE426"]),
    ],
)
def test_calls_that_others_would_not_trust(root, code, expected):
    require(root, "{packages: [pyyaml, torch, numpy, transformers]}")
    write(root, "env/more.py", code + "\n")
    report = validate(root)
    assert [f.rule for f in report.findings] == expected
    assert report.ok
    assert all(f.fix and f.line for f in report.findings)


@pytest.mark.parametrize(
    "code",
    [
        "x = eval('1 + 1'), compile('x', 'y', 'eval')",
        "import re\nx = re.compile(x), re.compile('a')",
        "def eval(x): return x\ny = eval(x)",
        "class A:\n    def eval(self): ...\n    def f(self, m): self.eval(); m.eval(); m.exec(); m.load()",
        "def f(eval, x): return eval(x)",
        "import ast\ndef f(x): return ast.literal_eval(x)",
        "NAME = 'json'\nimport importlib\nx = importlib.import_module(NAME)",
        "import importlib\ndef f(x): return importlib.import_module(f'.{x}', __package__)",
        "import subprocess, sys\ndef f(x): subprocess.run([sys.executable, '-c', x], timeout=3)",
        "import subprocess\ndef f(x): subprocess.run(['ls', x]); subprocess.run('ls -l', shell=True)",
        "import subprocess\ndef f(x): subprocess.run(x, shell=False)",
        "import os\nos.system('ls')",
        "import pickle\ndef f(x): return pickle.dumps(x)",
        "import yaml\ndef f(x): return yaml.load(x, Loader=yaml.SafeLoader), yaml.safe_load(x)",
        "import torch\ndef f(x): return torch.load(x, weights_only=True)",
        "import numpy as np\ndef f(x): return np.load(x)",
        "import json\ndef f(x): return json.loads(x), json.load(x)",
        "import sqlite3\ndef f(x): return sqlite3.connect(':memory:').execute(x), x.eval(), x.system(x)",
        "import ctypes\nx = ctypes.c_int(3)",
        "import sys\nx = sys.path, sys.argv",
        "TEXT = 'eval(x)'  # eval(x)",
    ],
)
def test_calls_that_only_look_alike(root, code):
    require(root, "{packages: [pyyaml, torch, numpy]}")
    write(root, "env/more.py", code + "\n")
    assert found(root) == []


def test_columns_are_counted_in_characters(root):
    write(root, "env/more.py", "def f(x):\n    return 'größe 数', eval(x)\n")
    assert found(root) == [("HFE423", 2, 23)]
    write(root, "env/more.py", "\ufeffimport numpy\r\ndef f(x):\r\n    return eval(x)\r\n")
    assert [place for place in found(root) if place[0] > "HFE4"] == [("HFE415", 1, 1), ("HFE423", 3, 12)]


# Files that are made to be slow


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("def f(x):\n" + "    eval(x)\n" * 2_000, "HFE423"),
        ("# é\ndef f(x):\n" + "    eval(x)\n" * 2_000, "HFE423"),
        ("".join(f"from .m{n} import x\n" for n in range(2_000)), "HFE413"),
        ("".join(f"import m{n}\n" for n in range(2_000)), "HFE415"),
        ("import random\n" + "x = random.random()\n" * 2_000, "HFE422"),
        ("import random\ndef f():\n" + "".join(f"    a{n} = random.random\n" for n in range(2_000)), "HFE422"),
        ("import hfenv\nx = hfenv." + "a" * 100_000 + "\n", "HFE412"),
    ],
)
def test_a_file_of_nothing_but_mistakes_gives_a_report_that_can_be_read(root, code, rule):
    write(root, "env/more.py", code)
    report = validate(root)
    assert {f.rule for f in report.findings} == {rule}
    assert len(report.findings) <= 50
    assert all(len(f.message) < 500 for f in report.findings)


def test_what_comes_after_many_mistakes_of_another_kind_is_found(root):
    many = "def f(x):\n" + "    eval(x)\n" * 300
    write(root, "env/more.py", f"import pickle\n{many}    pickle.loads(x)\n")
    findings = validate(root).findings
    assert [f.rule for f in findings] == ["HFE423"] * 50 + ["HFE425"]
    assert findings[49].message.endswith("and more follow")


def test_what_no_score_reaches_hides_nothing_that_one_does(root):
    clocks = "    time.time()\n" * 300
    code = f"import time\n\n\ndef other():\n{clocks}\n\ndef score(task, transcript):\n    time.time()\n    return 1.0\n"
    write(root, "reward/reward.py", code)
    assert found(root) == [("HFE419", 308, 5)]


def test_imports_that_say_the_same_are_counted_up_to_a_number(root):
    write(root, "env/more.py", "import numpy\n" * 3)
    assert "and 2 more times" in only(root).message
    write(root, "env/more.py", "import numpy\n" * 3_000)
    assert "and many more times" in only(root).message


def test_files_that_import_everything_from_each_other_end(root):
    every = "".join(f"from .m{n} import *\n" for n in range(40))
    for n in range(40):
        write(root, f"env/m{n}.py", every)
    write(root, "env/environment.py", "from .m0 import *\n")
    assert rules(root) == ["HFE402"]


def test_names_that_go_round_in_circles_end(root):
    write(root, "env/environment.py", "from .other import Adding\n")
    write(root, "env/other.py", "from .environment import Adding\na = b\nb = a\na.x()\n\n\nclass C(C):\n    pass\n")
    assert validate(root).findings == ()


# The rules say what is true


RUNNABLE = [
    rule
    for rule in RULES.values()
    # The cure of HFE407 asks for a package that isn't installed here, no episode reads probes (HFE429), and HFE430 is
    # about environments with a generator.
    if rule.id.startswith("HFE4") and rule.severity is Severity.ERROR and rule.id not in ("HFE407", "HFE429", "HFE430")
]


@pytest.mark.parametrize("rule", RUNNABLE, ids=lambda rule: rule.id)
def test_what_is_called_an_error_fails_when_it_runs_and_its_cure_does_not(tmp_path, rule):
    for example, works in ((rule.bad, False), (rule.good, True)):
        text = into_card(example.text) if example.path == "README.md" else example.text
        root = write_environment(tmp_path / f"adding-{works}", files={example.path: text})
        result = run_cli("run", root, "--policy", "oracle", "--episodes", 1, "--format", "json")
        assert (result.exit_code == 0 and not result.json["faults"]) is works, result.stderr


@pytest.mark.parametrize("name", FINE)
def test_a_sensible_environment_gives_no_finding_at_all(tmp_path, name):
    files, packages, builtin = FINE[name]
    root = write_environment(tmp_path / "adding", files=files)
    require(root, f"{{packages: [{packages}]}}")
    if builtin:
        say_builtin(root)
    assert validate(root).findings == ()


# Which rules ran


def test_rules_about_an_entry_without_a_tree_are_skipped(root):
    everything = set(validate(root).ran)
    assert {rule for rule in RULES if rule.startswith("HFE4")} <= everything
    write(root, "reward/reward.py", "def score(:\n")
    report = validate(root)
    skipped = {s.rule for s in report.skipped if s.rule.startswith("HFE4")}
    assert skipped == {"HFE402", "HFE404", "HFE405", "HFE408", "HFE416", "HFE418", "HFE419", "HFE420", "HFE421"}
    (root / "README.md").write_bytes(b"")
    needs_a_card = {rule for rule in RULES if rule.startswith("HFE4")} - {"HFE401", "HFE429"}
    assert needs_a_card <= {s.rule for s in validate(root).skipped}
