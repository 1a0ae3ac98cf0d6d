"""Environments as careful authors write them, with much that looks like a mistake and is none: nothing is found."""

# Per environment: its files, requires.packages, and whether its reward is built in.
FINE = {
    "control": (
        {
            "env/environment.py": """
from __future__ import annotations
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, SupportsFloat

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from .physics import Cart, integrate
if TYPE_CHECKING:
    from numpy.typing import NDArray


class Adding(gym.Env[Any, int]):
    metadata = {"render_modes": ["rgb_array"]}

    def __init__(self, render_mode: str | None = None, gravity: float = 9.8) -> None:
        self.action_space = spaces.Discrete(2)
        self.observation_space = spaces.Box(-1, 1, (4,), np.float32)
        self.cart: Cart | None = None

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        super().reset(seed=seed)
        self.cart = Cart(self.np_random.uniform(-1, 1, size=(4,)))
        return self._obs(), {}

    def step(self, action):
        self.cart = integrate(self.cart, action)
        done = bool(abs(self.cart.x[0]) > 2)
        return self._obs(), float(not done), done, False, {"x": 1}

    def _obs(self) -> NDArray: return np.asarray(self.cart.x, dtype=np.float32)
    def render(self): ...
    def close(self): pass
""",
            "env/physics.py": """
from dataclasses import dataclass
import numpy as np
@dataclass
class Cart:
    x: np.ndarray
def integrate(cart, action, *, rng=np.random.default_rng(0)):
    return Cart(cart.x + rng.normal(size=4) * action)
""",
        },
        "gymnasium, numpy",
        True,
    ),
    "sandbox": (
        {
            "env/environment.py": '''
import asyncio, contextlib, json, os, re, resource, shutil, signal, subprocess, sys, tempfile, textwrap, time
from pathlib import Path
import hfenv
from hfenv import Outcome
from ._runner import RUNNER as SCRIPT

class Adding(hfenv.TaskEnvironment):
    """Runs Python of the agent in a process of its own."""
    TIMEOUT = 5
    def __init__(self):
        self._folder = None
    def start(self, task, rng):
        self._folder = Path(tempfile.mkdtemp(dir=self.work_dir))
        self._deadline = time.monotonic() + 60
        self._order = list(task.get("cases", []))
        rng.shuffle(self._order)
        return {"prompt": task["question"]}
    async def execute(self, action):
        if not isinstance(action, str):
            return Outcome(data={"said": "", "error": "no text"}, error="no text", terminated=True)
        script = self._folder / "main.py"
        script.write_text(SCRIPT.format(code=action), encoding="utf-8")
        env = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG")}
        command = (sys.executable, "-I", str(script))
        try:
            process = await asyncio.create_subprocess_exec(*command, env=env, stdout=subprocess.PIPE)
            out, _ = await asyncio.wait_for(process.communicate(), self.TIMEOUT)
        except asyncio.TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            return self._failed("timeout")
        return Outcome({"said": out.decode()}, output=out.decode(), terminated=True)
    def _failed(self, why): return Outcome(data={"said": "", "why": why}, terminated=True, error=why)
    def state(self): return {"left": self._deadline - time.monotonic()}
    def render(self, observation): return [{"role": "user", "content": observation["prompt"]}]
    def parse(self, completion): return re.sub("x", "", completion)
    def close(self):
        if self._folder: shutil.rmtree(self._folder, ignore_errors=True)
''',
            "env/_runner.py": """\
RUNNER = '''
import sys
exec(compile({code!r}, 'agent', 'exec'))
eval(input())
'''
""",
            "reward/reward.py": """
from __future__ import annotations
import ast, json, math, re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
import hfenv
from . import weights
from .checks import check as run_check, LIMIT

TABLE = json.loads((Path(__file__).with_name("table.json")).read_text(encoding="utf-8"))

@lru_cache(maxsize=None)
def _table(name: str):
    return json.loads((Path(__file__).parent / f"{name}.json").read_text())

async def measure(task, transcript, context):
    client = context.services["judge"]
    text = await client.ask(transcript[-1].action)
    return {"hidden": run_check(task, text), "n": context.rng.random()}

def score(task: Mapping[str, Any], transcript: tuple[hfenv.Turn, ...]) -> hfenv.Score:
    turn = transcript[-1]
    outcome = turn.outcome
    parts = {"ok": 1.0 if outcome.data["said"] else 0.0}
    if outcome.truncated and not outcome.terminated:
        return hfenv.Score(0.0, status="agent_fault")
    match turn.evidence:
        case {"hidden": hidden}: parts["hidden"] = float(hidden) * weights.HIDDEN
        case _: pass
    return hfenv.Score(sum(parts.values()), parts)
""",
            "reward/weights.py": "HIDDEN = 0.5\n",
            "reward/table.json": "{}",
            "reward/checks.py": """
import random, subprocess, sys, tempfile, time, uuid
LIMIT = 3
def check(task, text):
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/{uuid.uuid4()}.py"
        open(path, "w").write(text)
        done = subprocess.run([sys.executable, path], timeout=LIMIT, capture_output=True)
    return done.returncode == 0
""",
        },
        "",
        False,
    ),
    "dialogue": (
        {
            "env/environment.py": """
import abc, enum, json, logging
import typing as t
import hfenv
from .users import SCRIPTS, User, make as make_user
from .tools import registry

log = logging.getLogger(__name__)
class Mode(str, enum.Enum):
    A = "a"
class Base(hfenv.TaskEnvironment, abc.ABC):
    @abc.abstractmethod
    def reply(self, text): ...
    def execute(self, action: t.Any) -> hfenv.Outcome:
        text = action if isinstance(action, str) else json.dumps(action)
        answer, done = self.reply(text)
        return hfenv.Outcome(data={"said": answer}, observation=answer, terminated=done)
class Adding(Base):
    user: User | None = None
    def start(self, task, rng):
        self.user = make_user(task, rng)
        self.mode = Mode(self.config.get("mode", "a"))
        return self.user.first()
    def reply(self, text):
        if self.user is None: raise RuntimeError("start first")
        call = registry.get(text.split()[0]) if text.strip() else None
        return (call(self.user) if call else self.user.next(text)), False
""",
            "env/users.py": """
import random
from importlib import resources
from dataclasses import dataclass
SCRIPTS = {"x": 1}
@dataclass
class User:
    rng: random.Random
    def first(self): return self.rng.choice(["hi", "hello"])
    def next(self, text): return f"you said {text}"
def make(task, rng: random.Random): return User(random.Random(f"{task['id']}:{rng.random()}"))
""",
            "env/tools/__init__.py": """\
from .base import registry, register
from . import weather, search  # noqa
__all__ = ['registry']
""",
            "env/tools/base.py": """\
registry = {}

def register(name):
    def wrap(f):
        registry[name] = f
        return f
    return wrap
""",
            "env/tools/weather.py": """\
from .base import register

@register('weather')
def weather(user):
    return 'sun'
""",
            "env/tools/search.py": """\
from . import base
from ..users import SCRIPTS
@base.register('search')
def search(user, compile=None, open=None):
    return str(SCRIPTS)
""",
        },
        "",
        False,
    ),
}
