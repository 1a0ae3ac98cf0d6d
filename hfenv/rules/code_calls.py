"""Rules about what code and reward call: chance, clocks, the world outside, and code run from text, from HFE418 on."""

from __future__ import annotations

from hfenv.findings import Severity
from hfenv.rules.rule import Example, Group, Rule

WARNING = Severity.WARNING
_WORDS, _REWARD = "env/words.py", "reward/reward.py"


def _words(text: str) -> Example:
    """A file beside the environment's own, which takes a name from it."""
    return Example(f'{text}\n\nASK = "How much is "\n', _WORDS)


def _score(body: str, head: str = "") -> Example:
    return Example(f"{head}def score(task, transcript):\n{body}", _REWARD)


def _measured(body: str, head: str = "") -> Example:
    """What a score may not do, in measure."""
    kept = "def score(task, transcript):\n    return 1.0 if transcript[-1].evidence else 0.0\n"
    return Example(f"{head}def measure(task, transcript, context):\n{body}\n\n{kept}", _REWARD)


RULES = (
    Rule(
        "HFE418",
        WARNING,
        Group.CODE,
        "A score doesn't depend on chance.",
        "Recorded rollouts are scored again, and must get the same reward: a score draws nothing from generators that "
        "everything shares, from unseeded ones, from uuid4, or from hash() of text. `measure` has a seeded one in "
        "context.rng, and what it finds is recorded.",
        bad=_score("    return random.random()\n", "import random\n\n\n"),
        good=_measured("    return context.rng.random() < 0.5\n"),
    ),
    Rule(
        "HFE419",
        WARNING,
        Group.CODE,
        "A score doesn't read a clock.",
        "It would be another one when it is computed again. Take times where the action is carried out, and put them "
        "into outcome.data or the evidence.",
        bad=_score("    return 1.0 if datetime.now().hour < 12 else 0.0\n", "from datetime import datetime\n\n\n"),
        good=_score('    return 1.0 if transcript[-1].outcome.data.get("elapsed_s", 0) < 2 else 0.0\n'),
    ),
    Rule(
        "HFE420",
        WARNING,
        Group.CODE,
        "A score doesn't use the network.",
        "Judges and other services are asked in `measure`: once per turn, limited in time, and recorded as evidence.",
        bad=_score(
            '    return float(urlopen("https://judge.example").read())\n', "from urllib.request import urlopen\n\n\n"
        ),
        good=_measured(
            '    return urlopen("https://judge.example").read() == b"1"\n', "from urllib.request import urlopen\n\n\n"
        ),
    ),
    Rule(
        "HFE421",
        WARNING,
        Group.CODE,
        "A score uses no files, processes or environment variables.",
        "They differ from machine to machine. Files that belong to the reward stand beside its code and are read when "
        "it is imported; everything else is for `measure`.",
        bad=_score(
            '    with open("/data/answers.txt", encoding="utf-8") as file:\n        return float(file.read())\n'
        ),
        good=_measured(
            '    with open(context.resource("answers"), encoding="utf-8") as file:\n        return file.read()\n'
        ),
    ),
    Rule(
        "HFE422",
        WARNING,
        Group.CODE,
        "The environment's code draws from generators that a seed reaches.",
        "`start` gets `rng`, seeded by the episode. Generators that everything in the process shares, and those "
        "without a seed, make episodes that can't be repeated; where that is meant, the card says `determinism: "
        "stochastic`. A generator of tasks gets `rng`, too, and has to draw from it whatever the card says.",
        bad=_words("import random\n\nNAME = random.choice(['Ada', 'Grace'])"),
        good=_words("import random\n\nNAME = random.Random(7).choice(['Ada', 'Grace'])"),
    ),
    Rule(
        "HFE423",
        WARNING,
        Group.CODE,
        "No text is run as code.",
        "eval, exec, compile and imports of names made at run time turn whatever an agent writes into code of the "
        "environment's, with all its rights. Parse what is needed, or run it in a sandbox.",
        bad=_words("def value(text):\n    return eval(text)\n"),
        good=_words("import ast\n\n\ndef value(text):\n    return ast.literal_eval(text)\n"),
    ),
    Rule(
        "HFE424",
        WARNING,
        Group.CODE,
        "No text is given to a shell.",
        "A shell reads more into a text than its author did. Programs are called with a list of arguments; commands "
        "that are written out in the file are fine.",
        bad=_words("import subprocess\n\n\ndef run(text):\n    subprocess.run(text, shell=True, check=True)\n"),
        good=_words("import subprocess\n\n\ndef run(text):\n    subprocess.run(['wc', '-w', text], check=True)\n"),
    ),
    Rule(
        "HFE425",
        WARNING,
        Group.CODE,
        "Data is read in formats that can't run code.",
        "Reading a pickle runs what it says; the same holds for marshal, dill, joblib, torch.load without "
        "weights_only=True and yaml.load without a safe loader. JSON, Parquet, SQLite and safetensors only hold data.",
        bad=_words("import pickle\n\n\ndef read(file):\n    return pickle.load(file)\n"),
        good=_words("import json\n\n\ndef read(file):\n    return json.load(file)\n"),
    ),
    Rule(
        "HFE426",
        WARNING,
        Group.CODE,
        "All code that runs is in the repository or in the packages that the card lists.",
        "Native libraries opened by hand, code fetched or installed while the environment runs, and folders added to "
        "sys.path escape the digests by which a release is known.",
        bad=_words("import subprocess\n\nsubprocess.run(['pip', 'install', 'left-pad'], check=True)"),
        good=_words("import subprocess\n\nsubprocess.run(['sqlite3', '--version'], check=True)"),
    ),
    Rule(
        "HFE427",
        WARNING,
        Group.CODE,
        "Every Python that the card allows has the parts of the standard library that are imported.",
        "Compared with what came and went from Python 3.11 to 3.14, where the card has `requires.python`: 3.10 has no "
        "`tomllib`, and 3.12 no `distutils`. Imports in `try` with `except ImportError`, or under a condition about "
        "sys.version_info, are not meant.",
        bad=_words('import tomllib  # and the card says requires: {python: ">=3.10"}'),
        good=_words("try:\n    import tomllib\nexcept ImportError:\n    import tomli as tomllib"),
    ),
)
