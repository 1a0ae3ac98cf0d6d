"""A small reward folder and probes of it."""

import pytest

from hfenv.components.probes import Expected, Probe, ProbeTurn
from tests.runtime.conftest import Folder, scratch  # noqa: F401

REWARD = """
    import hfenv

    WEIGHT = 1.0

    def score(task, transcript):
        said = transcript[-1].outcome.data["said"]
        if not said.isdigit():
            return hfenv.Score(-0.5, {"form": -0.5}, status="agent_fault")
        right = WEIGHT * (said == task["answer"])
        return hfenv.Score(right, {"right": right})
"""


def probe(said, total, parts=None, status="ok", *, answer="7", line=0):
    task = {"id": f"t-{answer}", "question": "?", "answer": answer}
    parts = {"right": total} if parts is None else parts
    return Probe(task, (ProbeTurn(said, {"said": said}, None, True),), Expected(total, parts, status), line=line)


PROBES = (
    probe("7", 1.0, line=1), probe("8", 0.0, line=2), probe("x", -0.5, {"form": -0.5}, "agent_fault", line=3),
)  # fmt: skip
KNOWN = frozenset(one.digest for one in PROBES)


@pytest.fixture
def part(tmp_path):
    """Makes a reward's part, each in a folder of its own."""
    count = iter(range(100))

    def make(old="", new="", text=REWARD, **card):
        assert old in text
        folder = Folder(tmp_path / f"reward-{next(count)}").write("reward/reward.py", text.replace(old, new))
        return folder.card(reward=card).part("reward")

    return make
