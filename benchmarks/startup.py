"""How long `hfenv --help` and `hfenv init` take next to a bare interpreter, in one run on this machine."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 15
LIMITS = {"hfenv --help": 0.3, "hfenv init": 0.5}


def median(make_command) -> float:
    """Median seconds of a whole process over RUNS runs."""
    taken = []
    for run in range(RUNS):
        command = make_command(run)
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def main() -> int:
    """Print a table; exit 1 when a limit is passed on a machine where a bare interpreter takes 0.04 s."""
    hfenv = [sys.executable, "-m", "hfenv.cli"]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder)
        figures = {
            "bare interpreter": median(lambda run: [sys.executable, "-c", "pass"]),
            "hfenv --help": median(lambda run: [*hfenv, "--help"]),
            "hfenv init": median(lambda run: [*hfenv, "init", str(target / f"env{run}"), "--template", "sql"]),
        }
    bare = figures["bare interpreter"]
    # A slower machine gets more time in proportion, a faster one not less.
    scale = max(1.0, bare / 0.04)
    late = False
    for name, seconds in figures.items():
        limit = LIMITS.get(name, 0.0) * scale
        late |= bool(limit) and seconds > limit
        print(f"{name:20} {seconds:6.3f} s  {seconds / bare:5.1f} x" + (f"  (limit {limit:.2f} s)" if limit else ""))
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
