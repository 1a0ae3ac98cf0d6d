"""One worker process of a pool or a scorer: a clean environment, never waited for, killed with all its children."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path

import hfenv
from hfenv.runtime.folders import remove_tree
from hfenv.runtime.guard import MARKER, kill_marked
from hfenv.runtime.messages import HEADER, MAX_FRAME, Answer, Request, decode_answer, encode

_TAIL = 4096  # bytes of a worker's standard error that are kept
_PIPE = 1 << 16  # bytes that a pipe holds
_BOOT = "import sys, os; sys.path[:] = sys.argv.pop(1).split(os.pathsep); from hfenv.runtime.%s import main; main()"
_KEPT = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TZ|DISPLAY|WAYLAND_DISPLAY|VIRTUAL_ENV"
    r"|(LC|LD|DYLD|XDG|PYTHON|CONDA|OMP|MKL|OPENBLAS|NUMEXPR|CUDA|NVIDIA|HIP|ROCR|PLAYWRIGHT|SSL_CERT|HFENV)_?\w*"
)
_SECRET = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE|AUTH", re.IGNORECASE)


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """What a worker inherits of the process environment: what programs need to run, and nothing that names a secret."""
    return {name: value for name, value in environment.items() if _KEPT.fullmatch(name) and not _SECRET.search(name)}


class WorkerProcess:
    """A running worker. `send` and `receive` never block; `kill` leaves neither process nor folder."""

    def __init__(
        self,
        marker: str,
        folder: Path,
        *,
        program: str = "worker",
        variables: Mapping[str, str] | None = None,
        max_frame: int = MAX_FRAME,
    ) -> None:
        """Start it. `marker` is its alone; `folder` becomes its working folder and holds its temporary files.

        `program` is a module beside this one, `variables` are added to its process environment; an answer of more
        than `max_frame` bytes counts as its end.
        """
        self.marker = marker
        self.folder = folder
        temporary = folder / "tmp"
        temporary.mkdir(parents=True)
        environment = {"PYTHONHASHSEED": "0", **scrubbed(os.environ), MARKER: marker}
        environment |= {**dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary)), **(variables or {})}
        entries = [*(entry or str(Path.cwd()) for entry in sys.path), str(Path(hfenv.__file__).parent.parent)]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BOOT % program, os.pathsep.join(entries)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
            start_new_session=True,
            bufsize=0,
        )
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self.requests_fd, self.answers_fd, self.errors_fd = (pipe.fileno() for pipe in pipes if pipe is not None)
        for descriptor in (self.requests_fd, self.answers_fd, self.errors_fd):
            os.set_blocking(descriptor, False)
        self._max_frame = max_frame
        self._outgoing = bytearray()
        self._incoming = bytearray()
        self.inbox: deque[tuple[int, Answer]] = deque()  # for a caller who takes answers one by one
        self._advanced = self._oversized = False
        self._tail = b""
        self._next_id = 0
        self.ended = False
        self.errors_closed = False
        self.flooded = False  # whether the last look found more printed than a pipe holds: it may have been stuck

    def send(self, request: Request) -> int:
        """Queue a request and write what the pipe takes; returns its id."""
        self._next_id += 1
        self._outgoing += encode(self._next_id, request)
        self.flush()
        return self._next_id

    @property
    def has_outgoing(self) -> bool:
        return bool(self._outgoing)

    @property
    def unsent(self) -> int:
        """Bytes of requests that the pipe didn't take yet."""
        return len(self._outgoing)

    def flush(self) -> None:
        """Write what the pipe takes now."""
        try:
            while self._outgoing:
                del self._outgoing[: os.write(self.requests_fd, self._outgoing)]
        except BlockingIOError:
            return
        except OSError:
            self._outgoing.clear()  # it died; its answers' end tells

    def receive(self) -> list[tuple[int, Answer]]:
        """Answers that are here, with their requests' ids; sets `ended` when no more will come."""
        self._read_errors()
        self._advanced = False
        try:
            while chunk := os.read(self.answers_fd, 1 << 18):
                self._incoming += chunk
                self._advanced = True
                if len(chunk) < 1 << 16:
                    break
            else:
                self.ended = True
        except BlockingIOError:
            self.ended = self._process.poll() is not None
        except OSError:
            self.ended = True
        answers = []
        while len(self._incoming) >= HEADER.size:
            length, request_id = HEADER.unpack_from(self._incoming)
            if length > self._max_frame:
                self.ended = self._oversized = True
                break
            if len(self._incoming) < HEADER.size + length:
                break
            payload = bytes(memoryview(self._incoming)[HEADER.size : HEADER.size + length])
            del self._incoming[: HEADER.size + length]
            answers.append((request_id, decode_answer(payload)))
        return answers

    @property
    def is_arriving(self) -> bool:
        """Whether the last look brought a piece of an answer whose end isn't there yet."""
        return self._advanced and bool(self._incoming)

    def _read_errors(self) -> None:
        """Keep the end of what the worker printed."""
        read, self.flooded = 0, False
        try:
            for _ in range(64):  # a flood must not keep the pool from its other slots
                chunk = os.read(self.errors_fd, 1 << 16)
                if not chunk:
                    break
                self._tail = (self._tail + chunk)[-_TAIL:]
                read += len(chunk)
                self.flooded = read >= _PIPE
            else:
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self.errors_closed = True

    @property
    def printed(self) -> str:
        """The end of what the worker and the author's code printed."""
        self._read_errors()
        return self._tail.decode("utf-8", "replace").strip()

    def how_it_ended(self) -> str:
        """A sentence on an exit that nobody asked for, with the last lines that were printed."""
        if self._oversized:
            return f"The worker sent no answer, or one of more than {self._max_frame >> 20} MiB."
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        code = self._process.returncode
        if code is None:
            what = "closed its pipe"
        elif code < 0:
            what = f"was killed by {signal.Signals(-code).name}"
        else:
            what = f"ended with exit code {code}"
        return f"The worker {what}." + (f" It printed last:\n{self.printed}" if self.printed else "")

    def ask_to_end(self) -> None:
        """Ask it to close its environment and end."""
        self._outgoing += encode(0, None)
        self.flush()

    def wait(self, seconds: float) -> bool:
        """Whether it ended by itself in this time; its pipes are read meanwhile."""
        end = time.monotonic() + seconds
        while self._process.poll() is None:
            self.flush()
            self.receive()
            if time.monotonic() > end:
                return False
            time.sleep(0.005)
        return True

    def kill(self) -> None:
        """Kill the worker and everything that it started, reap it, and remove its folder."""
        if self._process.poll() is None:
            # Stopped first: it starts nothing more, and inherits no orphan, while its tree is read.
            os.kill(self._process.pid, signal.SIGSTOP)
        kill_marked(self.marker, str(self.folder.resolve()), last=self._process.pid)
        self.finish()

    def finish(self) -> None:
        """Reap a worker, killing what is left of its process group, close the pipes and remove its folder."""
        if self._process.poll() is None or sys.platform != "linux":
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        remove_tree(self.folder)
