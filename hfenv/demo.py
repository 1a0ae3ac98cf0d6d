"""The round trip that `hfenv demo` shows: push, change, bump, push, load both by hash, mix, roll out."""

from __future__ import annotations

import importlib.util
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

from hfenv import paths
from hfenv.components.bump import bump
from hfenv.components.evidence import told
from hfenv.components.ownership import Component
from hfenv.components.snapshot import Snapshot
from hfenv.components.status import status
from hfenv.components.validation import require_valid
from hfenv.errors import AuthorCodeError, IntegrityError, MissingPackagesError
from hfenv.hub.client import connect
from hfenv.hub.push import PushOptions, PushResult, push
from hfenv.runtime.loader import load_environment
from hfenv.runtime.pool import EnvironmentPool
from hfenv.runtime.summary import Summary, summarise
from hfenv.settling import settle, settle_release
from hfenv.specify import Origin, specify

EXAMPLE = "sql-analytics"
REPO = f"local/{EXAMPLE}"
POLICIES = ("oracle", "heuristic", "random")
CHANGE = (("EXECUTED = 0.02", "EXECUTED = 0.0"), ("OVERLAP = 0.38", "OVERLAP = 0.4"))
MESSAGE = "Pay nothing for a query that merely runs; partial answers earn a little more."
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class DemoRow:
    """What one policy earned on one way of loading; `requests` is what loading took, cold or warm."""

    label: str
    revision: str
    versions: str
    policy: str
    summary: Summary
    episodes_per_second: float
    requests: int


@dataclass(frozen=True, slots=True)
class DemoReport:
    """The whole round trip. `cold` and `warm` count the requests of the first and the second load by hash."""

    rows: tuple[DemoRow, ...]
    cold: int
    warm: int

    def mean_u(self, policy: str) -> float:
        """Mean u of a policy over all its rows."""
        values = [row.summary.mean_u or 0.0 for row in self.rows if row.policy == policy]
        return sum(values) / len(values)


@contextmanager
def private_home() -> Iterator[Path]:
    """A folder for the demo's hub, cache and trust, so that it leaves the user's own alone; removed afterwards."""
    names = ("HFENV_HOME", "HFENV_CACHE", "HFENV_LOCAL_HUB")
    before = {name: os.environ.pop(name, None) for name in names}
    with TemporaryDirectory(prefix="hfenv-demo-") as folder:
        os.environ["HFENV_HOME"] = folder
        try:
            yield Path(folder)
        finally:
            del os.environ["HFENV_HOME"]
            os.environ.update({name: value for name, value in before.items() if value is not None})


def run_demo(say: Say, advance: Callable[[int], None], *, episodes: int, num_envs: int) -> DemoReport:
    """Play the round trip on the embedded hub; `say` gets a line per step, `advance` one call per episode."""
    with private_home() as home:
        root = prepare(home / EXAMPLE, say)
        first = _push(root, say)
        for old, new in CHANGE:
            _replace(root / "reward" / "reward.py", old, new)
        say("edited reward/reward.py")
        folder = Snapshot.of(root)
        judged = settle(folder, status(folder))
        for state in judged.states.values():
            verdict = f"changed, at least {state.smallest}: {told(state)}" if state.changed else "unchanged"
            say(f"status: {state.component.value} {state.released}: {verdict}")
        (raised,) = bump(
            folder, judged.states, None, step="auto", message=MESSAGE, today=time.strftime("%Y-%m-%d"),
            probes=judged.refreshed(),
        )  # fmt: skip
        say(f"bumped reward to {raised.after}, with its changelog entry")
        second = _push(root, say)
        ways = (
            ("first release", f"{REPO}@{first.revision}"),
            ("second release", f"{REPO}@{second.revision}"),
            ("new code, old reward", f"{REPO}@code={second.revision},reward={first.versions[Component.REWARD]}"),
        )
        cold = _requests_of_load(ways[1][1])
        warm = _requests_of_load(ways[1][1])
        say(f"loaded {second.revision} by hash: {cold} requests cold, {warm} warm")
        _side_by_side(ways[0][1], ways[1][1], say)
        rows: list[DemoRow] = []
        for label, ref in ways:
            rows.extend(_roll_out(label, ref, advance, episodes, num_envs))
        return DemoReport(tuple(rows), cold, warm)


def prepare(target: Path, say: Say) -> Path:
    """A copy of the example with its databases built; raises MissingPackagesError when their data isn't installed."""
    source = paths.data_folder("examples") / EXAMPLE
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.sqlite", "__pycache__", ".hfenv", ".pytest_cache"))
    script = _script(target / "scripts" / "database.py")
    try:
        script.build(target, reuse=source / "tasks" / "resources", log=say)
    except script.BuildError as error:
        raise MissingPackagesError(str(error), "For the demo: pip install 'hfenv[demo]'") from error
    return target


def _script(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("hfenv_demo_database", path)
    if spec is None or spec.loader is None:
        raise IntegrityError(f"{path} isn't there.", "Install hfenv again.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    if old not in text:
        raise AuthorCodeError(f"{path.name} doesn't hold '{old}' any more.", "The demo and its example disagree.")
    path.write_text(text.replace(old, new), encoding="utf-8", newline="\n")


def _push(root: Path, say: Say) -> PushResult:
    report = require_valid(root)
    say(f"validated: {report.rules_run} rules, {len(report.findings)} remarks, no error")
    with connect("local") as hub:
        result = push(hub, root, REPO, PushOptions(settle=settle_release))
        requests = hub.requests
    total = sum(result.uploaded.values())
    say(
        f"pushed release {result.release} as {result.revision}: {len(result.uploaded)} files, "
        f"{total / 1e6:.1f} MB, {requests} requests, tags {', '.join(result.tags)}"
    )
    return result


def _requests_of_load(ref: str) -> int:
    """Load an environment and close it again; how many requests that took."""
    with connect("local") as hub:
        load_environment(specify(ref, origin=Origin(trust_remote_code=True, opened=hub))).close()
        return hub.requests


def _side_by_side(old: str, new: str, say: Say) -> None:
    """Both releases at once in this process: the same task and the same query, judged by both rewards."""
    with connect("local") as hub:
        origin = Origin(trust_remote_code=True, opened=hub)
        environments = [load_environment(specify(ref, split="test", origin=origin)) for ref in (old, new)]
    rewards = []
    for env in environments:
        env.reset(seed=0)
        rewards.append(env.step("SELECT COUNT(*) FROM flights").reward)
    for env in environments:
        env.close()
    say(
        f"side by side, a query that merely runs: {rewards[0]:.2f} by the first release, {rewards[1]:.2f} by the second"
    )


def _roll_out(label: str, ref: str, advance: Callable[[int], None], episodes: int, num_envs: int) -> Iterator[DemoRow]:
    with connect("local") as hub:
        spec = specify(ref, split="test", origin=Origin(trust_remote_code=True, opened=hub))
        requests = hub.requests
    versions = f"{spec.code.version} / {spec.tasks.version} / {spec.reward.version}"
    with EnvironmentPool(spec, num_envs) as pool:
        for policy in POLICIES:
            start = time.perf_counter()
            played = []
            for episode in pool.rollout(policy, episodes=episodes, seed=0):
                played.append(episode)
                advance(1)
            seconds = time.perf_counter() - start
            revision = spec.code.revision or ""
            yield DemoRow(label, revision, versions, policy, summarise(played), episodes / seconds, requests)
