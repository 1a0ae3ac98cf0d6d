"""Rules about code and reward, judged by their syntax trees: their shapes and imports, HFE401 to HFE417."""

from __future__ import annotations

from hfenv.findings import Severity
from hfenv.rules.rule import Example, Group, Rule

ERROR, WARNING = Severity.ERROR, Severity.WARNING
_CODE, _REWARD, _POLICIES = "env/environment.py", "reward/reward.py", "audit/policies.py"
_GOOD_CODE = """\
import hfenv


class Adding(hfenv.TaskEnvironment):
    def start(self, task, rng):
        return task["question"]

    def execute(self, action):
        return hfenv.Outcome(data={"said": str(action).strip()}, terminated=True)
"""
_SAID = '{"said": str(action).strip()}'
_GOOD_REWARD = """\
def score(task, transcript):
    return float(transcript[-1].outcome.data["said"] == task["answer"])
"""


def _code(old: str = "", new: str = "") -> Example:
    """The environment's file with one thing changed."""
    return Example(_GOOD_CODE.replace(old, new), _CODE)


def _reward(old: str = "", new: str = "") -> Example:
    return Example(_GOOD_REWARD.replace(old, new), _REWARD)


def _measured(arguments: str) -> Example:
    return Example(f"def measure({arguments}):\n    return len(transcript)\n\n\n{_GOOD_REWARD}", _REWARD)


def _header(entry: str) -> Example:
    return Example(f"environment:\n  {entry}\n")


RULES = (
    Rule(
        "HFE401",
        ERROR,
        Group.CODE,
        "Python files parse, for the oldest Python that the card allows.",
        "Nothing is imported: the file is only parsed, as `requires.python` says. Where the card asks for a newer "
        "Python than the one that validates, and that one can't parse a file, the rule is skipped instead. Files "
        "over 1 MiB are not read: that much is data.",
        bad=_code("(self, action):", "(self, action:"),
        good=_code(),
    ),
    Rule(
        "HFE402",
        ERROR,
        Group.CODE,
        "Entries exist in their files.",
        "The name behind the colon is looked up on the file's top level, where it is defined or imported; it is a "
        "class or a function.",
        bad=_header('code: {version: "1.0.0", entry: "env/environment.py:Addition"}'),
        good=_header('code: {version: "1.0.0", entry: "env/environment.py:Adding"}'),
    ),
    Rule(
        "HFE403",
        ERROR,
        Group.CODE,
        "The environment's class has the methods of the contract.",
        "`start(task, rng)` and `execute(action)` for a task environment; `reset`, `step` and `close` for an "
        "environment of its own, where reset takes a seed. Methods that a base class from elsewhere may bring are "
        "not asked for.",
        bad=_code("(self, task, rng)", "(self, task)"),
        good=_code(),
    ),
    Rule(
        "HFE404",
        ERROR,
        Group.CODE,
        "The reward is a plain function of a task and a transcript.",
        "`score(task, transcript)`, not async: a score only judges what was recorded. With scope group, "
        "`score_group(task, transcripts)` stands beside it.",
        bad=_reward("def score(task, transcript)", "async def score(task, transcript)"),
        good=_reward(),
    ),
    Rule(
        "HFE405",
        ERROR,
        Group.CODE,
        "`measure` takes a task, a transcript and a context.",
        "It may be async. The context holds config, services, resources and a seeded generator.",
        bad=Example(f"def measure(task, transcript):\n    return len(transcript)\n\n\n{_GOOD_REWARD}", _REWARD),
        good=Example(
            f"def measure(task, transcript, context):\n    return len(transcript)\n\n\n{_GOOD_REWARD}", _REWARD
        ),
    ),
    Rule(
        "HFE406",
        ERROR,
        Group.CODE,
        "`requires.python` says which Python versions will do.",
        "It is a set of specifiers (PEP 440) that at least one Python fulfils on which hfenv runs, 3.10 or newer. "
        "Otherwise the environment can't be loaded anywhere.",
        bad=_header('requires: {python: "^3.10"}'),
        good=_header('requires: {python: ">=3.10"}'),
    ),
    Rule(
        "HFE407",
        ERROR,
        Group.CODE,
        "`requires.packages` holds requirements that pip understands.",
        "Each is a name with version specifiers, extras, a marker or an address (PEP 508). They are compared with what "
        "is installed before anything is imported.",
        bad=_header('requires: {packages: ["sqlglot 30"]}'),
        good=_header('requires: {packages: ["sqlglot>=30"]}'),
    ),
    Rule(
        "HFE408",
        ERROR,
        Group.CODE,
        "Functions of the contract return what hfenv expects of them.",
        "`execute` returns an hfenv.Outcome, `score` an hfenv.Score or a number, `reset` two values and `step` five; "
        "none of them yields. Only what is certain is found: a literal of the wrong kind, a bare return, no return.",
        bad=_code(
            'hfenv.Outcome(data={"said": str(action).strip()}, terminated=True)', '{"said": str(action).strip()}'
        ),
        good=_code(),
    ),
    Rule(
        "HFE409",
        ERROR,
        Group.CODE,
        "The entry can be built with what hfenv gives it.",
        "Classes of hfenv's are built without arguments: `self.config`, `self.tasks` and the like are there before "
        "`__init__` runs. Any other class or function gets the card's config as keyword arguments.",
        bad=_code("    def start", "    def __init__(self, level):\n        self.level = level\n\n    def start"),
        good=_code("    def start", "    def __init__(self):\n        self.count = 0\n\n    def start"),
    ),
    Rule(
        "HFE410",
        ERROR,
        Group.CODE,
        "The environment's class and the card agree on who computes the reward.",
        "An hfenv.TaskEnvironment leaves it to `reward.entry`. An hfenv.Environment or gymnasium.Env computes it "
        "itself, and its card says `builtin: true`. Loading refuses anything else.",
        bad=_header('reward: {version: "1.0.0", builtin: true, range: [-1.0, 1.0]}'),
        good=_header('reward: {version: "1.0.0", entry: "reward/reward.py:score", range: [-1.0, 1.0]}'),
    ),
    Rule(
        "HFE411",
        ERROR,
        Group.CODE,
        "Policies take a task, an observation, info and a generator.",
        "They stand in audit/ or env/. A class is built without arguments once per episode and then called.",
        bad=Example('def oracle(task, observation):\n    return task["answer"]\n', _POLICIES),
        good=Example('def oracle(task, observation, info, rng):\n    return task["answer"]\n', _POLICIES),
    ),
    Rule(
        "HFE412",
        ERROR,
        Group.CODE,
        "What is used of hfenv exists.",
        "Names that this version of hfenv doesn't have, arguments that its classes don't take, and parts of an outcome "
        "that aren't recorded all fail when the line is reached. Reward code sees `outcome.data`, `outcome.terminated` "
        "and `outcome.truncated`.",
        bad=_code("terminated=True", "done=True"),
        good=_code(),
    ),
    Rule(
        "HFE413",
        ERROR,
        Group.CODE,
        "Relative imports find what they name.",
        "The module is a file of the environment, and defines the name. env/ and reward/ are imported apart from each "
        "other: what both need, both have a copy of.",
        bad=_code("import hfenv\n", "import hfenv\n\nfrom .wrods import ASK\n"),
        good=_code("import hfenv\n", "import hfenv\n\nfrom .words import ASK\n"),
    ),
    Rule(
        "HFE414",
        ERROR,
        Group.CODE,
        "Files of the environment import each other relatively.",
        "They are imported as a package whose name is unique to their content, so that revisions can live side by side "
        "in one process. `import words` or `from env.words import ASK` finds nothing there.",
        bad=_code("import hfenv\n", "import hfenv\n\nfrom env.words import ASK\n"),
        good=_code("import hfenv\n", "import hfenv\n\nfrom .words import ASK\n"),
    ),
    Rule(
        "HFE415",
        WARNING,
        Group.CODE,
        "Packages that are imported are listed under `requires.packages`.",
        "hfenv names what is missing before it imports anything, and sets up isolated environments from that list. "
        "Imports that may fail (in `try` with `except ImportError`) or never run (TYPE_CHECKING) are not meant.",
        bad=_code("import hfenv\n", "import hfenv\nimport sqlglot\n"),
        good=_code("import hfenv\n", "import json\n\nimport hfenv\n"),
    ),
    Rule(
        "HFE416",
        WARNING,
        Group.CODE,
        "What looks like a part of the contract is called by hfenv.",
        "hfenv drives a TaskEnvironment through `start` and `execute`, and never calls a `reset` or `step` that it "
        "defines. `measure` is looked for in the file in which `score` is defined.",
        bad=_code(
            "    def execute", "    def step(self, action):\n        return self.execute(action)\n\n    def execute"
        ),
        good=_code(),
    ),
    Rule(
        "HFE417",
        WARNING,
        Group.CODE,
        "`code.entry` names a class of hfenv's, not a function that builds one.",
        "hfenv hands tasks, resources, a working folder and the configuration to instances that it makes itself. An "
        "instance that comes out of a function has none of them.",
        bad=Example(_GOOD_CODE.replace("Adding", "Sums") + "\n\ndef Adding():\n    return Sums()\n", _CODE),
        good=_code(),
    ),
)
