"""A small environment written into a folder, and the specification that loads it."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from hfenv.card.manifest import Manifest
from hfenv.runtime.spec import EnvironmentSpec, Part

CODE = """
    import hfenv

    class Sums(hfenv.TaskEnvironment):
        def start(self, task, rng):
            self.asked = 0
            self.task = task
            return {"question": task["question"], "noise": rng.randrange(1000)}

        def execute(self, action):
            self.asked += 1
            done = str(action) == self.task["answer"]
            return hfenv.Outcome(
                data={"said": action}, observation={"again": self.asked}, output=f"said {action}", terminated=done
            )
"""

REWARD = """
    import hfenv

    def measure(task, transcript, context):
        return {"luck": context.rng.randrange(1000), "turns": len(transcript)}

    def score(task, transcript):
        turn = transcript[-1]
        if turn.outcome.data["said"] == task["answer"]:
            return hfenv.Score(1.0, {"right": 1.0})
        return hfenv.Score(0.0, status="agent_fault")
"""

POLICIES = """
    def oracle(task, observation, info, rng):
        return task["answer"]

    def heuristic(task, observation, info, rng):
        assert "answer" not in task
        return str(rng.randrange(12))

    class Counter:
        def __init__(self):
            self.calls = 0

        def __call__(self, task, observation, info, rng):
            self.calls += 1
            return str(self.calls)
"""

ROWS = [
    {"id": f"t{n}", "question": f"{n} + {n}", "answer": str(2 * n), "level": "easy" if n < 4 else "hard", "secret": n}
    for n in range(8)
]

BLOCK = {
    "spec": "1",
    "summary": "Sums.",
    "code": {"version": "1.0.0", "entry": "env/environment.py:Sums"},
    "tasks": {
        "version": "1.0.0",
        "splits": {"train": "tasks/train.jsonl"},
        "fields": {"question": "input", "answer": "target", "level": "meta"},
    },
    "reward": {"version": "1.0.0", "entry": "reward/reward.py:score", "range": [-1.0, 1.0]},
    "action": {"type": "text", "description": "the sum"},
    "observation": {"type": "text", "description": "the question"},
    "limits": {"max_steps": 3},
    "policies": {
        "oracle": "audit/policies.py:oracle",
        "heuristic": "audit/policies.py:heuristic",
        "counter": "audit/policies.py:Counter",
    },
}


def dedent(text):
    lines = text.strip("\n").splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    return "\n".join(line[indent:] if line.strip() else "" for line in lines) + "\n"


class Folder:
    """An environment's folder; `spec` describes it as it is now."""

    def __init__(self, root):
        self.root = root
        self.block = json.loads(json.dumps(BLOCK))
        self.write("env/environment.py", CODE)
        self.write("reward/reward.py", REWARD)
        self.write("audit/policies.py", POLICIES)
        self.write_rows(ROWS)

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(dedent(text), encoding="utf-8")
        return self

    def write_rows(self, rows, split="train"):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        target = self.root / f"tasks/{split}.jsonl"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return self

    def card(self, **sections):
        """Change the card: a mapping is merged into its section, anything else replaces it."""
        for name, value in sections.items():
            if isinstance(value, dict) and isinstance(self.block.get(name), dict):
                self.block[name].update(value)
            else:
                self.block[name] = value
        return self

    def part(self, component, **changes):
        version = self.block[component]["version"]
        manifest = Manifest.from_block(json.loads(json.dumps(self.block)))
        digest = hashlib.sha256()
        for path in sorted(self.root.rglob("*")):
            if path.is_file():
                digest.update(path.read_bytes())
        return Part(self.root, manifest, version, digest.hexdigest(), **changes)

    def spec(self, **changes):
        settings = {"name": "sums", "repo": None, "release": None, "split": None} | changes
        for component in ("code", "tasks", "reward"):
            settings.setdefault(component, self.part(component))
        return EnvironmentSpec(**settings)


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path / "sums")


@pytest.fixture
def make_folder(tmp_path):
    return lambda name: Folder(tmp_path / name)


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch):
    """Temporary files go to a folder of the test's own, so that it can see what is left."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr("tempfile.tempdir", None)
    return scratch


@pytest.fixture
def marked_processes():
    """Ids of the processes that were started with a given text in their environment; zombies don't count."""

    def find(marker):
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                try:
                    if marker.encode() in (entry / "environ").read_bytes():
                        found.append(int(entry.name))
                except OSError:
                    continue
        return found

    return find
