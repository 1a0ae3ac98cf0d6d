"""What tests of change classification share: two states of an environment, and what is said about the step."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hfenv.components.changes.change import Change
from hfenv.components.changes.code import classify_code
from hfenv.components.changes.reward import classify_reward
from hfenv.components.meaning.shape import Shape
from hfenv.components.meaning.shaping import shape_of
from hfenv.components.ownership import Component, walk

BLOCK: dict[str, Any] = {
    "code": {"version": "1.0.0", "entry": "env/environment.py:Shop"},
    "reward": {
        "version": "1.0.0", "entry": "reward/reward.py:score", "range": [-1.0, 1.0], "parts": ["form", "right"],
    },
    "action": {"type": "text"},
    "observation": {"type": "text"},
}  # fmt: skip
CODE = '''\
import hfenv

from .words import ASK, polite

LONGEST = 100
_SHORTEST = 1


def describe(task, style="plain", *, deep=False):
    return task


class Shop(hfenv.ToolEnvironment):
    currency = "EUR"

    def __init__(self):
        self._seen = []

    def start(self, task, rng):
        return polite(ASK) + _join(task["question"])

    def execute(self, action):
        return hfenv.Outcome(data={"said": action}, output=action)

    def parse(self, completion, strict=True):
        return completion

    @property
    def total(self):
        return len(self._seen)

    @hfenv.tool
    def buy(self, item: str, count: int = 1, colour: "str | None" = None) -> str:
        """Buy an item."""
        return item


def _join(*texts):
    return "".join(texts)
'''
WORDS = """\
ASK = "How much is "


def polite(text, mark="?"):
    return "Please: " + text + mark


def _unused(text):
    return text
"""
REWARD = '''\
import json

import hfenv

from .compare import overlap

EXACT = 0.6
WEIGHTS = {"form": 0.1, "right": 0.9}
PROMPT = "Judge the answer."
LEFT, RIGHT = 0.25, 0.75
if hasattr(hfenv, "SMALL"):
    SMALL = 3


def measure(task, transcript, context):
    return {"hidden": _run(context.resource("db"), transcript[-1].action)}


def score(task, transcript, *, strict=True):
    """What it is worth."""
    said = transcript[-1].outcome.data["said"]
    if not said:
        return hfenv.Score(-0.2, {"form": -0.2})
    right = WEIGHTS["right"] * overlap(said, task["answer"])
    return hfenv.Score(right, {"right": right})


def _run(database, action):
    return json.loads(action)[:20]


def _retired(text):
    return text * 3
'''
COMPARE = """\
RELATIVE = 1e-6


class Text:
    margin = 2

    def __eq__(self, other):
        return True


def overlap(answer, gold, limit=200):
    return _share(_clean(answer)[:limit], _clean(gold)[:limit])


def _clean(text):
    return text.strip().lower()


def _share(left, right):
    return 1.0 if left == right else 0.25
"""
FILES: dict[str, str] = {
    "env/environment.py": CODE,
    "env/words.py": WORDS,
    "env/prompt.md": "Answer: {{ observation }}\n",
    "env/prices.json": '{"bread": 3}\n',
    "reward/reward.py": REWARD,
    "reward/compare.py": COMPARE,
    "reward/limits.yaml": "weights:\n  exact: 0.5\n  style: 0.0\nmodel: org/judge\n",
    "reward/notes.txt": "never shown\n",
}
Edits = Mapping[str, Any]  # by path: new text, None for a file that goes, or (old, new) text to replace


def edited(files: Mapping[str, str], edits: Edits) -> dict[str, str]:
    """Files after edits; a text that is to be replaced must be there."""
    result = dict(files)
    for path, edit in edits.items():
        if edit is None:
            del result[path]
        elif isinstance(edit, tuple):
            pairs = [edit] if isinstance(edit[0], str) else list(edit)
            for old, new in pairs:
                assert old in result[path], old
                result[path] = result[path].replace(old, new)
        else:
            result[path] = edit
    return result


def with_card(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The card's block with keys such as `limits` or `reward/floor` set; None removes one."""
    block = copy.deepcopy(BLOCK)
    for key, value in changes.items():
        place = block
        *parents, last = key.split("/")
        for parent in parents:
            place = place.setdefault(parent, {})
        if value is None:
            place.pop(last, None)
        else:
            place[last] = value
    return block


def shape(root: Path, component: Component, files: Mapping[str, str], block: Mapping[str, Any] = BLOCK) -> Shape:
    """The shape of files written below `root`."""
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    return shape_of(component, root, walk(root), block)


def changes(
    tmp_path: Path, component: Component, edits: Edits, *, before: Edits | None = None, card: Edits | None = None,
    old_card: Edits | None = None, **options: Any,
) -> tuple[Change, ...]:  # fmt: skip
    """What is said about a component after edits; the state before has gone through a record."""
    files = edited(FILES, before or {})
    old = shape(tmp_path / "before", component, files, with_card(old_card or {}))
    recorded = Shape.from_json(component, json.loads(json.dumps(old.to_json())))
    assert recorded == old
    after = edited(files, edits)
    new = shape(tmp_path / "after", component, after, with_card({**(old_card or {}), **(card or {})}))
    classify = classify_code if component is Component.CODE else classify_reward
    exact = [path for path in {**files, **after} if files.get(path) != after.get(path)]
    return classify(recorded, new, exact=sorted(exact), **options)
