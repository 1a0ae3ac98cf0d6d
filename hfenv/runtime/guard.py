"""Finds and kills every process that a pool's workers left; as a program, does so when the pool's process is gone.

Workers carry a marker in their process environment, which their children inherit, whatever group or session they move
to; one that was started with another environment is found by its parents, or by where it works: below the pool's own
folder. Standard library only and no import of hfenv: the program starts in a few milliseconds and outlives a parent
that was killed. Elsewhere than on Linux only process groups are found.
"""

# pathlib would double the time that the program takes to start.
# ruff: noqa: PTH112, PTH115, PTH123, PTH208

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import time

MARKER = "HFENV_WORKER"
_PROC = "/proc"


def marked(text: str, folder: str) -> set[int]:
    """Processes with `HFENV_WORKER=<text>...` in their environment, or at work in `folder`, and their descendants.

    Zombies are left out, and so is whoever looks at the folder from a terminal.
    """
    parents: dict[int, int] = {}
    states: dict[int, bytes] = {}
    found: set[int] = set()
    wanted = f"{MARKER}={text}".encode()
    for name in os.listdir(_PROC) if os.path.isdir(_PROC) else ():
        if not name.isdigit():
            continue
        try:
            with open(f"{_PROC}/{name}/stat", "rb") as stream:
                fields = stream.read().rpartition(b")")[2].split()
            with open(f"{_PROC}/{name}/environ", "rb") as stream:
                environment = stream.read().split(b"\0")
        except OSError:
            continue  # gone meanwhile, or another user's
        states[int(name)], parents[int(name)] = fields[0], int(fields[1])
        if any(entry.startswith(wanted) for entry in environment) or (fields[4] == b"0" and _works_in(name, folder)):
            found.add(int(name))
    while grown := {process for process, parent in parents.items() if parent in found and process not in found}:
        found |= grown
    return {process for process in found - {os.getpid()} if states[process] not in (b"Z", b"X")}


def _works_in(process: str, folder: str) -> bool:
    try:
        place = os.readlink(f"{_PROC}/{process}/cwd")
    except OSError:
        return False
    # Of a folder that was removed, Linux gives the old name and a remark.
    return f"{place.removesuffix(' (deleted)')}/".startswith(f"{folder}/")


def kill_marked(text: str, folder: str, seconds: float = 5.0, *, last: int = 0) -> bool:
    """Kill until nothing marked is left; a process that forks meanwhile is found on the next round. True when clean.

    `last` is killed when it's the only one left: by it the orphans are found that it takes in.
    """
    end = time.monotonic() + seconds
    while found := marked(text, folder):
        for process in found - {last} or found:
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                continue
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def main(text: str, folder: str) -> None:
    """Wait until standard input closes or the parent is another one, then clean up."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    parent = os.getppid()
    while os.getppid() == parent:
        ready, _, _ = select.select([0], [], [], 0.5)
        if ready and not os.read(0, 1):
            break
    kill_marked(text, folder)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
