"""How long a search takes among 1,000 environments in the embedded hub; exit 1 where it is slower than it may be.

Both with the library in one process and as the command, which starts anew each time.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from measuring import run

ENVIRONMENTS = 1000
WARM_S = 0.5  # a search in a process that searched before
CARD = Path(__file__).resolve().parent.parent / "examples" / "sql-analytics" / "README.md"


def seed(root: Path) -> None:
    """Fill a hub's storage with environments whose cards are as long as real ones."""
    from hfenv.localhub.names import RepoId, RepoType
    from hfenv.localhub.storage import RepoRecord, Storage

    storage, text = Storage(root), CARD.read_text(encoding="utf-8")
    for number in range(ENVIRONMENTS):
        summary = f"summary: Number {number} of {'even' if number % 2 == 0 else 'odd'} ones. #"
        files = {"README.md": text.replace("summary:", summary, 1).encode()}
        storage.create(RepoId(RepoType.DATASET, f"team{number % 10}", f"env-{number}"), RepoRecord(), files, "seed")


def timed(query: str) -> float:
    """Seconds of one search in this process."""
    from hfenv.hub.client import connect
    from hfenv.hub.registry.search import Query, Sort, search

    start = time.perf_counter()
    with connect("local") as hub:
        found = search(hub, Query(query, sort=Sort.RATING, limit=20))
    assert found.looked_at == ENVIRONMENTS, found.looked_at
    assert found.fitting == ENVIRONMENTS // 2, found.fitting
    return time.perf_counter() - start


def main() -> int:
    """Print the figures; 1 where a limit is exceeded."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(HFENV_HOME=folder, HFENV_LOCAL_HUB=str(Path(folder) / "hub"))
        seed(Path(folder) / "hub")
        cold = timed("even")
        warm = min(timed("even") for _ in range(3))
        command = [sys.executable, "-m", "hfenv.cli", "search", "even", "--hub", "local", "--format", "quiet"]
        again = min((run(command) for _ in range(2)), key=lambda each: each.taken)
        idle = run([*command[:3], "search", "--help"])
    print(f"{ENVIRONMENTS} environments: first search {cold:.2f} s, warm {warm:.2f} s (at most {WARM_S})")
    print(f"as a command {again.taken:.2f} s, of which it takes {idle.taken:.2f} s to print its help")
    return int(warm > WARM_S)


if __name__ == "__main__":
    sys.exit(main())
