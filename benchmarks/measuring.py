"""What benchmarks share: a command measured with all its processes."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_LOOK_S = 0.05  # between two looks at the memory


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds on the clock and of the processors, peak bytes of all processes, and what was printed."""

    taken: float
    used: float
    peak: int
    output: str


def run(command: Sequence[str], *, folder: Path | None = None, environment: Mapping[str, str] | None = None) -> Run:
    """Run a command to its end, with variables beside those of this process; errors go to the terminal."""
    before, start = os.times(), time.perf_counter()
    variables = {**os.environ, **(environment or {})}
    process = subprocess.Popen(command, cwd=folder, env=variables, stdout=subprocess.PIPE, text=True)
    peak, done = 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(_LOOK_S):
            peak = max(peak, tree_memory(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    output = process.communicate()[0]
    taken = time.perf_counter() - start
    done.set()
    watcher.join()
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return Run(taken, used, peak, output)


def tree_memory(pid: int) -> int:
    """Resident bytes of a process and all its descendants, shared pages counted each time."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    total, pending = 0, [pid]
    while pending:
        process = pending.pop()
        pending += parents.get(process, [])
        try:
            total += int(Path(f"/proc/{process}/statm").read_text(encoding="utf-8").split()[1])
        except OSError:
            continue
    return total * os.sysconf("SC_PAGE_SIZE")
