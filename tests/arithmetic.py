"""A small environment whose tasks a generator makes: sums of two numbers, easy and hard ones."""

from __future__ import annotations

from pathlib import Path

from tests.support import CARD, REWARD, run_cli, write_environment

GENERATOR = """\
from .words import ASK


def generate(split, seed, rng):
    \"\"\"One sum.\"\"\"
    hard = rng.random() < 0.25
    low, high = (10**6, 10**9) if hard else (1000, 10**5)
    one, other = rng.randint(low, high), rng.randint(low, high)
    return {"question": f"{one} + {other}?", "answer": str(one + other), "difficulty": "hard" if hard else "easy"}
"""
SPLITS = "{train: tasks/train.jsonl, test: tasks/test.jsonl}"
GENERATED = """{train: tasks/sample/train.jsonl, test: tasks/sample/test.jsonl}
    generator: "tasks/generate.py:generate"
    seeds: {train: [0, 100000], test: [100000, 100200]}"""


def write_arithmetic(
    root: Path, *, most: int | None = 20, files: dict[str, str | bytes] | None = None, card: tuple[str, str] = ("", "")
) -> Path:
    """Write the environment and, unless `most` is None, its samples; `card` has a text of the card and another one."""
    content: dict[str, str | bytes] = {
        "README.md": CARD.replace(SPLITS, GENERATED).replace(*card, 1),
        "tasks/generate.py": GENERATOR,
        "tasks/words.py": 'ASK = "What is"\n',
        "reward/reward.py": REWARD,
    }
    write_environment(root, files=content | (files or {}))
    for split in ("train", "test"):
        (root / f"tasks/{split}.jsonl").unlink()
    if most is not None:
        for path, text in _samples(root, most).items():
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_bytes(text)
    return root


_made: dict[tuple[bytes, ...], dict[str, bytes]] = {}


def _samples(root: Path, most: int) -> dict[str, bytes]:
    """The samples of a folder as `hfenv tasks sample` writes them; made once for each card and generator."""
    of = ("README.md", "tasks/generate.py", "tasks/words.py")
    key = (str(most).encode(), *((root / path).read_bytes() for path in of))
    if key not in _made:
        sample(root, "--most", most)
        paths = sorted((root / "tasks/sample").glob("*.jsonl"))
        _made[key] = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    return _made[key]


def sample(root: Path, *options: object) -> None:
    """Write the samples anew."""
    done = run_cli("tasks", "sample", root, *options)
    assert done.exit_code == 0, done.stderr
