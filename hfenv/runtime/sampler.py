"""Runs a generator of tasks for some seeds in a process of its own, with limits; also the program of that process."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from hfenv.components.tasks.lines import MAX_LINE
from hfenv.errors import AuthorCodeError, HfenvError
from hfenv.runtime.folders import WorkFolder
from hfenv.runtime.generator import load_generator
from hfenv.runtime.guard import MARKER
from hfenv.runtime.guarding import end_guard, new_marker, start_guard
from hfenv.runtime.jail import enclose, limit
from hfenv.runtime.jsondata import as_text
from hfenv.runtime.process import scrubbed
from hfenv.runtime.spec import Part

MOST_BYTES = 64 << 20  # of all tasks that are asked for at once, as they stand in their files
_MEMORY_MB = 2048  # of the process; where the card allows an instance more, that
_START = 60.0  # seconds for the start of Python and the import
_TAIL = 2000  # bytes of what was printed that a message repeats
_LOOK = 0.02
_BOOT = (
    "import sys, os; sys.path[:] = sys.argv.pop(1).split(os.pathsep); from hfenv.runtime.sampler import main; main()"
)
_DONE, _FAILED = "done", "!"
Wanted = Sequence[tuple[str, int]]


@dataclass(frozen=True)
class Surroundings:
    """What differs between two runs and mustn't show in the tasks: the hash seed, the time zone, and their order."""

    hash_seed: str
    zone: str
    backwards: bool


# A day lies between the two zones at any moment.
SURROUNDINGS = (Surroundings("0", "XXX-14", False), Surroundings("1", "YYY+11", True))


@dataclass(frozen=True)
class _Job:
    part: Part
    wanted: tuple[tuple[str, int], ...]
    memory_mb: int


@dataclass(frozen=True)
class _Run:
    """One process and its folder: `work` in which it works, and what it writes."""

    folder: Path
    marker: str
    entry: str
    order: tuple[tuple[str, int], ...]
    seconds: float

    @property
    def rows(self) -> Path:
        return self.folder / "rows"

    @property
    def printed(self) -> Path:
        return self.folder / "printed"


def run_generator(part: Part, wanted: Wanted, surroundings: Surroundings, *, seconds: float) -> list[str]:
    """The tasks of some splits and seeds, each as a line of JSON, in the order in which they are wanted.

    `seconds` is the limit of one task. Raises AuthorCodeError for a generator that fails, hangs, ends its process or
    makes more than 64 MiB; whatever it started is killed, and what it left in its working folder removed.
    """
    order = tuple(reversed(wanted)) if surroundings.backwards else tuple(wanted)
    job = pickle.dumps(_Job(part, order, max(_MEMORY_MB, part.manifest.limits.memory_mb or 0)))
    folder = WorkFolder(prefix="hfenv-sample-")
    run = _Run(folder.path.resolve(), new_marker(), part.manifest.tasks.generator or "", order, seconds)
    watcher = start_guard(run.marker, run.folder)
    try:
        lines = _result(run, _play(run, job, surroundings))
    finally:
        end_guard(watcher)
        folder.remove()
    return lines[::-1] if surroundings.backwards else lines


def _play(run: _Run, job: bytes, surroundings: Surroundings) -> int | None:
    """The exit code; None when a task took too long."""
    work = run.folder / "work"
    work.mkdir()
    environment = {**scrubbed(os.environ), "PYTHONHASHSEED": surroundings.hash_seed, "TZ": surroundings.zone}
    environment |= {MARKER: run.marker, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(work))}
    entries = [entry or str(Path.cwd()) for entry in sys.path]
    with (run.folder / "job").open("wb+") as given, run.printed.open("wb") as printed:
        given.write(job)
        given.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-c", _BOOT, os.pathsep.join(entries), str(run.rows)],
            stdin=given, stdout=printed, stderr=printed, cwd=work, env=environment, start_new_session=True,
        )  # fmt: skip
        try:
            return _wait(process, run)
        finally:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait(process: subprocess.Popen[bytes], run: _Run) -> int | None:
    size, limit = -1, time.monotonic() + _START
    while process.poll() is None:
        now = run.rows.stat().st_size if run.rows.exists() else -1
        if now != size:
            size, limit = now, time.monotonic() + run.seconds
        if time.monotonic() > limit:
            return None
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK)
    return process.returncode


def _result(run: _Run, code: int | None) -> list[str]:
    found = run.rows.read_text(encoding="utf-8").split("\n")[:-1] if run.rows.exists() else None
    if found and found[-1].startswith(_FAILED):
        error = json.loads(found[-1].removeprefix(_FAILED))
        raise AuthorCodeError(error["message"], error["hint"])
    if found and found[-1] == _DONE:
        return found[:-1]
    where = f"The import of {run.entry}"
    if found is not None:
        split, seed = run.order[min(len(found), len(run.order) - 1)]
        where = f"{run.entry}, seed {seed} of split '{split}'"
    with run.printed.open("rb") as stream:
        stream.seek(max(0, stream.seek(0, os.SEEK_END) - _TAIL))
        tail = stream.read().decode("utf-8", "replace").strip()
    said = f" It printed last:\n{tail}" if tail else ""
    if code is None:
        seconds = _START if found is None else run.seconds
        raise AuthorCodeError(f"{where}: nothing came for {seconds:g} seconds.{said}", "Make a task in less time.")
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    raise AuthorCodeError(f"{where}: its process {how}.{said}", "Correct the generator.")


def main() -> NoReturn:
    """The program: make the tasks of the job on standard input, and write them to the file that is named."""
    rows = Path(sys.argv.pop(1))
    enclose("a generator of tasks")
    job: _Job = pickle.loads(sys.stdin.buffer.read())  # noqa: S301 - from the process that started us
    own = os.getpid()
    limit(job.memory_mb)
    stream = None
    for line in _made(job):
        if os.getpid() != own:
            os._exit(0)  # a child that the generator forked, and that came back from it
        if stream is None:
            stream = rows.open("w", encoding="utf-8", newline="\n")
        if line is not None:
            stream.write(line + "\n")
            stream.flush()
    os._exit(0)  # threads that an author left behind don't keep it alive


def _made(job: _Job) -> Iterator[str | None]:
    """First None, when the generator is imported; then a line for each task, and a last one that says how it ended."""
    size = 0
    try:
        generator = load_generator(job.part)
        yield None
        for split, seed in job.wanted:
            line = as_text(generator.row(split, seed))
            length = len(line.encode())
            size += length
            if length > MAX_LINE:
                where = f"{generator.entry}, seed {seed} of split '{split}'"
                raise AuthorCodeError(
                    f"{where}: the task takes more than {MAX_LINE >> 20} MiB.",
                    "Make smaller tasks; put large content into tasks/resources/.",
                )
            if size > MOST_BYTES:
                raise AuthorCodeError(
                    f"{generator.entry}: the sampled tasks take more than {MOST_BYTES >> 20} MiB.",
                    "Make smaller tasks, or a sample of fewer: hfenv tasks sample --most N",
                )
            yield line
        yield _DONE
    except HfenvError as error:
        yield _FAILED + json.dumps({"message": error.message, "hint": error.hint})
