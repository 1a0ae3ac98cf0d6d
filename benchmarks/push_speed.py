"""A push held against a bare create_commit with its tags: 200 files and one of 20 MB, in one process, by ratio.

The push plans, hashes, scans, compares and remembers; the bare commit is what the client does with the same files.
Both go to the embedded hub without a socket, in turn, so that a busy machine slows both.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from forking import warm

FILES, LARGE = 200, 20_000_000
ROUNDS = 9
MOST = 1.6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hfenv-speed-") as folder:
        work = Path(folder).resolve()
        warm(work)
        return compare(work, options.rounds)


def compare(work: Path, rounds: int) -> int:
    from hfenv.hub.client import connect
    from hfenv.hub.push import PushOptions, push

    bare_times, push_times = [], []
    with connect("local") as hub:
        for number in range(rounds + 1):  # the first one warms up
            one, other = make(work / f"a{number}", number), make(work / f"b{number}", number + 1000)
            hub.api.create_repo(f"local/a{number}", repo_type="dataset")
            bare_times.append(timed(lambda root=one, n=number: commit(hub, root, f"local/a{n}")))
            # As for the bare commit, the repository is there already, so that both make one commit and four tags.
            hub.api.create_repo(f"local/b{number}", repo_type="dataset")
            push_times.append(timed(lambda root=other, n=number: push(hub, root, f"local/b{n}", PushOptions())))
    ratios = [p / b for p, b in zip(push_times[1:], bare_times[1:], strict=True)]
    ratio = median(ratios)
    print(f"bare {median(bare_times[1:]) * 1000:.0f} ms, push {median(push_times[1:]) * 1000:.0f} ms")
    print(f"ratio {ratio:.2f} (of {min(ratios):.2f} to {max(ratios):.2f}), at most {MOST}")
    return int(ratio > MOST)


def make(root: Path, seed: int) -> Path:
    """An environment with 200 files and a large one, never twice the same bytes."""
    from tests.support import write_environment

    rng = random.Random(seed)  # noqa: S311 - files that can be made again
    files: dict[str, str | bytes] = {f"env/data/{n:03}.txt": rng.randbytes(1000).hex() for n in range(FILES)}
    files["tasks/resources/flights.bin"] = rng.randbytes(LARGE)
    return write_environment(root, files=files)


def commit(hub, root: Path, repo: str) -> None:
    from huggingface_hub import CommitOperationAdd

    paths = [path for path in root.rglob("*") if path.is_file()]
    operations = [CommitOperationAdd(path.relative_to(root).as_posix(), str(path)) for path in paths]
    made = hub.api.create_commit(repo, operations, commit_message="bare", repo_type="dataset")
    for tag in ("v1.0.0", "code-v1.0.0", "tasks-v1.0.0", "reward-v1.0.0"):
        hub.api.create_tag(repo, tag=tag, revision=made.oid, repo_type="dataset")


def timed(work) -> float:
    before = time.perf_counter()
    work()
    return time.perf_counter() - before


if __name__ == "__main__":
    sys.exit(main())
