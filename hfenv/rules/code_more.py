"""More rules about code and reward: what they say about themselves, in the card and in probes, from HFE428 on."""

from __future__ import annotations

from hfenv.findings import Severity
from hfenv.rules.rule import Example, Group, Rule

_REWARD = 'environment:\n  reward: {version: "1.0.0", entry: "reward/reward.py:score", range: [-1.0, 1.0], parts: %s}\n'
_GENERATOR = """\
def generate(split, seed, rng):
    one, other = rng.randint(1000, 99999), rng.randint(1000, 99999)
    return {"question": f"{one} + {other}?", "answer": str(one + other), "difficulty": "easy"}
"""

_PROBE = (
    '{"format": 1, "note": "another number", "expected": {"total": %s, "parts": {"right": 0.0}, "status": "ok"}, '
    '"turns": [{"action": "9", "data": {"said": "9"}, "evidence": null, "terminated": true, "truncated": false}], '
    '"task": {"id": "train-0", "question": "0 + 7?", "answer": "7", "difficulty": "easy"}}\n'
)

RULES = (
    Rule(
        "HFE428",
        Severity.WARNING,
        Group.CODE,
        "The card lists the parts that scores have.",
        "Curves and tables of a score's parts are found by these names. Compared are the names in "
        "`hfenv.Score(total, {...})` of all files of the reward, and only where all of them are written out there: "
        "names that no score gives, and names that the card doesn't list. A card that lists no parts is fine.",
        bad=Example(_REWARD % "[right, from]"),
        good=Example(_REWARD % "[right, form]"),
    ),
    Rule(
        "HFE429",
        Severity.ERROR,
        Group.CODE,
        "The reward's probes can be read, and none stands there twice.",
        "Probes (`reward/probes.jsonl`) are turns with the score that the reward gives them. When the reward changes, "
        "they are scored again to see what that does, and a line that can't be read would be a question that nobody "
        "asks. Nothing is scored here; `hfenv probe check` does that, and `hfenv probe record` writes the file.",
        bad=Example(_PROBE % '"seven"', path="reward/probes.jsonl"),
        good=Example(_PROBE % "0.0", path="reward/probes.jsonl"),
    ),
    Rule(
        "HFE430",
        Severity.ERROR,
        Group.CODE,
        "The generator of tasks is a function (split, seed, rng) that returns a task.",
        "It is called once for each task and returns the row as a dict without an id; the id is the split and the seed."
        " `rng` is a random.Random made for this split and this seed: what draws from it alone makes the same task in "
        "every process.",
        bad=Example(_GENERATOR.replace("split, seed, rng", "rng"), "tasks/generate.py"),
        good=Example(_GENERATOR, "tasks/generate.py"),
    ),
)
