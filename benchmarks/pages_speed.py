"""How long pages of the embedded hub take with 1,000 environments; exits 1 where one takes longer than it may.

Usage: python benchmarks/pages_speed.py [--environments N]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import httpx2

from hfenv.localhub.names import RepoId, RepoType
from hfenv.localhub.serve import BackgroundServer
from hfenv.localhub.storage import RepoRecord, Storage

LIMIT_S = 0.2  # one warm request, the median of several
_RUNS = 7
_ACTIONS, _GRADES, _LICENCES = ("text", "sql", "code", "tool_calls"), ("easy", "medium", "hard"), ("mit", "apache-2.0")


@dataclass(frozen=True, slots=True)
class Measured:
    """A page's address, its first answer and the median of the warm ones, in seconds."""

    address: str
    cold: float
    warm: float


def card(number: int) -> str:
    """The card of a small environment."""
    rating = "ABCDE"[number % 5]
    return f"""---
license: {_LICENCES[number % 2]}
tags: [rl-environment, hfenv, topic-{number % 50}]
pretty_name: Environment number {number}
environment:
  spec: "1"
  summary: Answer questions of kind {number % 97} by writing one sentence.
  release: "1.{number % 10}.0"
  code: {{version: "1.0.0", entry: "env/environment.py:Small"}}
  tasks:
    version: "1.0.0"
    splits: {{train: tasks/train.jsonl}}
    fields: {{question: input, answer: target, difficulty: meta}}
    difficulty: {{{_GRADES[number % 3]}: 10}}
  reward: {{version: "1.0.0", entry: "reward/reward.py:score", range: [0.0, 1.0]}}
  action: {{type: {_ACTIONS[number % 4]}, description: a sentence}}
  observation: {{type: text, description: a question}}
  audit: {{rating: {rating}, score: {number % 100}, digests: "0"}}
---
# Environment number {number}

## Overview
Questions of kind {number % 97}.

## Limitations
It is small.
"""


def fill(root: Path, count: int) -> None:
    """Store so many environments, straight through the storage, without its search for a name that is taken."""
    storage = Storage(root)
    storage._check_free = lambda repo: None  # type: ignore[method-assign]  # a quadratic wait
    for number in range(count):
        repo = RepoId(RepoType.DATASET, f"org{number % 20}", f"environment-{number}")
        files = {"README.md": card(number).encode(), "env/environment.py": b"class Small: ...\n"}
        storage.create(repo, RepoRecord(), files, "bench")


def measure(client: httpx2.Client, address: str) -> Measured:
    """Ask for a page several times."""
    taken = []
    for _ in range(_RUNS + 1):
        start = time.perf_counter()
        answer = client.get(address)
        taken.append(time.perf_counter() - start)
        if answer.status_code != 200:
            raise SystemExit(f"{address} answered {answer.status_code}")
    return Measured(address, taken[0], sorted(taken[1:])[_RUNS // 2])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", type=int, default=1000)
    count = parser.parse_args().environments
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "hub"
        start = time.perf_counter()
        fill(root, count)
        print(f"{count} environments made in {time.perf_counter() - start:.1f} s")
        with (
            BackgroundServer(root) as server,
            httpx2.Client(base_url=server.url, timeout=120, trust_env=False) as client,
        ):
            one = "/datasets/org0/environment-0"
            measured = [
                measure(client, address)
                for address in (
                    "/", "/?q=kind+5&sort=rating", "/?tag=topic-3", "/?action=sql&licence=mit&rating=B", "/?page=20",
                    one, f"{one}/versions", f"{one}/tree/main", f"{one}/blob/main/README.md", f"{one}/commits/main",
                )
            ]  # fmt: skip
    for each in measured:
        mark = "" if each.warm <= LIMIT_S else "  too slow"
        print(f"{each.warm:7.3f} s warm {each.cold:7.3f} s first  {each.address}{mark}")
    slow = [each for each in measured if each.warm > LIMIT_S]
    print(f"limit: {LIMIT_S} s for each warm page; {len(slow)} exceed it")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
