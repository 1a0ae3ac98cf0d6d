"""Rules about the files of an environment, their owners and names: 2xx."""

from __future__ import annotations

from hfenv.findings import Severity
from hfenv.rules.rule import Example, Group, Rule

ERROR = Severity.ERROR
WARNING = Severity.WARNING
INFO = Severity.INFO

RULES = (
    Rule(
        "HFE201",
        ERROR,
        Group.LAYOUT,
        "Files that the card names exist.",
        "Entries, policies and resources with a path. The finding stands at the path on the card.",
        bad=Example(None, path="reward/reward.py"),
        good=Example("def score(task, transcript):\n    return 1.0\n", path="reward/reward.py"),
    ),
    Rule(
        "HFE202",
        ERROR,
        Group.LAYOUT,
        "Every path or glob of a split matches a file.",
        "A split without files can't be loaded. Also true for each item of a list, and of files that an "
        "ignore file leaves out.",
        bad=Example(
            'environment:\n  tasks:\n    version: "1.0.0"\n    splits: {train: tasks/part-*.jsonl}\n'
            "    fields: {question: input, answer: target, difficulty: meta}\n"
        ),
        good=Example(
            'environment:\n  tasks:\n    version: "1.0.0"\n    splits: {train: tasks/tr*.jsonl}\n'
            "    fields: {question: input, answer: target, difficulty: meta}\n"
        ),
    ),
    Rule(
        "HFE203",
        ERROR,
        Group.NAMES,
        "Every file can be part of an environment.",
        "Links, devices, compiled Python, and names that collide where letter case or Unicode forms don't "
        "count, or that some platform can't store: a release must be the same on every machine.",
        bad=Example("", path="env/words.pyc"),
        good=Example('ASK = "How much is "\n', path="env/words.py"),
    ),
    Rule(
        "HFE204",
        INFO,
        Group.LAYOUT,
        "Every file belongs somewhere.",
        "Files of no component are pushed, but have no version, so that nobody can say later which ones a "
        "number was made with. Move them, or name them in .hfenvignore.",
        bad=Example("Ideas.\n", path="notes/ideas.txt"),
        good=Example("Ideas.\n", path="docs/ideas.txt"),
    ),
    Rule(
        "HFE205",
        ERROR,
        Group.LAYOUT,
        "Files of a component lie in its folder.",
        "Versions and digests go by folder: env/ for code, tasks/ for tasks and resources, reward/ for the "
        "reward. A reward in env/ would change without the reward's version.",
        bad=Example(
            'environment:\n  reward: {version: "1.0.0", entry: "env/environment.py:Adding", range: [-1.0, 1.0]}\n'
        ),
        good=Example(
            'environment:\n  reward: {version: "1.0.0", entry: "reward/reward.py:score", range: [-1.0, 1.0]}\n'
        ),
    ),
    Rule(
        "HFE206",
        ERROR,
        Group.LAYOUT,
        "Every component has files.",
        "A version of nothing means nothing. Only asked where the card doesn't name the files itself.",
    ),
    Rule(
        "HFE207",
        WARNING,
        Group.LAYOUT,
        "Executable files are still executable.",
        "The Hub stores no modes; release.json does, and `pull` restores them. `--fix` does it here.",
        fixable=True,
    ),
    Rule(
        "HFE208",
        WARNING,
        Group.NAMES,
        "Names are composed Unicode (NFC).",
        "Some systems write an accented letter as one sign and some as two; git, the Hub and Python then take"
        " one file for two names. Rename the file, typed anew.",
        bad=Example("ASK = 0\n", path="env/re\u0301sume\u0301.py"),
        good=Example("ASK = 0\n", path="env/r\u00e9sum\u00e9.py"),
    ),
    Rule(
        "HFE209",
        WARNING,
        Group.LAYOUT,
        "Text files of components end their lines with LF.",
        "Digests are made of bytes. A checkout that turns CRLF into LF makes another digest, which needs "
        "another version. Judged by the first 4 MiB of a file. Save it with LF; .gitattributes keeps it so.",
        bad=Example('ASK = "How much is "\r\n', path="env/words.py"),
        good=Example('ASK = "How much is "\n', path="env/words.py"),
    ),
)
